"""Labels that a row probably lacks, or has by mistake: one yes-or-no question for each label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from seqlab.baselines.cross_validation import cross_validated_bayes
from seqlab.metrics.label_errors import label_error_rows
from seqlab.pages.sections.label_errors import LabelError, LabelErrors
from seqlab.tasks.labeled.baseline_views import network_view
from seqlab.tasks.labeled.label_errors import (
    MOST_ROWS,
    NAIVE_BAYES,
    SHOWN,
    THIS_MODEL,
    calibrated,
    most_certain,
)
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.multi_label.codec import MultiLabelCodec
from seqlab.tasks.multi_label.predictions import MIN_PROBABILITY, LabelPredictions, LabelTable, Probabilities

MOST_ANSWERS = 5 * MOST_ROWS
"""Labels times training rows that are judged: some seconds of work."""


@dataclass(frozen=True)
class _HeldOutPredictions:
    """Probabilities of the labels of a split by something that has not seen it."""

    split: LabeledSplit
    truth: LabelTable
    probabilities: Probabilities
    by: str

    def suspects(self) -> list[tuple[int, int]]:
        """Row and label of every suspect answer, the most certain of each label first."""
        return [
            (row, label)
            for label in range(self.truth.shape[1])
            for row in label_error_rows(
                self.truth[:, label].astype(np.int64), self._log_probs(label)
            ).tolist()
        ]

    def _log_probs(self, label: int) -> np.ndarray:
        """(rows, no and yes)."""
        yes = self.probabilities[:, label]
        return np.log(np.maximum(np.stack([1 - yes, yes], axis=1), MIN_PROBABILITY))

    def certainty(self, row: int, label: int) -> float:
        """The probability that the answer is the other one."""
        yes = float(self.probabilities[row, label])
        return 1 - yes if self.truth[row, label] else yes


def find_label_errors(
    codec: MultiLabelCodec,
    splits: Mapping[str, LabeledSplit],
    predictions: LabelPredictions,
    *,
    split: str,
    judges_training: bool,
) -> LabelErrors:
    """The suspect labels of a split by the model's predictions, and those of the other splits by naive Bayes."""
    judged = [_HeldOutPredictions(splits[split], predictions.truth, predictions.probabilities, THIS_MODEL)]
    if judges_training:
        judged += _cross_validate(codec, splits, split)
    errors = (error for predictions in judged for error in _errors(codec, predictions))
    return most_certain(errors, found=sum(len(predictions.suspects()) for predictions in judged))


def _cross_validate(
    codec: MultiLabelCodec, splits: Mapping[str, LabeledSplit], split: str
) -> list[_HeldOutPredictions]:
    """Training and validation rows by naive Bayes for each label, fitted on the other rows."""
    names = [name for name in ("train", "valid") if name in splits and name != split]
    truths = [codec.truth(splits[name].store) for name in names]
    truth = np.concatenate(truths) if truths else np.zeros((0, len(codec.labels)), np.bool_)
    if codec.vocabulary is None or not 0 < truth.size <= MOST_ANSWERS or len(truth) > MOST_ROWS:
        return []
    view = network_view({name: splits[name] for name in names}, codec.vocabulary)
    texts = [ids for name in names for ids in view.ids[name]]
    columns = []
    for targets in truth.T.astype(np.int64):
        log_probs = cross_validated_bayes(texts, targets, vocabulary_size=view.size, num_classes=2)
        columns.append(np.exp(calibrated(log_probs, targets)[:, 1].astype(np.float64)))
    ends = np.cumsum([len(part) for part in truths])[:-1]
    return [
        _HeldOutPredictions(splits[name], part, probabilities, NAIVE_BAYES)
        for name, part, probabilities in zip(
            names, truths, np.split(np.stack(columns, axis=1), ends), strict=True
        )
    ]


def _errors(codec: MultiLabelCodec, judged: _HeldOutPredictions) -> Iterator[LabelError]:
    suspects = sorted(judged.suspects(), key=lambda place: -judged.certainty(*place))[:SHOWN]
    rows = judged.split.rows_at({row for row, _ in suspects})
    for row, label in suspects:
        name, has_label = codec.labels.names[label], bool(judged.truth[row, label])
        yield LabelError(
            where=rows[row].where,
            text=codec.display_input(rows[row]),
            label=f"{name}: {'yes' if has_label else 'no'}",
            predicted=f"{name}: {'no' if has_label else 'yes'}",
            probability=judged.certainty(row, label),
            by=judged.by,
        )
