"""An ensemble of runs that generate one target together, token by token, so all must have the same tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import nn

from seqlab.core.errors import UsageError
from seqlab.decoding.ensemble import Ensemble
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.tasks.codec import Codec
from seqlab.tasks.inputs.base import digest_of
from seqlab.tasks.seq2seq.codec import Seq2SeqCodec

CURE = "Use runs with the same tokens, such as those of: seqlab train WHAT --seeds 3"


def build_ensemble(members: Sequence[tuple[Codec, nn.Module, str]]) -> tuple[Seq2SeqCodec, Ensemble]:
    """Return the codec of the first run, limited to the lengths that all networks support, and the ensemble.

    members: the codec, the model and the name of each run.
    """
    first_codec, first_model, first_name = members[0]
    first = _require_seq2seq(first_codec, where=first_name)
    device = next(first_model.parameters()).device
    models, max_positions = [], []
    for codec, model, name in members:
        max_positions.append(require_same_tokens(first, codec, where=name).max_positions)
        assert isinstance(model, EncoderDecoder | Ensemble)
        models.append(model.to(device))
    return replace(first, max_positions=min(max_positions)), Ensemble(models)


def require_same_tokens(first: Seq2SeqCodec, other: Codec, *, where: str) -> Seq2SeqCodec:
    """Return `other`, which must have the same task, languages and tokens as `first`.

    where: the run of `other`.
    """
    other = _require_seq2seq(other, where=where)
    is_multilingual, others_are = (bool(codec.recipe.data.language) for codec in (first, other))
    if not first.recipe.has_same_task(other.recipe) or is_multilingual != others_are:
        raise UsageError(
            "the run differs from the first in its task or its target languages.", where=where, cure=CURE
        )
    if digest_of(first.save) != digest_of(other.save):
        raise UsageError(
            f"the run has different tokens than the first: {_difference(first, other)}.",
            where=where,
            cure=CURE,
        )
    return other


def _require_seq2seq(codec: Codec, *, where: str) -> Seq2SeqCodec:
    if not isinstance(codec, Seq2SeqCodec):
        raise UsageError(
            f"a {codec.recipe.task} run cannot be part of an ensemble, because it does not generate targets.",
            where=where,
            cure="Leave it out.",
        )
    return codec


def _difference(first: Seq2SeqCodec, other: Seq2SeqCodec) -> str:
    """Describe the first difference between the tokens of two codecs of one task."""
    others = other.tokens.tokenizers
    for side, tokenizer in first.tokens.tokenizers.items():
        other_tokenizer = others[side]
        if tokenizer.kind != other_tokenizer.kind:
            return f"its {side} tokens are {other_tokenizer.kind}, not {tokenizer.kind}"
        pieces, other_pieces = tokenizer.vocabulary.pieces, other_tokenizer.vocabulary.pieces
        if len(pieces) != len(other_pieces):
            return f"it has {len(other_pieces):,} {side} tokens, not {len(pieces):,}"
        for token_id, (piece, other_piece) in enumerate(zip(pieces, other_pieces, strict=True)):
            if piece != other_piece:
                return f"its {side} token {token_id:,} is {other_piece[:40]!r}, not {piece[:40]!r}"
    return "its vocabulary is the same, but it splits text differently"
