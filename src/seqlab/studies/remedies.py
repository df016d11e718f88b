"""Three remedies for vanishing gradients, one at a time: activation, initialization, architecture."""

from __future__ import annotations

from statistics import mean

from seqlab.blocks.recurrent import CellFactory
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.cue_and_question import NUM_CUES, RecallTask
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.recall import RecallConfig, recall_accuracy

VARIANTS: dict[str, tuple[str, CellFactory]] = {
    "tanh, default init": ("none", cell_maker("rnn")),
    "relu, default init": ("activation", cell_maker("rnn", activation="relu")),
    "tanh, orthogonal init": ("initialization", cell_maker("rnn", initialization="orthogonal")),
    "relu, identity init": (
        "activation and initialization",
        cell_maker("rnn", initialization="identity", activation="relu"),
    ),
    "orthogonal_rnn": ("architecture: the matrix stays orthogonal", cell_maker("orthogonal_rnn")),
    "lstm, open forget gate": ("architecture: gates", cell_maker("lstm", keep_bias=5.0)),
    "gru, open update gate": ("architecture: gates", cell_maker("gru", keep_bias=4.0)),
}
BASE = "tanh, default init"
QUICK_VARIANTS = (
    BASE,
    "relu, default init",
    "tanh, orthogonal init",
    "relu, identity init",
    "lstm, open forget gate",
)
FULL = RecallConfig(gaps=(10, 20, 40), steps=200, cells=tuple(VARIANTS))
QUICK = RecallConfig(gaps=(40,), steps=150, cells=QUICK_VARIANTS)


@studies.register("remedies")
def remedies(*, seed: int, quick: bool) -> Finding:
    """Recall over a long gap with each remedy, all else being equal."""
    config = QUICK if quick else FULL
    seeds = (seed,) if quick else (seed, seed + 1)
    rows: list[dict[str, Value]] = []
    for name in config.cells:
        remedy, make_cell = VARIANTS[name]
        scores = {
            gap: mean(
                recall_accuracy(make_cell, RecallTask(gap), config, seed=run_seed) for run_seed in seeds
            )
            for gap in config.gaps
        }
        rows.append(
            {"network": name, "remedy": remedy, **{f"gap {gap}": score for gap, score in scores.items()}}
        )
    longest = f"gap {config.gaps[-1]}"
    helped = [str(row["network"]) for row in rows[1:] if float(row[longest]) > float(rows[0][longest]) + 0.25]
    series = [
        LineSeries(str(row["network"]), config.gaps, [float(row[f"gap {gap}"]) for gap in config.gaps])
        for row in rows
    ]
    return Finding(
        claim=(
            "A different activation, a different initialization, or gates: each helps gradients reach"
            " far back."
        ),
        conclusion=(
            f"Over {config.gaps[-1]} steps, the plain RNN is right in {float(rows[0][longest]):.0%} of"
            f" all cases. Clearly better: {'; '.join(helped) or 'none'}."
        ),
        rows=rows,
        curves=[
            LineChart(
                "Recall with each remedy",
                "gap",
                "accuracy",
                series,
                references=[ReferenceLine("chance", 1 / NUM_CUES)],
            )
        ],
        notes=[
            (
                f"{config.steps} updates on {config.batch_size} sequences each, {config.hidden_size}"
                f" units; mean of {len(seeds)} runs."
            )
        ],
    )
