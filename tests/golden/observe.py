"""Reads what a run wrote: the one place of the golden tests that knows the files and the results of
seqlab.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RENAMED: dict[str, str] = {}
"""Measures that seqlab calls by another name than the recorded files do: {its name: the recorded name}."""
NO_MEASURES = ("event", "time", "seconds", "epoch", "best", "step")


def training(run: Any) -> dict[str, Any]:
    """The curves and the final scores of a finished run."""
    events = _events(run.folder)
    steps = [event for event in events if event["event"] == "step"]
    validations = [event for event in events if event["event"] == "validated"]
    return {
        "losses": [event["loss"] for event in steps],
        "gradient_norms": [event["gradient_norm"] for event in steps],
        "learning_rates": [event["learning_rate"] for event in steps],
        "validations": [
            {"step": event["step"], "is_best": event["best"], **_measures(event)} for event in validations
        ],
        "scores": {split: _scores_of(part["scores"]) for split, part in run.results.raw["splits"].items()},
        "num_parameters": run.num_parameters,
    }


def scores(found: Iterable[Any]) -> dict[str, dict[str, float | None]]:
    """Scores that were computed later."""
    return _scores_of(score.as_json() for score in found)


def prediction(found: Any) -> dict[str, Any]:
    return {
        "answer": found.answer,
        "probability": found.probability,
        "ranking": [list(entry) for entry in found.ranking],
    }


def likelihood(found: Any) -> dict[str, Any]:
    return {"log_prob": found.log_prob, "tokens": [[token.token, token.log_prob] for token in found.tokens]}


def _events(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "journal.jsonl").read_text(encoding="utf-8").splitlines()]


def _measures(event: dict[str, Any]) -> dict[str, Any]:
    return {RENAMED.get(name, name): value for name, value in event.items() if name not in NO_MEASURES}


def _scores_of(entries: Iterable[dict[str, Any]]) -> dict[str, dict[str, float | None]]:
    return {
        RENAMED.get(entry["name"], entry["name"]): {
            key: entry[key] for key in ("value", "low", "high", "baseline")
        }
        for entry in entries
    }
