"""Compare runs on the same data: their scores, and whether the differences are statistically significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from seqlab.core.errors import UsageError, nearest, shortened
from seqlab.metrics.difference import PairedDifference
from seqlab.metrics.items import Items, SumItems
from seqlab.metrics.paired import McNemar, mcnemar, paired_bootstrap
from seqlab.metrics.score import Score
from seqlab.metrics.seeds import SeedSummary, summarize_seeds
from seqlab.pages.comparison import DisagreementExample
from seqlab.pages.notebook import sentences_and_table
from seqlab.runs.compare.by_length import ByLength, quality_by_length
from seqlab.runs.compare.comparable import check_comparable, open_common
from seqlab.runs.compare.settings_diff import settings_diff
from seqlab.runs.evaluation import evaluate_split
from seqlab.runs.run import Run
from seqlab.runs.survey.data_survey import survey_parts
from seqlab.runs.survey.leaks import note_leaks
from seqlab.sources.base import Source
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator

MOST_SHOWN = 20
PER_CHARACTER = "bits_per_character"
NO_LABEL = "(none)"
FEW_UNKNOWN = 0.0005
"""Share of out-of-vocabulary tokens below which their effect on a score is negligible."""


@dataclass(frozen=True)
class Competitor:
    """One model in a comparison: one run, or several that differ only in their seeds."""

    name: str
    runs: list[Run]
    evaluations: list[Evaluation]
    evaluator: Evaluator[Any, Any, Any]
    """The evaluator of the first run."""

    @property
    def first(self) -> Evaluation:
        return self.evaluations[0]

    def score(self, name: str) -> Score:
        """Return a score of the first run."""
        return next(score for score in self.first.scores if score.name == name)

    def over_seeds(self, name: str) -> SeedSummary:
        return summarize_seeds(
            [
                next(score.value for score in evaluation.scores if score.name == name)
                for evaluation in self.evaluations
            ]
        )

    @property
    def minutes(self) -> float | None:
        """Training time of all seeds in minutes; None for imported weights."""
        seconds = [run.results.raw.get("training", {}).get("seconds") for run in self.runs]
        return None if None in seconds else sum(seconds) / 60


@dataclass(frozen=True)
class Comparison:
    """The differences of each competitor from the `reference`, which is the first competitor, by score."""

    split: str
    competitors: list[Competitor]
    score_names: list[str]
    differences: dict[str, dict[str, PairedDifference]]
    mcnemars: dict[str, McNemar] = field(default_factory=dict)
    disagreements: list[DisagreementExample] = field(default_factory=list)
    num_disagreements: int = 0
    warnings: list[str] = field(default_factory=list)
    by_length: ByLength | None = None
    """The first score by source length, if the lengths vary."""

    @property
    def reference(self) -> Competitor:
        return self.competitors[0]

    @property
    def settings_diff(self) -> list[dict[str, str]]:
        """The settings in which the competitors differ; with several seeds, those of the first."""
        return settings_diff({competitor.name: competitor.runs[0].recipe for competitor in self.competitors})

    def sentences(self) -> list[str]:
        """Describe the main result: the differences in the first score."""
        score = self.score_names[0]
        return [
            f"{score.replace('_', ' ')}: {difference.describe(name, self.reference.name)}"
            for name, difference in self.differences[score].items()
        ]

    def _repr_html_(self) -> str:
        from seqlab.runs.compare.comparison_page import table  # which describes comparisons

        return sentences_and_table(f"{self.split} data", [*self.sentences(), *self.warnings], table(self))

    def as_json(self) -> dict[str, Any]:
        return {
            "split": self.split,
            "reference": self.reference.name,
            "runs": {competitor.name: _json(competitor) for competitor in self.competitors},
            "differences": {
                score: {
                    name: {**result.as_json(), "sentence": result.describe(name, self.reference.name)}
                    for name, result in by_name.items()
                }
                for score, by_name in self.differences.items()
            },
            "mcnemar": {name: vars(result) for name, result in self.mcnemars.items()},
            "num_disagreements": self.num_disagreements,
            "disagreements": [vars(result) for result in self.disagreements],
            "warnings": self.warnings,
            "settings": self.settings_diff,
            "by_length": self.by_length.as_json() if self.by_length else None,
        }


def compare_runs(
    paths: Sequence[str | Path], *, data: str | Path | None = None, against: str = ""
) -> Comparison:
    """Compare runs, given by their folders, with the first one or with `against`."""
    if len(paths) < 2:
        raise UsageError("a comparison needs two runs.", cure="For example: seqlab compare RUN RUN")
    runs = [Run.load(path) for path in paths]
    names = _names(runs)
    against = next(
        (name for name, path in zip(names, paths, strict=True) if against == str(path)), against
    )  # a run can be given by name or by path
    return compare_groups(
        {name: [run] for name, run in zip(names, runs, strict=True)}, data=data, against=against
    )


def compare_groups(
    groups: Mapping[str, Sequence[Run]], *, data: str | Path | None = None, against: str = ""
) -> Comparison:
    """Compare groups of runs, one run per seed in each, with the first group or with `against`."""
    if against:
        refuse_unknown(against, list(groups))
        groups = {against: groups[against], **groups}
    every = [run for runs in groups.values() for run in runs]
    check_comparable(every)
    split, parts = open_common(every, data=data)
    warnings: list[str] = []
    competitors = []
    for name, runs in groups.items():
        evaluators = [_evaluator(run, split, parts[id(run)]) for run in runs]
        evaluations = [
            evaluate_split(evaluator, run.predictor, split)
            for run, evaluator in zip(runs, evaluators, strict=True)
        ]
        competitors.append(Competitor(name, list(runs), evaluations, evaluators[0]))
        # the other seeds have the same training data
        warnings += [f"{split}: {note}" for note in competitors[-1].first.notes]
        warnings += _leaks(competitors[-1], parts[id(runs[0])], data)
    return _compare(split, competitors, list(dict.fromkeys(warnings)))


def refuse_unknown(against: str, names: Sequence[str]) -> None:
    """Reject a reference that is not in the comparison."""
    if against and against not in names:
        raise UsageError(
            f"'{shortened(against)}' is not part of the comparison.",
            where="--against",
            cure=nearest(against, names),
        )


def _evaluator(run: Run, split: str, parts: Mapping[str, Source]) -> Evaluator[Any, Any, Any]:
    names = [name for name in dict.fromkeys(("train", "valid", split)) if name in parts]
    return run.evaluator({name: parts[name] for name in names})


def _leaks(competitor: Competitor, parts: Mapping[str, Source], data: str | Path | None) -> list[str]:
    """Warn if the compared data overlaps with the training data of a run."""
    if "train" not in parts:
        return []
    looked_at = (
        parts if data is None else {name: part for name, part in parts.items() if name != "valid"}
    )  # as `evaluate` does, whose survey is kept
    survey = survey_parts(competitor.runs[0].recipe, looked_at, more=data)
    sentence = note_leaks(competitor.first, competitor.evaluator, survey)
    return [f"{competitor.name}: {sentence}"] if sentence else []


def _compare(split: str, competitors: list[Competitor], warnings: list[str]) -> Comparison:
    shared, more = _shared_items(competitors)
    directions = {score.name: score.higher_is_better for score in competitors[0].first.scores}
    unit = _item_unit(competitors[0].first)
    differences = {}
    for name, items in shared.items():
        higher_is_better = directions.get(name, False)
        results = paired_bootstrap(items[0], items[1:], higher_is_better=higher_is_better, unit=unit)
        differences[name] = {
            competitor.name: difference
            for competitor, difference in zip(competitors[1:], results, strict=True)
        }
    if not differences:
        raise UsageError("the runs have no score in common.", cure="Compare runs of one task.")
    disagreements, count = _disagreements(split, competitors)
    lengths = _by_length(split, competitors, shared)
    return Comparison(
        split,
        competitors,
        list(shared),
        differences,
        _mcnemars(competitors),
        disagreements,
        count,
        warnings + more,
        lengths,
    )


def _item_unit(evaluation: Evaluation) -> str:
    """The unit of an item: rows, sentences or blocks of tokens."""
    return next((score.difference.unit for score in evaluation.scores if score.difference), "rows")


def _by_length(
    split: str, competitors: list[Competitor], shared: Mapping[str, Sequence[Sequence[Items]]]
) -> ByLength | None:
    """The first score by source length; with several seeds, that of the first."""
    measured = competitors[0].evaluator.input_lengths(split)
    if measured is None:
        return None
    score, items = next(iter(shared.items()))
    unit, lengths = measured
    if any(seeds[0].num_items != len(lengths) for seeds in items):
        return None
    return quality_by_length(
        score,
        {competitor.name: seeds[0] for competitor, seeds in zip(competitors, items, strict=True)},
        lengths,
        unit=unit,
    )


def _shared_items(competitors: list[Competitor]) -> tuple[dict[str, list[list[Items]]], list[str]]:
    """Return the items of every competitor's runs by score.

    Language models with different tokenizers are compared by bits per character, on equal blocks of text.
    """
    streams = [evaluation.stream for competitor in competitors for evaluation in competitor.evaluations]
    if (
        all(stream is not None for stream in streams)
        and len({len(stream.nats) for stream in streams if stream is not None}) > 1
    ):
        upto = min(float(stream.ends[-1]) for stream in streams if stream is not None)
        by_character: list[list[Items]] = [
            [
                evaluation.stream.character_items(num_characters=upto)
                for evaluation in competitor.evaluations
                if evaluation.stream
            ]
            for competitor in competitors
        ]
        return {PER_CHARACTER: by_character}, _about_tokens(competitors)
    shared = {}
    for score in competitors[0].first.scores:
        items = [
            [evaluation.items.get(score.name) for evaluation in competitor.evaluations]
            for competitor in competitors
        ]
        present = [[seed_items for seed_items in seeds if seed_items is not None] for seeds in items]
        counts = {seed_items.num_items for seeds in present for seed_items in seeds}
        if (
            all(len(seeds) == len(every) for seeds, every in zip(present, items, strict=True))
            and len(counts) == 1
        ):
            shared[score.name] = present
    return shared, []


def _about_tokens(competitors: list[Competitor]) -> list[str]:
    """Warn about what makes a comparison across tokenizers by bits per character unfair."""
    warnings = [
        (
            "the models have different tokenizers, so they are compared by bits per character, on equal blocks of"
            " text"
        )
    ]
    for competitor in competitors:
        stream = competitor.first.stream
        assert stream is not None  # the others are compared by the items of their scores
        share = stream.num_unknown / len(stream.nats)
        if share > FEW_UNKNOWN:
            warnings.append(
                f"{competitor.name}: {share:.1%} of the tokens are out of vocabulary, and their characters are not"
                " predicted, so its score is too optimistic"
            )
        if not stream.predicts_whitespace:
            warnings.append(
                f"{competitor.name}: whitespace between words is not predicted, so its score is too optimistic"
            )
        if competitor.runs[0].recipe.tokens.lowercase:
            warnings.append(
                f"{competitor.name}: the text is lowercased, which is easier to predict, so its score is too optimistic"
            )
    return warnings


def _mcnemars(competitors: list[Competitor]) -> dict[str, McNemar]:
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


def _disagreements(split: str, competitors: list[Competitor]) -> tuple[list[DisagreementExample], int]:
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
            text, shown = " ".join(value), _differing_tags(value, [truths[number], *predictions])
        else:
            text = value if isinstance(value, str) else f"{len(value)} steps"
            shown = [" | ".join(labels) or NO_LABEL for labels in (truths[number], *predictions)]
        names = [competitor.name for competitor in competitors]
        examples.append(
            DisagreementExample(where, text[:2000], shown[0], dict(zip(names, shown[1:], strict=True)))
        )
    return examples, len(differing)


def _differing_tags(words: Sequence[str], tags: Sequence[tuple[str, ...]]) -> list[str]:
    """Format the true tags and those of every competitor, for the words on which competitors disagree.

    >>> _differing_tags(["a", "dog"], [("D", "N"), ("D", "V"), ("D", "N")])
    ['dog/N', 'dog/V', 'dog/N']
    """
    chosen = [place for place, choices in enumerate(zip(*tags[1:], strict=True)) if len(set(choices)) > 1]
    return [" ".join(f"{words[place]}/{labels[place]}" for place in chosen) for labels in tags]


def _names(runs: Sequence[Run]) -> list[str]:
    """Name runs by their folders; with parent folders if two names are equal."""
    names = [run.folder.name for run in runs]
    if len(set(names)) < len(names):
        names = [str(run.folder) for run in runs]
    if len({run.folder.resolve() for run in runs}) < len(runs):
        raise UsageError("the same run is given twice.", cure="Pass different runs.")
    return names


def _json(competitor: Competitor) -> dict[str, Any]:
    first, names = competitor.runs[0], [score.name for score in competitor.first.scores]
    return {
        "folders": [str(run.folder) for run in competitor.runs],
        "task": first.recipe.task,
        "model": first.recipe.model.kind,
        "parameters": first.num_parameters,
        "minutes": competitor.minutes,
        "scores": {score.name: score.as_json() for score in competitor.first.scores},
        "over_seeds": (
            {name: competitor.over_seeds(name).as_json() for name in names}
            if len(competitor.runs) > 1
            else None
        ),
    }
