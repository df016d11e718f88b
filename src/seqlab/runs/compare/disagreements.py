"""The examples on which competitors disagree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqlab.metrics.items import SumItems
from seqlab.metrics.paired_tests import McNemar, mcnemar
from seqlab.pages.comparison import DisagreementExample
from seqlab.runs.compare.competitor import Competitor
from seqlab.tasks.evaluation import Evaluation

MOST_SHOWN = 20
NO_LABEL = "(none)"


def mcnemar_tests(competitors: list[Competitor]) -> dict[str, McNemar]:
    """McNemar's test of each classifier against the first, on individual examples.

    With several seeds, the first is tested.
    """
    right = [correct for competitor in competitors if (correct := _right(competitor.first)) is not None]
    if len(right) < len(competitors):
        return {}
    return {
        competitor.name: mcnemar(right[0], correct)
        for competitor, correct in zip(competitors[1:], right[1:], strict=True)
    }


def _right(evaluation: Evaluation) -> np.ndarray[Any, np.dtype[np.bool_]] | None:
    """Whether each example is correct; None if an item has more than one answer."""
    items = evaluation.items.get("accuracy")
    if not isinstance(items, SumItems) or not len(evaluation.answers) or (items.table[:, 1] != 1).any():
        return None
    return items.per_item()[:, 0] == 1


def find_disagreements(split: str, competitors: list[Competitor]) -> tuple[list[DisagreementExample], int]:
    answers = [competitor.first.answers for competitor in competitors]
    if not all(len(predicted) for predicted in answers) or len({len(predicted) for predicted in answers}) > 1:
        return [], 0
    differing = [
        number for number, predicted in enumerate(zip(*answers, strict=True)) if len(set(predicted)) > 1
    ]
    truths = competitors[0].first.truths
    places = competitors[0].evaluator.show_items(split, set(differing[:MOST_SHOWN]))
    examples = []
    for number in differing[:MOST_SHOWN]:
        where, value = places.get(number, ("", ""))
        predictions = [predicted[number] for predicted in answers]
        if isinstance(value, list) and value and isinstance(value[0], str):
            text, formatted = " ".join(value), _differing_tags(value, [truths[number], *predictions])
        else:
            text = value if isinstance(value, str) else f"{len(value)} steps"
            formatted = [" | ".join(labels) or NO_LABEL for labels in (truths[number], *predictions)]
        names = [competitor.name for competitor in competitors]
        examples.append(
            DisagreementExample(
                where, text[:2000], formatted[0], dict(zip(names, formatted[1:], strict=True))
            )
        )
    return examples, len(differing)


def _differing_tags(words: Sequence[str], tags: Sequence[tuple[str, ...]]) -> list[str]:
    """Format the true tags and those of every competitor, for the words on which competitors disagree.

    >>> _differing_tags(["a", "dog"], [("D", "N"), ("D", "V"), ("D", "N")])
    ['dog/N', 'dog/V', 'dog/N']
    """
    chosen = [place for place, choices in enumerate(zip(*tags[1:], strict=True)) if len(set(choices)) > 1]
    return [" ".join(f"{words[place]}/{labels[place]}" for place in chosen) for labels in tags]
