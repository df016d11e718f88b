"""The files that scoring writes: choices.json with the calibration, and results.json with scores,
intervals, baselines and provenance.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from seqlab.core.errors import RunError, UsageError, nearest
from seqlab.core.files import write_whole
from seqlab.metrics.score import Score, describe_scores
from seqlab.pages.sections.base import ReportSection, section_from_json
from seqlab.runs.folder.layout import CHOICES, RESULTS
from seqlab.runs.folder.manifest import Manifest, read_manifest, score_again, verify_scored
from seqlab.runs.folder.parse_results import parse_results
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.codec import Codec
from seqlab.tokens.untrusted_json import read_json_object

if TYPE_CHECKING:  # reading a run needs no evaluation
    from seqlab.tasks.evaluation import Evaluation

FORMAT = 2
BEST_FIRST = ("test", "valid")


class UnknownScore(UsageError, KeyError):
    """A run has no score of this name."""


@dataclass(frozen=True)
class Results(Mapping[str, Score]):
    """Scores by name (of the test split if there is one), with everything else in `raw`."""

    raw: dict[str, Any]

    @property
    def split(self) -> str:
        """The split whose scores are shown; empty if nothing was scored, as for imported weights."""
        return next((name for name in BEST_FIRST if name in self.raw["splits"]), "")

    @property
    def scores(self) -> dict[str, Score]:
        entries = self.raw["splits"][self.split]["scores"] if self.split else []
        return {entry["name"]: Score.from_json(entry) for entry in entries}

    @property
    def sections(self) -> list[ReportSection]:
        """The report sections of the evaluation; unknown kinds are skipped."""
        entries = self.raw["splits"][self.split]["sections"] if self.split else {}
        return [
            section
            for kind, value in entries.items()
            if (section := section_from_json(kind, value)) is not None
        ]

    def __getitem__(self, name: str) -> Score:
        scores = self.scores
        if name not in scores:
            raise UnknownScore(f"there is no score called '{name}'.", cure=nearest(name, scores))
        return scores[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.scores)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return describe_scores(self.split, self.values())


def write_results(
    folder: Path,
    evaluations: list[Evaluation],
    *,
    training: dict[str, Any],
    provenance: dict[str, Any],
    warnings: list[str],
    data: dict[str, Any] | None = None,
) -> Results:
    raw = {
        "format": FORMAT,
        "name": folder.name,
        "splits": {
            evaluation.split: {
                "scores": [score.as_json() for score in evaluation.scores],
                "sections": evaluation.sections_as_json(),
            }
            for evaluation in evaluations
        },
        "training": training,
        "provenance": provenance,
        "data": data or {},
        "warnings": warnings,
    }
    write_whole(folder / RESULTS, json.dumps(raw, indent=1, ensure_ascii=False, allow_nan=False))
    return Results(raw)


def read_results(folder: Path) -> Results:
    path = folder / RESULTS
    manifest = read_manifest(folder)
    if not path.is_file() or RESULTS not in manifest.files:
        raise RunError(
            "the run has no results yet.",
            where=str(folder),
            cure=f"Finish it: seqlab train --resume {folder}",
        )
    verify_scored(folder, RESULTS, manifest)
    try:
        results = Results(parse_results(path.read_text(encoding="utf-8")))
        for score in results.values():
            score.describe()  # fails if a number has the wrong type
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise RunError("the results cannot be read.", where=str(path), cure=score_again(folder)) from error
    return results


def provenance(*, seed: int, device: torch.device, data: dict[str, str]) -> dict[str, Any]:
    """Return what is needed to reproduce the results."""
    return {
        "seqlab": version("seqlab"),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cpu": torch.backends.cpu.get_cpu_capability(),
        "device": str(device),
        "threads": torch.get_num_threads(),
        "seed": seed,
        "data": data,
        "created": time.strftime("%Y-%m-%d %H:%M:%S %z"),
    }


LARGEST_FILE = 10_000_000


def write_calibration(folder: Path, calibration: Calibration, manifest: Manifest) -> None:
    """Write choices.json, or remove it if the task chose nothing."""
    if choices := calibration.to_json():
        write_whole(
            folder / CHOICES,
            json.dumps(
                {"run": manifest.run_id, "choices": choices}, ensure_ascii=False, indent=1, allow_nan=False
            ),
        )
    else:
        (folder / CHOICES).unlink(missing_ok=True)


def read_calibration(folder: Path, kind: type[Calibration], codec: Codec, manifest: Manifest) -> Calibration:
    """Read the choices of a run with a verified manifest; the defaults if the manifest lists none."""
    path = folder / CHOICES
    if CHOICES not in manifest.files:
        return kind()
    content = read_json_object(path, largest=LARGEST_FILE)
    if content.get("run") != manifest.run_id:
        raise RunError("the choices belong to another run.", where=str(path), cure=score_again(folder))
    choices = content.get("choices")
    try:
        if not isinstance(choices, dict):
            raise ValueError("there are none")
        return kind.from_json(choices, codec)
    except ValueError as error:
        raise RunError(
            f"the choices are invalid: {error}.", where=str(path), cure=score_again(folder)
        ) from error
