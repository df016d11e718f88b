"""A whole network that puts a picture into words."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.attention.attend import Attention
from seqlab.attention.base import scores
from seqlab.blocks.caption_decoder import CaptionDecoder, LookAtRegions, PictureAsFirstInput, PictureAsState
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.blocks.image import Picture
from seqlab.blocks.recurrent import MakeCell
from seqlab.core.errors import UsageError, nearest
from seqlab.models.decoders.base import Writing
from seqlab.models.images.base import PictureNetwork

VIEWS = {"state": PictureAsState, "first_input": PictureAsFirstInput}
"""The ways without attention in which a picture enters."""


class Captioner(nn.Module):
    """logits_t = W decoder(regions of the picture, words up to t) + b.

    A caption begins with a start token, which is given, and ends with an end token, which is predicted like any word. Every search of
    `seqlab.decoding` can write with it.
    """

    def __init__(self, network: PictureNetwork, embed: TokenEmbedding, decoder: CaptionDecoder) -> None:
        super().__init__()
        self.network = network
        self.embed = embed
        self.decoder = decoder
        self.output = nn.Linear(decoder.output_size, embed.num_embeddings)

    def forward(
        self, pictures: Picture, words: Int[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch time vocab"], Float[Tensor, "batch time regions"] | None]:
        """Logits for the word after each of the words, which begin with the start token; and, with attention, where was looked for it."""
        is_word = torch.ones_like(words, dtype=torch.bool)
        logits, _, alignment = self.align(words, is_word, self.start(pictures, is_word[:, :1]))
        return logits, alignment

    def start(self, source: Picture, source_is_token: Bool[Tensor, "batch source"]) -> Writing:
        """Before the start token: each picture is read once, and whole. What a decoder keeps of it belongs to its state."""
        return Writing((), self.decoder.start(self.network(source)))

    def decode(
        self, targets: Int[Tensor, "captions time"], is_token: Bool[Tensor, "captions time"], writing: Writing
    ) -> tuple[Float[Tensor, "captions time vocab"], Writing]:
        logits, writing, _ = self.align(targets, is_token, writing)
        return logits, writing

    def align(
        self, targets: Int[Tensor, "captions time"], is_token: Bool[Tensor, "captions time"], writing: Writing
    ) -> tuple[Float[Tensor, "captions time vocab"], Writing, Float[Tensor, "captions time regions"] | None]:
        """The next words of captions, none of which is padding, and where was looked for them."""
        state, features, alignments = writing.past, [], []
        for word in self.embed(targets).unbind(1):
            feature, state, alignment = self.decoder.step(word, state)
            features.append(feature)
            if alignment is not None:
                alignments.append(alignment)
        looked = torch.stack(alignments, dim=1) if alignments else None
        return self.output(torch.stack(features, dim=1)), writing.after(state), looked


def build_captioner(
    network: PictureNetwork,
    make_cell: MakeCell,
    *,
    num_words: int,
    num_regions: int,
    word_size: int,
    hidden_size: int,
    view: str,
    score: str = "additive",
) -> Captioner:
    """A captioner whose decoder sees the picture in one way.

    view: "state" and "first_input" show the whole picture once; "attention" shows regions at every word, compared by `score`.
    """
    size = network.output_size
    decoder: CaptionDecoder
    if view == "attention":
        cell = make_cell(word_size + size, hidden_size)
        decoder = LookAtRegions(cell, Attention(scores.get(score)(cell.output_size, size)), region_size=size)
    elif view in VIEWS:
        decoder = VIEWS[view](make_cell(word_size, hidden_size), num_regions=num_regions, region_size=size)
    else:
        raise UsageError(f"a picture cannot enter as '{view}'.", cure=nearest(view, [*VIEWS, "attention"]))
    return Captioner(network, TokenEmbedding(num_words, word_size, pad_id=None), decoder)
