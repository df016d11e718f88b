from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.core.errors import DataError, RecipeError, RunError
from seqlab.tokens.numeric_steps import NumericSteps

NUMBERS = st.floats(-1e6, 1e6, allow_subnormal=False)
SEQUENCES = st.lists(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), max_size=5), min_size=1, max_size=6)


@given(SEQUENCES)
def test_mean_and_deviation_are_those_of_all_steps_together(
    sequences: list[list[tuple[float, float, float]]],
) -> None:
    together = np.array([step for sequence in sequences for step in sequence])
    if not len(together):
        return
    steps = NumericSteps.fit(sequences)
    np.testing.assert_allclose(steps.mean, together.mean(axis=0), rtol=1e-9, atol=1e-6)
    for feature in range(3):
        if (
            len(set(together[:, feature])) == 1 or together[:, feature].std() == 0
        ):  # constant, or too near to it for a square
            assert steps.scale[feature] == 1
        else:
            np.testing.assert_allclose(steps.scale[feature], together[:, feature].std(), rtol=1e-6, atol=1e-6)


def test_a_small_change_on_a_large_value_is_not_lost() -> None:
    values = [[1e9 + offset] for offset in (0.0, 1.0, 2.0, 3.0)]
    assert NumericSteps.fit([values[:1], values[1:]]).scale[0] == pytest.approx(np.sqrt(1.25))


def test_training_steps_have_mean_0_and_deviation_1_and_come_back() -> None:
    random = np.random.default_rng(5)
    sequences = [random.normal(3.0, 7.0, size=(length, 2)) for length in (4, 9, 1, 30)]
    steps = NumericSteps.fit(iter(sequences))
    encoded = np.concatenate([steps.encode(sequence) for sequence in sequences])
    assert encoded.dtype == np.float32
    np.testing.assert_allclose(encoded.mean(axis=0), 0, atol=1e-6)
    np.testing.assert_allclose(encoded.std(axis=0), 1, atol=1e-5)
    np.testing.assert_allclose(steps.decode(steps.encode(sequences[3])), sequences[3], rtol=1e-5, atol=1e-5)


def test_a_feature_that_never_changes_becomes_zero() -> None:
    steps = NumericSteps.fit([[[0.1, 1.0]] * 3, [[0.1, 2.0]] * 7])
    assert steps.scale[0] == 1
    np.testing.assert_allclose(steps.encode([[0.1, 1.7]]), [[0, 0]], atol=1e-6)


def test_a_plain_list_is_a_series_with_one_feature_and_no_steps_are_no_mistake() -> None:
    steps = NumericSteps.fit([[1.0, 3.0], []])
    assert steps.encode([1.0, 3.0, 5.0]).tolist() == [[-1.0], [1.0], [3.0]]
    assert steps.encode([]).shape == (0, 1)
    assert NumericSteps([0.0, 0.0], [1.0, 1.0]).encode([]).shape == (0, 2)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ([[1.0, 2.0, 3.0]], "found 3 features per step, expected 2"),
        ([1.0, 2.0], "found 1 features per step, expected 2"),
        ([[1.0, 2.0], [3.0]], "the same number of values"),
        ([["1", "x"]], "are not numeric"),
        ([[1.0, 2.0], [1.0, float("nan")]], "step 2, feature 2 is not a finite number"),
        ([[float("inf"), 2.0]], "step 1, feature 1 is not a finite number"),
        ([[[1.0, 2.0]]], "2 dimensions, expected 1"),
        ([[1e300, 0.0]], "too far from the values"),
        ([[10**400, 0]], "are not numeric"),
    ],
)
def test_steps_that_do_not_fit_are_refused_with_their_place(wrong: object, words: str) -> None:
    steps = NumericSteps([0.0, 0.0], [1.0, 1.0])
    with pytest.raises(DataError, match=words) as error:
        steps.encode(wrong, where="series 'a'")
    assert "series 'a'" in str(error.value)


def test_learning_says_which_sequence_does_not_fit() -> None:
    with pytest.raises(DataError, match="sequence 3: found 1 features per step, expected 2"):
        NumericSteps.fit([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0]]])
    with pytest.raises(DataError, match="there are no steps to train on"):
        NumericSteps.fit([[], []])
    with pytest.raises(DataError, match="feature 2 are too large"):
        NumericSteps.fit([[[1.0, 1e200], [2.0, -1e200]]])


def test_steps_survive_the_file(tmp_path: Path) -> None:
    steps = NumericSteps.fit([[[0.1, 1 / 3], [1e-30, 7e20]]])
    steps.save(tmp_path / "steps.json")
    again = NumericSteps.load(tmp_path / "steps.json")
    assert (again.mean.tolist(), again.scale.tolist()) == (steps.mean.tolist(), steps.scale.tolist())


@pytest.mark.parametrize(
    "content",
    [
        "[1]",
        '{"mean": [1], "scale": [0]}',
        '{"mean": [1], "scale": [1, 2]}',
        '{"mean": [NaN], "scale": [1]}',
        '{"mean": ["1"], "scale": [1]}',
        '{"mean": [], "scale": []}',
    ],
)
def test_a_damaged_file_is_refused(content: str, tmp_path: Path) -> None:
    (tmp_path / "steps.json").write_text(content)
    with pytest.raises(RunError, match=r"steps\.json: the file"):
        NumericSteps.load(tmp_path / "steps.json")


def test_pixels_of_a_channel_share_one_scale() -> None:
    rng = np.random.default_rng(3)
    pictures = [rng.normal(size=(height, 3, 2)) * [1.0, 5.0] + [0.0, 7.0] for height in (4, 2, 5)]
    for picture in pictures:
        picture[:, 0] = [0.0, 7.0]  # a border without ink
    steps = NumericSteps.fit_pixels([picture.reshape(len(picture), 6) for picture in pictures], channels=2)
    pixels = np.concatenate([picture.reshape(-1, 2) for picture in pictures])
    assert steps.mean.tolist() == pytest.approx(np.tile(pixels.mean(axis=0), 3).tolist())
    assert steps.scale.tolist() == pytest.approx(np.tile(pixels.std(axis=0), 3).tolist())
    with pytest.raises(
        RecipeError,
        match=r"model\.channels: a row of 6 numbers cannot be split into pixels of 4 channels\.",
    ):
        NumericSteps.fit_pixels([np.zeros((2, 6))], channels=4)
