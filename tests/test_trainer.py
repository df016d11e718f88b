"""seqlab.Trainer: a model, a loss and data of one's own in seqlab's training loop."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import seqlab
from seqlab.errors import DataError, RecipeError, RunError, SeqlabError, TrainingError, UsageError
from seqlab.training.base import NullCallback, StepReport, Validation
from tests.check_each import check_each

INPUTS = torch.randn(21, 3, generator=torch.Generator().manual_seed(1))
TARGETS = (INPUTS.sum(1) > 0).long()
DATA = {"train": (INPUTS[:15], TARGETS[:15]), "valid": (INPUTS[15:], TARGETS[15:])}


def small_model(*, dropout: float = 0.0, width: int = 5) -> nn.Sequential:
    torch.manual_seed(4)
    return nn.Sequential(nn.Linear(3, width), nn.Tanh(), nn.Dropout(dropout), nn.Linear(width, 2))


def make(folder: Path, model: nn.Module | None = None, **options: Any) -> seqlab.Trainer:
    chosen: dict[str, Any] = {"steps": 6, "batch_size": 4, "verbose": False, "loss": F.cross_entropy, **DATA}
    chosen |= options
    model = chosen.pop("model", model) or small_model()
    return seqlab.Trainer(model, chosen.pop("loss"), out=folder, **chosen)


class StopAfter(NullCallback):
    """Presses Ctrl-C after an update."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step(self, report: StepReport) -> None:
        if report.step == self.step:
            signal.raise_signal(signal.SIGINT)


class Recorder(NullCallback):
    """Keeps what it is told, and the weights of every new best."""

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        self.losses: list[float] = []
        self.validations: list[int] = []
        self.best: dict[str, Tensor] = {}

    def on_step(self, report: StepReport) -> None:
        self.losses.append(report.loss)

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        self.validations.append(step)
        if is_best:
            self.best = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}


def same(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def losses_in(folder: Path) -> list[tuple[int, float]]:
    """The training loss after every update, in the order of the final journal."""
    events = [json.loads(line) for line in (folder / "journal.jsonl").read_text("utf-8").splitlines()]
    return sorted({(event["step"], event["loss"]) for event in events if event["event"] == "step"})


def plain_sgd(model: nn.Module, *, steps: int, rate: float) -> nn.Module:
    """Gradient descent on all training examples at once, as anyone would write it."""
    for _ in range(steps):
        model.zero_grad()
        F.cross_entropy(model(INPUTS[:15]), TARGETS[:15]).backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.sub_(rate * parameter.grad)
    return model


PLAIN = {"optimizer": "sgd", "momentum": 0.0, "weight_decay": 0.0, "schedule": "constant", "warmup_steps": 0}


@pytest.mark.parametrize(("batch_size", "accumulated"), [(15, 1), (8, 2), (5, 3)])
def test_updates_are_those_of_a_plain_pytorch_loop(tmp_path: Path, batch_size: int, accumulated: int) -> None:
    """Batches of 8 and 7 make one update in which each example counts equally."""
    model = small_model()
    make(
        tmp_path / "fit",
        model,
        steps=4,
        evaluate_every=4,
        learning_rate=0.3,
        clip_norm=0.0,
        batch_size=batch_size,
        gradient_accumulation=accumulated,
        **PLAIN,
    ).fit()
    expected = plain_sgd(small_model(), steps=4, rate=0.3).state_dict()
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, expected[name], rtol=1e-5, atol=1e-6)


def test_forward_leaves_out_padding_and_every_target_counts_equally(tmp_path: Path) -> None:
    """Two batches whose losses are means over 1 and 3 targets: the update has the mean over all 4."""
    examples = [
        (torch.tensor([2.0]), torch.tensor([True])),
        (torch.tensor([1.0, 4.0, 7.0]), torch.ones(3).bool()),
    ]
    model = nn.Linear(1, 1, bias=False)
    nn.init.zeros_(model.weight)

    def collate(rows: list[tuple[Tensor, Tensor]]) -> dict[str, Tensor]:
        values, is_token = (
            nn.utils.rnn.pad_sequence(list(part), batch_first=True) for part in zip(*rows, strict=True)
        )
        return {"values": values, "is_token": is_token}

    def forward(model: nn.Module, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor]:
        kept = batch["values"][batch["is_token"]]
        return model(kept[:, None]).squeeze(1), kept

    options = {
        "train": examples,
        "valid": examples,
        "collate": collate,
        "forward": forward,
        "loss": F.mse_loss,
    }
    history = make(
        tmp_path,
        model,
        steps=1,
        batch_size=1,
        gradient_accumulation=2,
        learning_rate=0.01,
        clip_norm=0.0,
        **options,
        **PLAIN,
    ).fit()
    # d/dw mean((w x - x)^2) at w = 0 is -2 mean(x^2) = -2 (4 + 1 + 16 + 49) / 4 = -35
    assert model.weight.item() == pytest.approx(0.35)
    assert history.best["valid_loss"] == pytest.approx(0.65**2 * 70 / 4)


@pytest.mark.parametrize("stop_after", [1, 5, 8])
def test_a_resumed_fit_is_bit_identical_to_one_that_was_never_interrupted(
    tmp_path: Path, stop_after: int
) -> None:
    settings: dict[str, Any] = {
        "steps": 11,
        "evaluate_every": 3,
        "ema_decay": 0.5,
        "learning_rate": 0.05,
        "seed": 3,
    }
    whole = small_model(dropout=0.4)
    make(tmp_path / "whole", whole, **settings).fit()
    with pytest.raises(KeyboardInterrupt, match=rf"step {stop_after};.*fit\(resume=True\)"):
        make(
            tmp_path / "halves", small_model(dropout=0.4), callbacks=[StopAfter(stop_after)], **settings
        ).fit()
    torch.manual_seed(99)
    model = small_model(dropout=0.4)
    for parameter in model.parameters():
        nn.init.ones_(parameter)  # the weights come from the checkpoint
    recorder = Recorder(model)
    history = make(tmp_path / "halves", model, callbacks=[recorder], **settings).fit(resume=True)
    assert same(model.state_dict(), whole.state_dict())
    assert losses_in(tmp_path / "halves") == losses_in(tmp_path / "whole")
    assert len(recorder.losses) == 11 - stop_after
    assert [facts["step"] for facts in history.validations] == [3, 6, 9, 11]


def test_the_seed_alone_decides_the_order_and_the_dropout(tmp_path: Path) -> None:
    models = {name: small_model(dropout=0.4) for name in ("one", "same", "other")}
    for number, (name, model) in enumerate(models.items()):
        torch.manual_seed(number)  # must not matter
        make(tmp_path / name, model, seed=2 if name == "other" else 1).fit()
    assert same(models["one"].state_dict(), models["same"].state_dict())
    assert not same(models["one"].state_dict(), models["other"].state_dict())


def test_a_finished_fit_that_is_resumed_gives_its_best_weights_again(tmp_path: Path) -> None:
    first, again = small_model(), small_model(dropout=0.1)
    best = make(tmp_path, first).fit().best
    assert make(tmp_path, again).fit(resume=True).best == best
    assert same(again.state_dict(), first.state_dict())


def test_resume_starts_from_the_beginning_where_nothing_is_saved_yet(tmp_path: Path) -> None:
    one, other = small_model(), small_model()
    make(tmp_path / "one", one).fit()
    make(tmp_path / "other", other).fit(resume=True)
    assert same(one.state_dict(), other.state_dict())


def test_the_monitored_metric_selects_the_weights_and_stops_early(tmp_path: Path) -> None:
    values = iter([0.25, 0.875, 0.5, 0.375, 0.75, 1.0])
    model = small_model()
    recorder = Recorder(model)
    history = make(
        tmp_path,
        model,
        steps=12,
        evaluate_every=2,
        patience=3,
        metrics={"score": lambda *_: next(values)},
        monitor="score",
        batch_size=8,  # the 6 validation examples are one batch
        callbacks=[recorder],
    ).fit()
    assert (history.best_step, history.best["valid_score"], history.stopped_early) == (4, 0.875, True)
    assert recorder.validations == [2, 4, 6, 8, 10]
    assert len(recorder.losses) == 10
    assert same(model.state_dict(), recorder.best)
    assert not model.training


def test_a_metric_that_should_be_low_selects_the_lowest(tmp_path: Path) -> None:
    values = iter([0.5, 0.25, 0.75])
    history = make(
        tmp_path,
        evaluate_every=2,
        metrics={"error": lambda *_: next(values)},
        monitor="error",
        higher_is_better=False,
        batch_size=8,
    ).fit()
    assert (history.best_step, history.best["valid_error"]) == (4, 0.25)


def test_validation_is_a_mean_over_all_examples_in_evaluation_mode(tmp_path: Path) -> None:
    """6 validation examples in batches of 4 and 2."""
    model = small_model(dropout=0.6)

    def accuracy(outputs: Tensor, targets: Tensor) -> Tensor:
        return (outputs.argmax(1) == targets).double().mean()

    history = make(tmp_path, model, metrics={"accuracy": accuracy}).fit()
    outputs = model(INPUTS[15:])
    assert history.best["valid_loss"] == pytest.approx(
        F.cross_entropy(outputs, TARGETS[15:]).item(), abs=1e-6
    )
    assert history.best["valid_accuracy"] == pytest.approx(accuracy(outputs, TARGETS[15:]).item())
    assert "train_accuracy" not in history.best  # not measured, rather than 0


def test_nothing_is_printed_unless_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make(tmp_path / "quiet").fit()
    assert capsys.readouterr() == ("", "")
    make(tmp_path / "loud", verbose=True).fit()
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "valid_loss" in captured.err


def test_a_folder_is_named_after_the_model_and_numbered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folders = [
        seqlab.Trainer(small_model(), F.cross_entropy, **DATA, steps=1, verbose=False).fit().folder
        for _ in range(2)
    ]
    assert folders == [Path("runs/sequential"), Path("runs/sequential-2")]


def test_random_numbers_of_the_data_are_resumed_too(tmp_path: Path) -> None:
    class Noisy(torch.utils.data.Dataset[tuple[Tensor, Tensor]]):
        def __len__(self) -> int:
            return 15

        def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
            return INPUTS[index] + torch.randn(3), TARGETS[index]

    whole, model = small_model(), small_model()
    make(tmp_path / "whole", whole, train=Noisy()).fit()
    with pytest.raises(KeyboardInterrupt):
        make(tmp_path / "halves", callbacks=[StopAfter(2)], train=Noisy()).fit()
    make(tmp_path / "halves", model, train=Noisy()).fit(resume=True)
    assert same(model.state_dict(), whole.state_dict())


def refused(folder: Path, options: Mapping[str, Any], error: type[SeqlabError], *facts: str) -> None:
    with pytest.raises(error) as raised:
        make(folder, **options).fit()
    missing = [fact for fact in facts if fact not in str(raised.value)]
    assert not missing, f"{raised.value} lacks {missing}"
    assert not folder.exists(), "nothing is written"


class Stream(IterableDataset[Tensor]):
    """Examples without random access."""

    def __iter__(self) -> Iterator[Tensor]:
        return iter(INPUTS)


UNUSABLE: list[tuple[dict[str, Any], type[SeqlabError], Sequence[str]]] = [
    (
        {"stepz": 3, "learning_rate": "fast"},
        RecipeError,
        ["stepz", "'steps'", "learning_rate", "'fast'", "2 mistakes"],
    ),
    ({"pad_to": 8, "label_smoothing": 0.1}, RecipeError, ["pad_to", "label_smoothing"]),
    ({"learning_rate": "auto"}, RecipeError, ["find_learning_rate"]),
    ({"monitor": "acuracy", "metrics": {"accuracy": F.mse_loss}}, UsageError, ["acuracy", "'accuracy'"]),
    ({"metrics": {"loss": F.mse_loss}}, UsageError, ["loss", "another name"]),
    ({"metrics": {"f1": 3}}, UsageError, ["f1", "int"]),
    ({"loss": "mse"}, UsageError, ["loss", "str", "cross_entropy"]),
    ({"model": "lstm"}, UsageError, ["str", "torch.nn.Module", "seqlab.train"]),
    ({"callbacks": NullCallback()}, UsageError, ["callbacks=", "NullCallback"]),
    ({"train": DataLoader(TensorDataset(INPUTS))}, DataError, ["train=", "DataLoader", "loader.dataset"]),
    ({"valid": Stream()}, DataError, ["valid=", "Stream"]),
    ({"train": []}, DataError, ["train=", "no examples"]),
    ({"train": (INPUTS, TARGETS[:2])}, DataError, ["train=", "21, 2"]),
    ({"train": [{"text": 1}]}, UsageError, ["dict", "forward="]),
    ({"loss": nn.CrossEntropyLoss(reduction="none")}, UsageError, ["[4]", "reduction"]),
]


def test_what_cannot_be_trained_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    check_each(UNUSABLE, lambda case: refused(tmp_path / "fit", case[0], case[1], *case[2]))


def test_a_fit_is_never_overwritten_or_continued_differently(tmp_path: Path) -> None:
    make(tmp_path).fit()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    with pytest.raises(RunError, match=r"already contains a fit[\s\S]*resume=True"):
        make(tmp_path).fit()
    for options, facts in (
        ({"learning_rate": 0.5}, r"learning_rate was 0.001 and is now 0.5"),
        ({"train": (INPUTS[:9], TARGETS[:9])}, r"train was 15 and is now 9"),
        ({"model": small_model(width=4)}, r"0\.weight has shape \[5, 3\], expected \[4, 3\]"),
    ):
        with pytest.raises(RunError, match=facts):
            make(tmp_path, **options).fit(resume=True)  # type: ignore[arg-type]  # of several types
    assert {path: path.read_bytes() for path in before} == before


def test_resuming_needs_a_folder() -> None:
    with pytest.raises(UsageError, match="out="):
        seqlab.Trainer(small_model(), F.cross_entropy, **DATA).fit(resume=True)


def test_a_damaged_record_is_reported_with_its_file(tmp_path: Path) -> None:
    make(tmp_path).fit()
    (tmp_path / "fit.json").write_text('{"format": 1, "threads": "many"}', encoding="utf-8")
    with pytest.raises(RunError, match=r"fit\.json"):
        make(tmp_path).fit(resume=True)


def test_a_loss_that_is_not_finite_names_the_examples_and_a_keyword(tmp_path: Path) -> None:
    inputs = INPUTS[:15].clone()
    inputs[7, 1] = float("inf")
    with pytest.raises(TrainingError) as raised:
        make(tmp_path, train=(inputs, TARGETS[:15])).fit()
    message = str(raised.value)
    assert "training examples" in message
    assert "inputs" in message
    assert " learning_rate=" in message
    assert "training.learning_rate" not in message


def test_a_time_budget_ends_a_fit(tmp_path: Path) -> None:
    assert make(tmp_path, steps=0, minutes=0.003).fit().validations
