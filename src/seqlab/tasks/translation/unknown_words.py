"""Unknown words in a translation: the word of the source that was looked at most stands in their place."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from jaxtyping import Int
from torch import Tensor

from seqlab.decoding.ensemble import Ensemble
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.tasks.translation.tokens import PairTokens


@torch.no_grad()
def with_copied_words(
    model: EncoderDecoder | Ensemble,
    tokens: PairTokens,
    source: Int[Tensor, " source"],
    words: Sequence[str],
    target: Sequence[int],
) -> str:
    """The text of a target. Names and numbers are the words that are unknown most often, and they are the
    same in many languages.

    Paper: Luong et al. 2015, "Addressing the Rare Word Problem in Neural Machine Translation",
    arXiv:1410.8206; here attention stands in for their alignments. Where nothing was looked at (a decoder
    without attention, a source without words), the unknown word is left out.

    words: for each token of the source the word of the text in which it stands; empty where it stands for
    none, such as the end.
    """
    unknown = tokens.target.vocabulary.unk_id
    if unknown not in target or not any(words):
        return tokens.words(target)
    read = source.unsqueeze(0).to(next(model.parameters()).device)
    given = torch.tensor([[tokens.start_id, *target[:-1]]], device=read.device)
    decoder_state = model.encode(read, torch.ones_like(read, dtype=torch.bool))
    _, _, alignment = model.decode_with_alignment(
        given, torch.ones_like(given, dtype=torch.bool), decoder_state
    )
    if alignment is None:
        return tokens.words(target)
    is_word = torch.tensor([bool(word) for word in words], device=read.device)
    places = alignment[0].masked_fill(~is_word, -1.0).argmax(dim=-1).tolist()
    written = list(zip(target, places, strict=True))[len(tokens.forced) :]
    return tokens.target.decode_filled(
        [token for token, _ in written], [words[place] for token, place in written if token == unknown]
    )
