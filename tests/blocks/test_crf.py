"""A chain over tags against all sequences of tags, one by one."""

from __future__ import annotations

import math
from itertools import pairwise, product

import pytest
import torch
from torch import Tensor

from seqlab.blocks.crf import CRF

TAGS, WORDS = 3, 4
LENGTHS = (4, 1, 3)


@pytest.fixture
def chain() -> CRF:
    torch.manual_seed(5)
    made = CRF(TAGS).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_()
    return made


def batch() -> tuple[Tensor, Tensor]:
    torch.manual_seed(6)
    return torch.randn(len(LENGTHS), WORDS, TAGS, dtype=torch.float64), torch.arange(WORDS) < torch.tensor(
        LENGTHS
    )[:, None]


def every_path(chain: CRF, logits: Tensor) -> dict[tuple[int, ...], float]:
    """The score of each sequence of tags of one sentence, by plain sums."""
    start, steps, end = chain.start.tolist(), chain.transitions.tolist(), chain.end.tolist()
    scores = {}
    for path in product(range(TAGS), repeat=len(logits)):
        own = sum(float(logits[place, tag]) for place, tag in enumerate(path))
        scores[path] = start[path[0]] + own + sum(steps[a][b] for a, b in pairwise(path)) + end[path[-1]]
    return scores


@pytest.mark.spec(11)
def test_scores_partition_best_path_and_marginals_are_those_of_all_paths(chain: CRF) -> None:
    logits, is_word = batch()
    with torch.no_grad():
        partition, best, marginals = (
            chain.log_partition(logits, is_word),
            chain.viterbi_decode(logits, is_word),
            chain.log_marginals(logits, is_word).exp(),
        )
    for row, length in enumerate(LENGTHS):
        scores = every_path(chain, logits[row, :length])
        total = math.log(sum(map(math.exp, scores.values())))
        assert float(partition[row]) == pytest.approx(total)
        assert tuple(best[row, :length].tolist()) == max(scores, key=lambda path: scores[path])
        for place, tag in product(range(length), range(TAGS)):
            share = sum(math.exp(score - total) for path, score in scores.items() if path[place] == tag)
            assert float(marginals[row, place, tag]) == pytest.approx(share, abs=1e-12)
        path = tuple(range(length)) if length <= TAGS else (2, 0, 0, 1)
        tags = torch.zeros(len(LENGTHS), WORDS, dtype=torch.int64)
        tags[row, :length] = torch.tensor(path)
        with torch.no_grad():
            assert float(chain.score(logits, tags, is_word)[row]) == pytest.approx(scores[path])
            assert float(chain(logits, tags, is_word)[row]) == pytest.approx(total - scores[path])


def test_the_gradient_is_expected_minus_observed_counts(chain: CRF) -> None:
    logits, is_word = batch()
    logits.requires_grad_()
    tags = torch.tensor([[2, 0, 0, 1], [1, -1, -1, -1], [0, 1, 2, -1]])
    chain(logits, tags, is_word).sum().backward()
    own, pairs = torch.zeros_like(logits), torch.zeros(TAGS, TAGS, dtype=torch.float64)
    first, last = torch.zeros(TAGS, dtype=torch.float64), torch.zeros(TAGS, dtype=torch.float64)
    for row, length in enumerate(LENGTHS):
        scores = every_path(chain, logits.detach()[row, :length])
        total = math.log(sum(map(math.exp, scores.values())))
        counted = {path: math.exp(score - total) for path, score in scores.items()}
        observed = tuple(tags[row, :length].tolist())
        counted[observed] -= 1
        for path, share in counted.items():
            first[path[0]] += share
            last[path[-1]] += share
            for place, tag in enumerate(path):
                own[row, place, tag] += share
            for a, b in pairwise(path):
                pairs[a, b] += share
    assert logits.grad is not None
    torch.testing.assert_close(logits.grad, own)
    for found, wanted in ((chain.transitions.grad, pairs), (chain.start.grad, first), (chain.end.grad, last)):
        torch.testing.assert_close(found, wanted)


def test_padding_and_neighbours_change_nothing(chain: CRF) -> None:
    logits, is_word = batch()
    tags = torch.tensor([[2, 0, 0, 1], [1, 0, 0, 0], [0, 1, 2, 0]])
    for row, length in enumerate(LENGTHS):
        own, all_words = logits[row : row + 1, :length], is_word[row : row + 1, :length]
        torch.testing.assert_close(
            chain(own, tags[row : row + 1, :length], all_words)[0], chain(logits, tags, is_word)[row]
        )
        torch.testing.assert_close(
            chain.log_marginals(own, all_words)[0], chain.log_marginals(logits, is_word)[row, :length]
        )
        assert (
            chain.viterbi_decode(own, all_words)[0].tolist()
            == chain.viterbi_decode(logits, is_word)[row, :length].tolist()
        )


def test_without_transitions_every_word_decides_for_itself() -> None:
    chain = CRF(TAGS).double()
    logits, is_word = batch()
    torch.testing.assert_close(chain.log_marginals(logits, is_word)[is_word], logits.log_softmax(-1)[is_word])
    assert chain.viterbi_decode(logits, is_word)[is_word].tolist() == logits.argmax(-1)[is_word].tolist()
