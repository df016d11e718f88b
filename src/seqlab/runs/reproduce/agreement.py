"""Compare two runs of the same recipe: weights, losses, scores and environment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seqlab.core.git_state import GitState
from seqlab.runs.folder.layout import JOURNAL, WEIGHTS
from seqlab.runs.run import Run
from seqlab.training.checkpoints.tensor_digest import digest_of_tensors
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.journal import read_journal

ROUNDING = 1e-4
"""Maximum relative difference that counts as rounding: the precision that seqlab prints."""
PLACES = ("seqlab", "torch", "numpy", "python", "system", "cpu", "device", "threads", "seed")
"""Facts of the environment on which the last bits of a result depend."""
LOSSES = {"step": "loss", "validated": "valid_loss"}


@dataclass(frozen=True)
class Reproduction:
    """The comparison of a run and its repetition. Differences are relative to the larger value; 0 means
    identical.
    """

    original: Path
    run: Run
    digests: tuple[str, str]
    """SHA-256 of the weights of the original and the repetition."""
    weight_difference: float
    """Largest difference of any weight, relative to the largest weight in its tensor."""
    compared_losses: int
    loss_difference: float
    scores: Mapping[str, tuple[float, float]]
    """The scores of the original and the repetition by name, on the reported split."""
    places: Mapping[str, tuple[Any, Any]]
    """Versions and machine properties that differ."""
    git: tuple[GitState | None, GitState | None]
    """The git commits of the working directories of the two runs; None outside a repository."""
    settings: Mapping[str, tuple[Any, Any]]
    """Settings that differ, such as the path of data that was moved."""

    @property
    def is_identical(self) -> bool:
        """Whether the weights are bit-identical."""
        return self.digests[0] == self.digests[1]

    @property
    def score_difference(self) -> float:
        return max((relative_difference(*pair) for pair in self.scores.values()), default=0.0)

    @property
    def agrees(self) -> bool:
        """Whether weights, losses and scores are the same within rounding."""
        return max(self.weight_difference, self.loss_difference, self.score_difference) <= ROUNDING

    def to_json(self) -> dict[str, Any]:
        return {
            "original": str(self.original),
            "run": str(self.run.folder),
            "agrees": self.agrees,
            "bit_identical": self.is_identical,
            "weights_sha256": list(self.digests),
            "weight_difference": self.weight_difference,
            "loss_difference": self.loss_difference,
            "compared_losses": self.compared_losses,
            "scores": {name: list(pair) for name, pair in self.scores.items()},
            "places": {name: list(pair) for name, pair in self.places.items()},
            "git": [state.to_json() if state else None for state in self.git],
            "settings": {name: list(pair) for name, pair in self.settings.items()},
        }

    def __repr__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> list[str]:
        """Describe what agrees and what differs, one line each."""
        first, second = self.digests
        same = (
            "bit-identical"
            if self.is_identical
            else f"differ by up to {self.weight_difference:.1e} (relative)"
        )
        digests = f"sha256 {first[:16]}" + ("" if self.is_identical else f" and {second[:16]}")
        return [
            f"weights: {same}, {digests}",
            f"losses: {_describe(self.loss_difference)} ({self.compared_losses:,} values in the journal)",
            *(
                f"{name}: {before:.4f} and {after:.4f}, {_describe(relative_difference(before, after))}"
                for name, (before, after) in self.scores.items()
            ),
            *(f"{name} differs: {before}, now {after}" for name, (before, after) in self.settings.items()),
            *(f"{name} differs: {before}, now {after}" for name, (before, after) in self.places.items()),
            *self._git_line(),
            self.verdict,
        ]

    def _git_line(self) -> list[str]:
        before, after = self.git
        if before is None:
            return []
        return [
            f"git: {before.describe()}"
            if before == after
            else f"git differs: {before.describe()}, now {after.describe() if after else 'no commit'}"
        ]

    def _reasons(self) -> list[str]:
        """What else differs; uncommitted changes need not be the same ones."""
        before, after = self.git
        is_other_code = before is not None and (before != after or before.is_dirty)
        return [*self.settings, *self.places, *(["git"] if is_other_code else [])]

    @property
    def verdict(self) -> str:
        """One sentence: whether the result is the same, or why it may differ."""
        if self.agrees:
            how = "" if self.is_identical else ", within rounding"
            return f"Same seed, same result{how}."
        if reasons := self._reasons():
            return f"The result differs. Possible reasons: {', '.join(reasons)}."
        return "The result differs although recipe, data, versions and machine are the same: either a file was changed, or this is a bug in seqlab."


def compare_with(original: Run, repeated: Run) -> Reproduction:
    """Compare a run with its repetition."""
    weights, again = (read_weights(run.folder / WEIGHTS, verified=True) for run in (original, repeated))
    losses, losses_again = _losses(original), _losses(repeated)
    shared = losses.keys() & losses_again.keys()
    differences = [relative_difference(losses[place], losses_again[place]) for place in shared]
    is_missing = losses.keys() != losses_again.keys()
    results, results_again = original.results, repeated.results
    return Reproduction(
        original.folder,
        repeated,
        (digest_of_tensors(weights), digest_of_tensors(again)),
        weight_difference=_weight_difference(weights, again),
        compared_losses=len(shared),
        loss_difference=1.0 if is_missing else max(differences, default=0.0),
        scores={
            name: (score.value, results_again[name].value)
            for name, score in results.items()
            if name in results_again
        },
        places=_different(results.raw["provenance"], results_again.raw["provenance"], PLACES),
        git=(_git_of(original), _git_of(repeated)),
        settings=_different_settings(original, repeated),
    )


def relative_difference(first: float, second: float) -> float:
    """The difference as a share of the larger value; 1 if only one of them is finite.

    >>> relative_difference(2.0, 1.5), relative_difference(0.0, 0.0)
    (0.25, 0.0)
    """
    if first == second or (math.isnan(first) and math.isnan(second)):
        return 0.0
    if not (math.isfinite(first) and math.isfinite(second)):
        return 1.0
    return abs(first - second) / max(abs(first), abs(second))


def _weight_difference(weights: Mapping[str, Tensor], again: Mapping[str, Tensor]) -> float:
    """The largest relative difference; 1 if the networks do not have the same tensors."""
    if {name: tensor.shape for name, tensor in weights.items()} != {
        name: tensor.shape for name, tensor in again.items()
    }:
        return 1.0
    return max((_tensor_difference(tensor, again[name]) for name, tensor in weights.items()), default=0.0)


def _tensor_difference(first: Tensor, second: Tensor) -> float:
    if not first.numel() or torch.equal(first, second):
        return 0.0
    first, second = first.double(), second.double()
    largest = torch.maximum(first.abs(), second.abs()).max()
    return float((first - second).abs().max() / largest)


def _losses(run: Run) -> dict[tuple[str, int], float]:
    """Return every loss in the journal by event and step."""
    return {
        (event["event"], event["step"]): float(value)
        for event in read_journal(run.folder / JOURNAL)
        if (name := LOSSES.get(event["event"])) and isinstance(value := event.get(name), int | float)
    }


def _git_of(run: Run) -> GitState | None:
    return GitState.from_json(run.results.raw["provenance"].get("git"))


def _different(
    first: Mapping[str, Any], second: Mapping[str, Any], names: tuple[str, ...]
) -> dict[str, tuple[Any, Any]]:
    return {
        name: (first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)
    }


def _different_settings(original: Run, repeated: Run) -> dict[str, tuple[Any, Any]]:
    first, second = (_flat(run.recipe.model_dump()) for run in (original, repeated))
    return _different(first, second, tuple(first))


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return settings by dotted name."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return flat


def _describe(difference: float) -> str:
    if not difference:
        return "the same"
    return f"differ by up to {difference:.1e} (relative)"
