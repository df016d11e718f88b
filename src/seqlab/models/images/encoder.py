"""Image encoders for a decoder: regions are the steps of the source."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.blocks.image import RowsToImage
from seqlab.models.base import Encoder, ModelState
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.encoder_decoder import EncoderDecoder, build_decoder_parts
from seqlab.models.images.base import ImageBackbone
from seqlab.models.images.classifier import build_image_backbone
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.images import ImageSettings, VisionTransformerSettings
from seqlab.models.settings.section import SequenceSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.positions.learned import LearnedPositions

POSITION_STD = 0.5
"""Initial standard deviation of the position embeddings: large enough to be distinguishable from the
features of a region, which are around 1.
"""


class ImageEncoder(Encoder):
    """feature_r = relu(W (network(image)_r + position_r) + b), one for each region of an image, whose rows
    are the steps.

    Attention does not know where a region is, so each region gets a learned position embedding. Content and
    position are mixed before the relu, so that even the mean of all regions, from which a recurrent decoder
    starts, contains some information about positions. Paper: Xu et al. 2015, "Show, Attend and Tell: Neural
    Image Caption Generation with Visual Attention", arXiv:1502.03044, section 3.1.1 (attention over regions;
    the position embeddings are our addition).
    """

    def __init__(self, rows: RowsToImage, network: ImageBackbone) -> None:
        super().__init__()
        self.rows = rows
        self.network = network
        self.grid = network.grid(rows.height, rows.width)
        """Rows and columns of regions; their features come row by row."""
        self.positions = LearnedPositions(network.output_size, max_length=self.grid[0] * self.grid[1])
        nn.init.normal_(self.positions.table, std=POSITION_STD)
        self.mix = nn.Linear(network.output_size, network.output_size)
        self.output_size = network.output_size

    def forward(
        self, steps: Float[Tensor, "batch time input"], is_token: Bool[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch features output"], ModelState]:
        regions = self.network(self.rows(steps, is_token))  # (batch, regions, output)
        position_ids = torch.arange(regions.shape[1], device=regions.device).unsqueeze(0)
        return torch.relu(self.mix(self.positions.add(regions, position_ids))), ()

    def feature_mask(self, is_token: Bool[Tensor, "batch time"]) -> Bool[Tensor, "batch features"]:
        """Every region."""
        return torch.ones(
            len(is_token), self.grid[0] * self.grid[1], dtype=torch.bool, device=is_token.device
        )


def build_image_encoder_decoder(
    model: ImageSettings,
    decoder: DecoderSettings,
    *,
    num_features: int,
    num_target_tokens: int,
    target_pad_id: int,
) -> EncoderDecoder:
    """Build an image network with a decoder. num_features: the numbers in one row of an image."""
    if isinstance(model, VisionTransformerSettings):
        model = model.model_copy(update={"pooling": "mean"})  # patches only, without a class token
    rows = RowsToImage.from_num_features(num_features, channels=model.channels, height=model.height)
    encoder = ImageEncoder(rows, build_image_backbone(model, rows))
    parts = build_decoder_parts(
        encoder, decoder_base_settings(model), decoder, num_tokens=num_target_tokens, pad_id=target_pad_id
    )
    return EncoderDecoder(nn.Identity(), encoder, parts.embed, parts.decoder, tied=parts.tied)


def decoder_base_settings(model: ImageSettings) -> SequenceSettings:
    """The settings that a decoder takes over from an image network.

    Positions of patches do not apply to words, which get sinusoidal positions.
    """
    if not isinstance(model, VisionTransformerSettings):
        return ConvolutionalSettings(
            layers=model.layers, hidden_size=model.hidden_size, dropout=model.dropout
        )
    left_out = {"kind", "positions", "max_positions", "pooling"}
    return TransformerSettings(
        **{name: getattr(model, name) for name in TransformerSettings.model_fields if name not in left_out}
    )
