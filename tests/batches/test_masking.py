"""Hiding tokens: which ones, behind what, and the same again whenever asked."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from seqlab.batches.masking import NO_TARGET, Masked, Masker
from seqlab.batches.settings import MaskingSettings
from seqlab.core.errors import RecipeError
from seqlab.recipes.read import check, override

VOCABULARY, SPECIALS, MASK_ID = 50, 4, 3
IS_ORDINARY = np.arange(VOCABULARY) >= SPECIALS


def masker(*, seed: int = 7, **settings: object) -> Masker:
    return Masker(
        MaskingSettings.model_validate(settings), mask_id=MASK_ID, is_ordinary=IS_ORDINARY, seed=seed
    )


def text(length: int, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, VOCABULARY, length)


def is_within(count: int, *, of: int, share: float) -> bool:
    """Within 4.5 standard deviations of a binomial count: beyond lie 7 in a million."""
    return abs(count - of * share) <= 4.5 * sqrt(of * share * (1 - share))


@pytest.mark.spec(170)
@pytest.mark.parametrize(
    ("share", "mask_replace_prob", "random_replace_prob"),
    [(0.15, 0.8, 0.1), (0.4, 0.5, 0.3), (0.1, 1.0, 0.0), (0.2, 0.25, 0.75)],
    ids=str,
)
def test_as_many_tokens_are_chosen_hidden_replaced_and_kept_as_the_shares_say(
    share: float, mask_replace_prob: float, random_replace_prob: float
) -> None:
    tokens = text(60_000)
    found = masker(
        mlm_probability=share, mask_replace_prob=mask_replace_prob, random_replace_prob=random_replace_prob
    ).mask(tokens, row=0, epoch=0)
    ordinary = int((tokens >= SPECIALS).sum())
    is_target = found.targets != NO_TARGET
    chosen = int(is_target.sum())
    hidden = int((found.inputs[is_target] == MASK_ID).sum())
    others = int(((found.inputs != tokens) & (found.inputs != MASK_ID)).sum())
    drawn_anew = random_replace_prob * (
        1 - 1 / int(IS_ORDINARY.sum())
    )  # by chance a token is replaced by itself
    assert is_within(chosen, of=ordinary, share=share)
    assert is_within(hidden, of=chosen, share=mask_replace_prob)
    assert is_within(others, of=chosen, share=drawn_anew)
    assert is_within(chosen - hidden - others, of=chosen, share=1 - mask_replace_prob - drawn_anew)


def test_only_chosen_tokens_change_and_the_targets_are_what_stood_there() -> None:
    tokens = text(5_000)
    found = masker(mlm_probability=0.3).mask(tokens, row=2, epoch=0)
    is_target = found.targets != NO_TARGET
    assert np.array_equal(found.inputs[~is_target], tokens[~is_target])
    assert np.array_equal(found.targets[is_target], tokens[is_target])
    assert (found.inputs != tokens).any()


def test_special_tokens_are_never_chosen_and_never_drawn() -> None:
    tokens = text(20_000)
    found = masker(mlm_probability=0.9, mask_replace_prob=0.1, random_replace_prob=0.9).mask(
        tokens, row=0, epoch=0
    )
    assert (found.targets[tokens < SPECIALS] == NO_TARGET).all()
    assert np.array_equal(found.inputs[tokens < SPECIALS], tokens[tokens < SPECIALS])
    drawn = found.inputs[(found.inputs != tokens) & (found.inputs != MASK_ID)]
    assert set(drawn.tolist()) == set(range(SPECIALS, VOCABULARY))  # and every ordinary one is


def test_special_tokens_may_stand_anywhere_in_the_vocabulary() -> None:
    is_ordinary = np.array([True, False, True, True, False])
    tokens = np.array([0, 1, 2, 3, 4] * 300)
    found = Masker(MaskingSettings(mlm_probability=0.5), mask_id=4, is_ordinary=is_ordinary, seed=1).mask(
        tokens, row=0, epoch=0
    )
    assert set(found.targets.tolist()) == {NO_TARGET, 0, 2, 3}
    assert set(found.inputs[found.inputs != tokens].tolist()) == {0, 2, 3, 4}


@given(st.lists(st.integers(0, 6), min_size=1, max_size=12), st.integers(0, 1000))
def test_a_sequence_with_an_ordinary_token_has_a_target_and_one_without_has_none(
    ids: list[int], row: int
) -> None:
    tokens = np.array(ids)
    found = masker(mlm_probability=0.01).mask(tokens, row=row, epoch=0)
    assert (found.targets != NO_TARGET).any() == (tokens >= SPECIALS).any()


def test_the_forced_target_of_a_short_sequence_may_be_any_of_its_tokens() -> None:
    tokens = np.array([9, 0, 8, 7])
    places = {
        int(
            np.flatnonzero(masker(mlm_probability=1e-9).mask(tokens, row=row, epoch=0).targets != NO_TARGET)[
                0
            ]
        )
        for row in range(60)
    }
    assert places == {0, 2, 3}


@pytest.mark.spec(170)
def test_whole_words_are_chosen_with_all_their_pieces() -> None:
    tokens = 4 + np.arange(30_000) % 40
    groups = np.random.default_rng(3).integers(0, 2, 30_000).cumsum()  # words of one piece and more
    groups -= groups[0]
    found = masker(mlm_probability=0.2, whole_word_mask=True).mask(tokens, row=0, epoch=0, groups=groups)
    is_target = found.targets != NO_TARGET
    first = np.r_[True, np.diff(groups) > 0]
    assert np.array_equal(is_target, is_target[first][groups])  # all pieces share the fate of the first
    assert is_within(int(is_target[first].sum()), of=int(groups[-1]) + 1, share=0.2)
    assert len(set(found.inputs[is_target].tolist())) > 2  # what stands in its place is drawn for each piece


def test_a_special_token_inside_a_chosen_word_stays() -> None:
    found = masker(mlm_probability=0.999, whole_word_mask=True).mask(
        np.array([9, 0, 8]), row=0, epoch=0, groups=np.array([0, 0, 0])
    )
    assert found.targets.tolist() == [9, NO_TARGET, 8]


def same(one: Masked, other: Masked) -> bool:
    return np.array_equal(one.inputs, other.inputs) and np.array_equal(one.targets, other.targets)


@pytest.mark.spec(172)
def test_dynamic_masks_are_new_in_every_epoch_and_static_ones_never() -> None:
    tokens = text(200)
    dynamic, static = masker(dynamic_masking=True), masker(dynamic_masking=False)
    assert not same(dynamic.mask(tokens, row=5, epoch=0), dynamic.mask(tokens, row=5, epoch=1))
    assert same(static.mask(tokens, row=5, epoch=0), static.mask(tokens, row=5, epoch=1))
    for either in (dynamic, static):
        assert not same(either.mask(tokens, row=5, epoch=0), either.mask(tokens, row=6, epoch=0))


@pytest.mark.spec(172)
def test_over_many_epochs_dynamic_masks_ask_about_every_token() -> None:
    tokens = text(40)
    dynamic = masker()
    asked = np.array(
        [dynamic.mask(tokens, row=0, epoch=epoch).targets != NO_TARGET for epoch in range(200)]
    ).mean(axis=0)
    assert (asked[tokens >= SPECIALS] > 0.05).all()
    assert is_within(round(asked.sum() * 200), of=200 * int((tokens >= SPECIALS).sum()), share=0.15)


def test_masks_depend_on_seed_epoch_and_row_and_on_nothing_else() -> None:
    tokens = text(100)
    before = masker().mask(tokens, row=3, epoch=2)
    np.random.seed(99)  # noqa: NPY002 - the global state is what must not matter
    torch.manual_seed(99)
    other = masker()
    other.mask(text(17), row=1, epoch=0)
    assert same(other.mask(tokens, row=3, epoch=2), before)
    assert not same(masker(seed=8).mask(tokens, row=3, epoch=2), before)


def test_masking_leaves_its_input_alone_and_takes_every_kind_of_integer() -> None:
    tokens = text(300).astype(np.uint8)
    before = tokens.copy()
    found = masker(mlm_probability=0.5).mask(tokens, row=0, epoch=0)
    assert np.array_equal(tokens, before)
    assert found.inputs.dtype == found.targets.dtype == np.int64
    assert same(found, masker(mlm_probability=0.5).mask(before.astype(np.int32), row=0, epoch=0))


def test_shares_that_are_more_than_all_are_refused_in_words() -> None:
    with pytest.raises(ValidationError):
        MaskingSettings(mask_replace_prob=0.8, random_replace_prob=0.3)
    with pytest.raises(RecipeError) as caught:
        check(
            override(
                {},
                [
                    "masked_language_model.mask_replace_prob=0.8",
                    "masked_language_model.random_replace_prob=0.3",
                    "masked_language_model.mlm_probability=1.5",
                ],
            ),
            where="my.toml",
        )
    assert "masked_language_model.mlm_probability: expected" in str(caught.value)
    assert "found 1.5" in str(caught.value)
    with pytest.raises(RecipeError) as caught:
        check(
            {
                "masked_language_model": {"mask_replace_prob": 0.8, "random_replace_prob": 0.3},
                "training": {"stepz": 3},
            },
            where="my.toml",
        )
    assert (
        "masked_language_model: mask_replace_prob and random_replace_prob add up to 1.1, more than 1. Lower one of them"
        in str(caught.value)
    )
    assert "training.stepz: no such setting." in str(caught.value)
    assert (
        MaskingSettings(mask_replace_prob=0.7, random_replace_prob=0.3).random_replace_prob == 0.3
    )  # rounding is no mistake
