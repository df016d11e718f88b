"""The roles of the columns of a table, and the reasons for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Answer = str
"""What the label column holds. `find_roles` recognizes nothing ("none"), a class ("class"), a list of labels
("labels"), a number ("number"), a tag for every step ("tags") and a second text that is written from the first
("pair"); a task may have another kind, and overrides `fits` to recognize it.
"""
ANOTHER_TASK = "another task: task=NAME"


@dataclass(frozen=True)
class RoleReason:
    """Why a column has its role; the sentence ends with the setting that overrides it."""

    role: Literal["text", "label", "sequence", "features"]
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
    """How to choose something else than the task that fits the evidence."""
    pair: tuple[str, str] | None = None
    """The columns that are read and written, where they look like a pair."""

    def sentences(self, *, without_label: bool) -> list[str]:
        """The reasons for people; without that of the label where the task reads it in another way."""
        return [reason.sentence for reason in self.reasons if not (without_label and reason.role == "label")]


@dataclass(frozen=True)
class Evidence:
    """Points for or against a role, and the fact behind them in a few words (empty: not worth telling)."""

    points: float
    fact: str = ""
