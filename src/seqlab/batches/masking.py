"""Masks tokens for a masked language model to predict from their context.

    the   cat   sat   on   the   mat   .          the sequence
           x                      x               chosen: 15%
    the  <mask> sat   on   the   dog   .          80% masked, 10% random token, 10% unchanged

A chosen token that is not masked teaches the model not to trust its input: any token may be wrong, so all
of them matter.

Papers: Devlin et al. 2019, "BERT", arXiv:1810.04805, section 3.1 (task 1) and appendix A.1; new masks in
every epoch: Liu et al. 2019, "RoBERTa", arXiv:1907.11692, section 4.1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int, Integer

from seqlab.batches.settings import MaskingSettings
from seqlab.core.seeds import derive

NO_TARGET = -1
"""In `targets`: nothing to predict at this position."""

Tokens = Integer[np.ndarray, " time"]


@dataclass(frozen=True)
class Masked:
    """The masked input, and the tokens to predict; NO_TARGET elsewhere."""

    inputs: Int[np.ndarray, " time"]
    targets: Int[np.ndarray, " time"]


class Masker:
    """Masks tokens. The mask of a sequence depends only on (seed, epoch, row), so a
    resumed run sees the same masks.

    is_ordinary: for every id of the vocabulary, whether its token may be chosen, and drawn to replace
    another; special tokens may not.
    """

    def __init__(
        self, settings: MaskingSettings, *, mask_id: int, is_ordinary: Bool[np.ndarray, " vocab"], seed: int
    ) -> None:
        assert is_ordinary.any(), "the vocabulary needs at least one ordinary token"
        assert not is_ordinary[mask_id], "the mask must be a special token"
        self.settings = settings
        self.mask_id = mask_id
        self.seed = seed
        self._is_ordinary = is_ordinary
        self._ordinary_ids = np.flatnonzero(is_ordinary)

    def mask(self, tokens: Tokens, *, row: int, epoch: int, groups: Tokens | None = None) -> Masked:
        """Mask some tokens of a sequence.

        row: the index of the sequence.  groups: for whole words, the number of the word that each piece belongs
        to, counted from 0.
        """
        tokens = tokens.astype(np.int64)
        random = np.random.default_rng(
            derive(self.seed, "masks", epoch if self.settings.dynamic_masking else "always", row)
        )
        is_target = self._choose(tokens, groups, random)
        fates, others = random.random(len(tokens)), random.choice(self._ordinary_ids, len(tokens))
        is_hidden = is_target & (fates < self.settings.mask_replace_prob)
        is_other = (
            is_target
            & ~is_hidden
            & (fates < self.settings.mask_replace_prob + self.settings.random_replace_prob)
        )
        inputs = np.where(is_hidden, self.mask_id, np.where(is_other, others, tokens))
        return Masked(inputs, np.where(is_target, tokens, NO_TARGET))

    def _choose(
        self, tokens: Tokens, groups: Tokens | None, random: np.random.Generator
    ) -> Bool[np.ndarray, " time"]:
        """Choose each word (or token) with the same probability; at least one, if there is any."""
        may_be_chosen: Bool[np.ndarray, " time"] = self._is_ordinary[tokens]
        words = np.arange(len(tokens)) if groups is None else groups
        possible = np.unique(words[may_be_chosen])
        if not len(possible):
            return may_be_chosen
        is_chosen = random.random(int(words.max()) + 1) < self.settings.mlm_probability  # (words,)
        if not is_chosen[possible].any():
            is_chosen[random.choice(possible)] = True
        return may_be_chosen & is_chosen[words]
