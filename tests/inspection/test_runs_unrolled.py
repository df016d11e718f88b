"""Instruments for recurrent layers, given a trained run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import seqlab
from seqlab.core.errors import UsageError
from seqlab.inspection.attention_page import write_attention_page
from seqlab.inspection.attention_weights import attention_weights
from seqlab.inspection.gate_activations import gate_activations, write_gate_page
from seqlab.inspection.gates import gate_statistics
from seqlab.inspection.gradient_flow import gradient_flow
from seqlab.inspection.implicit_attention import implicit_attention
from seqlab.inspection.jacobians import jacobian_norms, jacobians
from seqlab.inspection.memory_path import memory_path
from seqlab.inspection.rnn_jacobian import norm_bound, rnn_jacobians
from seqlab.inspection.unroll import unroll
from seqlab.runs.run import Run

TEXT = "two  small dogs"


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("pairs")
    pairs = [{"en": f"two small dogs {n}", "de": f"zwei kleine Hunde {n}"} for n in range(40)]
    columns: dict[str, Any] = {"source": "en", "target": "de"}
    return seqlab.train(
        pairs, "tokens.kind=characters", task="translation", model="gru", hidden_size=6, steps=1,
        out=folder / "run", verbose=False, **columns,
    )  # fmt: skip


@pytest.fixture(scope="module")
def convolutional(tmp_path_factory: pytest.TempPathFactory) -> Run:
    rows = [{"text": f"word {n}", "label": "ab"[n % 2]} for n in range(40)]
    return seqlab.train(rows, model="cnn", steps=1, out=tmp_path_factory.mktemp("cnn") / "run", verbose=False)


@pytest.mark.slow
def test_the_gates_of_a_translator_are_those_of_its_encoder(translator: Run, tmp_path: Path) -> None:
    gates = gate_activations(translator, TEXT)
    assert [gate.gate for gate in gates] == ["reset", "update"]
    assert gates[0].values.shape == (len(gates[0].tokens), 6)
    weights = {name: value.double().numpy() for name, value in translator.model.state_dict().items()}
    cell = "encoder.stack.layers.0.cell"
    first = weights["embed_source.weight"][translator.codec.encode([TEXT])[0][0]]
    sums = weights[f"{cell}.input"] @ first + weights[f"{cell}.bias"]  # the hidden state before it is zero
    np.testing.assert_allclose(gates[0].values[0], 1 / (1 + np.exp(-sums[:6])), rtol=1e-4)
    page = write_gate_page(gates, tmp_path / "gates.html").read_text(encoding="utf-8")
    assert f'<p class="subtitle">{TEXT}</p>' in page


@pytest.mark.slow
def test_the_subtitle_of_an_attention_page_is_the_text(translator: Run, tmp_path: Path) -> None:
    page = write_attention_page(attention_weights(translator, TEXT), tmp_path / "attention.html")
    assert f'<p class="subtitle">{TEXT}</p>' in page.read_text(encoding="utf-8")


@pytest.mark.slow
def test_a_run_is_unrolled_over_a_text(translator: Run) -> None:
    unrolled = unroll(translator, TEXT)
    ids = torch.from_numpy(translator.codec.encode([TEXT])[0]).long().unsqueeze(0)
    embedded = translator.model.get_submodule("embed_source")(ids)
    features, _ = translator.model.get_submodule("encoder")(embedded, torch.ones_like(ids, dtype=torch.bool))
    torch.testing.assert_close(unrolled.outputs, features)
    assert len(gradient_flow(unrolled)[0].table()) == ids.shape[1]


@pytest.mark.slow
@pytest.mark.parametrize(
    "instrument",
    [
        gradient_flow, gate_statistics, jacobians, jacobian_norms, memory_path, implicit_attention, norm_bound,
        rnn_jacobians,
    ],
    ids=lambda instrument: instrument.__name__,
)  # fmt: skip
def test_an_instrument_that_is_given_a_run_says_to_unroll_it(
    translator: Run, instrument: Callable[[Any], Any]
) -> None:
    with pytest.raises(UsageError, match="Run") as error:
        instrument(translator)
    assert "unroll(run, text)" in str(error.value)


@pytest.mark.slow
@pytest.mark.parametrize("instrument", [unroll, gate_activations])
def test_a_run_without_recurrent_layers_is_named(convolutional: Run, instrument: Any) -> None:
    with pytest.raises(UsageError, match="convolutional") as error:
        instrument(convolutional, TEXT)
    assert 'model="gru"' in str(error.value)
    assert "--model gru" in error.value.message
