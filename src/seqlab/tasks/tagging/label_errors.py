"""Words whose tag is probably wrong, with their sentence and their number in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from seqlab.baselines.context_bayes import context_features, cross_validated_tags
from seqlab.metrics.label_errors import label_error_rows
from seqlab.pages.sections.label_errors import LabelError, LabelErrors
from seqlab.tasks.labeled.class_predictions import ClassPredictions
from seqlab.tasks.labeled.label_errors import NAIVE_BAYES, SHOWN, THIS_MODEL, calibrated, most_certain
from seqlab.tasks.tagging.codec import TaggedSplit, TaggingCodec
from seqlab.tasks.tagging.predictions import TagPredictions
from seqlab.tasks.tagging.word_context import in_context

MOST_WORDS = 250_000
"""Training words that are judged: a second or two of work."""


def find_tag_errors(
    codec: TaggingCodec,
    splits: Mapping[str, TaggedSplit],
    predictions: TagPredictions,
    *,
    split: str,
    judges_training: bool,
) -> LabelErrors:
    """The suspect words of a split by the model's predictions, and those of the other splits by naive Bayes on each
    word and its neighbors.
    """
    judged = [(splits[split], predictions, THIS_MODEL)]
    if judges_training and codec.tags_words:
        others = [splits[name] for name in ("train", "valid") if name in splits and name != split]
        judged += [
            (other, found, NAIVE_BAYES) for other in others if (found := _cross_validate(codec, other))
        ]
    suspects = [
        label_error_rows(words.words.targets, words.words.log_probs).tolist() for _, words, _ in judged
    ]
    errors = (
        error
        for (encoded, words, by), places in zip(judged, suspects, strict=True)
        for error in _errors(codec, encoded, words, places[:SHOWN], by=by)
    )
    return most_certain(errors, found=sum(map(len, suspects)))


def _cross_validate(codec: TaggingCodec, split: TaggedSplit) -> TagPredictions | None:
    """None where there are no words, or too many."""
    pairs = [split.rows.pairs(row) for row in split.rows.rows()]
    lengths = [len(words) for words, _ in pairs]
    if not 0 < sum(lengths) <= MOST_WORDS:
        return None
    targets = np.array([codec.labels.encode(tag) for _, tags in pairs for tag in tags], np.int64)
    sentences = np.repeat(np.arange(len(pairs)), lengths)
    log_probs = cross_validated_tags(
        context_features([words for words, _ in pairs]), targets, sentences, num_tags=len(codec.labels)
    )
    return TagPredictions(ClassPredictions(targets, calibrated(log_probs, targets)), sentences)


def _errors(
    codec: TaggingCodec, split: TaggedSplit, predictions: TagPredictions, places: list[int], *, by: str
) -> Iterator[LabelError]:
    words, sentences = predictions.words, predictions.sentences
    rows = split.rows_at({int(sentences[place]) for place in places})
    for place in places:
        sentence = int(sentences[place])
        number = place - int(np.searchsorted(sentences, sentence))
        yield LabelError(
            where=f"{rows[sentence].where}, {'word' if codec.tags_words else 'step'} {number + 1}",
            text=in_context(codec.inputs.names_of(rows[sentence]), number),
            label=codec.labels.decode(int(words.targets[place])),
            predicted=codec.labels.decode(int(words.log_probs[place].argmax())),
            probability=float(np.exp(words.log_probs[place].max())),
            by=by,
        )
