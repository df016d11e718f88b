"""A clipping norm from the norms that were seen."""

from __future__ import annotations

import numpy as np
import pytest

from seqlab.core.errors import UsageError
from seqlab.training.clip_advice import suggest_clip


@pytest.mark.spec(91)
def test_the_suggestion_is_the_average_norm_and_says_how_often_it_would_clip() -> None:
    norms = [0.5, 0.25, 4.0, 0.75, 0.5]
    advice = suggest_clip(norms, limit=0.6)
    assert advice.average == pytest.approx(1.2)
    assert advice.suggestion == 1.2
    assert advice.suggested_share == pytest.approx(1 / 5)
    assert advice.clipped_share == pytest.approx(2 / 5)
    assert (advice.num_norms, advice.median, advice.largest) == (5, 0.5, 4.0)


@pytest.mark.spec(91)
def test_percentiles_are_those_of_numpy() -> None:
    norms = np.random.default_rng(0).gamma(2.0, size=37).tolist()
    advice = suggest_clip(norms)
    assert list(advice.percentiles.values()) == pytest.approx(
        np.percentile(norms, list(advice.percentiles)).tolist()
    )


@pytest.mark.spec(91)
def test_the_sentence_names_average_limit_share_and_suggestion() -> None:
    assert (
        suggest_clip([1.0, 3.0] * 10, limit=2.0).sentence()
        == "average gradient norm 2; clip_norm 2 clipped 50% of the steps in the journal; suggestion:"
        " clip_norm 2, which would clip 50%"
    )
    assert "; nothing was clipped; " in suggest_clip([1.0, 3.0] * 10).sentence()


def test_a_few_norms_suggest_nothing() -> None:
    assert "suggestion" not in suggest_clip([0.41], limit=1.0).sentence()
    assert "suggestion" not in suggest_clip([0.41] * 19, limit=1.0).sentence()


def test_norms_that_are_not_finite_are_left_out_and_without_any_there_is_no_advice() -> None:
    assert suggest_clip([1.0, None, float("nan"), float("inf"), 3.0]).average == 2.0
    with pytest.raises(UsageError, match="no finite gradient norm"):
        suggest_clip([None, float("inf")])
