"""From logits to tags: whatever stands beside a sentence in its batch, its own answers stay."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import nn

from seqlab.blocks.crf import CRF
from seqlab.blocks.words_first import words_first
from seqlab.losses.tag_loss import TagLoss
from seqlab.tasks.tagging.tag_decoding import decode_tags

IS_WORD = torch.tensor([[True, True, True], [True, False, True], [False, True, False]])
"""A sentence without a gap that is as long as the batch, and two whose words are not the first steps."""


class Tagger(nn.Module):
    """Nothing but the chain of a tagger."""

    def __init__(self, *, has_chain: bool) -> None:
        super().__init__()
        self.crf = CRF(5) if has_chain else None
        for parameter in self.parameters():
            nn.init.normal_(parameter)


def test_words_are_moved_to_the_front_row_by_row() -> None:
    values = torch.tensor([[10, 11, 12], [20, 21, 22], [30, 31, 32]])
    wanted = [
        [value for value, is_word in zip(*row, strict=True) if is_word]
        for row in zip(values.tolist(), IS_WORD.tolist(), strict=True)
    ]
    found = words_first(values, IS_WORD)
    assert [row[: len(own)] for row, own in zip(found.tolist(), wanted, strict=True)] == wanted
    assert words_first(IS_WORD, IS_WORD).tolist() == [
        [place < len(own) for place in range(3)] for own in wanted
    ]


@pytest.mark.spec(11)
@pytest.mark.parametrize("has_chain", [False, True])
def test_a_batch_equals_its_sentences_one_by_one(has_chain: bool) -> None:
    torch.manual_seed(5)
    model, logits, targets = (
        Tagger(has_chain=has_chain),
        torch.randn(3, 3, 5),
        torch.randint(5, (3, 3)).where(IS_WORD, -1),
    )
    rows = [slice(place, place + 1) for place in range(3)]
    with torch.inference_mode():
        together = decode_tags(model, logits, IS_WORD)
        for row, found in zip(rows, together, strict=True):
            (alone,) = decode_tags(model, logits[row], IS_WORD[row])
            assert found.tags.tolist() == alone.tags.tolist()
            assert found.log_probs == pytest.approx(alone.log_probs, abs=1e-5)
        alone = [TagLoss(targets[row], IS_WORD[row])(logits[row], model.crf) for row in rows]
        whole = TagLoss(targets, IS_WORD)(logits, model.crf)
        assert whole.total.item() == pytest.approx(sum(value.total.item() for value in alone), rel=1e-5)
        assert (
            whole.correct
            == sum(value.correct for value in alone)
            == ((logits.argmax(dim=-1) == targets) & IS_WORD).sum()
        )


def test_a_chain_answers_with_the_best_whole_sequence_and_not_with_the_best_tag_of_each_word() -> None:
    """Against the score of every sequence of tags, one after the other."""
    torch.manual_seed(2)
    model, differs = Tagger(has_chain=True), 0
    chain = model.crf
    assert chain is not None
    start, steps, end = chain.start.tolist(), chain.transitions.tolist(), chain.end.tolist()
    for _ in range(20):
        logits, is_word = torch.randn(1, 4, 5), torch.ones(1, 4, dtype=torch.bool)
        with torch.inference_mode():
            (decided,) = decode_tags(model, logits, is_word)
        scores = {
            tags: start[tags[0]]
            + sum(row[tag] for row, tag in zip(logits[0].tolist(), tags, strict=True))
            + sum(steps[before][after] for before, after in itertools.pairwise(tags))
            + end[tags[-1]]
            for tags in itertools.product(range(5), repeat=4)
        }
        best = max(scores, key=scores.__getitem__)
        assert tuple(decided.tags.tolist()) == best
        differs += tuple(decided.log_probs.argmax(axis=1).tolist()) != best
    assert differs > 3  # or the test would not tell the two apart
