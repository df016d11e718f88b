"""Facts about the data of a run for results.json and the model card: files, rows, labels, lengths, skipped
rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from seqlab.recipes.recipe import Recipe
from seqlab.sources.survey.report import PartSurvey, Survey

MOST_LABELS = 50
"""Maximum number of labels with row counts; tagging and multi-label data may have thousands."""


def describe_data(recipe: Recipe, survey: Survey, fingerprints: Mapping[str, str]) -> dict[str, Any]:
    """Return the facts about every split by name, as plain data."""
    return {
        name: {"file": _file_of(recipe, name), "fingerprint": fingerprints.get(name, ""), **_part_facts(part)}
        for name, part in survey.parts.items()
    }


def _file_of(recipe: Recipe, split: str) -> str:
    """The file name without its folders, which may contain personal information."""
    data = recipe.data
    path = {"train": data.train, "valid": data.valid, "test": data.test}.get(split, "")
    return Path(path or data.train).name


def _part_facts(part: PartSurvey) -> dict[str, Any]:
    by_count = sorted(part.labels.items(), key=lambda entry: (-entry[1], entry[0]))
    lengths = {"words": part.length_words, "characters": part.length_characters}
    return {
        "rows": part.rows,
        "characters": part.characters,
        "num_labels": len(by_count),
        "labels": dict(by_count[:MOST_LABELS]),
        "lengths": {unit: asdict(spread) for unit, spread in lengths.items() if spread is not None},
        "skipped": part.skipped,
    }
