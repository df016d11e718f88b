"""Score a tagger on words and, if tags mark spans, on spans."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np

from seqlab.metrics.items import Items
from seqlab.metrics.score import Score
from seqlab.metrics.spans import TaggingScheme, compare_spans
from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.examples import WorstMistakes
from seqlab.pages.sections.facts import Facts
from seqlab.tasks.evaluation import Evaluation, sliced_scores
from seqlab.tasks.labeled.class_predictions import class_sections
from seqlab.tasks.labeled.evaluator import MAX_MISTAKES, LabeledEvaluator
from seqlab.tasks.tagging.baseline import BaselineTagger, BaselineTags, fit_baseline
from seqlab.tasks.tagging.codec import TaggedSplit, TaggingCodec
from seqlab.tasks.tagging.label_errors import find_tag_errors
from seqlab.tasks.tagging.predictions import TagPredictions, predict_tags
from seqlab.tasks.tagging.predictor import TaggingPredictor
from seqlab.tasks.tagging.scores import tag_items, tag_scores, tag_slices
from seqlab.tasks.tagging.span_scores import span_items, span_scores, span_sections
from seqlab.tasks.tagging.word_context import in_context


def wrong_words(codec: TaggingCodec, split: TaggedSplit, predictions: TagPredictions) -> list[WrongExample]:
    """Return the worst mistakes, each in square brackets with its context."""
    words, sentences = predictions.words, predictions.sentences
    worst = words.worst_mistakes(MAX_MISTAKES).tolist()
    rows = split.rows_at({int(sentences[place]) for place in worst})
    first_words = np.searchsorted(sentences, np.arange(len(split)))
    examples = []
    for place in worst:
        sentence, predicted = int(sentences[place]), int(words.predicted[place])
        names = codec.inputs.names_of(rows[sentence])
        examples.append(
            WrongExample(
                where=rows[sentence].where,
                text=in_context(names, place - int(first_words[sentence])),
                truth=codec.labels.decode(int(words.targets[place])),
                predicted=codec.labels.decode(predicted),
                predicted_probability=float(np.exp(words.log_probs[place, predicted])),
                truth_probability=float(np.exp(-words.nats[place])),
            )
        )
    return examples


class TaggingEvaluator(LabeledEvaluator[TaggingCodec, TaggedSplit, TaggingPredictor]):
    """Scores a tagger, with the most frequent tag of each word or the nearest mean of each step as the
    baseline.
    """

    def evaluate(self, predictor: TaggingPredictor, split: str) -> Evaluation:
        encoded, names = self._whole(self.splits[split]), self.codec.labels.names
        predictions = predict_tags(predictor.model, self.codec, encoded)
        baseline = self._baseline_tags(encoded)
        noun = "word" if self.codec.tags_words else "step"
        scores = tag_scores(predictions, baseline, noun=noun)
        items = tag_items(predictions, baseline)
        sections: list[ReportSection] = [
            Facts(
                {
                    "examples": len(predictions.words.targets),
                    "sentences": len(encoded),
                    "unseen_words": None if baseline is None else int((~baseline.is_seen).sum()),
                }
            ),
            *class_sections(predictions.words, names),
            WorstMistakes(wrong_words(self.codec, encoded, predictions)),
            find_tag_errors(
                self.codec,
                {**self.splits, split: encoded},
                predictions,
                split=split,
                judges_training=split == self.first_split,
            ),
        ]
        truth, predicted = predictions.truth_and_predicted(names)
        if (scheme := self.codec.scheme) is not None:
            marked, behind = self._span_scores(predictions, baseline, scheme)
            scores, items = marked + scores, items | behind
            sections += span_sections(truth, predicted, scheme=scheme)
        sections.append(sliced_scores(tag_slices(predictions, baseline, noun=noun), scores))
        return Evaluation(split, scores, sections, items, answers=predicted, truths=truth)

    def _whole(self, split: TaggedSplit) -> TaggedSplit:
        """Return a split whose example i is the i-th row; the training split may be stored in pieces."""
        if not split.store.facts["pieces"]:
            return split
        return self.codec.encode_split(f"{split.name}, whole", split.rows)

    def show_items(self, split: str, numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
        """Return the words of each sentence, or the numbers of its steps."""
        rows = self.splits[split].rows_at(numbers)
        return {number: (row.where, self.codec.inputs.names_of(row)) for number, row in rows.items()}

    def _span_scores(
        self, predictions: TagPredictions, baseline: BaselineTags | None, scheme: TaggingScheme
    ) -> tuple[list[Score], dict[str, Items]]:
        """Return the scores of the spans, and the sentences they are computed from."""
        names = self.codec.labels.names
        truth, predicted = predictions.truth_and_predicted(names)
        spans, of_baseline, name = compare_spans(truth, predicted), None, ""
        if baseline is not None:
            of_baseline = compare_spans(truth, predictions.by_sentence(baseline.predicted, names))
            name = baseline.name
        return span_scores(spans, of_baseline, scheme=scheme, baseline_name=name), span_items(spans)

    @cached_property
    def _baseline(self) -> BaselineTagger:
        return fit_baseline(self.codec, self.splits["train"])

    def _baseline_tags(self, split: TaggedSplit) -> BaselineTags | None:
        """Return the baseline tags; None without a training split."""
        if "train" not in self.splits:
            return None
        return self._baseline.tag(split.rows.pairs(row)[0] for row in split.rows.rows())
