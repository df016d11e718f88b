"""Batches of sequences with masked tokens, for training and scoring."""

from __future__ import annotations

import torch

from seqlab.batches.batch import Batch, pad
from seqlab.batches.masking import NO_TARGET, Masker
from seqlab.batches.samplers import Indices
from seqlab.tasks.masked_language_model.codec import MaskedLanguageModelCodec, MaskedSplit
from seqlab.tasks.masked_language_model.spec import MaskedLanguageModelSettings


def training_masker(codec: MaskedLanguageModelCodec) -> Masker:
    """Return a masker with the settings of the recipe."""
    recipe = codec.recipe
    return Masker(
        recipe.section(MaskedLanguageModelSettings),
        mask_id=codec.mask_id,
        is_ordinary=codec.is_ordinary,
        seed=recipe.training.seed,
    )


def evaluation_masker(codec: MaskedLanguageModelCodec) -> Masker:
    """Return a masker that masks the same tokens every time, and every token that is scored."""
    recipe = codec.recipe
    settings = recipe.section(MaskedLanguageModelSettings).model_copy(
        update={"mask_replace_prob": 1.0, "random_replace_prob": 0.0, "dynamic_masking": False}
    )
    return Masker(settings, mask_id=codec.mask_id, is_ordinary=codec.is_ordinary, seed=recipe.training.seed)


def collate_masked(
    codec: MaskedLanguageModelCodec, split: MaskedSplit, rows: Indices, masker: Masker, *, epoch: int = 0
) -> Batch:
    """Build a batch of sequences with masked tokens, and the tokens to predict."""
    stream, spans, borders = split.store["tokens"], split.spans, codec.word_borders
    masked = []
    for row in rows.tolist():
        tokens = stream.window(int(spans.starts[row]), int(spans.ends[row]))
        groups = borders.groups(tokens) if borders else None
        masked.append(masker.mask(tokens, row=row, epoch=epoch, groups=groups))
    pad_id = codec.tokenizer.vocabulary.pad_id
    inputs, is_token = pad([sequence.inputs for sequence in masked], value=pad_id)
    targets, _ = pad([sequence.targets for sequence in masked], value=NO_TARGET)
    return Batch(inputs, is_token, {"masked_tokens": targets}, torch.from_numpy(rows))
