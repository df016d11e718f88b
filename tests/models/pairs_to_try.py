"""Encoder-decoders to examine, with every parameter random, and ragged pairs for them."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.encoder_decoder import EncoderDecoder, build_encoder_decoder
from seqlab.models.settings.section import SequenceSettings
from seqlab.models.settings.transformer import TransformerSettings

SOURCE_TOKENS, TARGET_TOKENS, PAD, START, END = 11, 13, 0, 1, 2
SMALL = TransformerSettings(layers=2, hidden_size=8, heads=2, feedforward_size=12, max_positions=20)


@dataclass(frozen=True)
class Pairs:
    source: Tensor
    source_is_token: Tensor
    targets: Tensor
    target_is_token: Tensor

    @property
    def all(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        return self.source, self.source_is_token, self.targets, self.target_is_token


def build_pair(
    settings: SequenceSettings = SMALL,
    decoder: DecoderSettings | None = None,
    *,
    shared: bool = False,
    seed: int = 3,
    noise: float = 0.2,
) -> EncoderDecoder:
    """Not training, in float64."""
    torch.manual_seed(seed)
    model = build_encoder_decoder(
        settings,
        decoder or DecoderSettings(),
        num_source_tokens=TARGET_TOKENS if shared else SOURCE_TOKENS,
        num_target_tokens=TARGET_TOKENS,
        source_pad_id=PAD,
        target_pad_id=PAD,
        shared=shared,
    )
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * noise)
    return model.double().eval()


def ragged_pairs(source_lengths: list[int], target_lengths: list[int], *, seed: int = 1) -> Pairs:
    generator = torch.Generator().manual_seed(seed)

    def draw(lengths: list[int], num_tokens: int) -> tuple[Tensor, Tensor]:
        is_token = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
        return torch.randint(
            3, num_tokens, is_token.shape, generator=generator
        ) * is_token, is_token  # PAD is 0

    return Pairs(*draw(source_lengths, SOURCE_TOKENS), *draw(target_lengths, TARGET_TOKENS))
