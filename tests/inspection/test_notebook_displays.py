"""What notebooks show: escaped, complete, without scripts or anything to load."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from torch import nn

from seqlab.inspection.attention_weights import LayerAttention
from seqlab.inspection.gate_activations import GateActivations
from seqlab.inspection.gradient_flow import gradient_flow
from seqlab.inspection.jacobians import jacobian_norms
from seqlab.inspection.memory_path import memory_path
from seqlab.inspection.unroll import unroll
from seqlab.metrics.score import Score
from seqlab.studies.base import Finding
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.prediction import Prediction

HOSTILE = "<script>alert(1)</script>"
TOKENS = ["not", HOSTILE, "bad"]
RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    "shown",
    [
        Prediction(HOSTILE, HOSTILE, 0.5, [(HOSTILE, 0.5)]),
        Finding(HOSTILE, HOSTILE, [{HOSTILE: HOSTILE, "value": 1.5}], notes=[HOSTILE]),
        Evaluation(HOSTILE, [Score("accuracy", 0.5, 0.4, 0.6, 0.3, HOSTILE)], notes=[HOSTILE]),
        GateActivations(1, False, HOSTILE, TOKENS, RNG.random((3, 4)), HOSTILE),
        LayerAttention(HOSTILE, TOKENS, TOKENS, RNG.dirichlet(np.ones(3), size=(2, 3)), HOSTILE),
    ],
    ids=lambda shown: type(shown).__name__,
)
def test_text_of_users_is_escaped(shown: object) -> None:
    html = shown._repr_html_()  # type: ignore[attr-defined]
    assert HOSTILE not in html
    assert "script&" in html
    assert re.findall(r"(?:src|href)=.?https?:", html) == []


def test_numbers_of_an_unrolled_network_are_a_table_with_a_row_for_each_step() -> None:
    torch.manual_seed(0)
    unrolled = unroll(nn.LSTM(3, 4), torch.randn(2, 5, 3))
    flow = gradient_flow(unrolled)[0]
    assert flow._repr_html_().count("<tr>") == 1 + 5
    assert f"{flow.table()[4]['hidden']:.3f}" in flow._repr_html_()
    for shown in (jacobian_norms(unrolled, "memory"), memory_path(unrolled)):
        assert shown._repr_html_().count("<tr>") == 1 + len(shown.table())


def test_a_long_table_says_what_is_left_out() -> None:
    flow = gradient_flow(unroll(nn.RNN(2, 3), torch.randn(1, 40, 2)))[0]
    assert "the first 30 of 40 rows" in flow._repr_html_()
