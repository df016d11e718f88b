"""seqlab evaluate: scores with intervals, beside their baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.console import answer, answer_json, one_line, suggest
from seqlab.runs.next_steps import after_scores

if TYPE_CHECKING:
    from seqlab.tasks.base import Evaluation

EXAMPLES = """\b
Examples:
  seqlab evaluate runs/reviews-lstm
  seqlab evaluate runs/reviews-lstm more-reviews.csv
"""
MOST_CLASSES = 40


def evaluate(
    run: Annotated[str, typer.Argument(help="The folder of a run, or its name below runs/.", metavar="RUN")],
    data: Annotated[
        str,
        typer.Argument(help="Further data in the format of the training data; the run's own test part when left out.", metavar="DATA"),
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Score a run on its test data or on further data."""
    from seqlab.runs.run import Run

    loaded = Run.load(run)
    evaluation = loaded.evaluate(data or None)
    if as_json:
        scores = {score.name: score.as_json() for score in evaluation.scores}
        return answer_json({"run": str(loaded.folder), "split": evaluation.split, "scores": scores, "details": evaluation.details})
    _show(evaluation, batch_size=loaded.recipe.training.batch_size)
    return suggest(after_scores(loaded))


def _show(evaluation: Evaluation, *, batch_size: int) -> None:
    for score in evaluation.scores:
        answer(f"{evaluation.split}: {score.sentence()}")
        answer(f"    {score.how}")
    details = evaluation.details
    if "mean_of_batch_accuracies" in details:
        answer(f"    mean of batch accuracies (batches of {batch_size}): {details['mean_of_batch_accuracies']:.5f}")
    classes = details.get("per_class", [])
    width = max((len(one_line(line["label"])) for line in classes), default=0)
    for line in classes[:MOST_CLASSES]:
        numbers = f"precision {line['precision']:.3f}  recall {line['recall']:.3f}  F1 {line['f1']:.3f}  ({line['count']:,})"
        answer(f"    {one_line(line['label']):<{min(width, 30)}}  {numbers}")
    if len(classes) > MOST_CLASSES:
        answer(f"    … and {len(classes) - MOST_CLASSES:,} more classes: --json has them all")
