"""The whole encoder-decoder against torch.nn.Transformer with copied weights, and what it promises about
pairs.
"""

from __future__ import annotations

from typing import Any, Literal

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.masks import sliding_window_mask
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import ArgumentError
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.decoders.transformer import TransformerSeq2SeqDecoder
from seqlab.models.encoder_decoder import EncoderDecoder, build_encoder_decoder
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer import TransformerBackbone
from tests.blocks.torch_twin import as_torch_names
from tests.models.pairs_to_try import (
    PAD,
    SMALL,
    SOURCE_TOKENS,
    TARGET_TOKENS,
    Pairs,
    build_pair,
    ragged_pairs,
)
from tests.models.settings_to_try import assert_every_parameter_has_a_gradient, ragged

Norm = Literal["pre", "post"]
SOURCE_LENGTHS, TARGET_LENGTHS = [4, 7, 1], [5, 2, 6]


def stacks(
    norm: Norm, *, layers: tuple[int, int], size: int, heads: int, inner: int, **changes: Any
) -> tuple[TransformerBackbone, TransformerSeq2SeqDecoder]:
    """Encoder and decoder without positions; torch ends both with a norm, wherever the others stand."""
    settings = TransformerSettings(
        hidden_size=size,
        heads=heads,
        feedforward_size=inner,
        norm=norm,
        positions="none",
        **{"activation": "relu", **changes},
    )
    encoder = TransformerBackbone.from_settings(
        settings.model_copy(update={"layers": layers[0]}), causal=False
    )
    decoder = TransformerSeq2SeqDecoder.from_settings(settings.model_copy(update={"layers": layers[1]}))
    encoder.last_norm, decoder.last_norm = nn.LayerNorm(size), nn.LayerNorm(size)
    return encoder.eval(), decoder.eval()


def copied(
    twin: nn.Transformer, encoder: TransformerBackbone, decoder: TransformerSeq2SeqDecoder
) -> nn.Transformer:
    weights = {
        f"{side}.{name}": value
        for side, backbone in (("encoder", encoder), ("decoder", decoder))
        for name, value in backbone.state_dict().items()
    }
    twin.load_state_dict(as_torch_names(weights))
    twin.encoder.use_nested_tensor = False  # a prototype of torch's that warns
    return twin.eval()


@pytest.mark.spec(162)
@pytest.mark.parametrize("masks", ["none", "padding", "window", "padding and window"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.filterwarnings(
    "ignore:enable_nested_tensor is True"
)  # torch speaks of a path of its own that norm_first does not take
def test_both_stacks_equal_torch_with_the_same_weights(norm: Norm, activation: str, masks: str) -> None:
    window = 3 if "window" in masks else 0
    encoder, decoder = stacks(
        norm, layers=(2, 3), size=8, heads=2, inner=12, activation=activation, window=window
    )
    for backbone in (encoder.double(), decoder.double()):
        with torch.no_grad():
            for parameter in backbone.parameters():
                parameter.add_(torch.randn_like(parameter) * 0.2)
    activate = F.relu if activation == "relu" else F.gelu
    twin = copied(
        nn.Transformer(8, 2, 2, 3, 12, 0.0, activate, batch_first=True, norm_first=norm == "pre").double(),
        encoder,
        decoder,
    )
    source, source_is_token = ragged(SOURCE_LENGTHS if "padding" in masks else [7, 7, 7], 8, seed=4)
    steps, is_token = ragged(TARGET_LENGTHS if "padding" in masks else [6, 6, 6], 8, seed=5)
    source.requires_grad_()
    near = {"src_mask": ~sliding_window_mask(7, 7, window=3)} if window else {}
    unseen = torch.ones(6, 6, dtype=torch.bool).triu(1) | (
        ~sliding_window_mask(6, 6, window=3) if window else torch.zeros(6, 6, dtype=torch.bool)
    )
    expected = twin(
        source,
        steps,
        tgt_mask=unseen,
        src_key_padding_mask=~source_is_token,
        memory_key_padding_mask=~source_is_token,
        tgt_key_padding_mask=~is_token,
        **near,
    )
    encoded, _ = encoder(source, source_is_token)
    found, _ = decoder(steps, is_token, decoder.init_state(encoded, source_is_token))
    torch.testing.assert_close(found[is_token], expected[is_token], rtol=0, atol=1e-10)
    weights = torch.randn_like(found) * is_token.unsqueeze(-1)
    ours, theirs = (torch.autograd.grad((out * weights).sum(), source) for out in (found, expected))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.spec(162, 161, 157)
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
def test_torchs_default_sizes_have_its_parameters_and_its_outputs(norm: Norm) -> None:
    """512 wide, 8 heads, 6 + 6 layers, 2048 inside, dropout 0.1, relu, eps 1e-5."""
    torch.manual_seed(0)
    encoder, decoder = stacks(norm, layers=(6, 6), size=512, heads=8, inner=2048, dropout=0.1)
    twin = copied(nn.Transformer(batch_first=True, norm_first=norm == "pre"), encoder, decoder)
    count = sum(parameter.numel() for backbone in (encoder, decoder) for parameter in backbone.parameters())
    assert count == sum(parameter.numel() for parameter in twin.parameters()) == 44_140_544
    source, source_is_token = ragged([9, 4], 512, dtype=torch.float32)
    steps, is_token = ragged([5, 8], 512, seed=2, dtype=torch.float32)
    with torch.no_grad():
        expected = twin(
            source,
            steps,
            tgt_mask=nn.Transformer.generate_square_subsequent_mask(8),
            tgt_is_causal=True,
            src_key_padding_mask=~source_is_token,
            memory_key_padding_mask=~source_is_token,
        )
        found, _ = decoder(
            steps, is_token, decoder.init_state(encoder(source, source_is_token)[0], source_is_token)
        )
    torch.testing.assert_close(found[is_token], expected[is_token], rtol=0, atol=1e-5)


def pairs() -> Pairs:
    return ragged_pairs(SOURCE_LENGTHS, TARGET_LENGTHS)


@pytest.mark.parametrize("tied", [True, False])
def test_logits_are_a_linear_map_of_the_decoders_features(tied: bool) -> None:
    model, given = build_pair(SMALL.model_copy(update={"tied": tied})), pairs()
    encoded, ended = model.encoder(model.embed_source(given.source), given.source_is_token)
    decoder_state = model.decoder.init_state(encoded, given.source_is_token, ended)
    features, _ = model.decoder(model.embed_target(given.targets), given.target_is_token, decoder_state)
    weight = model.embed_target.weight if tied else model.weight
    assert weight is not None
    torch.testing.assert_close(model(*given.all), features @ weight.T + model.bias, rtol=0, atol=1e-12)


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("tied", [True, False])
def test_every_parameter_learns_and_a_shared_table_counts_once(tied: bool, shared: bool) -> None:
    model, given = build_pair(SMALL.model_copy(update={"tied": tied}), shared=shared).train(), pairs()
    tables = {id(model.embed_source.weight), id(model.embed_target.weight)} | (
        {id(model.weight)} if not tied else set()
    )
    assert len(tables) == 1 + (not shared) + (not tied)
    names = [
        name
        for name, _ in model.named_parameters()
        if name in ("embed_source.weight", "embed_target.weight", "weight")
    ]
    assert len(names) == len(tables)
    logits = model(*given.all)
    F.cross_entropy(logits[given.target_is_token], given.targets[given.target_is_token]).backward()
    assert_every_parameter_has_a_gradient(model)


@pytest.mark.spec(162)
@torch.no_grad()
def test_a_token_at_a_time_gives_what_all_at_once_gives() -> None:
    model, given = build_pair(), pairs()
    whole = model(*given.all)
    state, found = model.encode(given.source, given.source_is_token), []
    for t in range(6):
        logits, state = model.decode(given.targets[:, t : t + 1], given.target_is_token[:, t : t + 1], state)
        found.append(logits)
    torch.testing.assert_close(
        torch.cat(found, dim=1)[given.target_is_token], whole[given.target_is_token], rtol=0, atol=1e-10
    )


def test_a_pair_in_a_batch_gives_what_it_gives_alone() -> None:
    model, given = build_pair(), pairs()
    whole = model(*given.all)
    for row, (source, target) in enumerate(zip(SOURCE_LENGTHS, TARGET_LENGTHS, strict=True)):
        alone = model(
            given.source[row : row + 1, :source], torch.ones(1, source, dtype=torch.bool),
            given.targets[row : row + 1, :target], torch.ones(1, target, dtype=torch.bool),
        )  # fmt: skip
        torch.testing.assert_close(whole[row, :target], alone[0], rtol=0, atol=1e-10)


def test_later_targets_and_padding_change_nothing_and_the_source_does() -> None:
    model, given = build_pair(), pairs()
    expected = model(*given.all)

    def changed(tokens: Tensor, where: Tensor, num_tokens: int) -> Tensor:
        return torch.where(where, 3 + (tokens + 4) % (num_tokens - 3), tokens)

    padding = changed(given.source, ~given.source_is_token, SOURCE_TOKENS)
    later = changed(given.targets, torch.arange(6).expand(3, 6) >= 2, TARGET_TOKENS)
    found = model(padding, given.source_is_token, later, given.target_is_token)
    torch.testing.assert_close(found[:, :2], expected[:, :2], rtol=0, atol=1e-12)
    for row, length in enumerate(SOURCE_LENGTHS):
        for place in range(length):
            here = torch.zeros_like(given.source_is_token)
            here[row, place] = True
            other = model(
                changed(given.source, here, SOURCE_TOKENS),
                given.source_is_token,
                given.targets,
                given.target_is_token,
            )
            rows = (other - expected)[given.target_is_token].abs().amax(dim=-1) > 1e-9
            owner = torch.arange(3)[:, None].expand(3, 6)[given.target_is_token]
            assert torch.equal(rows, owner == row)


def test_any_body_can_be_the_encoder() -> None:
    encoder = RecurrentSettings(
        cell="gru", hidden_size=5, embedding_size=3, bidirectional=True
    )  # 10 features, read by a decoder of width 8
    model, given = (
        build_pair(encoder, DecoderSettings(kind="transformer", layers=2, hidden_size=8, heads=2)).train(),
        pairs(),
    )
    model(*given.all)[given.target_is_token].square().sum().backward()
    assert model.encoder(model.embed_source(given.source), given.source_is_token)[0].shape == (3, 7, 10)
    assert_every_parameter_has_a_gradient(model)


def test_a_tied_start_gives_logits_of_the_size_of_one() -> None:
    torch.manual_seed(1)
    settings = TransformerSettings(hidden_size=128, dropout=0.0, embedding_scale=True)
    model = build_encoder_decoder(
        settings,
        DecoderSettings(),
        num_source_tokens=50,
        num_target_tokens=60,
        source_pad_id=PAD,
        target_pad_id=PAD,
    )
    given = ragged_pairs(SOURCE_LENGTHS, TARGET_LENGTHS)
    logits = model(*given.all)[given.target_is_token]
    assert 0.5 < logits.std().item() < 2
    assert not logits[:, PAD].any()


def test_a_table_that_cannot_serve_is_refused() -> None:
    encoder, decoder = (
        TransformerBackbone.from_settings(SMALL, causal=False),
        TransformerSeq2SeqDecoder.from_settings(SMALL),
    )
    with pytest.raises(ArgumentError, match=r"^tied=True: an output layer of width 8 .*embedding of width 6"):
        EncoderDecoder(
            TokenEmbedding(9, 8, pad_id=0), encoder, TokenEmbedding(9, 6, pad_id=0), decoder, tied=True
        )
    with pytest.raises(ArgumentError, match="11 source tokens of width 8 and 13 target tokens of width 8"):
        build_encoder_decoder(
            SMALL,
            DecoderSettings(),
            num_source_tokens=SOURCE_TOKENS,
            num_target_tokens=TARGET_TOKENS,
            source_pad_id=PAD,
            target_pad_id=PAD,
            shared=True,
        )
