"""What studies measure and how they train, without training: times by a clock of our own, and every training
as it was asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from seqlab.cells.gru import GRU
from seqlab.cells.lstm import LSTM
from seqlab.studies import attention_costs, gru_or_lstm, rectified_adam, warm_up, warm_up_steps
from seqlab.studies.kit import small_training
from seqlab.studies.kit.critical_path import critical_path_length
from seqlab.studies.kit.small_training import TrainingRecord, train_small
from seqlab.training.optimizers.adam_2k import Adam2k
from seqlab.training.optimizers.adamw import AdamW
from seqlab.training.optimizers.radam import RAdam
from seqlab.training.optimizers.sgd import SGD


class Clock:
    """Processor time that passes only when somebody says so."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(small_training.time, "process_time", clock)  # the module that all studies share
    return clock


def uses(model: nn.Module, cell: type[nn.Module]) -> bool:
    return any(isinstance(module, cell) for module in model.modules())


@pytest.mark.spec(98)
@pytest.mark.parametrize(("gru_seconds", "gru_nats", "better"), [(1.5, 2.5, "LSTM"), (4.5, 1.5, "GRU")])
def test_gru_and_lstm_keep_their_own_times_and_scores(
    gru_seconds: float, gru_nats: float, better: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The LSTM trains for 3 seconds to 2 nats; what the GRU does is given."""

    def train(model: nn.Module, loss: Callable[[], Tensor], *, steps: int, **_: Any) -> TrainingRecord:
        assert uses(model, GRU) != uses(model, LSTM)
        began = clock()
        clock.now += gru_seconds if uses(model, GRU) else 3.0
        return TrainingRecord([1.0] * steps, [1.0] * steps, clock() - began)

    monkeypatch.setattr(gru_or_lstm, "train_small", train)
    monkeypatch.setattr(
        gru_or_lstm, "valid_nats", lambda model, *_, **__: gru_nats if uses(model, GRU) else 2.0
    )
    found = gru_or_lstm.gru_or_lstm(seed=0, quick=True)
    for row in found.rows:
        seconds = gru_seconds if row["cell"] == "gru" else 3.0
        assert row["ms per update"] == pytest.approx(1000 * seconds / gru_or_lstm.QUICK.steps)
    assert {row["cell"]: row["score"] for row in found.rows if row["task"] == "text"} == {
        "lstm": 2.0,
        "gru": gru_nats,
    }
    assert f"GRU update takes {gru_seconds / 3:.2f} times" in found.conclusion
    assert "0.75 times the parameters" in found.conclusion
    assert f"the {better} is better (2.000" in found.conclusion
    assert f"{gru_nats:.3f} for the GRU" in found.conclusion
    times = {series.name: series.xs[-1] for series in found.curves[0].series}
    assert times == pytest.approx({"lstm": 3.0, "gru": gru_seconds})


def test_the_time_of_a_training_is_what_passed_between_its_first_batch_and_its_last_update(
    clock: Clock,
) -> None:
    model = nn.Linear(1, 1)

    def loss() -> Tensor:
        clock.now += 0.25
        return model(torch.ones(1, 1)).sum()

    clock.now += 7.0
    assert train_small(model, loss, steps=6).seconds == pytest.approx(1.5)


@pytest.mark.spec(101)
def test_a_warm_up_shortens_the_first_updates_of_sgd_in_equal_parts() -> None:
    """SGD moves by rate times gradient; along a constant gradient of 1 a position is the sum of rates."""
    weight = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(weight.weight)
    places = [0.0]
    train_small(
        weight,
        lambda: weight(torch.ones(1, 1)).sum(),
        steps=6,
        learning_rate=0.1,
        build_optimizer=SGD,
        warm_up=3,
        constant=True,
        callback=lambda _: places.append(weight.weight.item()),
    )
    moves = [before - after for before, after in itertools.pairwise(places)]
    assert moves == pytest.approx([0.1 * share for share in (0.25, 0.5, 0.75, 1.0, 1.0, 1.0)], rel=1e-4)


@pytest.mark.slow
@pytest.mark.spec(101)
def test_every_row_of_the_warm_up_study_was_trained_as_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def train(model: nn.Module, loss: Callable[[], Tensor], **options: Any) -> TrainingRecord:
        asked.append(options)
        return TrainingRecord([1.0] * 5, [1.0] * 5, 0.0)

    monkeypatch.setattr(warm_up_steps, "train_small", train)
    found = warm_up_steps.warm_up_steps(seed=0, quick=True)
    assert len(found.rows) == len(asked) == 7
    for row, options in zip(found.rows, asked, strict=True):
        assert (options["warm_up"], options["learning_rate"]) == (row["warm-up"], row["rate"])
        optimizer = options["build_optimizer"]([nn.Parameter(torch.ones(1))])
        is_sgd = str(row["optimizer"]).startswith("SGD")
        assert type(optimizer) is (SGD if is_sgd else AdamW)
        assert not is_sgd or optimizer.param_groups[0]["momentum"] == 0.9
        assert options["constant"] == ("constant" in str(row["optimizer"]))
    warmed = {str(row["optimizer"]) for row in found.rows if row["warm-up"]}
    assert {name.partition(",")[0] for name in warmed} == {"Adam", "SGD"}


@pytest.mark.slow
@pytest.mark.spec(107)
def test_adam_that_measures_first_measures_for_its_own_updates_and_then_learns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[dict[str, Any]] = []

    def train(model: nn.Module, loss: Callable[[], Tensor], **options: Any) -> TrainingRecord:
        asked.append(options)
        return TrainingRecord([1.0] * options["steps"], [1.0] * options["steps"], 0.0)

    monkeypatch.setattr(rectified_adam, "train_small", train)
    found = rectified_adam.rectified_adam(seed=0, quick=True)
    networks = [config for config in rectified_adam.QUICK for _ in range(4)]
    for row, config, options in zip(found.rows, networks, asked, strict=True):
        optimizer = options["build_optimizer"]([nn.Parameter(torch.ones(1))])
        kinds = {rectified_adam.RECTIFIED: RAdam, rectified_adam.MEASURED: Adam2k}
        assert type(optimizer) is kinds.get(str(row["optimizer"]), AdamW)
        assert options["warm_up"] == (config.warm_up if row["optimizer"] == rectified_adam.WARM else 0)
        measured = config.measured_steps if row["optimizer"] == rectified_adam.MEASURED else 0
        assert options["steps"] == row["iterations"] == config.updates + measured
        assert getattr(optimizer, "measured_steps", 0) == measured


@pytest.mark.spec(148)
def test_the_time_of_a_layer_is_the_best_of_its_repeats_without_the_first(clock: Clock) -> None:
    durations = iter([0.9, 0.5, 0.2, 0.4, 5.0])  # the last one is not timed: memory is measured

    def run(steps: Tensor) -> Tensor:
        clock.now += next(durations)
        return steps * 2

    row = attention_costs._row("x", run, 7, repeats=3)
    assert row["milliseconds"] == pytest.approx(200.0)
    assert (row["layer"], row["length"]) == ("x", 7)


@pytest.mark.spec(148)
def test_the_steps_between_the_ends_are_those_after_which_the_last_step_feels_the_first() -> None:
    """Layers of attention or convolution are laid on each other until a gradient reaches the first step."""
    length, layers = 10, attention_costs._layers(0)

    def layers_needed(run: Callable[[Tensor], Tensor]) -> int:
        for count in range(1, length):
            steps = torch.randn(1, length, attention_costs.WIDTH, requires_grad=True)
            output = steps
            for _ in range(count):
                output = run(output)
            (gradient,) = torch.autograd.grad(output[0, -1].sum(), steps)
            if gradient[0, 0].any():
                return count
        raise AssertionError

    for name, run in layers.items():
        row = attention_costs._row(name, run, length, repeats=1)
        if name == attention_costs.RECURRENCE:  # one layer, whose state passes from step to step
            first, second, last = (
                critical_path_length(attention_costs._scan_state(steps)) for steps in (1, 2, length)
            )
            assert row["steps between the ends"] == (last - first) / (second - first) == length - 1
        else:
            assert row["steps between the ends"] == layers_needed(run), name


@pytest.mark.spec(101)
@pytest.mark.parametrize(
    ("warmed", "verdict"),
    [(2.9, "which a warm-up improves (2.900)"), (3.0, "which a warm-up does not improve (3.000)")],
)
def test_the_warm_up_study_says_whether_sgd_is_better_with_one(
    warmed: float, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def train(_text: object, name: str, warm: int, *_: object) -> tuple[TrainingRecord, float]:
        score = warmed if name == warm_up_steps.SGD_FAST and warm else 3.01
        return TrainingRecord([1.0] * 5, [1.0] * 5, 0.0), score

    monkeypatch.setattr(warm_up_steps, "_train", train)
    found = warm_up_steps.warm_up_steps(seed=0, quick=True)
    assert f"SGD at 0.3 ends at 3.010, {verdict}" in found.conclusion


@pytest.mark.spec(168)
@pytest.mark.parametrize(
    ("worse_at", "verdict"),
    [
        (2, "Pre-norm ends worse by 0.100 at 2 layers"),
        (6, "Pre-norm ends worse by 0.100 at 6 layers"),
        (None, "at any depth"),
    ],
)
def test_the_study_of_norms_says_at_which_depth_the_norm_before_ends_worse(
    worse_at: int | None, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The better of both starts counts: 2.0 for either norm, but 2.1 for the norm before at one depth."""

    def train(
        _text: object, depth: int, placement: str, warm: int, *_: object
    ) -> tuple[TrainingRecord, float]:
        best = 2.1 if (placement, depth) == ("pre", worse_at) else 2.0
        return TrainingRecord([1.0] * 5, [1.0] * 5, 0.0), best if warm else best + 0.5

    monkeypatch.setattr(warm_up, "_train", train)
    found = warm_up.warm_up(seed=0, quick=True)
    assert verdict in found.conclusion
    assert ("Pre-norm ends worse" in found.conclusion) == (worse_at is not None)
