"""The predictions of a tagger for every word of a split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int
from torch import nn

from seqlab.tasks.labeled.class_predictions import ClassPredictions
from seqlab.tasks.labeled.split import evaluation_batches
from seqlab.tasks.tagging.codec import TaggedSplit, TaggingCodec
from seqlab.tasks.tagging.encode_rows import NO_TAG
from seqlab.tasks.tagging.tag_decoding import decode_tags

TagSequences = list[tuple[str, ...]]
"""The tags of every sentence, by name."""


@dataclass(frozen=True)
class TagPredictions:
    """The predictions for all words, concatenated, and the sentence number of each."""

    words: ClassPredictions
    sentences: Int[np.ndarray, " words"]

    def by_sentence(self, tags: Int[np.ndarray, " words"], names: Sequence[str]) -> TagSequences:
        """Split concatenated tags into tag names by sentence."""
        starts = np.flatnonzero(np.diff(self.sentences, prepend=-1)).tolist()
        tag_names = [names[tag] for tag in tags.tolist()]
        return [
            tuple(tag_names[start:stop])
            for start, stop in zip(starts, [*starts[1:], len(tag_names)], strict=True)
        ]

    def truth_and_predicted(self, names: Sequence[str]) -> tuple[TagSequences, TagSequences]:
        """Return the true and the predicted tags of every sentence."""
        return self.by_sentence(self.words.targets, names), self.by_sentence(self.words.predicted, names)


@torch.inference_mode()
def predict_tags(model: nn.Module, codec: TaggingCodec, split: TaggedSplit) -> TagPredictions:
    """Run the network over a split."""
    tags = split.store["tags"]
    targets = tags.values.astype(np.int64)  # (all steps,)
    is_word = targets != NO_TAG
    first_words = np.concatenate([[0], np.cumsum(is_word)])[tags.offsets]  # (sentences + 1,)
    log_probs = np.empty((first_words[-1], len(codec.labels)), np.float32)
    decoded = np.empty(first_words[-1], np.int64)
    device = next(model.parameters()).device
    for batch in evaluation_batches(codec, split):
        logits = model(batch.inputs.to(device), batch.is_token.to(device))
        decisions = decode_tags(model, logits, (batch["tags"] != NO_TAG).to(device))
        for sentence, decision in zip(batch.rows.tolist(), decisions, strict=True):
            words = slice(first_words[sentence], first_words[sentence + 1])
            log_probs[words], decoded[words] = decision.log_probs, decision.tags
    sentences = np.repeat(np.arange(len(tags)), np.diff(first_words))
    return TagPredictions(ClassPredictions(targets[is_word], log_probs, decoded), sentences)
