"""The roles of the columns of a table, and the reasons for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Role = Literal["text", "label", "sequence", "features", "time", "target"]
Answer = str
"""What the label column contains. `find_roles` recognizes nothing ("none"), a class ("class"), a list of labels
("labels"), a number ("number"), a tag for every step ("tags"), a target text for the first text
("pair") and the next numbers of series ("future"); a task may have another kind, and overrides `fits` to recognize it.
"""
ANOTHER_TASK = "set task=NAME to change the task"


@dataclass(frozen=True)
class RoleReason:
    """Why a column has its role; the sentence ends with the setting that overrides it."""

    role: Role
    sentence: str


@dataclass(frozen=True)
class ColumnRoles:
    """What each column is for, and why."""

    answer: Answer
    text: str = ""
    label: str = ""
    sequence: str = ""
    features: tuple[str, ...] = ()
    reasons: tuple[RoleReason, ...] = ()
    evidence: str = ""
    """What the columns look like together: "a text and a label"."""
    alternative: str = ANOTHER_TASK
    """How to choose something other than the task that fits the evidence."""
    pair: tuple[str, str] | None = None
    """The source and target columns, if they look like a pair."""
    time: str = ""
    target: str = ""
    """What to forecast: one column, or several separated by commas; empty in a table with one series per row."""
    static: tuple[str, ...] = ()
    """Columns that are constant within a series."""

    def sentences(self, *, without_label: bool) -> list[str]:
        """The reasons as sentences; the one for the label is dropped if the task reads it differently."""
        return [reason.sentence for reason in self.reasons if not (without_label and reason.role == "label")]


@dataclass(frozen=True)
class Evidence:
    """Points for or against a role, and the fact behind them in a few words (empty: not worth mentioning)."""

    points: float
    fact: str = ""
