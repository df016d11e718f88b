"""Score a classifier: accuracy, macro-F1, loss, calibration and, for two classes, ranking."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from torch import nn

from seqlab.metrics.classification import mean_batch_accuracy
from seqlab.metrics.items import Items
from seqlab.metrics.slices import ScoreSlices
from seqlab.metrics.temperature_choice import choose_temperature
from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.attention import QueryAttention
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.examples import WorstMistakes
from seqlab.pages.sections.facts import BatchMeanAccuracy, Facts
from seqlab.tasks.classification.baseline import FittedClassBaseline
from seqlab.tasks.classification.calibration import (
    ClassificationCalibration,
    best_threshold,
    calibration_section,
    ranking_items,
    thresholds_section,
)
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.classification.label_errors import find_label_errors
from seqlab.tasks.classification.predictor import ClassificationPredictor
from seqlab.tasks.classification.scores import (
    calibration_score,
    classification_items,
    classification_scores,
    majority_accuracy,
    of_single_label,
    ranking_scores,
)
from seqlab.tasks.classification.token_heatmaps import MAX_EXAMPLES, query_examples
from seqlab.tasks.evaluation import Evaluation, sliced_scores
from seqlab.tasks.labeled.class_predictions import ClassPredictions, class_sections, predict_classes
from seqlab.tasks.labeled.evaluator import MAX_MISTAKES, LabeledEvaluator, slices_of_rows
from seqlab.tasks.labeled.split import EVALUATION_BATCH, LabeledSplit
from seqlab.tasks.labeled.whole_sequence import outputs_of


class ClassificationEvaluator(LabeledEvaluator[ClassificationCodec, LabeledSplit, ClassificationPredictor]):
    """Scores a classifier, with naive Bayes (text) or the nearest class mean (numbers) as the baseline."""

    def calibrate(self, model: nn.Module) -> ClassificationCalibration:
        """Choose the temperature, if one helps on the validation split, and for two classes the threshold
        with the best F1.
        """
        split = self.splits["valid"]
        outputs = outputs_of(model, self.codec, split)
        uncalibrated = predict_classes(outputs, split, temperature=1.0)
        temperature = choose_temperature(uncalibrated.log_probs, uncalibrated.targets)
        if len(self.codec.labels) != 2 or not (uncalibrated.targets == 1).any():
            return ClassificationCalibration(temperature)
        predictions = predict_classes(outputs, split, temperature=temperature)
        return ClassificationCalibration(temperature, best_threshold(predictions))

    def evaluate(self, predictor: ClassificationPredictor, split: str) -> Evaluation:
        encoded, names = self.splits[split], self.codec.labels.names
        outputs, temperature = (
            outputs_of(predictor.model, self.codec, encoded),
            predictor.calibration.temperature,
        )
        uncalibrated = predict_classes(outputs, encoded, temperature=1.0)
        predictions = predict_classes(outputs, encoded, temperature=temperature)
        baseline = self._baseline.predict(self.splits, split) if "train" in self.splits else None
        items = classification_items(predictions)
        scores = classification_scores(predictions, baseline, temperature=temperature)
        scores.append(calibration_score(predictions, uncalibrated, temperature=temperature))
        num_labels = len(np.unique(predictions.targets))
        if num_labels == 1 and len(names) > 1 and len(predictions.targets) > 1:
            scores = [of_single_label(score, names[int(predictions.targets[0])]) for score in scores]
        sections = [
            *self._prediction_sections(encoded, predictions),
            sliced_scores(self._slices(encoded, items["accuracy"]), scores),
            calibration_section(uncalibrated, predictions, temperature=temperature),
            self._attention_section(predictor.model, encoded, predictions),
            find_label_errors(
                self.codec,
                self.splits,
                predictions,
                split=split,
                view=baseline.view if baseline and split == self.first_split else None,
            ),
        ]
        if len(names) == 2 and num_labels == 2:  # a ranking needs both classes
            items |= ranking_items(uncalibrated)
            scores += ranking_scores(uncalibrated, baseline, label=names[1])
            threshold = predictor.calibration.threshold
            sections.append(thresholds_section(predictions, label=names[1], chosen=threshold))
        answers, truths = (
            [(names[label],) for label in labels.tolist()]
            for labels in (predictions.predicted, predictions.targets)
        )
        return Evaluation(split, scores, sections, items, answers=answers, truths=truths)

    @cached_property
    def _baseline(self) -> FittedClassBaseline:
        return FittedClassBaseline(self.codec, self.splits["train"])

    def _prediction_sections(self, split: LabeledSplit, predictions: ClassPredictions) -> list[ReportSection]:
        train = self.splits.get("train")
        majority = None if train is None else majority_accuracy(self.codec, train, predictions)
        return [
            Facts({"examples": len(predictions.targets), "majority_accuracy": majority}),
            *self._batch_means(predictions),
            *class_sections(predictions, self.codec.labels.names),
            WorstMistakes(self._mistakes(split, predictions)),
        ]

    def _batch_means(self, predictions: ClassPredictions) -> list[ReportSection]:
        if not self.recipe.evaluation.batch_mean_accuracy:
            return []
        size = self.recipe.training.batch_size or EVALUATION_BATCH
        return [BatchMeanAccuracy(mean_batch_accuracy(predictions.correct, batch_size=size), size)]

    def _slices(self, split: LabeledSplit, items: Items) -> list[ScoreSlices]:
        return slices_of_rows(
            items,
            score="accuracy",
            split=split,
            train=self.splits.get("train"),
            vocabulary=self.codec.vocabulary,
        )

    def _attention_section(
        self, model: nn.Module, split: LabeledSplit, predictions: ClassPredictions
    ) -> ReportSection:
        answers = [self.codec.labels.decode(label) for label in predictions.predicted[:MAX_EXAMPLES].tolist()]
        return QueryAttention(query_examples(self.codec, model, split, answers))

    def _mistakes(self, split: LabeledSplit, predictions: ClassPredictions) -> list[WrongExample]:
        """Return the wrong predictions with the highest loss, with the original input."""
        worst, labels = predictions.worst_mistakes(MAX_MISTAKES).tolist(), self.codec.labels
        rows = split.rows_at(worst)
        return [
            WrongExample(
                where=rows[number].where,
                text=self.codec.display_input(rows[number]),
                truth=labels.decode(int(predictions.targets[number])),
                predicted=labels.decode(int(predictions.predicted[number])),
                predicted_probability=float(np.exp(predictions.log_probs[number].max())),
                truth_probability=float(np.exp(-predictions.nats[number])),
            )
            for number in worst
        ]
