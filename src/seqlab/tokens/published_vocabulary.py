"""The vocabulary of a published tokenizer: its own ids, with special pieces anywhere among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from seqlab.tokens.vocabulary import EOS, MASK, PAD, UNK, Vocabulary

ROLES = {"unk": UNK, "pad": PAD, "eos": EOS, "mask": MASK}
"""seqlab's names for special tokens; a published vocabulary has its own names for them."""


class PublishedVocabulary(Vocabulary):
    """Tokens by id, as published. `<eos>` maps to whatever token ends a text in this vocabulary.

    roles: which id is unk, pad, eos, mask, cls, sep or bos, if there is one. Special tokens need not come
    first, so `specials` is empty; which ids are special is in `special_ids`.

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
        """A token that ends texts must not also be padding or unknown, because those are never
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
        """If nothing can be unknown, as with bytes, this is the padding id."""
        return self.roles.get("unk", self.pad_id)

    @property
    def has_unknown(self) -> bool:
        return "unk" in self.roles

    @property
    def pad_id(self) -> int:
        """Padding is masked everywhere, so any token can be used if none was published for it."""
        return self.roles.get("pad", self.roles.get("eos", 0))

    @property
    def special_ids(self) -> frozenset[int]:
        return self._special_ids

    def without_specials(self, ids: Iterable[int]) -> NDArray[np.int64]:
        places = super().without_specials(ids)
        return places[~self._is_special[places]]
