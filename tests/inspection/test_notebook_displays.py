"""What notebooks show: escaped, complete, without scripts or anything to load."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from torch import nn

from seqlab.inspection.attention_weights import LayerAttention
from seqlab.inspection.gate_activations import GateActivations
from seqlab.inspection.gates import gate_statistics
from seqlab.inspection.gradient_flow import gradient_flow
from seqlab.inspection.implicit_attention import implicit_attention
from seqlab.inspection.jacobians import jacobian_norms
from seqlab.inspection.memory_path import memory_path
from seqlab.inspection.order_sensitivity import OrderDistance
from seqlab.inspection.receptive_field import ReceptiveField, receptive_field
from seqlab.inspection.scalar_study import scalar_curve, scalar_trajectory
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


def test_gates_and_implicit_attention_show_every_step_and_a_summary() -> None:
    torch.manual_seed(0)
    unrolled = unroll(nn.GRU(3, 4), torch.randn(2, 5, 3))
    attention = implicit_attention(unrolled)
    html = attention._repr_html_()
    assert html.count("<tr>") == 1 + 5
    assert f"{attention.table()[4]['past']:.3f}" in html
    gate = gate_statistics(unrolled)[0]
    html = gate._repr_html_()
    assert html.count("<tr>") == 1 + 5
    assert f"mean {gate.mean:.3f}" in html
    assert f"{gate.over_time[4]:.3f}" in html
    assert f"{gate.num_values:,} values" in html


def test_a_receptive_field_shows_the_inputs_of_every_output() -> None:
    torch.manual_seed(0)
    field = receptive_field(nn.RNN(2, 3, batch_first=True), torch.randn(1, 4, 2))
    rows = field.table()
    assert [row["inputs"] for row in rows] == [1, 2, 3, 4] == field.widths
    assert {row["first"] for row in rows} == {0}
    assert [row["last"] for row in rows] == [0, 1, 2, 3]
    assert rows[3]["norm"] == field.mean[3].max() == field.mean[3, int(rows[3]["strongest"])]
    assert field._repr_html_().count("<tr>") == 1 + 4
    unconnected = ReceptiveField(np.zeros((1, 1, 2)))
    assert np.isnan(unconnected.table()[0]["first"])
    assert unconnected._repr_html_().count("<tr>") == 1 + 1


def test_scalars_and_distances_say_what_they_mean() -> None:
    html = scalar_curve(0.5, max_distance=3)._repr_html_()
    assert html.count("<tr>") == 1 + 4
    assert "vanishes" in html
    trajectory = scalar_trajectory(0.9, [0.1, 0.2])
    assert trajectory._repr_html_().count("<tr>") == 1 + 2
    assert f"{trajectory.derivatives[1]:.3f}" in trajectory._repr_html_()
    assert "0.250" in OrderDistance(0.5, 0.25)._repr_html_()
    assert OrderDistance(0.5, 0.25)._repr_html_() != OrderDistance(0.0, 0.0)._repr_html_()
