"""Unknown words in a translation: each is replaced by the source word with the most attention."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from seqlab.decoding.ensemble import Ensemble
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.tasks.seq2seq.attention_weights import cross_attention
from seqlab.tasks.translation.pair_tokens import PairTokens


def copy_unknown_words(
    model: EncoderDecoder | Ensemble,
    tokens: PairTokens,
    source: Int[Tensor, " source"],
    words: Sequence[str],
    target: Sequence[int],
) -> str:
    """The text of a target. Names and numbers are the most frequent unknown words, and they are the same in
    many languages.

    Paper: Luong et al. 2015, "Addressing the Rare Word Problem in Neural Machine Translation",
    arXiv:1410.8206; here attention replaces their alignments. Without any attention to a word (a decoder
    without attention, a source without words), the unknown word is left out.

    words: for each token of the source the word of the text that it is part of; empty where there is none,
    as for the end token.
    """
    unknown = tokens.target.vocabulary.unk_id
    if unknown not in target or not any(words):
        return tokens.decode(target)
    weights = cross_attention(model, source, [tokens.start_id, *target[:-1]])
    if weights is None:
        return tokens.decode(target)
    is_word = torch.tensor([bool(word) for word in words], device=weights.device)
    positions = weights.masked_fill(~is_word, -1.0).argmax(dim=-1).tolist()
    aligned = list(zip(target, positions, strict=True))[len(tokens.forced_ids) :]
    return tokens.target.decode_filled(
        [token for token, _ in aligned], [words[position] for token, position in aligned if token == unknown]
    )
