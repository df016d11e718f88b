"""A decoder that comes in pieces gives what the whole gives, sees no future and no padding, and its state can
be taken apart by rows.
"""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.attention.recording import record_alignments
from seqlab.core.errors import UsageError
from seqlab.models.decoders.base import DecoderState
from seqlab.models.decoders.transformer import TransformerSeq2SeqDecoder
from seqlab.models.settings.transformer import TransformerSettings
from tests.models.settings_to_try import assert_every_parameter_has_a_gradient, ragged

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

SIZE, SOURCE_SIZE = 8, 5
SOURCE_LENGTHS, LENGTHS = [4, 7, 1, 3], [9, 2, 6, 9]
CASES: dict[str, dict[str, Any]] = {
    "pre": {},
    "post": {"norm": "post", "activation": "relu", "embedding_norm": True, "embedding_scale": True},
    "rezero": {"norm": "rezero", "qkv_bias": False},
    "shared rezero": {"norm": "shared_rezero", "bias": False},
    "lecture": {"norm": "lecture"},
    "rms, gated, rotary, grouped": {
        "norm_kind": "rms",
        "gated": True,
        "activation": "silu",
        "positions": "rotary",
        "kv_heads": 1,
    },
    "learned": {"positions": "learned", "max_positions": 9},
    "none": {"positions": "none", "head_size": 3},
    "alibi": {"positions": "alibi"},
    "relative": {"positions": "relative"},
    "window": {"window": 3},
    "window with rotary": {"window": 2, "positions": "rotary"},
}
every_case = pytest.mark.parametrize("case", CASES)


def build(case: str = "pre", *, layers: int = 2, **changes: Any) -> TransformerSeq2SeqDecoder:
    """Every parameter random; not training, in float64."""
    torch.manual_seed(5)
    settings = TransformerSettings(
        **{
            "layers": layers,
            "hidden_size": SIZE,
            "heads": 2,
            "feedforward_size": 12,
            **CASES[case],
            **changes,
        }
    )
    decoder = TransformerSeq2SeqDecoder.from_settings(settings, source_size=SOURCE_SIZE)
    with torch.no_grad():
        for parameter in decoder.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    return decoder.double().eval()


def inputs() -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
    return ragged(LENGTHS, SIZE, seed=2), ragged(SOURCE_LENGTHS, SOURCE_SIZE, seed=3)


def in_pieces(
    decoder: TransformerSeq2SeqDecoder,
    steps: Tensor,
    is_token: Tensor,
    decoder_state: DecoderState,
    pieces: list[int],
) -> tuple[Tensor, DecoderState]:
    found = []
    for piece, is_piece in zip(steps.split(pieces, dim=1), is_token.split(pieces, dim=1), strict=True):
        features, decoder_state = decoder(piece, is_piece, decoder_state)
        found.append(features)
    return torch.cat(found, dim=1), decoder_state


@every_case
@pytest.mark.parametrize(
    ("pieces", "with_gradients"),
    [([1] * 9, False), ([2, 1, 3, 3], True)],
    ids=["one by one", "with gradients"],
)
def test_pieces_give_what_the_whole_gives(case: str, pieces: list[int], with_gradients: bool) -> None:
    decoder = build(case)
    (steps, is_token), source = inputs()
    with torch.set_grad_enabled(with_gradients):
        whole, _ = decoder(steps, is_token, decoder.init_state(*source))
        found, _ = in_pieces(decoder, steps, is_token, decoder.init_state(*source), pieces)
    torch.testing.assert_close(found[is_token], whole[is_token], rtol=0, atol=1e-10)


@every_case
def test_padding_between_two_pieces_is_as_if_it_were_not_there(case: str) -> None:
    decoder = build(case)
    (steps, _), source = inputs()
    first = torch.arange(5) < torch.tensor([5, 2, 1, 3])[:, None]
    state = decoder(steps[:, :5], first, decoder.init_state(*source))[1]
    found, _ = decoder(steps[:, 5:], torch.ones(4, 4, dtype=torch.bool), state)
    for row, length in enumerate([5, 2, 1, 3]):
        alone = torch.cat([steps[row, :length], steps[row, 5:]])[None]
        expected, _ = decoder(
            alone,
            torch.ones(alone.shape[:2], dtype=torch.bool),
            decoder.init_state(source[0][row : row + 1], source[1][row : row + 1]),
        )
        torch.testing.assert_close(found[row], expected[0, length:], rtol=0, atol=1e-10)


@every_case
@torch.no_grad()
def test_hypotheses_of_one_source_are_as_if_each_had_a_source_of_its_own(case: str) -> None:
    decoder = build(case)
    source, source_is_token = ragged(SOURCE_LENGTHS, SOURCE_SIZE, seed=3)
    steps, is_token = ragged([9] * 12, SIZE, seed=2)
    repeated = decoder.init_state(
        source.repeat_interleave(3, dim=0), source_is_token.repeat_interleave(3, dim=0)
    )
    expected, _ = in_pieces(decoder, steps, is_token, repeated, [4, 2, 3])
    first, decoder_state = in_pieces(
        decoder, steps[:, :6], is_token[:, :6], decoder.init_state(source, source_is_token), [4, 2]
    )
    torch.testing.assert_close(first, expected[:, :6], rtol=0, atol=1e-10)
    swapped = torch.arange(12).view(4, 3).flip(1).flatten()  # among the hypotheses of each source
    found, _ = decoder(steps[swapped, 6:], is_token[:, 6:], decoder_state.select(swapped))
    torch.testing.assert_close(found, expected[swapped, 6:], rtol=0, atol=1e-10)


@every_case
@torch.no_grad()
def test_rows_of_a_state_go_on_by_themselves(case: str) -> None:
    decoder = build(case)
    source, source_is_token = ragged(SOURCE_LENGTHS, SOURCE_SIZE, seed=3)
    steps, is_token = ragged([9, 9, 9, 9], SIZE, seed=2)
    rows = torch.tensor([3, 0, 0])
    expected, _ = decoder(
        steps[rows], is_token[rows], decoder.init_state(source[rows], source_is_token[rows])
    )
    for cut in (0, 4):
        state = decoder.init_state(source, source_is_token)
        if cut:
            _, state = decoder(steps[:, :cut], is_token[:, :cut], state)
        picked = state.keep_sources(rows).select(rows)
        found, _ = in_pieces(decoder, steps[rows, cut:], is_token[rows, cut:], picked, [1] * (9 - cut))
        torch.testing.assert_close(found, expected[:, cut:], rtol=0, atol=1e-10)


@torch.no_grad()
def test_two_continuations_of_one_state_do_not_meet() -> None:
    decoder = build()
    (steps, _), source = inputs()
    is_token = torch.ones(4, 9, dtype=torch.bool)
    _, state = decoder(steps[:, :4], is_token[:, :4], decoder.init_state(*source))
    one, after_one = decoder(steps[:, 4:5], is_token[:, :1], state)
    other, after_other = decoder(-steps[:, 4:5], is_token[:, :1], state)
    again, _ = decoder(steps[:, 4:5], is_token[:, :1], state)
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    further = [decoder(steps[:, 5:6], is_token[:, :1], after)[0] for after in (after_one, after_other)]
    expected, _ = decoder(steps[:, :6], is_token[:, :6], decoder.init_state(*source))
    torch.testing.assert_close(further[0][:, 0], expected[:, 5], rtol=0, atol=1e-10)
    assert not torch.equal(*further)


@pytest.mark.spec(161)
@every_case
def test_a_step_sees_itself_the_steps_before_and_the_whole_source(case: str) -> None:
    decoder = build(case)
    (steps, is_token), (source, source_is_token) = inputs()
    steps.requires_grad_()
    source.requires_grad_()
    features, _ = decoder(steps, is_token, decoder.init_state(source, source_is_token))
    window = CASES[case].get("window", 0)
    reach = 2 * (window - 1) + 1 if window else 9  # over two layers
    for t in range(9):
        asking = is_token[:, t]
        own, other = torch.autograd.grad(
            features[asking, t].square().sum(), (steps, source), retain_graph=True
        )
        places = torch.arange(9)
        visible = (places <= t) & (places > t - reach) & is_token & asking[:, None]
        assert torch.equal(own.abs().sum(dim=-1) > 0, visible)
        assert torch.equal(other.abs().sum(dim=-1) > 0, source_is_token & asking[:, None])


@every_case
def test_a_changed_future_and_changed_padding_change_nothing(case: str) -> None:
    decoder = build(case)
    (steps, is_token), (source, source_is_token) = inputs()
    expected, _ = decoder(steps, is_token, decoder.init_state(source, source_is_token))
    later = torch.where(torch.arange(9)[:, None] >= 5, -3 * steps, steps)
    padding = torch.where(source_is_token.unsqueeze(-1), source, -7 * source + 1)
    found, _ = decoder(later, is_token, decoder.init_state(padding, source_is_token))
    torch.testing.assert_close(
        found[:, :5][is_token[:, :5]], expected[:, :5][is_token[:, :5]], rtol=0, atol=1e-12
    )
    other, _ = decoder(steps, is_token, decoder.init_state(-source, source_is_token))
    assert (other - expected)[is_token].abs().amax(dim=-1).min() > 1e-6


@every_case
def test_gradients_reach_every_parameter(case: str) -> None:
    decoder = build(case).train()
    (steps, is_token), source = inputs()
    features, _ = decoder(steps, is_token, decoder.init_state(*source))
    (features * torch.randn_like(features))[is_token].sum().backward()
    assert_every_parameter_has_a_gradient(decoder)


def test_the_source_is_read_once_however_many_steps_follow() -> None:
    decoder = build()
    (steps, is_token), source = inputs()
    reads: list[int] = []
    for layer in decoder.layers:
        layer.cross_attention.key.register_forward_hook(lambda *_: reads.append(1))
    in_pieces(decoder, steps, is_token, decoder.init_state(*source), [1] * 9)
    assert len(reads) == 2


def test_a_source_of_padding_alone_gives_numbers_and_no_gradient() -> None:
    decoder = build()
    (steps, is_token), (source, source_is_token) = inputs()
    source_is_token = source_is_token & (torch.arange(4) != 2)[:, None]
    source.requires_grad_()
    features, _ = decoder(steps, is_token, decoder.init_state(source, source_is_token))
    assert torch.isfinite(features).all()
    (gradient,) = torch.autograd.grad(features[2, :6].sum(), source)
    assert not gradient.any()


def test_each_layer_shows_where_it_looks_in_the_source() -> None:
    decoder = build()
    (steps, is_token), (source, source_is_token) = inputs()
    with record_alignments(decoder) as alignments:
        decoder(steps, is_token, decoder.init_state(source, source_is_token))
    assert set(alignments) == {
        f"layers.{depth}.{part}" for depth in range(2) for part in ("attention", "cross_attention")
    }
    (alignment,) = alignments["layers.1.cross_attention"]  # (batch, heads, target, source)
    assert not alignment.masked_select(~source_is_token[:, None, None, :]).any()
    torch.testing.assert_close(alignment.sum(dim=-1), torch.ones(4, 2, 9, dtype=torch.float64))


def test_dropout_acts_in_training_only() -> None:
    decoder = build(dropout=0.5)
    (steps, is_token), source = inputs()
    runs = [decoder(steps, is_token, decoder.init_state(*source))[0] for _ in range(2)]
    assert torch.equal(*runs)
    decoder.train()
    assert not torch.equal(*(decoder(steps, is_token, decoder.init_state(*source))[0] for _ in range(2)))


def test_a_place_past_a_learned_table_is_refused_also_when_steps_come_one_by_one() -> None:
    decoder = build("learned", max_positions=4)
    (steps, is_token), source = inputs()
    with pytest.raises(UsageError, match="only 4 positions"):
        in_pieces(decoder, steps, is_token, decoder.init_state(*source), [1] * 9)
