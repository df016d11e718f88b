"""Survey all parts of the data before training; the result is cached per content.

Does not import torch, so the data report is fast.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.batches.cache import cached_store
from seqlab.batches.columns import StepColumn
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import EnvironmentProblem
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import STEPS, Source
from seqlab.sources.survey.passages import Repeats
from seqlab.sources.survey.report import Leak, PartSurvey, Quantiles, Survey
from seqlab.sources.survey.series_survey import SeriesSurvey
from seqlab.sources.survey.survey import FINDINGS, survey
from seqlab.tasks.spec import find_spec


def survey_parts(recipe: Recipe, parts: Mapping[str, Source], *, more: str | Path | None = None) -> Survey:
    """Survey the data for problems that would bias a score, for any task: texts, sentences, series or one long text.

    `more` is the path of a part that the recipe does not name. The same data is surveyed only once; then
    the cached result is returned.
    """
    data, spec = recipe.data, find_spec(recipe.task)
    parts = {name: spec.survey_source(source, data) for name, source in parts.items()}
    is_series = any(STEPS in source.columns for source in parts.values())
    label, text = data.label if spec.has_class_labels else "", STEPS if is_series else data.text or "text"
    return cached_survey(
        parts,
        lambda: survey(
            parts, text=text, label=label, names=spec.class_names(data), is_stream=spec.is_text_stream
        ),
        options={"task": recipe.task, "text": text, "label": label, "label_separator": data.label_separator},
        paths=[
            str(path) for path in (data.train, data.valid, data.test, more) if path and Path(path).exists()
        ],
    )


def survey_warnings(recipe: Recipe, survey: Survey) -> list[str]:
    """Return the warnings of a survey, except what is normal for the task: empty lines in a text, several
    captions per image, several languages in a table.
    """
    usual = find_spec(recipe.task).usual_warning(recipe.data)
    return [warning for warning in survey.warnings if not (usual and usual in warning)]


LEAKS = (
    "first_near_duplicates",
    "first_leaks",
    "first_plain_leaks",
    "first_near_leaks",
    "first_in_valid",
    "first_conflicts",
)
QUANTILES = ("length_characters", "length_words")
PLACES = ("first_empty", "first_skipped")
ARRAYS = ("starts", "looked_at")
"""Columns for the repeated passages of a part, of which there may be millions."""
Rename = Callable[[str], str]


def cached_survey(
    parts: Mapping[str, Source],
    make: Callable[[], Survey],
    *,
    options: Mapping[str, Any],
    paths: Sequence[str],
) -> Survey:
    """Return what `make` finds in the parts, from the cache if content and `options` are the same.

    Rows are identified by their file names, which begin with the path that the user gave. `paths` lists these
    paths: the same file may be given by a relative path in training and by an absolute one later.
    """
    made_from = {
        "survey": FINDINGS,
        "options": dict(options),
        "parts": [[name, source.fingerprint()] for name, source in parts.items()],
        "paths": [str(Path(path).resolve()) for path in paths],
    }
    names = [str(Path(path)) for path in paths]
    made: list[Survey] = []

    def write(folder: Path) -> None:
        made.append(make())
        _write(made[0], names, folder)

    try:
        store = cached_store(made_from, write)
    except EnvironmentProblem:  # a survey works without a cache
        return made[0] if made else make()
    return made[0] if made else _read(store, names)


def _write(survey: Survey, names: list[str], folder: Path) -> None:
    """Write text and counts as facts, and the positions of repeated passages, maybe millions, as arrays."""
    facts = {
        "paths": names,
        "parts": {name: _plain(part) for name, part in survey.parts.items()},
        "similar_labels": survey.similar_labels,
        "leaked": {name: _by_file(places) for name, places in survey.leaked.items()},
    }
    writer = StoreWriter(folder, [StepColumn(name, np.dtype(np.int64)) for name in ARRAYS])
    for part in survey.parts.values():
        if part.repeats is not None:
            writer.append(**{name: getattr(part.repeats, name) for name in ARRAYS})
    writer.finish(survey=facts)


def _plain(part: PartSurvey) -> dict[str, Any]:
    """Return a part as plain data, without the arrays, which are stored separately."""
    repeats = part.repeats
    plain_repeats = (
        None
        if repeats is None
        else {
            entry.name: getattr(repeats, entry.name) for entry in fields(Repeats) if entry.name not in ARRAYS
        }
    )
    return {**asdict(replace(part, repeats=None)), "repeats": plain_repeats}


def _by_file(places: set[tuple[str, int]]) -> dict[str, list[int]]:
    lines: dict[str, list[int]] = {}
    for file, line in sorted(places):
        lines.setdefault(file, []).append(line)
    return lines


def _read(store: Store, names: list[str]) -> Survey:
    facts = store.facts["survey"]
    rename = _renaming(facts["paths"], names)
    arrays = iter([{name: store[name][row] for name in ARRAYS} for row in range(len(store))])
    parts = {
        name: _part(plain, next_arrays=lambda: next(arrays), rename=rename)
        for name, plain in facts["parts"].items()
    }
    leaked = {
        name: {(rename(file), line) for file, lines in by_file.items() for line in lines}
        for name, by_file in facts["leaked"].items()
    }
    return Survey(parts, [(first, second) for first, second in facts["similar_labels"]], leaked)


def _part(plain: dict[str, Any], *, next_arrays: Callable[[], dict[str, Any]], rename: Rename) -> PartSurvey:
    values = dict(plain)
    for name in LEAKS:
        values[name] = [
            Leak(rename(leak["where"]), rename(leak["also"]), leak["likeness"]) for leak in plain[name]
        ]
    for name in QUANTILES:
        values[name] = None if plain[name] is None else Quantiles(**plain[name])
    for name in PLACES:
        values[name] = [rename(place) for place in plain[name]]
    values["first_decomposed"] = rename(plain["first_decomposed"])
    if (repeats := plain["repeats"]) is not None:
        renamed = {"first": rename(repeats["first"]), "also": rename(repeats["also"])}
        values["repeats"] = Repeats(**{**repeats, **renamed}, **next_arrays())
    if (series := plain.get("series")) is not None:
        values["series"] = SeriesSurvey.from_json(series)
    return PartSurvey(**values)


def _renaming(before: Sequence[str], now: Sequence[str]) -> Rename:
    """Return a function that replaces an old path at the start of a location with the current one.

    >>> _renaming(["data", "data.csv"], ["/home/me/data", "/home/me/data.csv"])("data.csv, line 3")
    '/home/me/data.csv, line 3'
    """
    pairs = sorted(
        zip(before, now, strict=True), key=lambda pair: -len(pair[0])
    )  # the longest matching prefix wins

    def rename(place: str) -> str:
        return next((new + place[len(old) :] for old, new in pairs if place.startswith(old)), place)

    return rename
