"""Parts of the data, and blocks of a text that models with different tokens share."""

from __future__ import annotations

import math

import numpy as np
import pytest

from seqlab.metrics.items import mean_items
from seqlab.metrics.paired_tests import paired_bootstrap
from seqlab.metrics.slices import (
    assign_groups,
    parts_of_items,
    parts_within_items,
    quartile_edges,
    range_labels,
    slice_scores,
)
from seqlab.metrics.token_stream import TokenStream


def test_every_part_has_its_own_score_and_count() -> None:
    right, lengths = np.tile([1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 5), np.tile(np.arange(1, 9), 5)
    groups = assign_groups(lengths, quartile_edges(lengths))
    (found,) = slice_scores(
        "length",
        score="accuracy",
        unit="rows",
        parts=parts_of_items(mean_items(right), groups, range_labels(lengths, groups)),
    )
    assert [(part.name, part.count, part.value) for part in found.parts] == [
        ("1–2", 10, 1.0),
        ("3–4", 10, 0.5),
        ("5–6", 10, 0.0),
        ("7–8", 10, 0.5),
    ]
    assert all(
        part.low is not None and part.high is not None and part.low <= part.value <= part.high
        for part in found.parts
    )


def test_a_part_of_few_items_has_a_score_without_an_interval() -> None:
    parts = parts_of_items(mean_items(np.ones(14)), np.arange(14) // 10, {0: "many", 1: "few"})
    many, few = slice_scores("length", score="s", unit="rows", parts=parts)[0].parts
    assert many.low == pytest.approx(0.025 ** (1 / 10))
    assert few.low is None


def test_one_part_alone_says_nothing_and_is_left_out() -> None:
    assert (
        slice_scores(
            "length",
            score="s",
            unit="rows",
            parts=parts_of_items(mean_items(np.ones(3)), np.zeros(3, int), {0: "all"}),
        )
        == []
    )
    parts = parts_within_items(
        lambda inside: mean_items(np.ones(3)[inside]), np.array([0, 2, 2]), {0: "never", 1: "once", 2: "more"}
    )
    assert [part.name for part in slice_scores("times", score="s", unit="words", parts=parts)[0].parts] == [
        "never",
        "more",
    ]


def test_bits_per_character_of_blocks_add_up_to_those_of_the_text() -> None:
    generator = np.random.default_rng(0)
    log_probs, lengths = -generator.random(3000), generator.integers(1, 6, size=3000)
    stream = TokenStream.from_log_probs(log_probs, lengths, characters=9000)
    whole = -log_probs.sum() / math.log(2) / 9000
    assert stream.items()["bits_per_character"].full_score() == pytest.approx(whole)
    assert stream.items()["perplexity"].full_score() == pytest.approx(math.exp(-log_probs.mean()))
    assert stream.character_items(num_characters=9000).full_score() == pytest.approx(whole)


@pytest.mark.parametrize(
    ("num_tokens", "size", "num_blocks"), [(20_000, 512, 40), (3000, 150, 20), (300, 32, 10), (20, 32, 1)]
)
def test_a_short_text_has_shorter_blocks_so_that_there_are_enough_to_draw(
    num_tokens: int, size: int, num_blocks: int
) -> None:
    stream = TokenStream.from_log_probs(-np.ones(num_tokens), np.ones(num_tokens), characters=num_tokens)
    assert (stream.block_size, stream.items()["perplexity"].num_items, stream.blocks[-1] + 1) == (
        size,
        num_blocks,
        num_blocks,
    )
    assert (
        stream.character_items(num_characters=4 * num_tokens).num_items == num_blocks
    )  # four characters stand for a token


def test_models_with_other_tokens_are_compared_on_the_same_blocks_of_text() -> None:
    """Letters at 1 bit each against words of five letters at 4 bits each: 0.2 bits per letter better, in
    every block.
    """
    letters = TokenStream.from_log_probs(np.full(10_000, -math.log(2)), np.ones(10_000), characters=10_000)
    words = TokenStream.from_log_probs(np.full(2000, -4 * math.log(2)), np.full(2000, 5), characters=10_000)
    first, second = (
        letters.character_items(num_characters=10_000),
        words.character_items(num_characters=10_000),
    )
    assert first.num_items == second.num_items == 20
    found = paired_bootstrap([first], [[second]], higher_is_better=False)[0]
    assert (found.value, found.low, found.high) == pytest.approx((0.2, 0.2, 0.2))
    assert found.is_significant
