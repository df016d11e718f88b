"""seqlab lr: a learning-rate range test before training."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.announcement import show_note, show_stage
from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, suggest
from seqlab.cli.options import AsJson, Assignments, Data, ModelName, Quiet, StartRun, TaskName
from seqlab.cli.train import watch
from seqlab.core.errors import UsageError
from seqlab.core.notify import ignore

if TYPE_CHECKING:
    from seqlab.recipes.recipe import Recipe
    from seqlab.runs.train.learning_rate_search import LearningRateSearch

EXAMPLES = """\b
Examples:
  seqlab lr reviews.csv
  seqlab lr reviews.csv --model gru training.optimizer=sgd --page lr.html
  seqlab lr reviews.csv --from runs/novel-lstm --low 1e-6 --high 1
"""


def lr(
    what: Data,
    settings: Assignments = None,
    task: TaskName = "",
    model: ModelName = "",
    start_from: StartRun = "",
    low: Annotated[float, typer.Option(metavar="NUMBER", help="Lowest learning rate.")] = 1e-7,
    high: Annotated[float, typer.Option(metavar="NUMBER", help="Highest learning rate.")] = 10.0,
    steps: Annotated[int, typer.Option(metavar="NUMBER", help="Number of updates.")] = 120,
    page: Annotated[str, typer.Option(metavar="OUT.html", help="Write a page with the curve.")] = "",
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Suggest a learning rate (range test).

    The learning rate grows during a short training until the loss diverges. Nothing is saved.
    """
    if page and not page.endswith(".html"):
        raise UsageError(
            f"--page {page} does not end in .html.", cure="The curve is an HTML page: --page lr.html"
        )
    values = {"start.run": start_from} if start_from else {}
    from seqlab.runs.data import require_files
    from seqlab.runs.find_recipe import find_recipe

    recipe, _ = find_recipe(what, settings or [], task=task, model=model, values=values)
    require_files(recipe)
    search = _search(recipe, low=low, high=high, steps=steps, quiet=quiet)
    command = _next_command(what, settings or [], search, {"task": task, "model": model, "from": start_from})
    if page:
        search.save(page, command=command)
    if as_json:
        return answer_json({**search.to_json(), **({"page": page} if page else {})})
    _show(search)
    if page:
        answer(f"page: {page}")
    return suggest([command]) if command else None


def _search(recipe: Recipe, *, low: float, high: float, steps: int, quiet: bool) -> LearningRateSearch:
    from seqlab.runs.train.find_learning_rate import find_learning_rate

    on_stage, on_note = (ignore, ignore) if quiet else (show_stage, show_note)
    return watch(
        lambda callback: find_learning_rate(
            recipe, low=low, high=high, steps=steps, callback=callback, on_stage=on_stage, on_note=on_note
        ),
        quiet=quiet,
    )


def _show(search: LearningRateSearch) -> None:
    answer(f"{'learning rate':>13}  {'loss':>9}  {'smoothed':>9}")
    for row in search.table():
        marker = f"  {row['']}" if row[""] else ""
        answer(f"{row['learning rate']:>13}  {row['loss']:>9.4f}  {row['smoothed']:>9.4f}{marker}")
    for sentence in search.sentences():
        answer_sentences(sentence)


def _next_command(what: str, settings: list[str], search: LearningRateSearch, options: dict[str, str]) -> str:
    """The training with the suggested rate; empty without a suggestion."""
    if search.suggestion is None:
        return ""
    others = [word for word in settings if not word.startswith("training.learning_rate=")]
    given = [f"--{name} {quoted(value)}" for name, value in options.items() if value]
    rate = f"training.learning_rate={search.suggestion:g}"
    return " ".join(["seqlab train", quoted(what), *given, *map(quoted, others), rate])
