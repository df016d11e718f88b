"""Captions word by word: probabilities that add up, the likeliest words by brute force, and candidates in order."""

from __future__ import annotations

import itertools
import math

import pytest
import torch
from torch import Tensor, nn

from seqlab.decoding.captions import candidate_captions, write_captions
from seqlab.decoding.settings import DecodingSettings
from seqlab.models.captioner import Captioner, build_captioner
from seqlab.models.region_network import RegionNetwork
from seqlab.studies.small_models import cell_maker

START, END, NUM_WORDS = 0, 1, 5
VIEWS = ["state", "first_input", "attention"]


def captioner(view: str, *, cell: str = "lstm", score: str = "additive") -> Captioner:
    torch.manual_seed(8)
    network = RegionNetwork(channels=2, hidden_size=7, square=2, rows=2, columns=3)
    model = build_captioner(network, cell_maker(cell), num_words=NUM_WORDS, num_regions=6, word_size=3, hidden_size=7, view=view, score=score)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.7)
    return model.double().eval()


def pictures(batch: int) -> Tensor:
    return torch.randn(batch, 2, 4, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


def log_prob(model: Captioner, picture: Tensor, words: list[int]) -> float:
    """Of the words and the end token, from one run over the whole caption."""
    logits, _ = model(picture.unsqueeze(0), torch.tensor([[START, *words]]))
    return sum(logits[0].log_softmax(dim=-1)[place, word].item() for place, word in enumerate([*words, END]))


@pytest.mark.spec(176)
@pytest.mark.parametrize("view", VIEWS)
def test_greedy_words_are_the_likeliest_after_the_words_before(view: str) -> None:
    model = captioner(view)
    settings = DecodingSettings(temperature=0, max_tokens=6)
    for picture, caption in zip(pictures(3), write_captions(model, pictures(3), settings, start_id=START, end_id=END), strict=True):
        words: list[int] = []
        while len(words) < 6:
            logits, _ = model(picture.unsqueeze(0), torch.tensor([[START, *words]]))
            best = max(range(1, NUM_WORDS), key=lambda word: logits[0, -1, word].item())  # the start token is never chosen
            if best == END:
                break
            words.append(best)
        assert caption.words == words
        assert caption.ended == (len(words) < 6)


@pytest.mark.spec(176)
@pytest.mark.parametrize("view", VIEWS)
def test_a_drawn_caption_carries_its_own_log_probability(view: str) -> None:
    model = captioner(view)
    settings = DecodingSettings(temperature=1.3, max_tokens=30, seed=5)
    found = write_captions(model, pictures(4), settings, start_id=START, end_id=END)
    assert any(caption.ended and caption.words for caption in found)
    for picture, caption in zip(pictures(4), found, strict=True):
        if caption.ended:
            assert caption.log_prob == pytest.approx(log_prob(model, picture, caption.words), abs=1e-9)
            assert len(caption.alignments) == (len(caption.words) + 1 if view == "attention" else 0)


@pytest.mark.spec(176)
def test_draws_follow_the_probabilities_of_whole_captions() -> None:
    """All captions of at most two words, their shares counted, against the products of their probabilities."""
    model = captioner("attention")
    picture = pictures(1)[0]
    draws = 4000
    found = write_captions(
        model, picture.expand(draws, -1, -1, -1), DecodingSettings(temperature=1.0, max_tokens=3, seed=2), start_id=START, end_id=END
    )
    logits, _ = model(picture.unsqueeze(0), torch.tensor([[START]]))
    allowed = 1 - logits[0, -1].softmax(dim=-1)[START].item()  # the start token is left out and the rest scaled up
    for words in [[], *([word] for word in range(2, NUM_WORDS))]:
        share = sum(caption.ended and caption.words == words for caption in found) / draws
        expected = math.exp(log_prob(model, picture, words)) / allowed
        for place in range(1, len(words) + 1):
            before, _ = model(picture.unsqueeze(0), torch.tensor([[START, *words[:place]]]))
            expected /= 1 - before[0, -1].softmax(dim=-1)[START].item()
        assert share == pytest.approx(expected, abs=4 * math.sqrt(expected / draws) + 1e-3)


@pytest.mark.spec(176)
def test_candidates_are_different_and_the_likeliest_comes_first() -> None:
    model = captioner("state")
    settings = DecodingSettings(temperature=1.0, max_tokens=2, seed=3)
    found = candidate_captions(model, pictures(1)[0], settings, num_draws=500, start_id=START, end_id=END)
    assert len({tuple(caption.words) for caption in found if caption.ended}) == sum(caption.ended for caption in found)
    assert [caption.log_prob for caption in found] == sorted((caption.log_prob for caption in found), reverse=True)
    ended = [[], *([word] for word in range(2, NUM_WORDS))]
    best = max(ended, key=lambda words: log_prob(model, pictures(1)[0], words))
    assert next(caption.words for caption in found if caption.ended) == best


def test_the_seed_decides_and_a_picture_alone_gives_what_it_gives_in_a_batch() -> None:
    model = captioner("attention")
    settings = DecodingSettings(temperature=0, max_tokens=7)
    together = write_captions(model, pictures(3), settings, start_id=START, end_id=END, never_ids=[2])
    for row in range(3):
        (alone,) = write_captions(model, pictures(3)[row : row + 1], settings, start_id=START, end_id=END, never_ids=[2])
        assert alone.words == together[row].words
        assert alone.log_prob == pytest.approx(together[row].log_prob)
        assert 2 not in alone.words
    drawn = [
        [caption.words for caption in write_captions(model, pictures(3), settings.model_copy(update=change), start_id=START, end_id=END)]
        for change in itertools.chain([{"temperature": 2.0, "seed": seed} for seed in (1, 1, 2)])
    ]
    assert drawn[0] == drawn[1] != drawn[2]
