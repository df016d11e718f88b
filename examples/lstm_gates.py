"""Look inside an LSTM: how open each gate is at each character, as numbers and as a page."""

from __future__ import annotations

from pathlib import Path

import seqlab
from seqlab.inspection.gate_activations import GateActivations, gate_activations, write_gate_page


def main(
    *,
    data: str = "languages",
    steps: int = 300,
    text: str = "Ausländische Währungen",
    out: str = "runs/gates",
) -> tuple[list[GateActivations], Path]:
    run = seqlab.train(data, model="lstm", steps=steps, seed=1, out=out, threads=1)

    gates = gate_activations(run, text)
    for gate in gates:
        mean = gate.values.mean(axis=1)  # over the units, one value per character
        most = int(mean.argmax())
        print(
            f"{gate.layer_name}, {gate.gate} gate: mean {mean.mean():.2f}, most open at {gate.tokens[most]!r}"
        )

    page = write_gate_page(gates, Path(out) / "gates.html")
    print(f"page: {page}")
    return gates, page


if __name__ == "__main__":
    main()
