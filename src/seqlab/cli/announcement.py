"""What `seqlab train` prints before the first update: inferred settings, the model and the expected cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.cli.console import say
from seqlab.cli.units import memory_text
from seqlab.core.notify import Notify
from seqlab.pages.numbers import format_duration, format_epochs

if TYPE_CHECKING:
    from seqlab.runs.train.prepare import Prepared
    from seqlab.training.budget import Budget
    from seqlab.training.forecast import Forecast


def show_stage(sentence: str) -> None:
    """Print what the command is doing."""
    say(f"… {sentence}")


def show_note(sentence: str) -> None:
    """Print what was inferred or planned."""
    say(f"  {sentence}")


def announce(prepared: Prepared, *, show: Notify = show_note) -> None:
    """Print the inferred settings, the model and the expected cost of the run."""
    for reason in prepared.reasons:
        show(reason)
    for warning in prepared.warnings:
        if warning not in prepared.guesses:  # skipped rows were shown with the guesses
            show(f"WARNING: {warning}")
    recipe, forecast = prepared.recipe, prepared.forecast
    assert forecast is not None
    counts = {name: len(split.store) for name, split in prepared.splits.items()}
    is_one_text = max(counts.values()) == 1
    sizes = "" if is_one_text else ", ".join(f"{name} {count:,}" for name, count in counts.items())
    threads = f"{recipe.training.threads} thread{'s' if recipe.training.threads != 1 else ''}"
    memory = f"{memory_text(forecast.peak_memory)} of memory, " if forecast.peak_memory else ""
    show(f"task {recipe.task}" + (f"; rows: {sizes}" if sizes else ""))
    show(f"model {_describe_network(prepared, forecast)}")
    show(f"{_describe_budget(prepared, forecast)}; use --minutes NUMBER to change it")
    if prepared.budget.seconds is not None:
        show(_describe_time(prepared.budget, prepared.budget.seconds))
    show(f"{memory}{threads}, seed {recipe.training.seed}")
    show(f"run folder {prepared.folder}")


def _describe_network(prepared: Prepared, forecast: Forecast) -> str:
    from seqlab.models.short_name import short_name

    settings, num_parameters = prepared.recipe.model, forecast.num_parameters
    trained = sum(parameter.numel() for parameter in prepared.model.parameters() if parameter.requires_grad)
    size = f"{num_parameters:,} parameters"
    if trained < num_parameters:
        size += f", {trained:,} trainable"
    how_to_change = "" if prepared.recipe.start.run else "; use --model NAME to change it"
    return f"{short_name(settings)}, {size}{how_to_change}"


def _describe_budget(prepared: Prepared, forecast: Forecast) -> str:
    budget, training = prepared.budget, prepared.recipe.training
    validations = -(-budget.total_steps // budget.evaluate_every)
    seconds = budget.total_steps * forecast.step_seconds + validations * forecast.validation_seconds
    seconds = min(seconds, budget.seconds) if budget.seconds else seconds
    batch = (
        f"at most {training.batch_tokens:,} tokens"
        if training.batch_tokens
        else f"{training.batch_size} sequences"
    )
    steps = f"{budget.total_steps:,} step{'s' if budget.total_steps != 1 else ''} of {batch}"
    epochs = budget.total_steps / forecast.steps_per_epoch
    return f"{steps} ({format_epochs(epochs)}) in about {format_duration(seconds)}"


def _describe_time(budget: Budget, limit: float) -> str:
    """How the time budget is divided."""
    return (
        f"time budget {format_duration(limit)}: {format_duration(budget.before)} used for reading and measuring, at most"
        f" {format_duration(budget.training_seconds)} for training, {format_duration(budget.after)} reserved for scoring"
    )
