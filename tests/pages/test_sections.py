"""Every section of a report: its JSON, its lines and its HTML say the same."""

from __future__ import annotations

import json

import pytest

from seqlab.pages.charts.fan_chart import Band, FanChart
from seqlab.pages.report import render_report
from seqlab.pages.report_data import ClassLine, Report, WrongExample
from seqlab.pages.sections.attention import (
    AttentionExample,
    AttentionMaps,
    ImageAttention,
    ImageExample,
    QueryAttention,
    QueryExample,
)
from seqlab.pages.sections.base import ReportSection, report_sections, section_from_json
from seqlab.pages.sections.calibration import CalibrationCurves, Thresholds
from seqlab.pages.sections.classes import ConfusionMatrix, PerClassScores, SpanTypeScores
from seqlab.pages.sections.examples import WorstMistakes
from seqlab.pages.sections.facts import BatchMeanAccuracy, Facts, SpanFacts
from seqlab.pages.sections.forecast_errors import Residuals, SeriesError, StepErrors, StepLine, WorstSeries
from seqlab.pages.sections.forecast_methods import ForecastMethods, MethodLine
from seqlab.pages.sections.forecasts import ForecastExamples
from seqlab.pages.sections.label_errors import LabelError, LabelErrors
from seqlab.pages.sections.language_models import LanguageModelLine, LanguageModels
from seqlab.pages.sections.leaks import CleanScore, LeakFreeScores
from seqlab.pages.sections.predicted_numbers import PredictedNumbers
from seqlab.pages.sections.slices import SliceChart, SlicedScores, SlicePart
from seqlab.pages.sections.translations import TranslationExample, Translations

SIDE = {"error": 0.1, "nats": 0.7, "bins": [{"confidence": 0.8, "accuracy": 0.75, "count": 4}]}
FAN = FanChart(
    "meantemp from 2017-01-03",
    "meantemp",
    ["2017-01-01", "2017-01-02", "2017-01-03", "2017-01-04"],
    [9.0, None],
    [10.0, 11.0],
    [Band(0.95, [7.0, 7.5], [13.0, 14.5]), Band(0.8, [8.0, 8.5], [12.0, 13.5])],
    [10.5, 12.25],
    [9.0, 9.0],
    "the last value",
)
ROW = {"threshold": 0.5, "said": 3, "precision": 0.6, "recall": 0.7, "f1": 0.65, "accuracy": 0.8}
SECTIONS: list[tuple[ReportSection, list[str], list[str]]] = [
    (Facts({"examples": 8}), [], []),
    (BatchMeanAccuracy(0.8125, 32), ["batches of 32", "0.81250"], []),
    (SpanFacts("IOBES", 9, 0.5, 2), [], []),
    (ConfusionMatrix(["cat", "dog"], [[31, 17], [5, 62]]), [], ["31", "17", "62"]),
    (
        PerClassScores([ClassLine("cat", 0.25, 0.5, 0.333, 7)]),
        ["cat", "0.250", "0.500", "0.333", "(7)"],
        ["cat", "0.250"],
    ),
    (SpanTypeScores([ClassLine("PER", 0.25, 0.5, 0.333, 7)]), ["PER", "0.250"], ["PER", "0.333"]),
    (
        LabelErrors([LabelError("t.csv, line 9", "so so", "pos", "neg", 0.97, "this model")], 31),
        ["t.csv, line 9", "'pos'", "'neg'", "0.97", "31"],
        ["line 9", "so so", "0.970"],
    ),
    (
        WorstMistakes([WrongExample("t.csv, line 7", "so so", "pos", "neg", 0.91, 0.09)]),
        [],
        ["so so", "line 7", "0.910"],
    ),
    (CalibrationCurves(1.5, SIDE, {**SIDE, "error": 0.05}), [], ["0.750"]),
    (Thresholds("pos", 0.5, [0.1, 0.9], [0.5, 1.0], [1.0, 0.5], [0.667, 0.667], [ROW]), [], ["pos", "0.650"]),
    (PredictedNumbers([1.0, 4.0], [1.5, 3.0], 1.0, 0.5), [], ["50%"]),
    (
        SlicedScores(
            [
                SliceChart(
                    "length",
                    "accuracy",
                    "rows",
                    [SlicePart("1-8", 352, 0.4, 0.3, 0.5), SlicePart("9-12", 1, 0.6)],
                    0.5,
                )
            ]
        ),
        ["accuracy by length", "1-8", "0.4000 [0.3000, 0.5000]", "(352 rows)", "0.6000  (1 rows)"],
        ["accuracy by length", "352"],
    ),
    (LanguageModels([LanguageModelLine("bigram", 2.5, 12.18)]), [], ["bigram", "12.18"]),
    (
        Translations([TranslationExample("t.tsv, line 1", "a dog", "ein Hund", ["der Hund", "ein Hund"])]),
        [],
        ["a dog", "der Hund | ein Hund"],
    ),
    (AttentionMaps([AttentionExample(["a", "b"], ["x", "</s>"], [[0.25, 0.75], [0.5, 0.5]])]), [], ["x"]),
    (
        ImageAttention(
            [
                ImageExample(
                    "a cat",
                    [[[0, 0, 0], [9, 9, 9]]],
                    [{"words": "image"}, {"words": "cat", "weights": [[1.0, 0.0]]}],
                )
            ]
        ),
        [],
        ["cat"],
    ),
    (
        QueryAttention(
            [QueryExample("line 3: pos", ["so", "good"], [{"name": "query 1", "weights": [0.1, 0.9]}])]
        ),
        [],
        ["good", "line 3: pos"],
    ),
    (ForecastExamples([FAN]), [], ["meantemp from 2017-01-03", "8.500 to 13.50", "12.25", "the last value"]),
    (
        StepErrors(
            "meantemp",
            [StepLine("network", [1.25, 2.5]), StepLine("drift", [1.5, 3.0])],
            [StepLine("80% band", [0.75, 0.82], 0.8)],
        ),
        ["(meantemp)", "network: 1.250 (step 1), 2.500 (step 2)", "75% (step 1)"],
        ["mean absolute error (meantemp)", "nominal 0.800"],
    ),
    (
        WorstSeries(
            "MASE", "drift", 2, 1, [SeriesError("H7", 2.25, 1.5, 12), SeriesError("H9", 0.25, 0.5, 12)]
        ),
        [],
        ["1 of 2 series", "H7", "2.250", "MASE"],
    ),
    (
        Residuals("meantemp", "step 1", [-2.0, 0.0, 2.0], [3, 5], ["2017-01-03", "2017-02-04"], [-1.25, 1.5]),
        [],
        ["-2.000 to 0.000: 3", "2017-01-03: -1.250", "truth - median (meantemp)"],
    ),
    (
        ForecastMethods(
            "meantemp",
            "drift",
            [
                MethodLine("network", {"MAE": 1.25, "RMSE": 2.5}),
                MethodLine("drift", {"MAE": 1.5, "RMSE": 3.0}, "clearly better"),
            ],
        ),
        ["MAE", "1.250", "drift", "3.000  clearly better"],
        ["units of meantemp", "3.000", "clearly better"],
    ),
    (
        LeakFreeScores("test", 3, 7, "rows", [CleanScore("accuracy", 0.5, 0.4, 0.6, on_all=0.65)]),
        ["without the 3 rows", "7 are left", "0.5000", "0.4000 to 0.6000", "0.6500 on all"],
        [],
    ),
]


def test_every_kind_is_examined_here() -> None:
    assert sorted(section.kind for section, _, _ in SECTIONS) == report_sections.names()


@pytest.mark.parametrize(
    ("section", "printed", "shown"), SECTIONS, ids=lambda value: getattr(value, "kind", "")
)
def test_json_gives_the_same_section_which_prints_and_shows_its_facts(
    section: ReportSection, printed: list[str], shown: list[str]
) -> None:
    again = section_from_json(section.kind, json.loads(json.dumps(section.to_json())))
    assert again == section
    assert report_sections.get(section.kind) is type(section)
    lines = "\n".join(again.lines())
    assert [fact for fact in printed if fact not in lines] == []
    assert bool(lines) == bool(printed)
    page = render_report(Report("t", sections=[again]))
    assert (f'id="{section.kind.replace("_", "-")}"' in page) == bool(shown)
    assert [fact for fact in shown if fact not in page] == []


def test_a_kind_that_is_not_known_is_left_out() -> None:
    assert section_from_json("something_new", {"a": 1}) is None
