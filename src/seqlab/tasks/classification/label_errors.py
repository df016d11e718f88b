"""Find rows whose class is probably wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from seqlab.baselines.cross_validation import cross_validated_bayes
from seqlab.baselines.text_features import BagView
from seqlab.metrics.label_errors import label_error_rows
from seqlab.pages.sections.label_errors import LabelError, LabelErrors
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.labeled.class_predictions import ClassPredictions
from seqlab.tasks.labeled.label_errors import (
    MOST_ROWS,
    NAIVE_BAYES,
    SHOWN,
    THIS_MODEL,
    calibrated,
    most_certain,
)
from seqlab.tasks.labeled.split import LabeledSplit


@dataclass(frozen=True)
class _HeldOutPredictions:
    """Predictions for a split by a model that was not trained on it."""

    split: LabeledSplit
    predictions: ClassPredictions
    by: str


def find_label_errors(
    codec: ClassificationCodec,
    splits: Mapping[str, LabeledSplit],
    predictions: ClassPredictions,
    *,
    split: str,
    view: BagView | None,
) -> LabelErrors:
    """Find suspect rows of a split by the model's predictions, and of the other splits if there is a view.

    view: the features of naive Bayes; None to judge only the split itself.
    """
    judged = [_HeldOutPredictions(splits[split], predictions, THIS_MODEL)]
    if view is not None:
        others = {name: splits[name] for name in ("train", "valid") if name in view.ids and name != split}
        judged += _cross_validate(others, view, num_classes=len(codec.labels))
    found = sum(len(_suspects(predictions)) for predictions in judged)
    return most_certain(
        (error for predictions in judged for error in _errors(codec, predictions)), found=found
    )


def _cross_validate(
    splits: Mapping[str, LabeledSplit], view: BagView, *, num_classes: int
) -> list[_HeldOutPredictions]:
    """Judge rows by naive Bayes fitted on the others."""
    targets = [split.store["label"].values.astype(np.int64) for split in splits.values()]
    everything = np.concatenate(targets) if targets else np.zeros(0, np.int64)
    if not 0 < len(everything) <= MOST_ROWS:
        return []
    texts = [ids for name in splits for ids in view.ids[name]]
    log_probs = cross_validated_bayes(texts, everything, vocabulary_size=view.size, num_classes=num_classes)
    ends = np.cumsum([len(labels) for labels in targets])[:-1]
    return [
        _HeldOutPredictions(split, ClassPredictions(labels, part), NAIVE_BAYES)
        for split, labels, part in zip(
            splits.values(), targets, np.split(calibrated(log_probs, everything), ends), strict=True
        )
    ]


def _suspects(judged: _HeldOutPredictions) -> list[int]:
    predictions = judged.predictions
    return label_error_rows(predictions.targets, predictions.log_probs).tolist()


def _errors(codec: ClassificationCodec, judged: _HeldOutPredictions) -> Iterator[LabelError]:
    predictions = judged.predictions
    suspects = _suspects(judged)[:SHOWN]
    rows = judged.split.rows_at(suspects)
    for number in suspects:
        yield LabelError(
            where=rows[number].where,
            text=codec.display_input(rows[number]),
            label=codec.labels.decode(int(predictions.targets[number])),
            predicted=codec.labels.decode(int(predictions.log_probs[number].argmax())),
            probability=float(np.exp(predictions.log_probs[number].max())),
            by=judged.by,
        )
