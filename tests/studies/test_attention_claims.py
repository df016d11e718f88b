"""The studies of attention show their claims in a quick run. The margins held for seeds 0 to 6."""

from __future__ import annotations

import math
import re

import pytest
import torch

from seqlab.blocks.convolution import ConvolutionLayer
from seqlab.studies.attention_costs import KERNEL
from seqlab.studies.attention_steps import WORDS as STEP_WORDS
from seqlab.studies.kit.small_training import train_small
from seqlab.studies.two_heads import IT, NOUNS, OF_THE_FIRST, QUICK, REASON, WORDS, TwoHeads, draw_sentences
from tests.studies.findings import quick

Matrix = list[list[float]]


@pytest.mark.spec(126)
def test_undivided_products_pick_one_key_and_the_root_keeps_the_entropy_as_vectors_grow_wider() -> None:
    found = quick("score_scale")

    def entropy(divisor: str, width: int) -> float:
        return found.value("entropy", **{"divided by": divisor, "width": width})

    most = math.log(16)
    assert entropy("nothing", 64) < 0.6 < 1.2 < entropy("nothing", 4)
    assert abs(entropy("√D", 64) - entropy("√D", 4)) < 0.2
    assert most - 0.02 < entropy("D", 64) < most  # nearly equal weights
    for width in (4, 16, 64):
        assert entropy("nothing", width) < entropy("√D", width) < entropy("D", width)
    assert found.value("gradient", **{"divided by": "nothing", "width": 64}) < 0.7 * found.value(
        "gradient", **{"divided by": "√D", "width": 64}
    )


@pytest.mark.spec(126)
def test_the_entropy_of_the_root_is_that_of_normal_scores() -> None:
    """Scores q · k / √D of features with variance 1 have variance 1, whatever D is."""
    generator = torch.Generator().manual_seed(1)
    weights = torch.randn(4000, 16, generator=generator).softmax(dim=-1)
    expected = -(weights * weights.log()).sum(dim=-1).mean().item()
    assert quick("score_scale").value("entropy", **{"divided by": "√D", "width": 64}) == pytest.approx(
        expected, abs=0.1
    )


@pytest.mark.slow
@pytest.mark.spec(137)
def test_words_see_themselves_and_patches_of_pictures_their_like() -> None:
    found = quick("self_similarity")
    assert found.value("weight on itself", steps="words") > 0.95  # nearly one-hot rows
    assert found.value("sees itself most", steps="words") == 1.0
    assert found.value("weight on itself", steps="patches of images") < 0.5
    assert found.value("sees itself most", steps="patches of images") < 0.8
    assert len(found.figures) == 2
    assert "<svg" in found.figures[0]


@pytest.mark.long
@pytest.mark.spec(143)
def test_from_one_word_two_heads_look_at_the_noun_and_at_the_adjective() -> None:
    found = quick("two_heads")
    networks = {int(row["network"]) for row in found.rows}
    apart = []
    for number in networks:
        heads = found.select_rows(network=number)
        assert [row["head"] for row in heads] == [1, 2]
        assert all(float(row["reason right"]) > 0.9 for row in heads)
        assert all(float(row["on the other noun"]) < 0.15 for row in heads)
        total = [
            sum(float(row[name]) for name in row if name.startswith("on the") or name == "elsewhere")
            for row in heads
        ]
        assert total == pytest.approx([1.0, 1.0])
        nouns, adjectives = (
            [float(row[f"on the {name}"]) for row in heads] for name in ("noun meant", "adjective")
        )
        apart.append(abs(nouns[0] - nouns[1]) + abs(adjectives[0] - adjectives[1]))
    assert max(apart) > 0.8  # in one network at least the heads do different work
    assert max(float(row["noun right"]) for row in found.rows) > 0.95
    assert re.search(r"divide the work in \d of 2 networks", found.conclusion)
    for picture, reason in zip(found.figures, ("hungry", "slow"), strict=True):
        assert [word for word in ("head 1", "head 2", reason) if word not in picture] == []


@pytest.mark.spec(143)
def test_the_adjective_alone_says_which_noun_is_meant() -> None:
    sentences = draw_sentences(300, torch.Generator().manual_seed(2))
    for row, noun, place in zip(
        sentences.tokens.tolist(), sentences.noun.tolist(), sentences.noun_position.tolist(), strict=True
    ):
        words = [WORDS[token] for token in row]
        assert [words[place] for place in (0, 3, 5, 6, 7)] == ["the", "the", "because", "it", "was"]
        assert words[IT] == "it"
        assert words[1] != words[4]
        assert {words[1], words[4]} <= set(NOUNS)
        assert place == (1 if words[REASON] in OF_THE_FIRST else 4)
        assert WORDS[noun] == words[place]


@pytest.mark.spec(143)
def test_answers_come_only_through_what_the_heads_bring() -> None:
    torch.manual_seed(3)
    model = TwoHeads(QUICK)
    with torch.no_grad():
        model.heads.qkv.weight[2 * 2 * QUICK.head_size :] = 0.0  # no values
        tokens = draw_sentences(5, torch.Generator().manual_seed(4)).tokens
        noun, reason = model(tokens)
    assert torch.equal(noun, noun[:1].expand_as(noun))
    assert torch.equal(reason, reason[:1].expand_as(reason))


@pytest.mark.slow
@pytest.mark.spec(148)
def test_attention_is_quadratic_joins_all_steps_and_waits_for_none() -> None:
    found = quick("attention_costs")

    def number(column: str, layer: str, length: int) -> float:
        return found.value(column, layer=layer, length=length)

    recurrence, convolution, written, fused = (
        "recurrence (lstm)",
        "convolution",
        "attention, written out",
        "attention, fused kernel",
    )
    weights = (
        2 * 2 * 4 * 4 / 1024
    )  # kilobytes of one square of weights for 2 sequences and 4 heads, in and out of the softmax or its copy
    assert number("kilobytes kept", written, 512) - 2 * number(
        "kilobytes kept", written, 256
    ) > 0.4 * weights * (512**2 - 2 * 256**2)
    assert number("kilobytes kept", written, 512) > 3 * number("kilobytes kept", written, 256)
    for layer in (recurrence, convolution, fused):
        assert number("kilobytes kept", layer, 512) < 2.05 * number("kilobytes kept", layer, 256)
    for layer in (convolution, written, fused):
        assert number("longest chain", layer, 512) == number("longest chain", layer, 128)
    assert number("longest chain", recurrence, 512) - number("longest chain", recurrence, 256) == 2 * (
        number("longest chain", recurrence, 256) - number("longest chain", recurrence, 128)
    )
    assert [
        number("steps between the ends", layer, 512) for layer in (recurrence, convolution, written, fused)
    ] == [511, 256, 1, 1]
    assert all(float(row["milliseconds"]) > 0 for row in found.rows)


@pytest.mark.spec(148)
@pytest.mark.parametrize("length", [8, 9])
def test_so_many_convolutions_join_the_ends_and_one_less_does_not(length: int) -> None:
    torch.manual_seed(5)
    needed = -(-(length - 1) // (KERNEL - 1))
    for layers, joined in ((needed - 1, False), (needed, True)):
        steps = torch.randn(1, length, 4, requires_grad=True)
        features, is_token = steps, torch.ones(1, length, dtype=torch.bool)
        for _ in range(layers):
            features, _ = ConvolutionLayer(4, kernel_size=KERNEL, dilation=1, causal=True, dropout=0.0)(
                features, is_token, None
            )
        (gradient,) = torch.autograd.grad(features[:, -1].sum(), steps)
        assert bool(gradient[:, 0].abs().max() > 0) == joined


def stages() -> dict[str, Matrix]:
    rows = quick("attention_steps").rows
    found: dict[str, Matrix] = {}
    for row in rows:
        found.setdefault(str(row["stage"]), []).append([float(row[str(column)]) for column in range(1, 5)])
    return found


def times(one: Matrix, other: Matrix) -> Matrix:
    """one · otherᵀ, by hand."""
    return [[sum(a * b for a, b in zip(row, line, strict=True)) for line in other] for row in one]


def close(one: Matrix, other: Matrix) -> bool:
    return all(
        a == pytest.approx(b, abs=2e-5)
        for row, line in zip(one, other, strict=True)
        for a, b in zip(row, line, strict=True)
    )


@pytest.mark.spec(149)
def test_every_stage_follows_from_the_one_before_by_plain_arithmetic() -> None:
    found = stages()
    position = [
        [
            math.sin(i / 10000 ** (j / 4)) if j % 2 == 0 else math.cos(i / 10000 ** ((j - 1) / 4))
            for j in range(4)
        ]
        for i in range(4)
    ]
    assert close(found["position"], position)
    assert close(
        found["step"],
        [
            [a + b for a, b in zip(*rows, strict=True)]
            for rows in zip(found["embedding"], position, strict=True)
        ],
    )
    for letter in "qkv":
        assert close(found[letter], times(found["step"], found[f"W_{letter}"]))
    assert close(found["score"], times(found["q"], found["k"]))
    assert close(found["scaled"], [[value / 2 for value in row] for row in found["score"]])
    weights = [[math.exp(value) / sum(map(math.exp, row)) for value in row] for row in found["scaled"]]
    assert close(found["weight"], weights)
    values = [list(column) for column in zip(*found["v"], strict=True)]
    assert close(found["feature"], times(weights, values))


@pytest.mark.spec(149)
def test_the_word_that_stands_twice_is_told_apart_by_its_places_and_the_layer_agrees() -> None:
    found = stages()
    first, second = (number for number, word in enumerate(STEP_WORDS) if word == "saw")
    assert found["embedding"][first] == found["embedding"][second]
    assert found["weight"][first] != pytest.approx(found["weight"][second], abs=0.01)
    assert all(
        value == pytest.approx(round(value, 1), abs=1e-6)
        for name in ("embedding", "W_q", "W_k", "W_v")
        for row in found[name]
        for value in row
    )
    finding = quick("attention_steps")
    error = float(re.search(r"at most (\S+)\.$", finding.conclusion)[1])
    assert error < 1e-5
    for row in found["weight"]:  # the picture is a heat map with the numbers
        assert all(f">{weight:.2f}</text>" in finding.figures[0] for weight in row)


@pytest.mark.long
@pytest.mark.spec(168)
def test_with_the_norm_before_no_warm_up_is_needed_and_the_norm_after_hardly_learns_without_one() -> None:
    found = quick("warm_up")
    deep = {name: found.value("score", layers=6, norm=name, **{"warm-up": 0}) for name in ("pre", "post")}
    frequencies = found.curves[1].references[0].y
    assert deep["pre"] < deep["post"] - 0.25
    assert deep["pre"] < frequencies - 0.4
    assert abs(deep["pre"] - found.value("score", layers=6, norm="pre", **{"warm-up": 10})) < 0.15
    shallow = [found.value("score", layers=2, norm=name, **{"warm-up": 0}) for name in ("pre", "post")]
    assert abs(shallow[0] - shallow[1]) < 0.15  # it is depth that makes the difference
    best = [
        min(found.value("score", layers=2, norm=name, **{"warm-up": warm}) for warm in (0, 10))
        for name in ("pre", "post")
    ]
    shows = best[0] > best[1] + 0.02  # what a few updates of one seed show is said as it is
    assert ("at any depth" in found.conclusion) != shows


@pytest.mark.spec(168)
def test_a_warm_up_raises_the_rate_in_equal_parts() -> None:
    """Adam's first update has the length of the rate, whatever the gradient."""
    moves = {}
    for warm_up in (0, 3):
        weight = torch.nn.Parameter(torch.tensor([5.0]))
        model = torch.nn.Module()
        model.weight = weight
        train_small(model, lambda weight=weight: weight.sum(), steps=1, learning_rate=0.1, warm_up=warm_up)
        moves[warm_up] = 5.0 - weight.item()
    assert moves[0] == pytest.approx(0.1, rel=1e-4)
    assert moves[3] == pytest.approx(0.1 / 4, rel=1e-4)
