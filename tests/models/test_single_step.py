"""A network made ready for a search gives, token by token, the logits of the network itself, and leaves to it
what it does not know.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.attention.recording import record_alignments
from seqlab.blocks.lora import add_lora
from seqlab.decoding.batched_decoding import decode_batched
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.prepared_decoder import prepare_decoder
from seqlab.decoding.search import SourceBatch, SpecialTokens
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.single_step.model import SingleStepDecoder
from seqlab.models.single_step.state import StackedCache
from tests.models.pairs_to_try import END, PAD, SMALL, START, TARGET_TOKENS, build_pair, ragged_pairs

CASES: dict[str, dict[str, Any]] = {
    "pre-norm, sinusoidal": {},
    "post-norm, learned, relu": {
        "norm": "post",
        "positions": "learned",
        "activation": "relu",
        "embedding_norm": True,
        "embedding_scale": True,
    },
    "rms, rotary, gated, grouped": {
        "norm_kind": "rms",
        "positions": "rotary",
        "gated": True,
        "activation": "silu",
        "kv_heads": 1,
    },
    "no biases, untied, wide heads": {
        "positions": "none",
        "qkv_bias": False,
        "bias": False,
        "tied": False,
        "head_size": 5,
    },
}
FEW, MANY = [4, 7, 1], [14, 15, 3, 14, 9, 13, 14, 2, 14, 5]
"""Lengths of sources: few sequences take the flash kernel, many that are long enough take products of all at
once.
"""


def build(**changes: Any) -> EncoderDecoder:
    return build_pair(SMALL.model_copy(update=changes))


def ones(tokens: Tensor) -> Tensor:
    return torch.ones_like(tokens, dtype=torch.bool)


class Side:
    """Two writings of the same tokens: of the network itself, and of what was made of it."""

    def __init__(self, network: EncoderDecoder, lengths: list[int], *, seed: int = 4) -> None:
        self.network, self.ready = network, SingleStepDecoder(network)
        pairs = ragged_pairs(lengths, [1] * len(lengths))
        source = pairs.source, pairs.source_is_token
        self.generator = torch.Generator().manual_seed(seed)
        self.plain, self.fast, self.hypotheses = (
            network.encode(*source),
            self.ready.encode(*source),
            len(lengths),
        )

    def write(self, time: int = 1, *, single: bool = True) -> None:
        """Further tokens on both sides, with the same logits."""
        tokens = torch.randint(3, TARGET_TOKENS, (self.hypotheses, time), generator=self.generator)
        expected, self.plain = self.network.decode(tokens, ones(tokens), self.plain)
        found, self.fast = self.ready.decode(tokens, ones(tokens), self.fast)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
        assert isinstance(self.fast.cache[0], StackedCache) == single

    def pick(self, rows: Tensor) -> None:
        self.plain, self.fast, self.hypotheses = self.plain.select(rows), self.fast.select(rows), len(rows)

    def move(self, rows: Tensor) -> None:
        self.plain, self.fast, self.hypotheses = self.plain.reorder(rows), self.fast.reorder(rows), len(rows)

    def keep(self, sources: Tensor) -> None:
        self.plain, self.fast = self.plain.keep_sources(sources), self.fast.keep_sources(sources)


@pytest.mark.parametrize("lengths", [FEW, MANY], ids=["few", "many"])
@pytest.mark.parametrize("case", CASES)
@torch.inference_mode()
def test_each_token_has_the_logits_of_the_network_itself_also_after_hypotheses_moved(
    case: str, lengths: list[int]
) -> None:
    both = Side(build(**CASES[case]), lengths)
    both.write()
    both.pick(torch.arange(len(lengths)).repeat_interleave(3))  # three hypotheses of each source
    for _ in range(12):
        both.write()
    swapped = torch.arange(3 * len(lengths)).view(-1, 3)
    both.move(swapped[:, [1, 1, 0]].flatten())
    both.write()
    left = torch.tensor([0, 2])  # sources
    both.keep(left)
    both.pick(swapped[left][:, [2, 0]].flatten())  # two hypotheses of each
    both.write()
    both.write(time=2, single=False)  # and the network goes on by itself
    both.write(single=False)


@pytest.mark.parametrize("case", CASES)
@torch.inference_mode()
def test_in_float32_several_rows_and_single_ones_have_the_logits_of_the_network_to_rounding(
    case: str,
) -> None:
    network, pairs = build(**CASES[case]).float(), ragged_pairs(FEW, [6, 6, 6])
    whole = network(*pairs.all)
    for rows in (torch.arange(3), torch.tensor([1])):
        ready, found = SingleStepDecoder(network), []
        decoder_state = ready.encode(pairs.source[rows], pairs.source_is_token[rows])
        for tokens in pairs.targets[rows].split(1, dim=1):
            logits, decoder_state = ready.decode(tokens, ones(tokens), decoder_state)
            found.append(logits)
        assert isinstance(decoder_state.cache[0], StackedCache)
        torch.testing.assert_close(torch.cat(found, dim=1), whole[rows], rtol=0, atol=2e-5)


@torch.inference_mode()
def test_an_alignment_goes_on_from_where_single_steps_ended() -> None:
    both = Side(build(), FEW)
    both.write()
    tokens = torch.tensor([[3], [4], [5]])
    expected = both.network.decode_with_alignment(tokens, ones(tokens), both.plain)
    found = both.ready.decode_with_alignment(tokens, ones(tokens), both.fast)
    torch.testing.assert_close((found[0], found[2]), (expected[0], expected[2]), rtol=0, atol=1e-10)


@torch.inference_mode()
def test_two_continuations_of_one_writing_do_not_meet() -> None:
    both = Side(build(), FEW)
    both.write()
    tokens = torch.tensor([[3], [4], [5]])
    one, _ = both.ready.decode(tokens, ones(tokens), both.fast)
    other, _ = both.ready.decode(tokens + 1, ones(tokens), both.fast)
    again, _ = both.ready.decode(tokens, ones(tokens), both.fast)
    assert torch.equal(one, again)
    assert not torch.equal(one, other)


def test_a_source_without_tokens_and_a_step_of_padding_are_left_to_the_network() -> None:
    network = build()
    ready, pairs = SingleStepDecoder(network), ragged_pairs(FEW, [1, 1, 1])
    blind = pairs.source_is_token & torch.tensor([[True], [False], [True]])
    padding = torch.tensor([[True], [False], [True]])
    for source_is_token, is_token in ((blind, ones(pairs.targets)), (pairs.source_is_token, padding)):
        with torch.inference_mode():
            expected, _ = network.decode(
                pairs.targets, is_token, network.encode(pairs.source, source_is_token)
            )
            found, decoder_state = ready.decode(
                pairs.targets, is_token, ready.encode(pairs.source, source_is_token)
            )
        assert torch.equal(found, expected)
        assert not isinstance(decoder_state.cache[0], StackedCache)


def test_gradients_are_those_of_the_network() -> None:
    network = build()
    ready, pairs = SingleStepDecoder(network), ragged_pairs(FEW, [1, 1, 1])
    logits, _ = ready.decode(
        pairs.targets, pairs.target_is_token, ready.encode(pairs.source, pairs.source_is_token)
    )
    logits.square().sum().backward()
    assert all(parameter.grad is not None for parameter in network.parameters())


@pytest.mark.parametrize(
    "changes",
    [
        {"positions": "alibi"},
        {"positions": "relative"},
        {"window": 3},
        {"norm": "rezero"},
        {"norm": "lecture"},
    ],
    ids=str,
)
def test_a_network_of_other_parts_stays_as_it_is(changes: dict[str, Any]) -> None:
    network = build(**changes)
    assert prepare_decoder(network).step_model is network


def test_a_network_that_trains_has_hooks_or_is_not_a_transformer_stays_as_it_is() -> None:
    network = build()
    assert isinstance(prepare_decoder(network).step_model, SingleStepDecoder)
    assert prepare_decoder(network.train()).step_model is network
    network.eval()
    hook = network.decoder.register_forward_hook(lambda *_: None)
    assert prepare_decoder(network).step_model is network
    hook.remove()
    add_lora(network.decoder, rank=2)
    assert prepare_decoder(network).step_model is network
    recurrent = build_pair(RecurrentSettings(hidden_size=8, bidirectional=False))
    assert prepare_decoder(recurrent).step_model is recurrent


@torch.inference_mode()
def test_a_step_whose_alignments_are_recorded_is_left_to_the_network() -> None:
    network, pairs = build(), ragged_pairs(FEW, [1, 1, 1])
    ready = SingleStepDecoder(network)
    with record_alignments(network) as alignments:
        ready.decode(pairs.targets, ones(pairs.targets), ready.encode(pairs.source, pairs.source_is_token))
    assert len(alignments["decoder.layers.0.cross_attention"]) == 1


def test_a_search_over_many_sources_finds_what_it_finds_with_the_network_itself() -> None:
    networks = [build_pair(SMALL, seed=seed) for seed in (3, 5)]
    search = BeamSearch(SpecialTokens(START, END, (PAD,)), beam_size=3, max_tokens=4, n_best=2)
    pairs = ragged_pairs([5, 2, 7], [1, 1, 1])
    sources = [row[is_token] for row, is_token in zip(pairs.source, pairs.source_is_token, strict=True)]
    for model in (networks[0], Ensemble(networks)):
        found = [
            [one.tokens for one in targets]
            for targets in decode_batched(model, sources, search, batch_size=2)
        ]
        alone = [
            search.run(model, SourceBatch.from_tokens(source[None], ones(source[None])))[0]
            for source in sources
        ]
        assert found == [[one.tokens for one in targets] for targets in alone]
