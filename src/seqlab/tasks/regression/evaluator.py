"""Score predicted numbers: errors, explained variance, rank correlation."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from torch import nn

from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.examples import WorstMistakes
from seqlab.pages.sections.facts import Facts
from seqlab.tasks.evaluation import Evaluation, sliced_scores
from seqlab.tasks.labeled.evaluator import MAX_MISTAKES, LabeledEvaluator, slices_of_rows
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.regression.baseline import FittedNumberBaseline, NumberBaseline, mean_baseline
from seqlab.tasks.regression.calibration import COVERAGE, RegressionCalibration
from seqlab.tasks.regression.codec import RegressionCodec
from seqlab.tasks.regression.predictor import RegressionPredictor
from seqlab.tasks.regression.scores import (
    NumberPredictions,
    number_items,
    number_scores,
    number_text,
    predict_numbers,
    predicted_numbers_section,
)


class RegressionEvaluator(LabeledEvaluator[RegressionCodec, LabeledSplit, RegressionPredictor]):
    """Scores a regression, with ridge regression (text), the last value (time series) or the training mean
    as the baseline.
    """

    def calibrate(self, model: nn.Module) -> RegressionCalibration:
        """Choose the error that 90% of the predictions on the validation split do not exceed (split conformal
        prediction).

        Paper: Vovk et al. 2005, "Algorithmic Learning in a Random World"; Lei et al. 2018,
        arXiv:1604.04173, algorithm 2.
        """
        distances = predict_numbers(model, self.codec, self.splits["valid"]).distances
        share = min(1.0, np.ceil((len(distances) + 1) * COVERAGE) / len(distances))
        return RegressionCalibration(float(np.quantile(distances, share, method="inverted_cdf")))

    def evaluate(self, predictor: RegressionPredictor, split: str) -> Evaluation:
        encoded, train = self.splits[split], self.splits.get("train")
        predictions = predict_numbers(predictor.model, self.codec, encoded)
        items = number_items(predictions)
        mean = NumberPredictions(predictions.truth, np.full(len(predictions.truth), self.codec.labels.mean))
        scores = number_scores(predictions, mean=mean, baseline=self._predict_baseline(split))
        slices = slices_of_rows(
            items["mae"], score="mae", split=encoded, train=train, vocabulary=self.codec.vocabulary
        )
        sections: list[ReportSection] = [
            Facts({"examples": len(predictions.truth)}),
            predicted_numbers_section(predictions, half_width=predictor.calibration.half_width),
            WorstMistakes(self._mistakes(encoded, predictions)),
            sliced_scores(slices, scores),
        ]
        return Evaluation(split, scores, sections, items)

    @cached_property
    def _baseline(self) -> FittedNumberBaseline:
        return FittedNumberBaseline(self.codec, self.splits["train"])

    def _predict_baseline(self, split: str) -> NumberBaseline:
        if "train" not in self.splits:
            return mean_baseline(self.codec, self.splits[split])
        return self._baseline.predict(self.splits, split)

    def _mistakes(self, split: LabeledSplit, predictions: NumberPredictions) -> list[WrongExample]:
        """Return the predictions with the largest errors, with the original input."""
        worst = np.argsort(-predictions.distances, kind="stable")[:MAX_MISTAKES].tolist()
        rows = split.rows_at(worst)
        return [
            WrongExample(
                where=rows[number].where,
                text=self.codec.display_input(rows[number]),
                truth=number_text(predictions.truth[number]),
                predicted=number_text(predictions.predicted[number]),
                predicted_probability=None,
                truth_probability=None,
            )
            for number in worst
        ]
