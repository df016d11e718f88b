"""Retrain a finished run with the same recipe, data, seed, threads and plan, in a new folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from seqlab.core.errors import UsageError
from seqlab.core.notify import Notify, ignore
from seqlab.runs.folder.layout import JOURNAL, find_run, read_recipe
from seqlab.runs.folder.manifest import verify
from seqlab.runs.folder.run_journal import read_run_journal
from seqlab.runs.reproduce.agreement import Reproduction, compare_with
from seqlab.runs.reproduce.sources import require_sources, with_moved_sources
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import prepare
from seqlab.runs.train.start import open_again, reject_other_data, train
from seqlab.training.base import Callback
from seqlab.training.recorded_budget import recorded_budget


def reproduce(
    path: str | Path,
    *,
    out: str = "",
    data: Mapping[str, str] | None = None,
    sources: Mapping[str, str] | None = None,
    callback: Callback | None = None,
    on_stage: Notify = ignore,
) -> Reproduction:
    """Retrain a run and compare weights, losses and scores.

    A time budget does not apply again: the repetition follows the recorded plan, with the same updates and
    validations as the original.

    Args:
        path: The folder of a finished run.
        out: The folder of the repetition; `runs/NAME-again` when left out.
        data: Where train, valid or test are now, if they were moved. Their content must be the same.
        sources: Where the run to fine-tune, the teacher or the word vectors are now, if they were moved, by the
            settings that name them: ``start.run``, ``distillation.run``, ``start.vectors``.
    """
    folder = find_run(path)
    manifest = verify(folder)
    recipe = with_moved_sources(read_recipe(folder), sources or {})
    if not recipe.data.train:
        raise UsageError(
            "these weights were imported, so there is no training to repeat.",
            where=str(folder),
            cure="Pass a run that was trained with seqlab train.",
        )
    require_sources(recipe, folder)
    recorded = recorded_budget(read_run_journal(folder), where=str(folder / JOURNAL))
    original = Run.load(folder)
    on_stage("comparing the data with that of the run")
    opened = open_again(recipe, data or {}, folder, command="reproduce")
    now = {name: part.fingerprint() for name, part in opened.parts.items()}
    reject_other_data(folder, before=manifest.data, now=now)
    recipe = recipe.changed(
        "data", **{name: str(Path(place).resolve()) for name, place in (data or {}).items()}
    )
    prepared = prepare(recipe, out=out, name=f"{folder.name}-again", on_stage=on_stage, recorded=recorded)
    on_stage(f"retraining {recorded.last_step:,} steps with seed {recipe.training.seed}: {prepared.folder}")
    return compare_with(original, train(prepared, callback=callback, on_stage=on_stage))
