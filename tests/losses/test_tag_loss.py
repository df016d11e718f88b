"""The loss that a tagger computes in its forward pass, with and without a chain over the tags."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from seqlab.blocks.crf import CRF
from seqlab.losses.distillation import SoftTargets
from seqlab.losses.tag_loss import TagLoss

TAGS = 3
IS_WORD = torch.tensor([[True, False, True, True], [False, True, True, False]])


def example() -> tuple[torch.Tensor, torch.Tensor, CRF]:
    torch.manual_seed(6)
    crf = CRF(TAGS)
    for parameter in crf.parameters():
        nn.init.normal_(parameter)
    return torch.randn(2, 4, TAGS), torch.randint(TAGS, (2, 4)).where(IS_WORD, -1), crf


def test_without_a_chain_every_word_counts_for_itself() -> None:
    logits, targets, _ = example()
    value = TagLoss(targets, IS_WORD, label_smoothing=0.1)(logits, None)
    expected = F.cross_entropy(logits[IS_WORD], targets[IS_WORD], reduction="sum", label_smoothing=0.1)
    assert value.total.item() == pytest.approx(expected.item())
    assert value.correct == (logits.argmax(dim=-1) == targets)[IS_WORD].sum()


def test_with_a_chain_the_tags_of_a_sentence_compete_with_all_others() -> None:
    logits, targets, crf = example()
    expected = torch.zeros(())
    for row in range(2):
        words, truth = logits[row][IS_WORD[row]], tuple(targets[row][IS_WORD[row]].tolist())
        scores = {
            tags: crf.start[tags[0]]
            + sum(words[place, tag] for place, tag in enumerate(tags))
            + sum(crf.transitions[pair] for pair in itertools.pairwise(tags))
            + crf.end[tags[-1]]
            for tags in itertools.product(range(TAGS), repeat=len(words))
        }
        expected = expected + torch.stack(list(scores.values())).logsumexp(dim=0) - scores[truth]
    value = TagLoss(targets, IS_WORD)(logits, crf)
    assert value.total.item() == pytest.approx(expected.item(), rel=1e-5)
    assert value.correct == (logits.argmax(dim=-1) == targets)[IS_WORD].sum()
    parameters = list(crf.parameters())
    for found, true in zip(
        torch.autograd.grad(value.total, parameters), torch.autograd.grad(expected, parameters), strict=True
    ):
        torch.testing.assert_close(found, true, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("has_chain", [False, True])
def test_a_teacher_counts_by_its_share(has_chain: bool) -> None:
    logits, targets, crf = example()
    used = crf if has_chain else None
    taught = torch.randn(int(IS_WORD.sum()), TAGS)
    p, log_q = (taught / 2).softmax(dim=-1), (logits[IS_WORD] / 2).log_softmax(dim=-1)
    expected = 0.6 * TagLoss(targets, IS_WORD)(logits, used).total + 0.4 * 4 * (p * (p.log() - log_q)).sum()
    value = TagLoss(targets, IS_WORD, soft_targets=SoftTargets(taught, weight=0.4, temperature=2.0))(
        logits, used
    )
    assert value.total.item() == pytest.approx(expected.item(), rel=1e-5)
