"""The loss of a tagger, computed inside its forward pass."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float, Int
from torch import Tensor

from seqlab.blocks.crf import CRF
from seqlab.blocks.words_first import words_first
from seqlab.losses.base import LossValue
from seqlab.losses.cross_entropy import token_cross_entropy
from seqlab.losses.distillation import SoftTargets


@dataclass(frozen=True)
class TagLoss:
    """-log P(tags | words), summed over the words or, with a CRF, over the sentences.

    The tagger calls it in its forward pass, which also uses the parameters of the CRF.

    is_word: the steps that are tagged. label_smoothing: without a CRF. soft_targets: the teacher's logits for
    every word.
    """

    targets: Int[Tensor, "batch time"]
    is_word: Bool[Tensor, "batch time"]
    label_smoothing: float = 0.0
    soft_targets: SoftTargets | None = None

    def __call__(self, logits: Float[Tensor, "batch time tags"], crf: CRF | None) -> LossValue:
        targets, is_word = self.targets, self.is_word
        if crf is None:
            total = token_cross_entropy(logits, targets, is_word, label_smoothing=self.label_smoothing)
        else:
            total = crf(
                words_first(logits, is_word).float(),
                words_first(targets, is_word),
                words_first(is_word, is_word),
            ).sum()
        if self.soft_targets is not None:
            total = self.soft_targets.mix(total, logits[is_word])
        return LossValue(total, ((logits.detach().argmax(dim=-1) == targets) & is_word).sum())
