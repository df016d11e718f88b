"""Gates over a sentence, against the equations of the cell."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import seqlab
from seqlab.core.errors import UsageError
from seqlab.inspection.gate_activations import gate_activations, gate_heatmaps, write_gate_page
from seqlab.models.recurrent import RecurrentBackbone
from seqlab.runs.run import Run


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


@pytest.mark.slow
@pytest.mark.spec(177)
def test_every_gate_has_its_value_at_every_word(runs: dict[str, Run], tmp_path: Path) -> None:
    run, text = runs["bilstm"], "a low note"
    gates = gate_activations(run, text)
    assert [(gate.layer, gate.reverse, gate.gate) for gate in gates] == [
        (1, reverse, name) for reverse in (False, True) for name in ("input", "forget", "output")
    ]
    assert gates[0].tokens == ["a", "low", "note"]
    body = run.model.get_submodule("body")
    assert isinstance(body, RecurrentBackbone)
    cell = body.stack.layers[0].onward.cell  # type: ignore[union-attr]  # both directions
    row = run.model.get_submodule("embed").weight[run.task.encode([text])[0][0]].detach()  # type: ignore[union-attr,index]  # a table
    first = (
        torch.sigmoid((cell.input @ row + cell.bias)[:5]).detach().numpy()
    )  # the input gate at the first word: the state is zero
    np.testing.assert_allclose(gates[0].values[0], first, rtol=1e-5)
    strips = gate_heatmaps(gates)
    assert [picture.title for picture in strips] == ["Open gates: layer 1", "Open gates: layer 1, backward"]
    assert strips[0].rows[1].weights == pytest.approx(gates[1].values.mean(axis=1).tolist())
    page = write_gate_page(gates, tmp_path / "gates.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    with pytest.raises(UsageError, match="a plain recurrent cell has no gates"):
        gate_activations(runs["rnn"], text)
