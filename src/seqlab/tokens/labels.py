"""Class labels: names <-> ids."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Literal

from seqlab.core.errors import DataError, UsageError, nearest
from seqlab.core.files import write_whole
from seqlab.tokens.untrusted_json import damaged, list_of_texts, read_json_object

LARGEST_FILE = 50_000_000


class Labels:
    """Class names; the id of a class is its index.

    >>> labels = Labels.fit(["pos", "neg", "pos"])
    >>> labels.names, labels.encode("pos"), labels.decode(0)
    (['neg', 'pos'], 1, 'neg')
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = list(names)
        self.ids = {name: place for place, name in enumerate(self.names)}
        if len(self.ids) != len(self.names):
            raise ValueError("a label occurs twice in the list")

    @classmethod
    def fit(
        cls,
        labels: Iterable[str],
        *,
        order: Literal["sorted", "frequency"] = "sorted",
        most: int | None = None,
        where: str = "",
    ) -> Labels:
        """The labels that occur: in alphabetical order (whole numbers by value), or the most frequent
        first. More than `most` labels are an error.
        """
        counts = Counter(labels)
        if most is not None and len(counts) > most:
            raise DataError(
                f"found {len(counts):,} distinct labels, more than data.max_labels={most}.",
                where=where,
                cure=(
                    "Is this the right label column (data.label=NAME)? If so, set"
                    f" data.max_labels={len(counts)}"
                ),
            )
        if not counts:
            raise DataError(
                "there are no labels to train on.",
                cure="Is the file empty, or is this the wrong label column (data.label=NAME)?",
            )
        names = sorted(counts, key=int) if _all_distinct_numbers(counts) else sorted(counts)
        return cls(sorted(names, key=lambda name: -counts[name]) if order == "frequency" else names)

    def __len__(self) -> int:
        return len(self.names)

    def encode(self, label: str, *, where: str = "") -> int:
        """The id of a label; a label that did not occur in training raises DataError, because no prediction could be correct."""
        label_id = self.ids.get(label)
        if label_id is None:
            raise DataError(
                f"the label {label[:80]!r} does not occur in the training data.",
                where=where,
                cure=(
                    f"{nearest(label[:80], self.names)} Correct the label, remove the row, or add rows of this"
                    " class to the training data."
                ),
            )
        return label_id

    def decode(self, label_id: int) -> str:
        """The name of a class."""
        if not 0 <= label_id < len(self.names):
            raise UsageError(
                f"class {label_id} does not exist; there are {len(self.names)} classes, counted from 0."
            )
        return self.names[label_id]

    def save(self, path: Path) -> None:
        write_whole(path, json.dumps({"labels": self.names}, indent=0))

    @classmethod
    def load(cls, path: Path) -> Labels:
        names = list_of_texts(read_json_object(path, largest=LARGEST_FILE), "labels", path=path)
        if len(set(names)) != len(names):
            raise damaged(path, "lists a label twice")
        return cls(names)


def _all_distinct_numbers(names: Iterable[str]) -> bool:
    """Whether all names are distinct whole numbers ('1' and '01' together are names, not numbers)."""
    return all(
        len(name) < 19 and name.isascii() and name.removeprefix("-").isdigit() and str(int(name)) == name
        for name in names
    )
