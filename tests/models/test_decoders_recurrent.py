"""Recurrent decoders: against the equations step by step, in pieces, with several hypotheses, for every
encoder.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from seqlab.blocks.bridge import IdentityBridge, LearnedBridge, MeanBridge, NoBridge
from seqlab.core.errors import ArgumentError
from seqlab.models.decoders.recurrent import (
    AttentiveDecoder,
    ConstantContextDecoder,
    FixedContextDecoder,
    InputFeedingDecoder,
)
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import SequenceSettings
from seqlab.models.settings.transformer import TransformerSettings
from tests.models.pairs_to_try import build_pair, ragged_pairs

GRU = RecurrentSettings(cell="gru", hidden_size=6, embedding_size=5, dropout=0.0)
LSTM = RecurrentSettings(
    cell="lstm", layers=2, hidden_size=6, embedding_size=5, bidirectional=True, dropout=0.0
)
SOURCES, TARGETS = [7, 3, 5], [4, 6, 2]
CASES: dict[str, tuple[SequenceSettings, DecoderSettings]] = {
    "no attention": (GRU, DecoderSettings(attention="none")),
    "constant context": (GRU, DecoderSettings(attention="constant")),
    "constant context, bidirectional encoder": (LSTM, DecoderSettings(attention="constant")),
    "constant context, Transformer encoder": (
        TransformerSettings(hidden_size=6, heads=2, dropout=0.0),
        DecoderSettings(kind="recurrent", cell="gru", attention="constant"),
    ),
    "no attention, mean of the encoder": (LSTM, DecoderSettings(attention="none", bridge="mean")),
    "constant context, mean of the encoder": (LSTM, DecoderSettings(attention="constant", bridge="mean")),
    "additive": (GRU, DecoderSettings()),
    "dot": (GRU, DecoderSettings(attention="dot")),
    "general, bidirectional encoder": (LSTM, DecoderSettings(attention="general")),
    "projected dot": (LSTM, DecoderSettings(attention="scaled_dot", projected=True)),
    "hard": (GRU, DecoderSettings(alignment="hard")),
    "local": (GRU, DecoderSettings(window="monotonic", reach=1)),
    "predicted place": (GRU, DecoderSettings(window="predicted", reach=2)),
    "input feeding": (GRU, DecoderSettings(context="input")),
    "input feeding, two layers": (LSTM, DecoderSettings(context="input", attention="concat")),
    "local, input feeding": (GRU, DecoderSettings(context="input", window="monotonic", reach=1)),
    "other sizes": (GRU, DecoderSettings(cell="lstm", layers=2, hidden_size=4)),
    "no bridge": (GRU, DecoderSettings(bridge="none")),
    "convolutional encoder": (
        ConvolutionalSettings(layers=2, hidden_size=6, dropout=0.0),
        DecoderSettings(kind="recurrent"),
    ),
    "Transformer encoder": (
        TransformerSettings(hidden_size=6, heads=2, dropout=0.0),
        DecoderSettings(kind="recurrent", cell="gru"),
    ),
    "Transformer decoder of three heads, which divide its width": (GRU, DecoderSettings(kind="transformer")),
    "Transformer decoder": (GRU, DecoderSettings(kind="transformer", hidden_size=8, heads=2)),
}
every_case = pytest.mark.parametrize("case", CASES)


def build(case: str) -> EncoderDecoder:
    return build_pair(*CASES[case])


def stepwise(
    model: EncoderDecoder, source: Tensor, is_source: Tensor, targets: Tensor, is_token: Tensor
) -> Tensor:
    decoder_state, found = model.encode(source, is_source), []
    for step, is_real in zip(targets.unbind(1), is_token.unbind(1), strict=True):
        logits, decoder_state = model.decode(step[:, None], is_real[:, None] | True, decoder_state)
        found.append(logits)
    return torch.cat(found, dim=1)


@pytest.mark.spec(121)
@every_case
@torch.no_grad()
def test_one_step_after_the_other_gives_what_all_at_once_gives(case: str) -> None:
    model, given = build(case), ragged_pairs(SOURCES, TARGETS)
    whole = model(*given.all)
    torch.testing.assert_close(
        stepwise(model, *given.all)[given.target_is_token], whole[given.target_is_token], rtol=0, atol=1e-10
    )


@every_case
@torch.no_grad()
def test_hypotheses_of_one_source_are_as_if_each_had_a_source_of_its_own(case: str) -> None:
    model, given = build(case), ragged_pairs(SOURCES, [5] * 6)
    every = torch.ones_like(given.targets, dtype=torch.bool)
    expected = stepwise(
        model,
        given.source.repeat_interleave(2, dim=0),
        given.source_is_token.repeat_interleave(2, dim=0),
        given.targets,
        every,
    )
    decoder_state = model.encode(given.source, given.source_is_token).select(
        torch.arange(3).repeat_interleave(2)
    )
    first, decoder_state = model.decode(given.targets[:, :3], every[:, :3], decoder_state)
    torch.testing.assert_close(first, expected[:, :3], rtol=0, atol=1e-10)
    swapped = torch.tensor([1, 0, 3, 2, 5, 4])
    found, _ = model.decode(given.targets[swapped, 3:], every[:, 3:], decoder_state.select(swapped))
    torch.testing.assert_close(found, expected[swapped, 3:], rtol=0, atol=1e-10)


@every_case
@torch.no_grad()
def test_padding_is_never_seen_and_the_order_of_the_batch_does_not_matter(case: str) -> None:
    model, given = build(case), ragged_pairs(SOURCES, TARGETS)
    whole = model(*given.all)
    for row, (source, target) in enumerate(zip(SOURCES, TARGETS, strict=True)):
        alone = [
            part[row : row + 1, :length]
            for part, length in zip(given.all, (source, source, target, target), strict=True)
        ]
        torch.testing.assert_close(model(*alone)[0], whole[row, :target], rtol=0, atol=1e-10)


@pytest.mark.spec(113)
@every_case
def test_the_encoder_learns_through_the_decoder_alone(case: str) -> None:
    model, given = build(case).train(), ragged_pairs(SOURCES, TARGETS)
    loss = F.cross_entropy(model(*given.all)[given.target_is_token], given.targets[given.target_is_token])
    loss.backward()
    without = {
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    }
    hard = {
        name for name in without if case == "hard" and ".score." in name
    }  # the choice of one step has no slope
    assert without == hard


@pytest.mark.spec(113)
@every_case
def test_encoder_and_decoder_share_no_memory_and_only_the_decoder_reads_the_encoder(case: str) -> None:
    """No tensor of one side lies in the memory of the other, and a decoder that is given the encoder's
    numbers without their history leaves the encoder without a gradient.
    """
    model, given = build(case).train(), ragged_pairs(SOURCES, TARGETS)
    sides = {
        side: {parameter.untyped_storage().data_ptr() for parameter in module.parameters()}
        for side, module in (("encoder", model.encoder), ("decoder", model.decoder))
    }
    assert sides["encoder"]
    assert not sides["encoder"] & sides["decoder"]
    model.encoder.register_forward_hook(
        lambda _module, _inputs, output: (
            output[0].detach(),
            tuple(part.detach() if isinstance(part, Tensor) else part for part in output[1]),
        )
    )
    logits = model(*given.all)[given.target_is_token]
    F.cross_entropy(logits, given.targets[given.target_is_token]).backward()
    assert [name for name, parameter in model.encoder.named_parameters() if parameter.grad is not None] == []
    assert model.embed_source.weight.grad is None
    assert any(parameter.grad is not None for parameter in model.decoder.parameters())


@pytest.mark.spec(115)
@torch.no_grad()
def test_without_attention_the_decoder_is_a_walk_from_the_encoders_last_state() -> None:
    model, given = build("no attention"), ragged_pairs([4], [3])
    assert isinstance(model.decoder, FixedContextDecoder)
    encoder_cell, decoder_cell = model.encoder.stack.layers[0].cell, model.decoder.stack.layers[0].cell
    state = (torch.zeros(1, 6, dtype=torch.float64),)
    for step in model.embed_source(given.source).unbind(1):
        _, state = encoder_cell(step, state)
    logits = []
    for step in model.embed_target(given.targets).unbind(1):
        hidden, state = decoder_cell(step, state)
        logits.append(hidden @ model.output_weight.T + model.bias)
    torch.testing.assert_close(model(*given.all), torch.stack(logits, dim=1), rtol=0, atol=1e-10)


@pytest.mark.spec(115)
@torch.no_grad()
def test_a_constant_context_enters_every_step_and_the_output() -> None:
    model, given = build("constant context"), ragged_pairs([4], [3])
    decoder = model.decoder
    assert isinstance(decoder, ConstantContextDecoder)
    _, (end,) = model.encoder(model.embed_source(given.source), given.source_is_token)
    summary = decoder.summary.map
    context = torch.tanh(end @ summary.weight.T + summary.bias)
    state, logits = (end,), []
    for step in model.embed_target(given.targets).unbind(1):
        hidden, state = decoder.stack.layers[0].cell(torch.cat([step, context], dim=-1), state)
        output = torch.tanh(torch.cat([context, hidden], dim=-1) @ decoder.combine.weight.T)
        logits.append(output @ model.output_weight.T + model.bias)
    torch.testing.assert_close(model(*given.all), torch.stack(logits, dim=1), rtol=0, atol=1e-10)


@pytest.mark.spec(114)
@torch.no_grad()
def test_a_constant_context_of_the_mean_sees_every_step_of_the_encoder_alike() -> None:
    model, given = build("constant context, mean of the encoder"), ragged_pairs([4, 2], [3, 3])
    assert isinstance(model.decoder, ConstantContextDecoder)
    encoded, _ = model.encoder(model.embed_source(given.source), given.source_is_token)
    means = torch.stack([encoded[0].mean(dim=0), encoded[1, :2].mean(dim=0)])
    for bridge, found in (
        (model.decoder.summary, model.encode(given.source, given.source_is_token).source),
        (model.decoder.bridge, model.encode(given.source, given.source_is_token).cache[1:]),
    ):
        torch.testing.assert_close(
            torch.cat(found, dim=-1),
            torch.tanh(means @ bridge.map.weight.T + bridge.map.bias),
            rtol=0,
            atol=1e-12,
        )


@pytest.mark.spec(128)
@pytest.mark.spec(131)
@torch.no_grad()
def test_the_context_is_a_weighted_sum_of_encoder_states_beside_the_decoders_state() -> None:
    model, given = build("dot"), ragged_pairs([4], [3])
    assert isinstance(model.decoder, AttentiveDecoder)
    encoded, ended = model.encoder(model.embed_source(given.source), given.source_is_token)
    states, _ = model.decoder.stack(model.embed_target(given.targets), given.target_is_token, ended)
    expected = []
    for state in states[0]:
        weights = torch.softmax(torch.stack([state @ key for key in encoded[0]]), dim=0)
        context = sum(weight * key for weight, key in zip(weights, encoded[0], strict=True))
        expected.append(torch.cat([state, context]) @ model.output_weight.T + model.bias)
    torch.testing.assert_close(model(*given.all)[0], torch.stack(expected), rtol=0, atol=1e-10)
    _, _, alignment = model.decode_with_alignment(
        given.targets, given.target_is_token, model.encode(given.source, given.source_is_token)
    )
    assert alignment is not None
    torch.testing.assert_close(alignment[0, -1], weights, rtol=0, atol=1e-10)


@torch.no_grad()
def test_with_input_feeding_the_cell_reads_what_the_step_before_has_found() -> None:
    model, given = build("input feeding"), ragged_pairs([4], [3])
    decoder = model.decoder
    assert isinstance(decoder, InputFeedingDecoder)
    encoded, state = model.encoder(model.embed_source(given.source), given.source_is_token)
    attentional, expected = torch.zeros(1, 6, dtype=torch.float64), []
    for step in model.embed_target(given.targets).unbind(1):
        hidden, state = decoder.stack.layers[0].cell(torch.cat([step, attentional], dim=-1), state)
        context, _ = decoder.look.attention(hidden[:, None], encoded)
        attentional = torch.tanh(torch.cat([context[:, 0], hidden], dim=-1) @ decoder.look.combine.weight.T)
        expected.append(attentional @ model.output_weight.T + model.bias)
    torch.testing.assert_close(model(*given.all), torch.stack(expected, dim=1), rtol=0, atol=1e-10)


@pytest.mark.spec(114)
@torch.no_grad()
def test_bridges_are_the_maps_they_say_they_are() -> None:
    features, is_token = torch.randn(2, 4, 3), torch.tensor([[True] * 4, [True, True, False, False]])
    ended = (torch.randn(2, 5), torch.randn(2, 5))
    assert IdentityBridge([5, 5], encoder_sizes=[5, 5])(features, is_token, ended) is ended
    learned = LearnedBridge([2, 3, 3], encoder_sizes=[5, 5])
    found = learned(features, is_token, ended)
    expected = torch.tanh(torch.cat(ended, dim=1) @ learned.map.weight.T + learned.map.bias)
    assert [part.shape[1] for part in found] == [2, 3, 3]
    torch.testing.assert_close(torch.cat(found, dim=1), expected)
    mean = MeanBridge([4], feature_size=3)
    means = torch.stack([features[0].mean(dim=0), features[1, :2].mean(dim=0)])
    torch.testing.assert_close(
        mean(features, is_token, ())[0], torch.tanh(means @ mean.map.weight.T + mean.map.bias)
    )
    assert not NoBridge([4])(features, is_token, ended)[0].any()


@pytest.mark.parametrize(
    ("model", "decoder", "words"),
    [
        (LSTM, DecoderSettings(bridge="identity"), "learned bridge"),
        (ConvolutionalSettings(), DecoderSettings(bridge="identity"), "Allowed: learned, mean, none"),
        (LSTM, DecoderSettings(attention="dot"), "queries have width 6 and keys 12"),
        (
            GRU,
            DecoderSettings(kind="transformer", heads=4),
            "Allowed: 1, 2, 3, 6",
        ),
        (
            TransformerSettings(hidden_size=8, heads=2),
            DecoderSettings(heads=3),
            "num_heads=3: a decoder of width 8",
        ),
    ],
)
def test_halves_that_do_not_fit_are_refused_with_what_to_do(
    model: SequenceSettings, decoder: DecoderSettings, words: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        build_pair(model, decoder)
    assert words in str(caught.value)
    assert caught.value.part == "decoder"
