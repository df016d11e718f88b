"""Show a comparison as a table and as an HTML page."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from seqlab.core.files import write_whole
from seqlab.metrics.slices import SliceScore
from seqlab.models.short_name import short_name
from seqlab.pages.charts.interval_rows import IntervalRow
from seqlab.pages.comparison import (
    Agreement,
    ComparisonPage,
    ScoreComparison,
    ScoreDifference,
    render_comparison,
)
from seqlab.pages.numbers import format_fixed, format_minutes
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.pages.sections.by_length import LengthChart, LengthLine, format_interval
from seqlab.runs.compare.by_length import ByLength
from seqlab.runs.compare.compare import Comparison
from seqlab.runs.compare.competitor import Competitor
from seqlab.runs.folder.layout import RECIPE
from seqlab.runs.folder.run_journal import read_run_journal

PAGE = "compare.html"


def table(comparison: Comparison) -> list[dict[str, str]]:
    """Return one row per competitor: scores with intervals, the baseline of the first score, parameters and
    training time.
    """
    return [_row(comparison, competitor) for competitor in comparison.competitors]


def _row(comparison: Comparison, competitor: Competitor) -> dict[str, str]:
    row = {"run": competitor.name, "model": short_name(competitor.runs[0].recipe.model)}
    for name in comparison.score_names:
        row[name] = _shown(competitor, name)
    first = competitor.score(comparison.score_names[0])
    row["baseline"] = "–" if first.baseline is None else _number(first.baseline)
    row["parameters"] = f"{competitor.runs[0].num_parameters:,}"
    row["minutes"] = "–" if competitor.minutes is None else format_minutes(competitor.minutes)
    return row


def _shown(competitor: Competitor, name: str) -> str:
    score, seeds = competitor.score(name), competitor.over_seeds(name)
    if seeds.deviation is not None:
        return f"{_number(seeds.mean)} ± {seeds.deviation:.4f} ({len(seeds.values)} seeds)"
    if score.low is None or score.high is None:
        return _number(score.value)
    return f"{_number(score.value)} [{_number(score.low)}, {_number(score.high)}]"


def without_comparisons(paths: Sequence[str | Path]) -> list[str | Path]:
    """Leave out the folders of earlier comparisons, which `runs/*` includes."""
    return [path for path in paths if not _is_comparison(Path(path))]


def _is_comparison(folder: Path) -> bool:
    return (folder / PAGE).is_file() and not (folder / RECIPE).exists()


def write_comparison(comparison: Comparison, folder: Path, *, command: str) -> Path:
    """Write the page and return its path."""
    page = ComparisonPage(
        title=" vs. ".join(competitor.name for competitor in comparison.competitors),
        subtitle=(
            f"{comparison.reference.runs[0].recipe.task.replace('_', ' ')}, scored on {comparison.split}"
        ),
        created=time.strftime("%Y-%m-%d %H:%M:%S %z"),
        findings=comparison.sentences(),
        warnings=comparison.warnings,
        scores=[_standing(comparison, name) for name in comparison.score_names],
        differences=[
            ScoreDifference(
                score, name, result.value, result.low, result.high, result.holm_p, result.is_significant
            )
            for score, by_name in comparison.differences.items()
            for name, result in by_name.items()
        ],
        reference=comparison.reference.name,
        table=table(comparison),
        settings=comparison.settings_diff,
        agreements=[
            Agreement(name, result.both, result.only_first, result.only_second, result.neither, result.p)
            for name, result in comparison.mcnemars.items()
        ],
        examples=comparison.disagreements,
        num_disagreements=comparison.num_disagreements,
        curves=_curves(comparison),
        by_length=_lengths(comparison.by_length) if comparison.by_length else None,
        command=command,
    )
    path = _free_path(folder)
    write_whole(path, render_comparison(page))
    return path


def _free_path(folder: Path) -> Path:
    """The path compare.html, compare-2.html and so on; earlier comparisons are kept."""
    path, number = folder / PAGE, 2
    while path.exists():
        path, number = folder / f"{Path(PAGE).stem}-{number}{Path(PAGE).suffix}", number + 1
    return path


def _lengths(by_length: ByLength) -> LengthChart:
    lines = [
        LengthLine(name, [_part_reach(part) for part in parts]) for name, parts in by_length.parts.items()
    ]
    counts = [part.count for part in next(iter(by_length.parts.values()))]
    return LengthChart(by_length.score, by_length.unit, by_length.middles, counts, lines)


def _part_reach(part: SliceScore) -> IntervalRow:
    return IntervalRow(part.name, part.value, part.low, part.high)


def shown_part(part: SliceScore) -> str:
    """Format the score on a part of the data, with its interval."""
    return format_interval(_part_reach(part))


def _standing(comparison: Comparison, name: str) -> ScoreComparison:
    first = comparison.reference.score(name)
    rows = [_reach(competitor, name) for competitor in comparison.competitors]
    seeds = len(comparison.reference.runs)
    interval = "95% CI over examples" if seeds == 1 else f"95% CI of the mean over {seeds} seeds"
    return ScoreComparison(name, first.higher_is_better, rows, first.baseline, first.baseline_name, interval)


def _reach(competitor: Competitor, name: str) -> IntervalRow:
    """The interval over test examples, or of the mean over seeds if there are several."""
    score, seeds = competitor.score(name), competitor.over_seeds(name)
    if seeds.deviation is not None:
        return IntervalRow(competitor.name, seeds.mean, seeds.low, seeds.high)
    return IntervalRow(competitor.name, score.value, score.low, score.high)


def _curves(comparison: Comparison) -> list[LineChart]:
    """Plot the validation score of every run over training time in minutes."""
    series = []
    key = ""
    for competitor in comparison.competitors:
        for run in competitor.runs:
            checks = [event for event in read_run_journal(run.folder) if event["event"] == "validated"]
            key = key or next(
                (name for name in ("valid_accuracy", "valid_loss") if checks and name in checks[0]), ""
            )
            measured = [event for event in checks if event.get(key) is not None and "seconds" in event]
            if measured:
                name = (
                    competitor.name
                    if len(competitor.runs) == 1
                    else f"{competitor.name}, seed {run.recipe.training.seed}"
                )
                series.append(
                    LineSeries(
                        name,
                        [event["seconds"] / 60 for event in measured],
                        [float(event[key]) for event in measured],
                    )
                )
    return (
        [LineChart("Validation while training", "minutes", key.replace("_", " "), series)] if series else []
    )


def _number(value: float) -> str:
    return format_fixed(value, 4 if abs(value) < 10 else 2)
