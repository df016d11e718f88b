"""seqlab evaluate: scores with intervals, beside their baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json, one_line, suggest
from seqlab.cli.searching import searching
from seqlab.runs.report.next_steps import after_scores

if TYPE_CHECKING:
    from seqlab.tasks.base import Evaluation

EXAMPLES = """\b
Examples:
  seqlab evaluate runs/reviews-lstm
  seqlab evaluate runs/reviews-lstm more-reviews.csv
  seqlab evaluate runs/en-de --beam 5 --with runs/en-de-2     two runs write together
  seqlab evaluate runs/wiki-lstm --cache --dynamic       a language model that adapts to what it reads
"""
MOST_CLASSES = 40


def evaluate(
    run: Annotated[str, typer.Argument(help="The folder of a run, or its name below runs/.", metavar="RUN")],
    data: Annotated[
        str,
        typer.Argument(help="Further data in the format of the training data; the run's own test part when left out.", metavar="DATA"),
    ] = "",
    beam: Annotated[int, typer.Option(help="Of a translation: hypotheses that are kept at every step.")] = 0,
    search: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Further settings of a search, see: seqlab explain search.")] = None,
    others: Annotated[list[str] | None, typer.Option("--with", metavar="RUN", help="Further runs with the same tokens that write together.")] = None,
    cache: Annotated[bool, typer.Option("--cache", help="Besides, the perplexity of a language model with a neural cache.")] = False,
    dynamic: Annotated[bool, typer.Option("--dynamic", help="Besides, the perplexity of one that goes on learning from what it has read.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Score a run on its test data or on further data."""
    from seqlab.runs.run import Run

    loaded = searching(Run.load(run), beam=beam, search=search or [], others=others or [])
    evaluation = loaded.evaluate(data or None)
    if cache or dynamic:
        evaluation.scores.extend(loaded.adapted_scores(data or None, cache=cache, dynamic=dynamic))
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
    _show_classes(details.get("per_span_type", []))
    _show_classes(details.get("per_class", []))
    for cut in details.get("slices", []):
        _show_slices(cut)
    if "without_leaks" in details:
        from seqlab.runs.survey.leaks import sentence_without_leaks

        answer(f"WARNING: {sentence_without_leaks(evaluation)}")


def _show_slices(cut: dict[str, Any]) -> None:
    """One line for each part of the data, so that a weak one can be seen."""
    answer(f"    {cut['score'].replace('_', ' ')} by {cut['by']}:")
    width = max(len(part["name"]) for part in cut["parts"])
    for part in cut["parts"]:
        reach = "" if part["low"] is None else f" [{part['low']:.4f}, {part['high']:.4f}]"
        answer(f"        {part['name']:<{width}}  {part['value']:.4f}{reach}  ({part['count']:,} {cut['unit']})")


def _show_classes(classes: list[dict[str, Any]]) -> None:
    width = max((len(one_line(line["label"])) for line in classes), default=0)
    for line in classes[:MOST_CLASSES]:
        numbers = f"precision {line['precision']:.3f}  recall {line['recall']:.3f}  F1 {line['f1']:.3f}  ({line['count']:,})"
        answer(f"    {one_line(line['label']):<{min(width, 30)}}  {numbers}")
    if len(classes) > MOST_CLASSES:
        answer(f"    … and {len(classes) - MOST_CLASSES:,} more classes: --json has them all")
