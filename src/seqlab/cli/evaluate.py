"""seqlab evaluate: scores with intervals, beside their baselines."""

from __future__ import annotations

from typing import Annotated

import typer

from seqlab.cli.console import answer, answer_json


def evaluate(
    run: Annotated[str, typer.Argument(help="The folder of a run, or its name below runs/.")],
    data: Annotated[str, typer.Argument(help="Further data in the format of the training data; the run's own test part when left out.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Score a run on its test data or on further data."""
    from seqlab.runs.run import Run

    loaded = Run.load(run)
    evaluation = loaded.evaluate(data or None)
    if as_json:
        scores = {score.name: score.as_json() for score in evaluation.scores}
        return answer_json({"run": str(loaded.folder), "split": evaluation.split, "scores": scores, "details": evaluation.details})
    for score in evaluation.scores:
        answer(f"{evaluation.split}: {score.sentence()}")
        answer(f"    {score.how}")
    if "mean_of_batch_accuracies" in evaluation.details:
        answer(f"    mean of batch accuracies (batches of {loaded.recipe.training.batch_size}): {evaluation.details['mean_of_batch_accuracies']:.5f}")
    for line in evaluation.details.get("per_class", [])[:40]:
        answer(f"    {line['label']}: precision {line['precision']:.3f}  recall {line['recall']:.3f}  F1 {line['f1']:.3f}  ({line['count']:,})")
    answer(f"next:\n  open {loaded.folder / 'report.html'}")
    return None
