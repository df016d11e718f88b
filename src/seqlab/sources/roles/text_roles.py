"""Roles in a table with text: a label, a number, several labels, a second text, or only text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seqlab.core.shell_words import setting_word
from seqlab.sources.base import Row
from seqlab.sources.column_profile import ColumnProfile
from seqlab.sources.roles.base import ANOTHER_TASK, Answer, ColumnRoles, RoleReason
from seqlab.sources.roles.flag_labels import find_flags
from seqlab.sources.roles.label_evidence import (
    CLOSE,
    LEAST_POINTS,
    Candidate,
    Table,
    is_measured,
    rank_labels,
)
from seqlab.sources.roles.text_evidence import find_pair, find_paired_texts, other_texts, text_points
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.joined_columns import names_of
from seqlab.sources.word_lists import holds_several

EVIDENCE = {
    "class": "a text and a label",
    "labels": "a text and a list of labels",
    "number": "a text and a number",
}
RUNNERS_UP = 3
NAMED_LABEL = 2.0
"""A label with this many points outweighs binary columns."""
STRONG = 4.0
"""A label with this many points outweighs two texts that look like a pair."""


def text_roles(
    rows: Sequence[Row], columns: dict[str, ColumnProfile], text: str, data: DataSettings
) -> ColumnRoles:
    """The roles in a table with a text column."""
    named = names_of(text, list(columns))
    lists = [name for name in columns if name not in named and holds_several(rows, name)]
    table = Table(list(columns), _texts(columns, named))
    left = [column for name, column in columns.items() if name not in named]
    ranked = [] if data.label else rank_labels(left, table, lists=lists)
    best = ranked[0] if ranked and ranked[0].points >= LEAST_POINTS else None
    flags = [] if data.label else find_flags(columns, named)
    if flags and (best is None or best.name in flags or best.points < NAMED_LABEL):
        return _flag_roles(columns, text, flags, data)
    pair = None if data.text or data.label else find_pair(columns)
    label = data.label or (best.name if best else "")
    spread = [label] if len(names_of(label, list(columns))) > 1 else []
    if pair is not None and (best is None or best.points < STRONG):
        return _pair_roles(pair, text, label)
    paired = [] if data.text or not label else find_paired_texts(columns, taken=label)
    reasons = (
        [] if data.text else [RoleReason("text", _about_text(columns, text, label=label, paired=paired))]
    )
    text = ",".join(paired) or text
    if not label:
        return _no_label(columns, text, ranked, reasons, is_named=bool(data.text))
    if best is not None:
        reasons.append(RoleReason("label", _about_label(best, ranked[1:])))
    answer = best.answer if best else _answer_of(columns.get(label), is_list=label in (*lists, *spread))
    numbers = (
        answer == "class" and label in columns and columns[label].is_whole and columns[label].num_distinct > 2
    )
    alternative = (
        f"{ANOTHER_TASK}, for example task=regression to predict a number" if numbers else ANOTHER_TASK
    )
    return ColumnRoles(
        answer, text, label, reasons=tuple(reasons), evidence=EVIDENCE[answer], alternative=alternative
    )


def _flag_roles(
    columns: Mapping[str, ColumnProfile], text: str, flags: Sequence[str], data: DataSettings
) -> ColumnRoles:
    """Labels with one column each."""
    label = ",".join(flags)
    sentence = f"label columns {label} (each contains 0 or 1); set data.label=NAME,NAME to change them"
    about_text = [] if data.text else [RoleReason("text", _about_text(columns, text, label=label))]
    return ColumnRoles(
        "labels",
        text,
        label,
        reasons=(*about_text, RoleReason("label", sentence)),
        evidence="a text and several labels",
        alternative=f"to predict only one of the labels, set task=classification {setting_word('data.label', flags[0])}",
    )


def _texts(columns: Mapping[str, ColumnProfile], named: Sequence[str]) -> list[str]:
    cells = [columns[name].cells for name in named if name in columns]
    return [" ".join(row) for row in zip(*cells, strict=True)]


def _answer_of(column: ColumnProfile | None, *, is_list: bool) -> Answer:
    """The kind of a label column named by the user."""
    return "labels" if is_list else "number" if is_measured(column) else "class"


def _pair_roles(pair: tuple[tuple[str, str], str], text: str, label: str) -> ColumnRoles:
    (source, target), why = pair
    other = f", or {setting_word('data.label', label or 'NAME')} to predict a label"
    return ColumnRoles(
        "pair",
        text,
        label,
        evidence=f"columns '{source}' and '{target}' look like a pair ({why})",
        alternative=f"to use only the text, set task=language_model {setting_word('data.text', text)}{other}",
        pair=(source, target),
    )


def _no_label(
    columns: Mapping[str, ColumnProfile],
    text: str,
    ranked: Sequence[Candidate],
    reasons: list[RoleReason],
    *,
    is_named: bool,
) -> ColumnRoles:
    others = [name for name in columns if name != text and columns[name].is_text]
    pairs = (
        f"; to translate between columns, set task=translation {setting_word('data.source', others[0])}"
        f" {setting_word('data.target', text)}"
        if others and not is_named
        else ""
    )
    label = setting_word("data.label", ranked[0].name if ranked else "NAME")
    return ColumnRoles(
        "none",
        text,
        reasons=tuple(reasons),
        evidence="no column looks like a label",
        alternative=f"to choose a label, set {label}{pairs}",
    )


def _about_text(
    columns: Mapping[str, ColumnProfile], text: str, *, label: str, paired: Sequence[str] = ()
) -> str:
    """Which column was chosen, and how to add other text columns. paired: two texts that are read together."""
    if paired:
        alone = setting_word("data.text", paired[0])
        return f"text columns '{paired[0]}' and '{paired[1]}', read together; set {alone} to read only one"
    others = other_texts(columns, text=text, label=label)
    close = [name for name in others if text_points(columns[name]) > text_points(columns[text]) - CLOSE]
    sure = ", uncertain" if close else ""
    possible = " or ".join(setting_word("data.text", name) for name in close[:RUNNERS_UP])
    runners = f"; also possible: {possible}" if close else ""
    more = f"; set {setting_word('data.text', ','.join([*others, text]))} to read several" if others else ""
    length = columns[text].mean_length
    return f"text column '{text}' (mean length {length:.0f} characters){sure}; set data.text=NAME to change it{runners}{more}"


def _about_label(best: Candidate, others: Sequence[Candidate]) -> str:
    """Which column was chosen and why, and which others are possible."""
    count = best.column.num_distinct
    facts = "; ".join([f"{count} distinct value{'' if count == 1 else 's'}", *best.facts])
    possible = [one for one in others if not one.column.is_text and one.column.empty_share < 0.5][:RUNNERS_UP]
    runners = " or ".join(setting_word("data.label", one.name) for one in possible)
    is_close = bool(possible) and possible[0].points > best.points - CLOSE
    sure = ", uncertain" if is_close else ""
    others_text = f"; also possible: {runners}" if runners else ""
    return f"label column '{best.name}' ({facts}){sure}; set data.label=NAME to change it{others_text}"
