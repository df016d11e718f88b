"""Parts of the data, and blocks of a text that models with different tokens share."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqlab.metrics.items import means
from seqlab.metrics.paired import compare_with
from seqlab.metrics.slices import by_item, cut, quarters, ranges, slices, within_items
from seqlab.metrics.stream import BLOCK, Stream


def test_every_part_has_its_own_score_and_count() -> None:
    right, lengths = np.array([1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]), np.array([1, 2, 3, 4, 5, 6, 7, 8])
    groups = cut(lengths, quarters(lengths))
    (found,) = slices("length", score="accuracy", unit="rows", parts=by_item(means(right), groups, ranges(lengths, groups)))
    assert [(part.name, part.count, part.value) for part in found.parts] == [("1–2", 2, 1.0), ("3–4", 2, 0.5), ("5–6", 2, 0.0), ("7–8", 2, 0.5)]
    assert all(part.low <= part.value <= part.high for part in found.parts)


def test_one_part_alone_says_nothing_and_is_left_out() -> None:
    assert slices("length", score="s", unit="rows", parts=by_item(means(np.ones(3)), np.zeros(3, int), {0: "all"})) == []
    parts = within_items(lambda inside: means(np.ones(3)[inside]), np.array([0, 2, 2]), {0: "never", 1: "once", 2: "more"})
    assert [part.name for part in slices("times", score="s", unit="words", parts=parts)[0].parts] == ["never", "more"]


def test_bits_per_character_of_blocks_add_up_to_those_of_the_text() -> None:
    generator = np.random.default_rng(0)
    log_probs, lengths = -generator.random(3000), generator.integers(1, 6, size=3000)
    stream = Stream.of(log_probs, lengths, characters=9000)
    whole = -log_probs.sum() / math.log(2) / 9000
    assert stream.items()["bits_per_character"].whole() == pytest.approx(whole)
    assert stream.items()["perplexity"].whole() == pytest.approx(math.exp(-log_probs.mean()))
    assert stream.items()["nats_per_token"].num_items == math.ceil(3000 / BLOCK)
    assert stream.by_characters(upto=9000, size=500).whole() == pytest.approx(whole)


def test_models_with_other_tokens_are_compared_on_the_same_blocks_of_text() -> None:
    """Letters at 1 bit each against words of five letters at 4 bits each: 0.2 bits per letter better, in every block."""
    letters = Stream.of(np.full(10_000, -math.log(2)), np.ones(10_000), characters=10_000)
    words = Stream.of(np.full(2000, -4 * math.log(2)), np.full(2000, 5), characters=10_000)
    first, second = letters.by_characters(upto=10_000, size=500), words.by_characters(upto=10_000, size=500)
    assert first.num_items == second.num_items == 20
    found = compare_with([first], [[second]], higher_is_better=False)[0]
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.2, 0.2))
    assert found.is_shown
