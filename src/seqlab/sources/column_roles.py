"""Which column of a table holds the text, the answer, the sequence or the numbers, and which setting says
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from seqlab.core.errors import DataError
from seqlab.sources.base import Row, Source, TextSource, require_columns
from seqlab.sources.column_profile import Profile, profile
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.frames import holds_vectors
from seqlab.sources.views.joined_columns import names_of
from seqlab.sources.views.series import no_features
from seqlab.sources.word_lists import are_paired, holds_lists, holds_tags

Answer = str
"""What the label column holds. `find_roles` recognizes nothing ("none"), a class ("class"), a list of labels
("labels"), a number ("number") and a tag for every step ("tags"); a task may have another kind, and overrides
`fits` to recognize it.
"""
ANOTHER_TASK = "another task: task=NAME"
# In order of preference, compared without case; a name also counts when it is the last part of
# `airline_sentiment`.
TEXT_NAMES = (
    "text",
    "review",
    "tweet",
    "sentence",
    "content",
    "document",
    "comment",
    "message",
    "body",
    "name",
    "title",
    "question",
    "caption",
)
LABEL_NAMES = (
    "label",
    "labels",
    "class",
    "target",
    "sentiment",
    "category",
    "emotion",
    "intent",
    "language",
    "lang",
    "tag",
    "topic",
    "y",
    "polarity",
)
NUMBER_NAMES = ("score", "rating", "stars", "grade", "price", "value", "number")
SEQUENCE_NAMES = (
    "sequence",
    "sequence_id",
    "series",
    "series_id",
    "seq",
    "seq_id",
    "id",
    "group",
    "trial",
    "recording",
)
STEP_NAMES = ("step", "t", "time", "timestep", "index", "frame", "date", "timestamp")
WORD_NAMES = ("word", "words", "form", "token", "tokens", "text", "sentence")
TAG_NAMES = ("tag", "tags", "upos", "pos", "labels", "label")
SPLIT_NAMES = ("split", "subset", "fold")
MOST_CLASSES_OF_NUMBERS = 20
"""Numbers with more different values than this are measured rather than named."""


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

    def sentences(self, *, without_label: bool) -> list[str]:
        """The reasons for people; without that of the label where the task reads it in another way."""
        return [reason.sentence for reason in self.reasons if not (without_label and reason.role == "label")]


def find_roles(source: Source, *, sample: int = 1000, settings: DataSettings | None = None) -> ColumnRoles:
    """Look at the first rows and decide; what the settings already say is taken as given."""
    data = settings or DataSettings()
    require_columns(source, [*names_of(data.text, source.columns), data.label, data.sequence, *data.features])
    if isinstance(source, TextSource):
        return ColumnRoles(
            "none",
            "text",
            evidence="plain text",
            alternative=f"{ANOTHER_TASK}, another format: data.format=NAME",
        )
    rows = list(islice(source.rows(), sample))
    words, lists = (
        [name for name in source.columns if holds(rows, name)] for holds in (holds_lists, holds_tags)
    )
    # The names of labels may stand beside their numbers, and are then no words.
    tokens = [name for name in words if name == data.text or not _is_named(name, (*LABEL_NAMES, *TAG_NAMES))]
    if are_paired(rows, tokens, lists):
        return _about_tagged(tokens, lists, data)
    vectors = [name for name in source.columns if rows and holds_vectors(rows[0].values.get(name))]
    if lists and vectors and not data.text and not data.sequence:
        return _about_frames(vectors, lists, data)
    columns = {name: profile(rows, name) for name in source.columns if name.lower() not in SPLIT_NAMES}
    text = data.text or ("" if data.sequence or data.features else _pick_text(columns, taken=data.label))
    if text:
        return _about_text(rows, columns, text, data)
    if len(words) == 1 and not data.label:
        raise DataError(
            f"column '{words[0]}' holds words, and no column holds a tag for each of them.",
            where=source.name,
            cure=(
                'Each row needs both, such as {"tokens": ["It", "is"], "tags": ["PRON", "AUX"]}; the names:'
                " data.text=NAME data.label=NAME"
            ),
        )
    return _about_series(source, rows, columns, data)


def _about_text(
    rows: Sequence[Row], columns: dict[str, Profile], text: str, data: DataSettings
) -> ColumnRoles:
    named = names_of(text, list(columns))
    lists = [name for name in columns if name not in named and holds_lists(rows, name)]
    label = data.label or (lists[0] if len(lists) == 1 else "") or _pick_label(columns, taken=named)
    reasons = [] if data.text else [RoleReason("text", _about_choice(columns, text, label=label))]
    if not label:
        others = [name for name in columns if name != text and columns[name].is_text]
        pairs = (
            f"; pairs of columns: task=translation data.source={others[0]} data.target={text}"
            if others and not data.text
            else ""
        )
        return ColumnRoles(
            "none",
            text,
            reasons=tuple(reasons),
            evidence="no column looks like a label",
            alternative=f"a label: data.label=NAME{pairs}",
        )
    if not data.label:
        reasons.append(
            RoleReason(
                "label",
                f"label column '{label}' ({columns[label].num_distinct} different values); another:"
                " data.label=NAME",
            )
        )
    if label in lists:
        return ColumnRoles(
            "labels", text, label, reasons=tuple(reasons), evidence="a text and a list of labels"
        )
    if _is_measured(columns.get(label)):
        return ColumnRoles("number", text, label, reasons=tuple(reasons), evidence="a text and a number")
    return ColumnRoles("class", text, label, reasons=tuple(reasons), evidence="a text and a label")


def _about_choice(columns: dict[str, Profile], text: str, *, label: str) -> str:
    """Which column was taken, and how to add others that hold text too."""
    others = [
        name
        for name, column in columns.items()
        if column.is_text and name not in (text, label) and column.mean_words >= 2.5
    ]
    added = f"; with others: data.text={','.join([*others, text])}" if others else ""
    return (
        f"text column '{text}' (mean {columns[text].mean_length:.0f} characters); another:"
        f" data.text=NAME{added}"
    )


def _is_measured(column: Profile | None) -> bool:
    """Numbers, and too many different ones to be names of classes."""
    return (
        column is not None
        and column.is_number
        and not column.is_class
        and column.num_distinct > MOST_CLASSES_OF_NUMBERS
    )


def _about_tagged(tokens: Sequence[str], columns: Sequence[str], data: DataSettings) -> ColumnRoles:
    """Columns of lists: the words of a sentence, and something for each of them."""
    words = data.text or next(
        (name for usual in WORD_NAMES for name in tokens if name.lower() == usual), tokens[0]
    )
    others = [name for name in columns if name != words]
    tags = data.label or next(
        (name for usual in TAG_NAMES for name in others if _is_named(name, [usual])), others[-1]
    )
    reasons = [] if data.text else [RoleReason("text", f"words in column '{words}'; another: data.text=NAME")]
    reasons += (
        [] if data.label else [RoleReason("label", f"tags in column '{tags}'; another: data.label=NAME")]
    )
    return ColumnRoles("tags", words, tags, reasons=tuple(reasons), evidence="a tag for every word")


def _about_frames(vectors: Sequence[str], lists: Sequence[str], data: DataSettings) -> ColumnRoles:
    """A column with the number vectors of a sequence, and one with a tag for each of them."""
    features = data.features or (vectors[0],)
    tags = data.label or next(
        (name for usual in TAG_NAMES for name in lists if _is_named(name, [usual])), lists[0]
    )
    reasons = (
        []
        if data.features
        else [
            RoleReason("features", f"steps of numbers in column '{features[0]}'; another: data.features=NAME")
        ]
    )
    reasons += (
        [] if data.label else [RoleReason("label", f"tags in column '{tags}'; another: data.label=NAME")]
    )
    return ColumnRoles(
        "tags", "", tags, features=features[:1], reasons=tuple(reasons), evidence="a tag for every step"
    )


def _about_series(
    source: Source, rows: Sequence[Row], columns: dict[str, Profile], data: DataSettings
) -> ColumnRoles:
    sequence = data.sequence or _pick_sequence(columns, taken=data.label)
    label = data.label or (_pick_series_label(rows, columns, sequence=sequence) if sequence else "")
    features = data.features or tuple(
        name
        for name, column in columns.items()
        if column.is_mostly_number and name not in (sequence, label) and name.lower() not in STEP_NAMES
    )
    if sequence and label and not features:
        raise no_features(source.name)
    if sequence and not label and (tags := _pick_step_tags(columns, taken=(sequence, *features))):
        reasons = (
            []
            if data.sequence
            else [
                RoleReason(
                    "sequence",
                    f"sequence column '{sequence}' (one row per step); another: data.sequence=NAME",
                )
            ]
        )
        reasons += [
            RoleReason(
                "label", f"tags in column '{tags}' (they change within a sequence); another: data.label=NAME"
            )
        ]
        return ColumnRoles(
            "tags", "", tags, sequence, features, tuple(reasons), evidence="numbers and a tag for every step"
        )
    if not (sequence and label):
        columns_text = ", ".join(source.columns)
        cure = (
            "Name them: data.text=NAME data.label=NAME for text, data.sequence=NAME data.label=NAME for a"
            " series with one row per step."
        )
        raise DataError(
            f"none of its columns ({columns_text}) looks like text, nor do they look like labelled series.",
            where=source.name,
            cure=cure,
        )
    reasons = (
        []
        if data.sequence
        else [
            RoleReason(
                "sequence", f"sequence column '{sequence}' (one row per step); another: data.sequence=NAME"
            )
        ]
    )
    reasons += (
        []
        if data.label
        else [
            RoleReason(
                "label", f"label column '{label}' (constant within a sequence); another: data.label=NAME"
            )
        ]
    )
    reasons += (
        []
        if data.features
        else [
            RoleReason(
                "features",
                f"{len(features)} numbers per step ({', '.join(features[:6])}); others: data.features=NAME,NAME",
            )
        ]
    )
    answer: Answer = "number" if _is_measured(columns.get(label)) else "class"
    return ColumnRoles(answer, "", label, sequence, features, tuple(reasons), evidence="numbers and a label")


def _pick_text(columns: dict[str, Profile], *, taken: str) -> str:
    named = _by_name(columns, TEXT_NAMES, taken=taken, allowed=lambda column: not column.is_mostly_number)
    likely = [
        column
        for name, column in columns.items()
        if column.is_text and name != taken and not _is_named(name, LABEL_NAMES)
    ]
    longest = max(likely, key=lambda column: column.mean_length, default=None)
    if named and longest and columns[named].mean_length * 3 < longest.mean_length:
        return longest.name  # `title` beside a long `description`
    return named or (longest.name if longest else "")


def _pick_label(columns: dict[str, Profile], *, taken: Sequence[str]) -> str:
    left = {name: column for name, column in columns.items() if name not in taken}
    named = _by_name(left, LABEL_NAMES, taken="", allowed=lambda column: not column.is_id)
    if named:
        return named
    likely = [column for column in left.values() if column.is_class]
    best = min(reversed(likely), key=lambda column: (column.num_empty > 0, column.num_distinct), default=None)
    return best.name if best else _by_name(left, NUMBER_NAMES, taken="", allowed=_is_measured)


def _pick_sequence(columns: dict[str, Profile], *, taken: str) -> str:
    """A column whose values stand in blocks, each value in one block only."""
    blocks = [
        name
        for name, column in columns.items()
        if name != taken and column.num_runs == column.num_distinct < column.num_rows
    ]
    named = [name for usual in SEQUENCE_NAMES for name in blocks if name.lower() == usual]
    ids = [name for name in blocks if name.lower().endswith("id")]
    finest = sorted(blocks, key=lambda name: -columns[name].num_runs)
    return next(iter([*named, *ids, *finest]), "")


def _pick_series_label(rows: Sequence[Row], columns: dict[str, Profile], *, sequence: str) -> str:
    def is_constant(name: str) -> bool:
        seen: dict[object, object] = {}
        return all(
            seen.setdefault(str(row.values[sequence]), row.values[name]) == row.values[name] for row in rows
        )

    constant = {name: column for name, column in columns.items() if name != sequence and is_constant(name)}
    classes = [name for name, column in constant.items() if not column.is_number or column.is_whole]
    return _by_name(constant, LABEL_NAMES, taken=sequence, allowed=lambda _: True) or (
        classes[-1] if classes else ""
    )


def _pick_step_tags(columns: dict[str, Profile], *, taken: Sequence[str]) -> str:
    """A column of classes beside the numbers of a step."""
    classes = {
        name: column
        for name, column in columns.items()
        if name not in taken and column.is_class and not column.is_number
    }
    return _by_name(classes, (*TAG_NAMES, *LABEL_NAMES), taken="", allowed=lambda _: True) or next(
        iter(classes), ""
    )


def _by_name(
    columns: dict[str, Profile], names: Sequence[str], *, taken: str, allowed: Callable[[Profile], bool]
) -> str:
    fitting = [name for name, column in columns.items() if name != taken and allowed(column)]
    exact = [name for usual in names for name in fitting if name.lower() == usual]
    ending = [name for usual in names for name in fitting if _is_named(name, [usual])]
    return next(iter(exact + ending), "")


def names_columns(cells: Sequence[str]) -> bool:
    """Whether a first line names the columns of a table, a text and a label among them, rather than holding a
    word and its tag.

    >>> names_columns(["id", "tweet", "airline_sentiment"]), names_columns(["dog", "NOUN"])
    (True, False)
    """
    return all(
        any(_is_named(cell, names) for cell in cells) for names in (TEXT_NAMES, (*LABEL_NAMES, *NUMBER_NAMES))
    )


def _is_named(name: str, names: Sequence[str]) -> bool:
    """
    >>> _is_named("airline_sentiment", ["sentiment"]), _is_named("context", ["text"])
    (True, False)
    """
    return name.lower().replace("-", "_").replace(" ", "_").rpartition("_")[2] in names
