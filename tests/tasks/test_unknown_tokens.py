"""Inputs without a known token get one warning that says why their answers mean nothing."""

from __future__ import annotations

import pytest

from seqlab.core.errors import SeqlabWarning
from seqlab.tasks.inputs.unknown_tokens import warn_of_unknown


def test_an_empty_text_is_called_empty_and_not_unknown() -> None:
    with pytest.warns(SeqlabWarning, match="empty") as caught:
        warn_of_unknown([("", 1), ("  ", 1)], total=7)
    assert "unknown" not in str(caught[0].message)
    assert "2 of the 7 inputs" in str(caught[0].message)


def test_unknown_tokens_are_counted() -> None:
    with pytest.warns(SeqlabWarning, match=r"'ψφ': all 2 tokens are unknown"):
        warn_of_unknown([("ψφ", 2)], total=1)
