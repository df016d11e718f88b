"""The vocabulary: tokens and their ids."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.tokens.untrusted_json import damaged, list_of_texts, read_json_object

UNK, PAD, SOS, EOS, MASK = "<unk>", "<pad>", "<sos>", "<eos>", "<mask>"
SEP = "<sep>"
"""Separates the texts of two columns."""
LARGEST_FILE = 100_000_000


class Vocabulary:
    """Special tokens first, then ordinary ones; the id of a token is its index.

    With the specials `<unk>, <pad>` the unknown piece has id 0 and padding id 1.

    >>> words = Vocabulary.count(["a", "b", "a", "c"], specials=[UNK, PAD], size=2)
    >>> words.pieces, words.id("a"), words.id("never seen")
    (['<unk>', '<pad>', 'a', 'b'], 2, 0)
    """

    def __init__(self, pieces: Sequence[str], *, specials: Sequence[str]) -> None:
        self.pieces = [*specials, *pieces]
        self.specials = list(specials)
        self.ids: Mapping[str, int] = {piece: place for place, piece in enumerate(self.pieces)}
        if len(self.ids) != len(self.pieces):
            twice = next(piece for piece, count in Counter(self.pieces).items() if count > 1)
            raise ValueError(f"the token {twice!r} occurs twice in the vocabulary")

    @classmethod
    def count(
        cls, pieces: Iterable[str], *, specials: Sequence[str], size: int = 0, min_count: int = 1
    ) -> Vocabulary:
        """The `size` most frequent pieces (all when 0) seen at least `min_count` times; ties in alphabetical
        order.
        """
        return cls.from_counts(Counter(pieces), specials=specials, size=size, min_count=min_count)

    @classmethod
    def from_counts(
        cls, counts: Mapping[str, int], *, specials: Sequence[str], size: int = 0, min_count: int = 1
    ) -> Vocabulary:
        special = set(specials)
        enough = [entry for entry in counts.items() if entry[1] >= min_count and entry[0] not in special]
        kept = [piece for piece, _ in sorted(enough, key=lambda entry: (-entry[1], entry[0]))]
        return cls(kept[:size] if size else kept, specials=specials)

    def __len__(self) -> int:
        return len(self.pieces)

    def id(self, piece: str) -> int:
        """The id of a piece, or of `<unk>`."""
        piece_id = self.ids.get(piece)
        return self.unk_id if piece_id is None else piece_id

    @property
    def unk_id(self) -> int:
        if UNK not in self.ids:
            raise ValueError(
                f"unknown tokens need the special token {UNK}; the special tokens are {self.specials}"
            )
        return self.ids[UNK]

    @property
    def has_unknown(self) -> bool:
        """Whether there is a separate token for unknown text."""
        return UNK in self.ids

    @property
    def pad_id(self) -> int:
        return self.ids[PAD]

    @property
    def special_ids(self) -> frozenset[int]:
        return frozenset(range(len(self.specials)))

    @cached_property
    def text_ids(self) -> dict[str, int]:
        """The ids of tokens found in text: any token not in the vocabulary is `<unk>`, including special tokens.

        >>> Vocabulary(["a"], specials=[UNK, PAD]).text_ids["<pad>"]
        0
        """
        special = self.special_ids
        known = {piece: place for place, piece in enumerate(self.pieces) if place not in special}
        return _OrUnknown(known, unk_id=self.unk_id)

    def filled(self, ids: Iterable[int], words: Iterable[str]) -> list[str]:
        """The pieces of ids, with the next given word in place of every unknown one; other special ids are
        dropped.

        >>> Vocabulary(["a", "b"], specials=[UNK, PAD]).filled([2, 0, 1, 3], ["X"])
        ['a', 'X', 'b']
        """
        left, unknown, special = iter(words), self.unk_id, self.special_ids
        return [
            next(left) if token == unknown else self.pieces[token]
            for token in ids
            if token == unknown or token not in special
        ]

    def without_specials(self, ids: Iterable[int]) -> NDArray[np.int64]:
        """The ids of ordinary tokens, in order; an id outside the vocabulary raises a
        UsageError.
        """
        places = np.asarray(ids if hasattr(ids, "__len__") else list(ids), dtype=np.int64).reshape(-1)
        if places.size and not (places.min() >= 0 and places.max() < len(self.pieces)):
            wrong = int(places[(places < 0) | (places >= len(self.pieces))][0])
            raise UsageError(
                f"the id {wrong} is not in the vocabulary; ids range from 0 to {len(self.pieces) - 1}.",
                cure="Decode with the tokenizer that produced the ids.",
            )
        return places[places >= len(self.specials)]

    def save(self, path: Path) -> None:
        write_whole(
            path,
            json.dumps(
                {"specials": self.specials, "pieces": self.pieces[len(self.specials) :]},
                ensure_ascii=False,
                indent=0,
            ),
        )

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        data = read_json_object(path, largest=LARGEST_FILE)
        pieces, specials = (
            list_of_texts(data, "pieces", path=path),
            list_of_texts(data, "specials", path=path),
        )
        try:
            return cls(pieces, specials=specials)
        except ValueError as error:
            raise damaged(path, "lists a token twice") from error


class _OrUnknown(dict[str, int]):
    """A dictionary that returns `unk_id` for missing keys, without inserting them."""

    def __init__(self, known: dict[str, int], *, unk_id: int) -> None:
        super().__init__(known)
        self._unk_id = unk_id

    def __missing__(self, piece: str) -> int:
        return self._unk_id
