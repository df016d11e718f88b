"""Score a multi-label model: micro-F1, macro-F1, subset accuracy and loss."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from torch import nn

from seqlab.metrics.multi_label import best_thresholds
from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.examples import WorstMistakes
from seqlab.tasks.evaluation import Evaluation, sliced_scores
from seqlab.tasks.labeled.evaluator import MAX_MISTAKES, LabeledEvaluator, slices_of_rows
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.multi_label.baseline import FittedLabelBaseline
from seqlab.tasks.multi_label.calibration import DEFAULT_THRESHOLD, MultiLabelCalibration
from seqlab.tasks.multi_label.codec import MultiLabelCodec
from seqlab.tasks.multi_label.label_errors import find_label_errors
from seqlab.tasks.multi_label.predictions import LabelPredictions, predict_labels
from seqlab.tasks.multi_label.predictor import MultiLabelPredictor
from seqlab.tasks.multi_label.scores import label_items, label_sections, multi_label_scores


class MultiLabelEvaluator(LabeledEvaluator[MultiLabelCodec, LabeledSplit, MultiLabelPredictor]):
    """Scores a multi-label model, with naive Bayes or the frequency of each label as the baseline."""

    def calibrate(self, model: nn.Module) -> MultiLabelCalibration:
        """Choose the threshold with the best F1 on the validation split for every label."""
        predictions = predict_labels(model, self.codec, self.splits["valid"], MultiLabelCalibration())
        thresholds = best_thresholds(predictions.truth, predictions.probabilities, default=DEFAULT_THRESHOLD)
        return MultiLabelCalibration(dict(zip(self.codec.labels.names, thresholds.tolist(), strict=True)))

    def evaluate(self, predictor: MultiLabelPredictor, split: str) -> Evaluation:
        encoded = self.splits[split]
        predictions = predict_labels(predictor.model, self.codec, encoded, predictor.calibration)
        items = label_items(predictions)
        has_train = "train" in self.splits
        baseline_name, baseline = self._baseline.predict(self.splits, split) if has_train else ("", None)
        scores = multi_label_scores(predictions, baseline=baseline, baseline_name=baseline_name)
        slices = slices_of_rows(
            items["subset_accuracy"],
            score="subset_accuracy",
            split=encoded,
            train=self.splits.get("train"),
            vocabulary=self.codec.vocabulary,
        )
        sections = [
            *label_sections(predictions, self.codec.labels.names),
            WorstMistakes(self._mistakes(encoded, predictions)),
            sliced_scores(slices, scores),
            find_label_errors(
                self.codec, self.splits, predictions, split=split, judges_training=split == self.first_split
            ),
        ]
        names = np.array(self.codec.labels.names, dtype=object)
        answers, truths = (
            [tuple(names[has_label]) for has_label in table]
            for table in (predictions.predicted, predictions.truth)
        )
        return Evaluation(split, scores, sections, items, answers=answers, truths=truths)

    @cached_property
    def _baseline(self) -> FittedLabelBaseline:
        return FittedLabelBaseline(self.codec, self.splits["train"])

    def _mistakes(self, split: LabeledSplit, predictions: LabelPredictions) -> list[WrongExample]:
        """Return the wrong predictions with the highest loss, with the original input."""
        worst = predictions.worst_mistakes(MAX_MISTAKES).tolist()
        rows = split.rows_at(worst)
        predicted, truth = predictions.predicted, predictions.truth
        of_predicted, of_truth = predictions.probability_of(predicted), predictions.probability_of(truth)
        return [
            WrongExample(
                where=rows[number].where,
                text=self.codec.display_input(rows[number]),
                truth=self.codec.join_labels(truth[number]),
                predicted=self.codec.join_labels(predicted[number]),
                predicted_probability=of_predicted[number],
                truth_probability=of_truth[number],
            )
            for number in worst
        ]
