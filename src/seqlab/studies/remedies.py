"""Three remedies against vanishing gradients, one at a time: the activation, the start of the weights, the architecture."""

from __future__ import annotations

from statistics import mean

from seqlab.blocks.recurrent import MakeCell
from seqlab.pages.report_data import Curve, Reference, Series
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.cue_and_question import NUM_CUES, CueAndQuestion
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.recall import Sizes, accuracy_of

VARIANTS: dict[str, tuple[str, MakeCell]] = {
    "tanh, torch's start": ("none", cell_maker("rnn")),
    "relu, torch's start": ("activation", cell_maker("rnn", activation="relu")),
    "tanh, orthogonal start": ("initialisation", cell_maker("rnn", start="orthogonal")),
    "relu, identity start": ("activation and initialisation", cell_maker("rnn", start="identity", activation="relu")),
    "orthogonal_rnn": ("architecture: the matrix stays orthogonal", cell_maker("orthogonal_rnn")),
    "lstm, open forget gate": ("architecture: gates", cell_maker("lstm", remember=5.0)),
    "gru, open update gate": ("architecture: gates", cell_maker("gru", remember=4.0)),
}
BASE = "tanh, torch's start"
QUICK_VARIANTS = (BASE, "relu, torch's start", "tanh, orthogonal start", "relu, identity start", "lstm, open forget gate")
FULL = Sizes(gaps=(10, 20, 40), steps=200, cells=tuple(VARIANTS))
QUICK = Sizes(gaps=(40,), steps=150, cells=QUICK_VARIANTS)


@studies.register("remedies")
def remedies(*, seed: int, quick: bool) -> Finding:
    """Recall over a long gap with each remedy, everything else equal."""
    sizes = QUICK if quick else FULL
    seeds = (seed,) if quick else (seed, seed + 1)
    rows: list[dict[str, Value]] = []
    for name in sizes.cells:
        remedy, make_cell = VARIANTS[name]
        scores = {gap: mean(accuracy_of(make_cell, CueAndQuestion(gap), sizes, seed=each) for each in seeds) for gap in sizes.gaps}
        rows.append({"network": name, "remedy": remedy, **{f"gap {gap}": score for gap, score in scores.items()}})
    longest = f"gap {sizes.gaps[-1]}"
    helped = [str(row["network"]) for row in rows[1:] if float(row[longest]) > float(rows[0][longest]) + 0.25]
    series = [Series(str(row["network"]), sizes.gaps, [float(row[f"gap {gap}"]) for gap in sizes.gaps]) for row in rows]
    return Finding(
        claim="Another activation, another start of the weights, or gates: each helps gradients to reach far back.",
        found=f"Over {sizes.gaps[-1]} steps the plain network is right in {float(rows[0][longest]):.0%} of all cases. Clearly better: "
        f"{'; '.join(helped) or 'none'}.",
        rows=rows,
        curves=[Curve("Recall with each remedy", "gap", "accuracy", series, references=[Reference("chance", 1 / NUM_CUES)])],
        notes=[f"{sizes.steps} updates with {sizes.batch_size} sequences each, {sizes.hidden_size} units; mean of {len(seeds)} runs."],
    )
