"""Gates over a sentence, against the equations of the cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import seqlab
from seqlab.core.errors import UsageError
from seqlab.inspection.gate_activations import gate_activations, gate_heatmaps, write_gate_page
from seqlab.runs.run import Run
from tests.runs.saved_vocabulary import token_ids


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("gates")
    data = folder / "notes.csv"
    data.write_text(
        "text,label\n" + "".join(f"a {'low' if n % 2 else 'high'} note {n},{n % 2}\n" for n in range(60)),
        encoding="utf-8",
    )
    fixed = ("tokens.kind=words", "model.hidden_size=5", "model.embedding_size=3", "training.threads=1")
    return {
        name: seqlab.train(data, *fixed, model=name, steps=2, out=folder / name) for name in ("bilstm", "rnn")
    }


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def by_hand(run: Run, text: str) -> dict[tuple[bool, str], np.ndarray]:
    """Every gate of both directions at every word, (time, hidden): the LSTM in numpy, gates in torch's order."""
    weights = {name: value.detach().double().numpy() for name, value in run.model.state_dict().items()}
    words = weights["embed.weight"][token_ids(run.folder / "tokens", text.split())]
    values: dict[tuple[bool, str], np.ndarray] = {}
    for reverse, direction in ((False, "onward"), (True, "backward")):
        cell = f"backbone.stack.layers.0.{direction}.cell"
        hidden, memory, found = np.zeros(5), np.zeros(5), []
        for word in words[::-1] if reverse else words:
            sums = (
                weights[f"{cell}.input"] @ word
                + weights[f"{cell}.recurrent"] @ hidden
                + weights[f"{cell}.bias"]
            )
            input_gate, forget, candidate, output = sums.reshape(4, 5)
            found.append({"input": input_gate, "forget": forget, "output": output})
            memory = sigmoid(forget) * memory + sigmoid(input_gate) * np.tanh(candidate)
            hidden = sigmoid(output) * np.tanh(memory)
        for gate in ("input", "forget", "output"):
            in_order = [sigmoid(step[gate]) for step in (found[::-1] if reverse else found)]
            values[reverse, gate] = np.stack(in_order)
    return values


@pytest.mark.slow
@pytest.mark.spec(177)
def test_every_gate_has_its_value_at_every_word(runs: dict[str, Run], tmp_path: Path) -> None:
    run, text = runs["bilstm"], "a low note"
    gates = gate_activations(run, text)
    assert [(gate.layer, gate.reverse, gate.gate) for gate in gates] == [
        (1, reverse, name) for reverse in (False, True) for name in ("input", "forget", "output")
    ]
    assert gates[0].tokens == ["a", "low", "note"]
    expected = by_hand(run, text)
    for gate in gates:
        np.testing.assert_allclose(gate.values, expected[gate.reverse, gate.gate], rtol=1e-4, atol=1e-6)
    rows = list(expected.values())  # all differ, so none can be taken for another
    assert min(np.abs(one - other).max() for i, one in enumerate(rows) for other in rows[:i]) > 1e-3
    strips = gate_heatmaps(gates)
    assert [picture.title for picture in strips] == ["Open gates: layer 1", "Open gates: layer 1, backward"]
    for strip, reverse in zip(strips, (False, True), strict=True):
        assert [row.name for row in strip.rows] == ["input", "forget", "output"]
        for row in strip.rows:
            assert list(row.weights) == pytest.approx(expected[reverse, row.name].mean(axis=1), rel=1e-4)
    page = write_gate_page(gates, tmp_path / "gates.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    with pytest.raises(UsageError, match="a plain recurrent cell has no gates"):
        gate_activations(runs["rnn"], text)
