"""An image captioning network."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.attention.attend import Attention
from seqlab.attention.base import score_functions
from seqlab.blocks.caption_decoder import (
    CaptionDecoder,
    ImageAsFirstInput,
    ImageAsState,
    RegionAttentionDecoder,
)
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.blocks.image import Images
from seqlab.blocks.recurrent import CellFactory
from seqlab.core.errors import UsageError, nearest
from seqlab.models.decoders.base import DecoderState
from seqlab.models.images.base import ImageBackbone

IMAGE_INPUTS = {"state": ImageAsState, "first_input": ImageAsFirstInput}
"""The ways without attention in which an image enters."""


class Captioner(nn.Module):
    """logits_t = W decoder(regions of the image, words up to t) + b.

    A caption begins with a start token, which is given, and ends with an end token, which is predicted like
    any word. It works with every search of `seqlab.decoding`.
    """

    def __init__(self, network: ImageBackbone, embed: TokenEmbedding, decoder: CaptionDecoder) -> None:
        super().__init__()
        self.network = network
        self.embed = embed
        self.decoder = decoder
        self.output = nn.Linear(decoder.output_size, embed.num_embeddings)

    def forward(
        self, images: Images, words: Int[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time vocab"], Float[Tensor, "batch time regions"] | None]:
        """Logits for the word after each of the words, which begin with the start token; and the attention
        weights, if there are any.
        """
        is_word = torch.ones_like(words, dtype=torch.bool)
        logits, _, alignment = self.decode_with_alignment(words, is_word, self.encode(images, is_word[:, :1]))
        return logits, alignment

    def encode(self, source: Images, source_is_token: Bool[Tensor, "batch source"]) -> DecoderState:
        """Encode each image once; the state before the start token.

        What the decoder needs of the image is part of its state.
        """
        return DecoderState((), self.decoder.init_state(self.network(source)))

    def decode(
        self,
        targets: Int[Tensor, "captions time"],
        is_token: Bool[Tensor, "captions time"],
        decoder_state: DecoderState,
    ) -> tuple[Float[Tensor, "captions time vocab"], DecoderState]:
        logits, decoder_state, _ = self.decode_with_alignment(targets, is_token, decoder_state)
        return logits, decoder_state

    def decode_with_alignment(
        self,
        targets: Int[Tensor, "captions time"],
        is_token: Bool[Tensor, "captions time"],
        decoder_state: DecoderState,
    ) -> tuple[
        Float[Tensor, "captions time vocab"], DecoderState, Float[Tensor, "captions time regions"] | None
    ]:
        """Logits after the next words of captions, none of which is padding, and the attention weights."""
        state, features, alignments = decoder_state.cache, [], []
        for word in self.embed(targets).unbind(1):
            feature, state, step_alignment = self.decoder.step(word, state)
            features.append(feature)
            if step_alignment is not None:
                alignments.append(step_alignment)
        alignment = torch.stack(alignments, dim=1) if alignments else None
        return self.output(torch.stack(features, dim=1)), decoder_state.with_cache(state), alignment


def build_captioner(
    network: ImageBackbone,
    cell_factory: CellFactory,
    *,
    num_words: int,
    num_regions: int,
    word_size: int,
    hidden_size: int,
    view: str,
    score: str = "additive",
) -> Captioner:
    """Build a captioner with one kind of image input.

    view: "state" and "first_input" feed the whole image once; "attention" attends to regions at every word,
    with the attention score `score`.
    """
    size = network.output_size
    decoder: CaptionDecoder
    if view == "attention":
        cell = cell_factory(word_size + size, hidden_size)
        decoder = RegionAttentionDecoder(
            cell, Attention(score_functions.get(score)(cell.output_size, size)), region_size=size
        )
    elif view in IMAGE_INPUTS:
        decoder = IMAGE_INPUTS[view](
            cell_factory(word_size, hidden_size), num_regions=num_regions, region_size=size
        )
    else:
        raise UsageError(
            f"'{view}' is not a way to feed an image to the decoder.",
            cure=nearest(view, [*IMAGE_INPUTS, "attention"]),
        )
    return Captioner(network, TokenEmbedding(num_words, word_size, pad_id=None), decoder)
