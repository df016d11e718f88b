"""The vocabulary of a published tokenizer: its own ids, with special pieces anywhere among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seqlab.tokens.vocabulary import EOS, MASK, PAD, UNK, Vocabulary

ROLES = {"unk": UNK, "pad": PAD, "eos": EOS, "mask": MASK}
"""What seqlab calls the pieces that a task asks for; a published vocabulary has names of its own for them."""


class PublishedVocabulary(Vocabulary):
    """Pieces by id as they were published. Asked for `<eos>`, it answers with whatever ends a text here.

    roles: which id is unk, pad, eos, mask, cls, sep or bos, as far as there is one. No special piece stands
    first by rule, so `specials` is empty; which ids are special is in `special_ids`.

    >>> bert = PublishedVocabulary(["[PAD]", "a", "[SEP]"], special_ids=[0, 2], roles={"pad": 0, "eos": 2})
    >>> bert.ids[EOS], bert.pad_id, bert.without_specials([2, 1, 0]).tolist()
    (2, 0, [1])
    """

    def __init__(
        self, pieces: Sequence[str], *, special_ids: Iterable[int], roles: Mapping[str, int]
    ) -> None:
        super().__init__(pieces, specials=[])
        self.roles = dict(roles)
        self._special_ids = frozenset(special_ids)
        self._is_special = np.zeros(len(self.pieces), dtype=np.bool_)
        self._is_special[list(self._special_ids)] = True
        self.ids = {**self.ids, **self._aliases()}

    def _aliases(self) -> dict[str, int]:
        """A piece that ends texts is not called padding or unknown too: what is called so is never
        generated.
        """
        ends = self.roles.get("eos")
        return {
            ROLES[role]: place
            for role, place in self.roles.items()
            if role in ROLES and (role == "eos" or place != ends)
        }

    @property
    def unk_id(self) -> int:
        """Where nothing is unknown, as with bytes, the padding stands for it."""
        return self.roles.get("unk", self.pad_id)

    @property
    def has_unknown(self) -> bool:
        return "unk" in self.roles

    @property
    def pad_id(self) -> int:
        """Padding is masked everywhere, so any piece can fill it where none was published for that."""
        return self.roles.get("pad", self.roles.get("eos", 0))

    @property
    def special_ids(self) -> frozenset[int]:
        return self._special_ids

    def without_specials(self, ids: Iterable[int]) -> NDArray[np.int64]:
        places = super().without_specials(ids)
        return places[~self._is_special[places]]
