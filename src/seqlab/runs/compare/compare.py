"""Compare runs on the same data: their scores, and whether the differences are statistically significant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seqlab.core.errors import UsageError, nearest, shortened
from seqlab.metrics.items import Items
from seqlab.metrics.paired_difference import PairedDifference
from seqlab.metrics.paired_tests import McNemar, paired_bootstrap
from seqlab.pages.comparison import DisagreementExample
from seqlab.pages.notebook import sentences_and_table
from seqlab.runs.compare.by_length import ByLength, quality_by_length
from seqlab.runs.compare.compatibility import check_comparable, open_common
from seqlab.runs.compare.competitor import Competitor
from seqlab.runs.compare.disagreements import find_disagreements, mcnemar_tests
from seqlab.runs.compare.settings_diff import settings_diff
from seqlab.runs.compare.shared_items import shared_items
from seqlab.runs.evaluation import evaluate_split
from seqlab.runs.run import Run
from seqlab.runs.survey.data_survey import survey_parts
from seqlab.runs.survey.leaks import note_leaks
from seqlab.sources.base import Source
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator


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
        reject_unknown_reference(against, list(groups))
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


def reject_unknown_reference(against: str, names: Sequence[str]) -> None:
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
    shared, more = shared_items(competitors)
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
    disagreements, count = find_disagreements(split, competitors)
    lengths = _by_length(split, competitors, shared)
    return Comparison(
        split,
        competitors,
        list(shared),
        differences,
        mcnemar_tests(competitors),
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
