"""What every kind of positions promises, whichever of the three ways it takes."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from seqlab.attention.recording import record_alignments
from seqlab.models.base import Backbone, ModelState
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer_layers import build_positions
from seqlab.positions.base import PositionalEncoding, positional_encodings
from tests.models.settings_to_try import build, ragged

KINDS = positional_encodings.names()
ADDED = ["learned", "sinusoidal"]
BY_DISTANCE = ["alibi", "none", "relative", "rotary"]
every_kind = pytest.mark.parametrize("kind", KINDS)


def settings_of(kind: str, **others: object) -> TransformerSettings:
    return TransformerSettings.model_validate(
        {"hidden_size": 8, "heads": 2, "layers": 2, "positions": kind, "max_positions": 60, **others}
    )


def made(kind: str, *, causal: bool = False, seed: int = 7) -> PositionalEncoding:
    torch.manual_seed(seed)
    return build_positions(settings_of(kind), causal=causal).double()


def scores(kind: str, places: Tensor, *, causal: bool = False) -> Tensor:
    """The scores of the same queries and keys, standing at other places."""
    told = made(kind, causal=causal)
    steps = torch.randn(
        1, places.shape[1], 8, generator=torch.Generator().manual_seed(4), dtype=torch.float64
    )
    q = k = told.apply_rotary(
        told.add(steps, places).unflatten(-1, (2, 4)).transpose(1, 2), places
    )  # (1, heads, time, head)
    bias = told.bias(places, places)
    return q @ k.transpose(2, 3) + (0.0 if bias is None else bias)


def test_the_registry_and_the_recipes_know_the_same_kinds() -> None:
    assert set(KINDS) == {*ADDED, *BY_DISTANCE}
    for kind in KINDS:
        assert TransformerSettings(positions=kind).positions == kind
    with pytest.raises(ValueError, match="positions"):
        TransformerSettings(positions="no_such_kind")
    assert all(positional_encodings.summary(kind).endswith(".") for kind in KINDS)


@every_kind
def test_each_kind_takes_one_way_and_leaves_the_others(kind: str) -> None:
    told, places = made(kind), torch.arange(5)[None]
    steps, heads = torch.randn(3, 5, 8, dtype=torch.float64), torch.randn(3, 2, 5, 4, dtype=torch.float64)
    ways = (
        not torch.equal(told.add(steps, places), steps),
        not torch.equal(told.apply_rotary(heads, places), heads),
        told.bias(places, places) is not None,
    )
    expected = {
        "none": (False, False, False),
        "rotary": (False, True, False),
        "alibi": (False, False, True),
        "relative": (False, False, True),
    }
    assert ways == expected.get(kind, (True, False, False))
    assert told.is_rotary == ways[1]


@every_kind
def test_one_row_of_places_means_the_same_as_a_row_for_each_sequence(kind: str) -> None:
    told, places = made(kind), torch.arange(5)[None]
    steps, heads = torch.randn(3, 5, 8, dtype=torch.float64), torch.randn(3, 2, 5, 4, dtype=torch.float64)
    each = places.expand(3, 5)
    assert torch.equal(told.add(steps, each), told.add(steps, places))
    assert torch.equal(told.apply_rotary(heads, each), told.apply_rotary(heads, places))
    bias, biases = told.bias(places, places), told.bias(each, each)
    assert (bias is None) == (biases is None)
    if bias is not None and biases is not None:
        assert torch.equal(biases, bias.expand(3, 2, 5, 5))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("kind", BY_DISTANCE)
def test_scores_depend_on_distances_alone(kind: str, causal: bool) -> None:
    places = torch.tensor([[0, 1, 2, 5, 9, 10, 30]])
    for shift in (1, 17, 900):
        torch.testing.assert_close(
            scores(kind, places + shift, causal=causal),
            scores(kind, places, causal=causal),
            rtol=0,
            atol=1e-11,
        )
    stretched = scores(kind, 2 * places, causal=causal)
    assert torch.allclose(stretched, scores(kind, places, causal=causal)) == (kind == "none")


@pytest.mark.parametrize("kind", ADDED)
def test_added_positions_tell_the_place_itself(kind: str) -> None:
    places = torch.tensor([[0, 1, 2, 5, 9]])
    assert not torch.allclose(scores(kind, places + 1), scores(kind, places), atol=1e-3)


@pytest.mark.spec(145)
@every_kind
def test_steps_are_a_set_until_places_are_told(kind: str) -> None:
    backbone = build(settings_of(kind), causal=False)
    steps, is_token = ragged([9, 9], 8)
    order = torch.tensor([3, 8, 0, 5, 1, 7, 2, 6, 4])
    outputs, shuffled = backbone(steps, is_token)[0], backbone(steps[:, order], is_token)[0]
    equivariant = torch.allclose(shuffled, outputs[:, order], rtol=0, atol=1e-12)
    invariant = torch.allclose(shuffled.mean(dim=1), outputs.mean(dim=1), rtol=0, atol=1e-12)
    assert (equivariant, invariant) == (kind == "none", kind == "none")


@pytest.mark.spec(146)
@pytest.mark.parametrize("kind", ADDED)
def test_places_enter_queries_keys_and_values(kind: str) -> None:
    """alignment_ti = softmax_i(Q(f_t + p_t) · K(f_i + p_i)), output_t = Σ_i alignment_ti V(f_i + p_i): the
    query stands at its own place t.

    Printed with the key's place in the query, Q(f_t + p_i), the formula gives something else.
    """
    time, size = 5, 6
    backbone = build(settings_of(kind, hidden_size=size, heads=1, layers=1, norm="post"), causal=False)
    attention = backbone.layers[0].attention
    steps = torch.randn(1, time, size, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    told = backbone.positions.add(torch.zeros_like(steps), torch.arange(time)[None])[0]  # p
    weights, biases = attention.qkv.weight.chunk(3), attention.qkv.bias.chunk(3)

    def projected(which: int, step: int, place: int) -> list[float]:
        return (weights[which] @ (steps[0, step] + told[place]) + biases[which]).tolist()

    def alignment(t: int, *, as_printed: bool = False) -> list[float]:
        numbers = []
        for i in range(time):
            query, key = projected(0, t, i if as_printed else t), projected(1, i, i)
            numbers.append(math.exp(sum(q * k for q, k in zip(query, key, strict=True)) / math.sqrt(size)))
        return [number / sum(numbers) for number in numbers]

    mixed: list[Tensor] = []
    attention.register_forward_hook(lambda _module, _inputs, outputs: mixed.append(outputs[0]))
    with record_alignments(backbone) as recorded:
        backbone(steps, torch.ones(1, time, dtype=torch.bool))
    (found,) = recorded["layers.0.attention"]
    for t in range(time):
        meant = alignment(t)
        assert found[0, 0, t].tolist() == pytest.approx(meant, abs=1e-12)
        assert found[0, 0, t].tolist() != pytest.approx(alignment(t, as_printed=True), abs=1e-3)
        summed = [sum(meant[i] * projected(2, i, i)[j] for i in range(time)) for j in range(size)]
        expected = attention.output.weight @ torch.tensor(summed, dtype=torch.float64) + attention.output.bias
        torch.testing.assert_close(mixed[0][0, t], expected, rtol=0, atol=1e-12)


@st.composite
def ragged_pieces(draw: st.DrawFn) -> list[list[int]]:
    """The real steps of each of three sequences, piece by piece."""
    pieces = draw(st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=1, max_size=4))
    return [[max(1, length) for length in pieces[0]], *[piece for piece in pieces[1:] if max(piece) > 0]]


@pytest.mark.slow
@pytest.mark.spec(153)
@pytest.mark.parametrize("window", [0, 3])
@every_kind
@settings(max_examples=8)
@given(pieces=ragged_pieces())
def test_ragged_pieces_give_what_each_sequence_gives_whole(
    kind: str, window: int, pieces: list[list[int]]
) -> None:
    backbone = build(settings_of(kind, window=window), causal=True)
    state: ModelState | None = None
    found: list[list[Tensor]] = [[], [], []]
    given: list[list[Tensor]] = [[], [], []]
    for number, lengths in enumerate(pieces):
        steps, is_token = ragged(lengths, 8, seed=number)
        outputs, state = backbone(steps, is_token, state)
        for row, length in enumerate(lengths):
            found[row].append(outputs[row, :length])
            given[row].append(steps[row, :length])
    for row in range(3):
        torch.testing.assert_close(
            torch.cat(found[row]), whole(backbone, torch.cat(given[row])), rtol=0, atol=1e-10
        )


def whole(backbone: Backbone, sequence: Tensor) -> Tensor:
    outputs, _ = backbone(sequence[None], torch.ones(1, len(sequence), dtype=torch.bool))
    return outputs[0]
