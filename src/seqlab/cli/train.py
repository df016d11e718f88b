"""seqlab train: from data or a recipe to a scored, saved model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from seqlab.cli.announcement import announce, show_note, show_stage
from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, say, suggest
from seqlab.cli.guesses import summarize_guesses
from seqlab.cli.options import AsJson, Assignments, Data, ModelName, Quiet, StartRun, TaskName
from seqlab.cli.pretrained_offer import offer_pretrained
from seqlab.cli.score_table import show_scores
from seqlab.cli.seeds import train_with_seeds
from seqlab.cli.summary_box import show_summary
from seqlab.core.errors import UsageError
from seqlab.core.notify import Notify, ignore
from seqlab.pages.numbers import count_of
from seqlab.pages.warnings import limits_scores, rank_warnings
from seqlab.runs.baseline_warnings import BEATEN
from seqlab.runs.report.next_steps import after_training

if TYPE_CHECKING:
    from seqlab.runs.run import Run
    from seqlab.runs.train.prepare import Prepared
    from seqlab.training.base import Callback

EXAMPLES = """\b
Examples:
  seqlab train reviews.csv
  seqlab train reviews.csv --model transformer --minutes 10 data.label=stars
  seqlab train input.txt --model gru training.steps=2000
  seqlab train reviews.csv --from runs/input-gru start.freeze=embedding
  seqlab train reviews.csv --seeds 5
  seqlab train --resume runs/reviews-lstm
  seqlab train --resume                   (the most recently interrupted run)
  seqlab train reviews.csv --plugin my_cell.py --model my_cell
"""
Result = TypeVar("Result")
WITHOUT_ADVICE = (
    " The run is too short to draw advice from its curve. Try more time (--minutes NUMBER) or more data."
)


def train(
    what: Data = "",
    settings: Assignments = None,
    task: TaskName = "",
    model: ModelName = "",
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Run folder; runs/NAME by default.")] = "",
    minutes: Annotated[
        float,
        typer.Option(
            metavar="NUMBER",
            help="Time budget of the whole command, per run; scales down the step counts of a recipe.",
            show_default=False,
        ),
    ] = 0,
    start_from: StartRun = "",
    seeds: Annotated[
        int,
        typer.Option(
            metavar="NUMBER",
            help="Train with this many seeds and report the mean, the standard deviation and the 95% CI.",
            show_default=False,
        ),
    ] = 0,
    resume: Annotated[str, typer.Option(metavar="RUN", help="Resume an interrupted run.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the plan and the full recipe without training.")
    ] = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Train a model, score it against a baseline, and save it."""
    clock = perf_counter()
    if resume:
        extra = [what, *(settings or [])] if what else settings or []
        is_new = bool(task or model or out or minutes or start_from or seeds or dry_run)
        moved = _check_resume(resume, extra, is_new=is_new)
        return _resume(resume, moved, quiet=quiet, as_json=as_json, clock=clock)
    if not what:
        raise UsageError(
            "no data to train on.",
            cure="Pass a file (seqlab train FILE) or a built-in dataset (seqlab list datasets).",
        )
    options = {"training.minutes": minutes, "start.run": start_from}
    values = {name: value for name, value in options.items() if value}
    choices: dict[str, Any] = {"values": values, "task": task, "model": model, "out": out}
    if seeds and not dry_run:
        return train_with_seeds(what, settings or [], seeds, **choices, quiet=quiet, as_json=as_json)
    prepared = _prepare(what, settings or [], **choices, quiet=quiet, clock=clock)
    if not quiet:
        announce(prepared)
    if seeds and not quiet:
        say(f"plan of each of the {seeds} runs, which differ only in training.seed")
    if dry_run:
        return _show_recipe(prepared, as_json=as_json)
    return _train(prepared, quiet=quiet, as_json=as_json)


def _check_resume(folder: str, extra: list[str], *, is_new: bool) -> dict[str, str]:
    """The new paths of moved data; nothing else about a run can change.

    extra: arguments besides the folder. is_new: whether any option applies only to new runs.
    """
    moved = moved_data(extra)
    if len(moved) < len(extra) or is_new:
        raise UsageError(
            "--resume accepts no other settings or options: a run continues with the recipe it started with.",
            cure=(
                f"Run: seqlab train --resume {quoted(folder)} (add data.train=FILE if the data has moved)."
            ),
        )
    return moved


def moved_data(arguments: list[str]) -> dict[str, str]:
    """The new paths of data among the arguments.

    >>> moved_data(["data.train=new/a.csv", "training.steps=3"])
    {'train': 'new/a.csv'}
    """
    pairs = [word.partition("=") for word in arguments]
    parts = {f"data.{name}": name for name in ("train", "valid", "test")}
    return {parts[name]: value for name, _, value in pairs if name in parts and value}


def _resume(folder: str, data: dict[str, str], *, quiet: bool, as_json: bool, clock: float) -> None:
    from seqlab.runs.train import start

    on_stage = ignore if quiet else show_stage
    run = watch(
        lambda callback: start.resume(folder, data=data, callback=callback, on_stage=on_stage, clock=clock),
        quiet=quiet,
    )
    return _conclude(run, as_json=as_json)


def _train(prepared: Prepared, *, quiet: bool, as_json: bool) -> None:
    from seqlab.runs.train import start

    on_stage = ignore if quiet else show_stage
    run = watch(lambda callback: start.train(prepared, callback=callback, on_stage=on_stage), quiet=quiet)
    if prepared.reasons and not (quiet or as_json):
        say(summarize_guesses(prepared.reasons))
    return _conclude(run, as_json=as_json, known=[] if quiet else prepared.warnings)


def _prepare(
    what: str,
    settings: list[str],
    *,
    values: Mapping[str, Any],
    task: str,
    model: str,
    out: str,
    quiet: bool,
    clock: float,
) -> Prepared:
    """Reject wrong settings and missing files at once, before torch is imported."""
    from seqlab.runs.data import require_files
    from seqlab.runs.find_recipe import find_recipe, task_of_section

    on_stage, on_note = (ignore, ignore) if quiet else (show_stage, show_note)
    recipe, name = find_recipe(what, settings, task=task, model=model, values=values)
    if why := task_of_section(recipe, what, settings, task=task):
        on_note(why)
    require_files(recipe)

    from seqlab.runs.train.prepare import prepare

    return prepare(recipe, out=out, name=name, on_stage=on_stage, on_note=on_note, clock=clock)


def watch(work: Callable[[Callback], Result], *, quiet: bool) -> Result:
    """Run the work with a progress display; on an interrupt, print how to resume."""
    from seqlab.cli.progress import watch_training
    from seqlab.runs.train.start import Interrupted

    try:
        with watch_training(quiet=quiet) as callback:
            return work(callback)
    except Interrupted as stopped:
        say(
            f"Stopped and saved after step {stopped.step:,}. Resume with:\n  seqlab train --resume"
            f" {quoted(stopped.folder)}"
        )
        sys.exit(130)


def _show_recipe(prepared: Prepared, *, as_json: bool) -> None:
    if as_json:
        budget = prepared.budget
        seconds = {
            "limit": budget.seconds,
            "preparing": budget.before,
            "training": budget.training_seconds,
            "scoring": budget.after,
        }
        return answer_json(
            {
                "run": str(prepared.folder),
                "recipe": prepared.recipe.model_dump(),
                "warnings": prepared.warnings,
                "total_steps": budget.total_steps,
                **({"seconds": seconds} if budget.seconds is not None else {}),
            }
        )
    answer(prepared.recipe.to_toml(), end="")
    return say("next:\n  save this recipe as NAME.toml, edit it, and run: seqlab train NAME.toml")


def show_warnings(run: Run, *, known: list[str]) -> None:
    """The warnings of a finished run that were not shown before, or without which its scores mislead."""
    shown, folded = rank_warnings(run.results.raw["warnings"])
    for warning in [*shown, *folded]:
        if (warning not in known or limits_scores(warning)) and not warning.startswith(BEATEN):
            say(f"WARNING: {warning}")


def show_curve(run: Run, *, show: Notify = say) -> None:
    """Say why training ended and what the validation curve suggests."""
    training = run.results.raw["training"]
    if training.get("stopped_early"):
        show(_why_stopped(training["steps"], training["best_step"]))
    if training.get("advice"):
        show(training["advice"])


def _why_stopped(step: int, best_step: int) -> str:
    """
    >>> _why_stopped(600, 225)
    'early stopping after step 600; the best step was 225'
    >>> _why_stopped(600, 600)
    'early stopping after step 600: its metric ties the best, and it is kept for its lower loss'
    """
    if step == best_step:
        return (
            f"early stopping after step {step:,}: its metric ties the best, and it is kept for its lower loss"
        )
    return f"early stopping after step {step:,}; the best step was {best_step:,}"


def _conclude(run: Run, *, as_json: bool, known: list[str] | None = None) -> None:
    """Print the scores, the warnings not shown before, and the next commands."""
    results = run.results
    raw = results.raw
    if as_json:
        return answer_json(_as_json(run))
    show_warnings(run, known=known or [])
    show_scores(results.split, list(results.values()))
    if any(warning.startswith(BEATEN) for warning in raw["warnings"]):  # the line above has the numbers
        say(f"WARNING: {BEATEN}.{'' if raw['training'].get('advice') else WITHOUT_ADVICE}")
    _show_label_errors(raw["splits"].get(results.split, {}))
    show_curve(run)
    _show_batch_means(raw["splits"])
    show_summary(run)
    offer_pretrained(run)
    return suggest(after_training(run))


def _as_json(run: Run) -> dict[str, Any]:
    results = run.results
    return {
        "run": str(run.folder),
        "split": results.split,
        "scores": {name: score.as_json() for name, score in results.items()},
        "warnings": results.raw["warnings"],
        **results.raw["training"],
    }


def _show_label_errors(split: Mapping[str, Any]) -> None:
    """Say how many labels look wrong; the report lists them."""
    section = split.get("sections", {}).get("label_errors") or {}
    if errors := section.get("errors"):
        say(
            f"the report lists {count_of(len(errors), 'row')} that may be mislabeled, starting with"
            f" {errors[0]['where']} ({errors[0]['label']!r}, probably {errors[0]['predicted']!r})"
        )


def _show_batch_means(splits: Mapping[str, Any]) -> None:
    """Print the number that many training loops report, next to the exact one."""
    for name, part in splits.items():
        if mean := part["sections"].get("batch_mean_accuracy"):
            answer_sentences(
                f"{name}: mean of batch accuracies {mean['value']:.4f} (batches of {mean['batch_size']})"
            )
