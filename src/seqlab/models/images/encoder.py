"""Pictures before a decoder: regions are the steps of the source."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.blocks.image import RowsToPicture
from seqlab.models.base import Encoder, State
from seqlab.models.encoder_decoder import EncoderDecoder, writing_side
from seqlab.models.images.base import PictureNetwork
from seqlab.models.images.classifier import build_picture_network
from seqlab.models.settings import (
    ConvolutionalSettings,
    DecoderSettings,
    PictureSettings,
    SequenceSettings,
    TransformerSettings,
    VisionTransformerSettings,
)
from seqlab.positions.learned import LearnedPositions

PLACE_STD = 0.5
"""Of the rows for places at the start: large enough to be told from the features of a region, which are around 1."""


class PictureEncoder(Encoder):
    """feature_r = relu(W (network(picture)_r + place_r) + b), one for each region of a picture, whose rows come as steps.

    A decoder looks at regions without knowing where they are, so each gets a learned row for its place. What and where are mixed before the
    relu, so that even the mean of all regions, from which a recurrent decoder starts, still knows something of what stands where.
    Paper: Xu et al. 2015, "Show, Attend and Tell: Neural Image Caption Generation with Visual Attention", arXiv:1502.03044, section 3.1.1
    (regions as what is looked at; the places are ours).
    """

    def __init__(self, rows: RowsToPicture, network: PictureNetwork) -> None:
        super().__init__()
        self.rows = rows
        self.network = network
        self.grid = network.grid(rows.height, rows.width)
        """Rows and columns of regions; their features come row by row."""
        self.positions = LearnedPositions(network.output_size, max_length=self.grid[0] * self.grid[1])
        nn.init.normal_(self.positions.table, std=PLACE_STD)
        self.mix = nn.Linear(network.output_size, network.output_size)
        self.output_size = network.output_size

    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch features output"], State]:
        regions = self.network(self.rows(steps, is_token))  # (batch, regions, output)
        places = torch.arange(regions.shape[1], device=regions.device).unsqueeze(0)
        return torch.relu(self.mix(self.positions.add(regions, places))), ()

    def is_feature(self, is_token: Bool[Tensor, "batch time"]) -> Bool[Tensor, "batch features"]:
        """Every region."""
        return torch.ones(len(is_token), self.grid[0] * self.grid[1], dtype=torch.bool, device=is_token.device)


def build_picture_writer(
    model: PictureSettings, decoder: DecoderSettings, *, num_features: int, num_target_tokens: int, target_pad_id: int
) -> EncoderDecoder:
    """A network for pictures with a decoder behind it.  num_features: the numbers in one row of a picture."""
    if isinstance(model, VisionTransformerSettings):
        model = model.model_copy(update={"pooling": "mean"})  # patches only: nothing is gathered in a class token
    rows = RowsToPicture.of(num_features, channels=model.channels, height=model.height)
    encoder = PictureEncoder(rows, build_picture_network(model, rows))
    side = writing_side(encoder, writing_settings(model), decoder, num_tokens=num_target_tokens, pad_id=target_pad_id)
    return EncoderDecoder(nn.Identity(), encoder, side.embed, side.decoder, tied=side.tied)


def writing_settings(model: PictureSettings) -> SequenceSettings:
    """What a decoder takes over from a network for pictures. Places of patches mean nothing to words, which are told theirs by sines."""
    if not isinstance(model, VisionTransformerSettings):
        return ConvolutionalSettings(layers=model.layers, hidden_size=model.hidden_size, dropout=model.dropout)
    left_out = {"kind", "positions", "max_positions", "pooling"}
    return TransformerSettings(**{name: getattr(model, name) for name in TransformerSettings.model_fields if name not in left_out})
