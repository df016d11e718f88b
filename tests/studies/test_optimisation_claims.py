"""The studies of optimisation show in a quick run what they say. The margins are those of seed 0."""

from __future__ import annotations

import gzip
import math
from pathlib import Path

import pytest
import torch
from torch import nn

from seqlab.blocks.residual import Residual
from seqlab.pages.report_data import LineSeries
from seqlab.studies.first_updates import PARTS, _norms_of_parts, relative_spread, spread_of_normal
from seqlab.studies.kit.small_pairs import END, NUM_VALID, PAD, START, TENS, SmallPairs, german_numbers
from seqlab.studies.kit.small_pairs import ONES as GERMAN_ONES
from seqlab.studies.kit.small_text import small_text
from seqlab.studies.kit.small_training import TrainingRecord, loss_series, train_small
from seqlab.studies.kit.small_transformer import SmallTransformer, unigram_valid_nats
from seqlab.studies.rectified_adam import ADAM, MEASURED, RECTIFIED, WARM, rectified_adam
from seqlab.studies.rectified_adam import QUICK as QUICK_TRANSLATION
from seqlab.studies.residual_and_norm import NoResidualNoNorm, NormOnly, ResidualOnly
from seqlab.studies.warm_up_steps import ADAM as POST_NORM_ADAM
from seqlab.studies.warm_up_steps import FULL, QUICK, SGD_FAST, SGD_SLOW, SMALL, _train
from tests.studies.findings import quick

NUMBER_WORDS = (
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
MULTI30K = Path(__file__).parents[2].parent / "shared" / "data" / "multi30k"


@pytest.mark.long
@pytest.mark.spec(101)
def test_the_norm_after_fails_without_warm_up_by_adam_and_sgd_and_its_length_matters() -> None:
    found = quick("warm_up_steps")
    frequencies = found.curves[0].references[0].y
    adam = [
        found.value("score", optimizer=POST_NORM_ADAM, **{"warm-up": warm})
        for warm in QUICK.warm_ups[POST_NORM_ADAM]
    ]
    assert adam[0] > frequencies - 0.1  # nothing but frequencies was learned
    assert adam[-1] < adam[0] - 0.1
    assert found.value("score", optimizer=SGD_FAST, **{"warm-up": 0}) > frequencies - 0.1
    assert found.curves[0].series[0].ys == adam
    assert f"{adam[0]:.3f} with 0" in found.conclusion
    assert found.value("score", optimizer=SGD_SLOW, **{"warm-up": 0}) < found.value(
        "score", optimizer=SGD_FAST, **{"warm-up": 0}
    )


@pytest.mark.long
@pytest.mark.spec(101)
def test_eight_layers_with_the_norm_after_learn_by_sgd_with_a_long_warm_up_and_not_without() -> None:
    """Measured: 3.234 without, 2.981 with 80 updates of warm-up; the frequencies of characters give 3.213."""
    text = small_text()
    frequencies = unigram_valid_nats(text, time=FULL.time)
    without, warmed = (_train(text, SGD_FAST, warm, FULL, 0)[1] for warm in (0, 80))
    assert without > frequencies - 0.05
    assert warmed < frequencies - 0.15


@pytest.mark.long
@pytest.mark.spec(102)
def test_a_very_small_constant_rate_is_stable_but_slow() -> None:
    found = quick("warm_up_steps")
    best = min(
        found.value("score", optimizer=POST_NORM_ADAM, **{"warm-up": warm})
        for warm in QUICK.warm_ups[POST_NORM_ADAM]
    )
    assert found.value("score", optimizer=SMALL, **{"warm-up": 0}) > best + 0.05
    (line,) = [series for series in found.curves[1].series if series.name == SMALL]
    thirds = [sum(line.ys[start : start + 16]) for start in (0, 16, 32)]
    assert thirds[0] > thirds[1] > thirds[2]
    assert found.value("roughest rise", optimizer=SMALL, **{"warm-up": 0}) < 0.15


@pytest.mark.long
@pytest.mark.spec(103)
def test_without_warm_up_gradients_and_updates_of_the_lower_layers_shrink_quickly() -> None:
    found = quick("first_updates")
    lowest = found.rows[0]
    assert float(lowest["gradient, last"]) < 0.1 * float(lowest["gradient, first"])
    assert float(lowest["update, last"]) < 0.5 * float(lowest["update, first"])
    assert float(lowest["gradient with warm-up, last"]) > 0.2 * float(lowest["gradient with warm-up, first"])
    updates = [curve for curve in found.curves if curve.title.startswith("Updates")]
    assert [[series.name for series in curve.series] for curve in updates] == [
        ["layer 1", "layer 4", "layer 6"]
    ] * 2
    # Adam's first step has the length of the rate in every weight that has a gradient.
    assert 0.8 < updates[0].series[0].ys[0] < 1.01


@pytest.mark.long
@pytest.mark.spec(104)
def test_gradients_of_queries_and_keys_are_much_smaller_than_those_of_values() -> None:
    found = quick("first_updates")
    for row in found.rows:
        assert float(row["gradient of W_v"]) > 3 * max(
            float(row["gradient of W_q"]), float(row["gradient of W_k"])
        )
        for name in PARTS:
            assert f">layer {row['layer']}, {name}<" in found.figures[0]
    assert found.figures[0].count('class="bar"') == 3 * len(found.rows)


@pytest.mark.spec(104)
def test_parts_of_the_gradient_are_queries_keys_and_values() -> None:
    """Queries have no gradient where all keys are zero, and keys none where all queries are; values always
    do.
    """
    for zero, without_gradient in ((1, 0), (0, 1)):
        torch.manual_seed(3)
        model = SmallTransformer(7, layers=1, norm="post", hidden_size=8)
        qkv = model.backbone.layers[0].attention.qkv
        with torch.no_grad():
            qkv.weight.view(3, 8, 8)[zero] = 0.0
            qkv.bias.view(3, 8)[zero] = 0.0
        model.nats(torch.tensor([[1, 2, 3, 4]]), torch.tensor([[2, 3, 4, 5]])).backward()
        norms = _norms_of_parts(model, 0)
        assert norms[without_gradient] == 0.0
        assert norms[zero] > 0.0
        assert norms[2] > 0.0


@pytest.mark.spec(106)
def test_adams_scale_varies_as_the_chi_square_distribution_says() -> None:
    gradients = torch.randn(20_000, 30, 4, generator=torch.Generator().manual_seed(1))
    measured = relative_spread(gradients)
    for count in (8, 15, 30):
        assert float(measured[count - 1]) == pytest.approx(spread_of_normal(count), rel=0.05)
    assert float(relative_spread(torch.full((3, 5, 2), 0.7)).max()) < 1e-6  # equal gradients: nothing varies


@pytest.mark.long
@pytest.mark.spec(106)
def test_the_first_updates_vary_most() -> None:
    series = quick("first_updates").curves[-1].series
    network, normal, rectified = (dict(zip(line.xs, line.ys, strict=True)) for line in series)
    assert network[2] > 1.5 * network[12]
    assert normal[3] > 2 * normal[12]
    assert all(
        0.009 < value < 0.016 for value in rectified.values()
    )  # what RAdam is for: as little at every update as in the end


@pytest.mark.long
@pytest.mark.spec(107, 108)
def test_loss_against_iteration_of_adam_with_and_without_warm_up_radam_and_adam_that_measures_first() -> None:
    found = quick("rectified_adam")
    for sizes, curve in zip(QUICK_TRANSLATION, found.curves, strict=True):
        scores = {
            name: found.value("score", network=str(sizes), optimizer=name)
            for name in (ADAM, WARM, RECTIFIED, MEASURED)
        }
        assert scores[WARM] < scores[ADAM] - 0.1
        assert scores[RECTIFIED] < scores[ADAM] - 0.1
        assert [series.name for series in curve.series] == list(scores)
        assert curve.x_label == "iteration"
        assert curve.series[3].xs[-1] == sizes.measured_steps + sizes.updates
        assert scores[MEASURED] < scores[ADAM] - 0.05
        assert found.conclusion.count(f"{MEASURED} trains") == len(QUICK_TRANSLATION)
        measured = curve.series[3]
        silent = [y for x, y in zip(measured.xs, measured.ys, strict=True) if x <= sizes.measured_steps]
        assert abs(sum(silent) / len(silent) - silent[0]) < 0.3  # nothing is learned while it measures,
        assert measured.ys[-1] < sum(silent) / len(silent) - 0.5  # and then it is


@pytest.mark.long
@pytest.mark.spec(108)
@pytest.mark.skipif(not MULTI30K.is_dir(), reason="the captions in two languages are not here")
def test_real_sentences_can_be_given_in_place_of_numbers() -> None:
    sides = [
        gzip.decompress((MULTI30K / f"train.{language}.gz").read_bytes()).decode().split("\n")[:2000]
        for language in ("de", "en")
    ]
    found = rectified_adam(seed=0, quick=True, pairs=list(zip(*sides, strict=True)))
    assert all(
        float(row["score"]) < math.log(2000) - 1 for row in found.rows
    )  # all learn, in so few updates hardly more than frequencies
    assert any("2,000 pairs" in note for note in found.notes)


@pytest.mark.spec(108)
def test_the_translations_are_german_numbers_and_english_ones_of_the_same_value() -> None:
    english = {word: value for value, word in enumerate(("zero", *NUMBER_WORDS))}
    tens = {
        "twenty": 20,
        "thirty": 30,
        "forty": 40,
        "fifty": 50,
        "sixty": 60,
        "seventy": 70,
        "eighty": 80,
        "ninety": 90,
    }
    teens = {
        f"{word}teen": value
        for word, value in {
            "thir": 13,
            "four": 14,
            "fif": 15,
            "six": 16,
            "seven": 17,
            "eigh": 18,
            "nine": 19,
        }.items()
    }
    german = {word: value for value, word in enumerate(GERMAN_ONES)} | {
        word: 10 * value for value, word in enumerate(TENS) if word
    }

    def value_of(text: str, words: dict[str, int], hundred: str, thousand: str) -> int:
        total = part = 0
        for word in text.split():
            if word == thousand:
                total, part = 1000 * part, 0
            elif word == hundred:
                part *= 100
            elif word != "und":
                part += words[word]
        return total + part

    pairs = german_numbers()
    assert len(set(pairs)) == len(pairs) == 4000
    for source, target in pairs:
        assert value_of(source, german | {"ein": 1}, "hundert", "tausend") == value_of(
            target, english | tens | teens, "hundred", "thousand"
        )
    assert ("zwei und vierzig", "forty two") in pairs


def test_pairs_become_padded_ids_and_the_last_are_held_out() -> None:
    pairs = SmallPairs.from_pairs(
        [
            ("Ein Hund", "A dog"),
            ("ein", "a"),
            *[(f"neu{place} hund", "dog runs far") for place in range(NUM_VALID)],
        ]
    )
    source, target = pairs.draw(50, torch.Generator().manual_seed(1))
    assert {tuple(row) for row in source.tolist()} == {(4, 5), (4, PAD)}
    assert {tuple(row) for row in target.tolist()} == {(START, 4, 5, END), (START, 4, END, PAD)}
    source, target = pairs.validation_batch()
    assert source.shape == (NUM_VALID, 2)
    assert source[0].tolist() == [3, 5]  # a word that was not trained on is unknown
    assert target[0].tolist() == [START, 5, 3, 3, END]


@pytest.mark.long
@pytest.mark.spec(109)
def test_without_residual_connections_or_without_the_norm_a_deep_transformer_learns_less() -> None:
    found = quick("residual_and_norm")
    scores = {str(row["around each sublayer"]): float(row["score"]) for row in found.rows}
    assert list(scores) == ["both", "no residual connections", "no LayerNorm", "neither"]
    assert all(score > scores["both"] + 0.08 for name, score in scores.items() if name != "both")
    assert scores["no residual connections"] > scores["no LayerNorm"]
    ratios = [float(row["gradient, lowest / highest layer"]) for row in found.rows]
    assert ratios[3] < 0.2 * min(
        ratios[0], ratios[2]
    )  # without both, gradients do not reach the lowest layer


@pytest.mark.spec(109)
@pytest.mark.parametrize(
    ("path", "entered", "left"),
    [
        (NormOnly(nn.LayerNorm(2), dropout=0.0), [-1.0, 1.0], [10.0, 20.0]),
        (ResidualOnly(dropout=0.0), [2.0, 6.0], [12.0, 26.0]),
        (NoResidualNoNorm(dropout=0.0), [2.0, 6.0], [10.0, 20.0]),
    ],
    ids=["no residual connections", "no norm", "neither"],
)
def test_what_is_removed_is_not_there(path: Residual, entered: list[float], left: list[float]) -> None:
    steps, output = torch.tensor([[[2.0, 6.0]]]), torch.tensor([[[10.0, 20.0]]])
    assert path.before_sublayer(steps).flatten().tolist() == pytest.approx(entered, abs=1e-4)
    assert path.after_sublayer(steps, path.before_sublayer(steps), output).flatten().tolist() == left


def test_a_watcher_sees_every_update_with_its_gradients() -> None:
    model = nn.Linear(1, 1, bias=False)
    seen: list[tuple[int, float]] = []

    def watch(number: int) -> None:
        assert model.weight.grad is not None
        seen.append((number, model.weight.grad.item()))

    train_small(model, lambda: 3 * model(torch.ones(1, 1)).sum(), steps=2, clip_norm=1.0, callback=watch)
    assert seen == [(1, pytest.approx(1.0)), (2, pytest.approx(1.0))]


def test_a_loss_curve_has_means_of_neighbouring_updates() -> None:
    losses = [float(number) for number in range(1, 131)]
    series = loss_series("x", TrainingRecord(losses, losses, 0.0))
    assert isinstance(series, LineSeries)
    assert (series.xs[0], series.ys[0]) == (3, 2.0)
    assert (series.xs[-1], series.ys[-1]) == (130, 130.0)
    assert math.isclose(sum(series.ys[:-1]) * 3 + 130.0, sum(losses))
