"""seqlab evaluate: scores with confidence intervals, next to their baselines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.console import answer_json, answer_sentences, say, suggest
from seqlab.cli.decoding import with_options
from seqlab.cli.options import AsJson, Beam, Decoding, EnsembleRuns, RunName
from seqlab.runs.report.next_steps import after_scores

if TYPE_CHECKING:
    from seqlab.tasks.evaluation import Evaluation

EXAMPLES = """\b
Examples:
  seqlab evaluate runs/reviews-lstm
  seqlab evaluate runs/reviews-lstm more-reviews.csv
  seqlab evaluate runs/en-de --beam 5 --with runs/en-de-2     (an ensemble)
  seqlab evaluate runs/wiki-lstm --cache --dynamic
"""


def evaluate(
    run: RunName,
    data: Annotated[
        str,
        typer.Argument(
            help="Data in the format of the training data; the run's own test split by default.",
            metavar="DATA",
        ),
    ] = "",
    beam: Beam = 0,
    decoding: Decoding = None,
    others: EnsembleRuns = None,
    cache: Annotated[
        bool, typer.Option("--cache", help="Also report a language model's perplexity with a neural cache.")
    ] = False,
    dynamic: Annotated[
        bool,
        typer.Option(
            "--dynamic",
            help="Also report a language model's perplexity with dynamic evaluation (it keeps training).",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Score a run on its test split or on other data."""
    from seqlab.runs.run import Run

    loaded = with_options(Run.load(run), beam=beam, decoding=decoding or [], others=others or [])
    evaluation = loaded.evaluate(data or None)
    for note in evaluation.notes:
        say(f"WARNING: {evaluation.split}: {note}")
    if cache or dynamic:
        evaluation.scores.extend(loaded.adapted_scores(data or None, cache=cache, dynamic=dynamic))
    if as_json:
        scores = {score.name: score.as_json() for score in evaluation.scores}
        return answer_json(
            {
                "run": str(loaded.folder),
                "split": evaluation.split,
                "scores": scores,
                "sections": evaluation.sections_as_json(),
                "notes": list(evaluation.notes),
            }
        )
    _show(evaluation)
    return suggest(after_scores(loaded))


def _show(evaluation: Evaluation) -> None:
    for score in evaluation.scores:
        answer_sentences(f"{evaluation.split}: {score.describe()}")
        if score.method:
            answer_sentences(f"    {score.method}")
    for section in sorted(evaluation.sections, key=lambda section: section.position):
        for line in section.lines():
            answer_sentences(line)
