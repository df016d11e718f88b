"""The objective of a tagger: cross-entropy of every tag, or the negative log-likelihood under a CRF."""

from __future__ import annotations

from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor, Loader
from seqlab.blocks.words_first import words_first
from seqlab.losses.tag_loss import TagLoss
from seqlab.metrics.classification import accuracy
from seqlab.metrics.spans import compare_spans
from seqlab.tasks.labeled.split import training_loader
from seqlab.tasks.objective import Objective
from seqlab.tasks.tagging.codec import TaggedSplit, TaggingCodec
from seqlab.tasks.tagging.encode_rows import NO_TAG
from seqlab.tasks.tagging.predictions import predict_tags
from seqlab.tasks.tagging.tag_decoding import log_probabilities
from seqlab.training.base import BatchLoss, Carry, Validation


class TaggingObjective(Objective[TaggingCodec, TaggedSplit]):
    """If tags mark spans, span F1 selects the best weights; otherwise accuracy does."""

    def loader(self, cursor: Cursor) -> Loader:
        return training_loader(self.codec, self.splits["train"], self.recipe.training, cursor)

    def describe_rows(self, batch: Batch) -> str:
        return self.splits["train"].describe_rows(batch)

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        is_word, soft_targets = batch["tags"] != NO_TAG, None  # (batch, time)
        if self.teacher is not None:
            taught = log_probabilities(
                self.teacher.model, self.teacher.logits(batch.inputs, batch.is_token), is_word
            )  # (batch, words, tags)
            soft_targets = self.teacher.soft_targets(taught[words_first(is_word, is_word)])
        loss = TagLoss(batch["tags"], is_word, self.recipe.training.label_smoothing, soft_targets)
        value = model(batch.inputs, batch.is_token, loss=loss)
        return BatchLoss(total=value.total, count=int(is_word.sum()), correct=int(value.correct), carry=carry)

    def validate(self, model: nn.Module) -> Validation:
        predictions = predict_tags(model, self.codec, self.splits["valid"])
        words = predictions.words
        self.require_targets(len(words.targets), noun="tagged words")
        value = accuracy(words.targets, words.predicted)
        facts = {"valid_accuracy": value, "valid_loss": float(words.nats.mean())}
        if self.codec.scheme is not None:
            value = compare_spans(*predictions.truth_and_predicted(self.codec.labels.names)).overall.f1
            facts["valid_span_f1"] = value
        return Validation(value, higher_is_better=True, facts=facts)
