"""seqlab train: from data or a recipe to a scored, saved model."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.console import answer, answer_json, duration, say
from seqlab.core.files import megabytes

if TYPE_CHECKING:
    from seqlab.runs.run import Run
    from seqlab.runs.start import Prepared
    from seqlab.training.base import Watcher


def train(
    what: Annotated[
        str, typer.Argument(help="A recipe (shipped name or .toml), a built-in dataset, or your file or folder.", show_default=False)
    ] = "",
    settings: Annotated[list[str] | None, typer.Argument(metavar="[KEY=VALUE]...", help="Settings by their dotted names, as in a recipe.")] = None,
    task: Annotated[str, typer.Option(help="The job: classification or language_model; guessed when left out.")] = "",
    model: Annotated[str, typer.Option(help="A short name: rnn, lstm, gru, bilstm, cnn, transformer, …")] = "",
    out: Annotated[str, typer.Option(help="Folder of the run; runs/NAME when left out.")] = "",
    minutes: Annotated[float, typer.Option(help="Time budget in minutes.")] = 0,
    resume: Annotated[str, typer.Option(metavar="RUN", help="Go on with a run that was stopped.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would happen and the whole recipe, and stop.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Train a model, score it beside its baseline, and save it."""
    from seqlab.core.errors import UsageError

    stage: Callable[[str], None] = (lambda _: None) if quiet else _stage
    if resume:
        if what or settings:
            raise UsageError("--resume takes only the folder of a run.", cure=f"seqlab train --resume {resume}")
        from seqlab.runs import start

        return _conclude(_watch(lambda watcher: start.resume(resume, watcher=watcher, say=stage), quiet=quiet), as_json=as_json)
    if not what:
        raise UsageError("nothing to train on.", cure="seqlab train FILE, or a built-in dataset: seqlab list datasets")
    prepared = _prepare(
        what, [*(settings or []), *([f"training.minutes={minutes}"] if minutes else [])], task=task, model=model, out=out, stage=stage
    )
    if not quiet:
        _announce(prepared)
    if dry_run:
        return answer(prepared.recipe.to_toml(), end="")
    from seqlab.runs import start

    return _conclude(_watch(lambda watcher: start.train(prepared, watcher=watcher, say=stage), quiet=quiet), as_json=as_json)


def _prepare(what: str, words: list[str], *, task: str, model: str, out: str, stage: Callable[[str], None]) -> Prepared:
    from seqlab.runs.finding import find_recipe

    recipe, name = find_recipe(what, words, task=task, model=model)  # mistakes in settings show before torch is imported

    from seqlab.runs.start import prepare

    return prepare(recipe, out=out, name=name, say=stage)


def _watch(work: Callable[[Watcher], Run], *, quiet: bool) -> Run:
    """Do the work under a progress bar; say how to go on when somebody stops it."""
    from seqlab.cli.progress import TerminalProgress
    from seqlab.runs.start import Interrupted

    try:
        with TerminalProgress(quiet=quiet) as watcher:
            return work(watcher)
    except Interrupted as stopped:
        say(f"Stopped and saved after step {stopped.step:,}. Go on with:\n  seqlab train --resume {stopped.folder}")
        sys.exit(130)


def _stage(text: str) -> None:
    say(f"… {text}")


def _announce(prepared: Prepared) -> None:
    """What was inferred, and what it will cost."""
    for reason in prepared.reasons:
        say(f"  {reason}")
    for warning in prepared.warnings:
        say(f"  WARNING: {warning}")
    forecast, budget = prepared.forecast, prepared.budget
    assert forecast is not None
    sizes = ", ".join(f"{split} {len(store):,}" for split, store in getattr(prepared.task, "stores", {}).items() if len(store) > 1)
    validations = -(-budget.total_steps // budget.evaluate_every)
    seconds = min(budget.seconds, budget.total_steps * forecast.step_seconds + validations * forecast.validation_seconds)
    training = prepared.recipe.training
    say(
        f"  task {prepared.recipe.task}, model {prepared.recipe.model.kind}, {forecast.num_parameters:,} parameters"
        + (f"; rows: {sizes}" if sizes else "")
    )
    epochs = budget.total_steps / forecast.steps_per_epoch
    say(f"  {budget.total_steps:,} steps of {training.batch_size} ({epochs:.1f} epochs) in about {duration(seconds)}")
    say(f"  {megabytes(forecast.peak_memory)} of memory, {training.threads} threads, seed {training.seed}")
    attention_dropout = getattr(prepared.recipe.model, "attention_dropout", 0)
    if attention_dropout:
        say("  model.attention_dropout leaves the fast attention path: a step takes about three times as long as without it")
    say(f"  run folder {prepared.folder}")


def _conclude(run: Run, *, as_json: bool) -> None:
    from seqlab.runs.report import next_commands

    results = run.results
    if as_json:
        raw = results.raw
        return answer_json(
            {"run": str(run.folder), "split": results.split, "scores": {name: score.as_json() for name, score in results.items()}, **raw["training"]}
        )
    for warning in results.raw["warnings"]:
        say(f"WARNING: {warning}")
    for score in results.values():
        answer(f"{results.split}: {score.sentence()}")
    answer(f"report: {run.folder / 'report.html'}")
    answer("next:\n" + "\n".join(f"  {command}" for command in next_commands(run)))
    return None
