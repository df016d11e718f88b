"""The recurrent body's own promises."""

from __future__ import annotations

import pytest

from seqlab.core.errors import RecipeError
from seqlab.models.recurrent import Recurrent
from seqlab.models.settings import RecurrentSettings


def test_reading_backwards_is_refused_where_the_future_is_asked_for() -> None:
    with pytest.raises(RecipeError) as caught:
        Recurrent.build(RecurrentSettings(bidirectional=True), causal=True)
    assert str(caught.value) == (
        "model.bidirectional: a bidirectional network sees the future that it is asked to predict.\n"
        "  Leave it false for this task; classification and tagging may read in both directions."
    )
    assert Recurrent.build(RecurrentSettings(bidirectional=True, hidden_size=3), causal=False).output_size == 6


def test_what_enters_is_as_wide_as_the_state_unless_said() -> None:
    assert Recurrent.build(RecurrentSettings(hidden_size=7), causal=True).input_size == 7
    assert Recurrent.build(RecurrentSettings(hidden_size=7, embedding_size=3), causal=True).input_size == 3
