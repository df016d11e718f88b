"""A run that learns from another one: the loss, the teacher that stays as it is, and what is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

import seqlab
from seqlab.batches.loader import Cursor
from seqlab.core.errors import RecipeError, RunError
from seqlab.recipes.read import check
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import Prepared, prepare
from seqlab.runs.train.start import resume, train
from seqlab.runs.transfer.distillation import find_teacher
from tests.runs.source_runs import SMALL, hurried, pretrain, write_table, write_text
from tests.runs.test_fine_tuning import train_until
from tests.runs.toy_runs import fingerprint

pytestmark = pytest.mark.slow  # short each, long together

STUDENT = (
    *SMALL,
    "model.layers=1",
    "model.hidden_size=6",
    "model.dropout=0",
    "distillation.weight=0.3",
    "distillation.temperature=2.5",
)


def prepared(
    data: Path,
    teacher: Run | Path,
    *settings: str,
    model: str,
    task: str = "",
    start: str = "",
    name: str = "student",
) -> Prepared:
    folder = teacher.folder if isinstance(teacher, Run) else teacher
    windows = [f"{task}.window=12"] if task else []
    words = [*STUDENT, *windows, "training.steps=9", f"distillation.run={folder}", *settings]
    recipe, _ = find_recipe(str(data), words, task=task, model=model, start=start)
    with hurried():
        return prepare(recipe, out=str(data.parent / name))


def soft(student: torch.Tensor, teacher: torch.Tensor) -> torch.Tensor:
    """Temperature squared times the divergence of the softened answers, written out."""
    p, log_q = (teacher / 2.5).softmax(-1), (student / 2.5).log_softmax(-1)
    return 2.5**2 * (p * (p.log() - log_q)).sum()


@pytest.fixture(scope="session")
def labels_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("labels")
    with hurried():
        settings = [*SMALL, "model.hidden_size=8", "tokens.kind=words"]
        return seqlab.train(
            write_table(folder), *settings, model="transformer", steps=6, out=folder / "teacher"
        )


@pytest.mark.spec(172)
def test_a_classifier_learns_from_the_targets_and_from_its_teacher_by_their_shares(
    labels_run: Run, tmp_path: Path
) -> None:
    ready = prepared(write_table(tmp_path), labels_run, model="gru")
    assert ready.recipe.tokens == labels_run.recipe.tokens
    batch = ready.objective.loader(Cursor()).take()
    ready.model.eval()
    logits, taught = ready.model(batch.inputs, batch.is_token), labels_run.model(batch.inputs, batch.is_token)
    expected = 0.7 * F.cross_entropy(logits, batch["label"], reduction="sum") + 0.3 * soft(logits, taught)
    assert ready.objective.loss(ready.model, batch, step=0, carry=()).total.item() == pytest.approx(
        expected.item(), rel=1e-5
    )


@pytest.mark.spec(172)
@pytest.mark.parametrize("teacher", ["recurrent_run", "language_run"])
def test_a_recurrent_language_model_and_its_teacher_both_read_on_from_window_to_window(
    teacher: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    source: Run = request.getfixturevalue(teacher)
    ready = prepared(
        write_text(tmp_path),
        source,
        "language_model.reset_at_documents=false",
        model="gru",
        task="language_model",
    )
    loader = ready.objective.loader(Cursor())
    first, second = loader.take(), loader.take()
    ready.model.eval()
    after_first = ready.objective.loss(ready.model, first, step=0, carry=()).carry
    found = ready.objective.loss(ready.model, second, step=0, carry=after_first).total

    both = torch.cat([first.inputs, second.inputs], dim=1)
    with torch.no_grad():
        logits = ready.model(both, torch.ones_like(both, dtype=torch.bool))[0][:, 12:]
        seen = both if teacher == "recurrent_run" else second.inputs  # a Transformer sees one window
        taught = source.model(seen, torch.ones_like(seen, dtype=torch.bool))[0][:, -12:]
    hard = F.cross_entropy(logits.flatten(0, 1), second["next_tokens"].flatten(), reduction="sum")
    assert found.item() == pytest.approx((0.7 * hard + 0.3 * soft(logits, taught)).item(), rel=1e-4)


@pytest.mark.spec(172)
def test_a_masked_model_learns_what_its_teacher_thinks_of_the_gaps(masked_run: Run, tmp_path: Path) -> None:
    network = ("model.heads=2", "model.positions=sinusoidal")
    ready = prepared(
        write_text(tmp_path), masked_run, *network, model="transformer", task="masked_language_model"
    )
    batch = ready.objective.loader(Cursor()).take()
    asked = batch["masked_tokens"] >= 0
    ready.model.eval()
    logits, taught = (model(batch.inputs, batch.is_token, asked) for model in (ready.model, masked_run.model))
    expected = 0.7 * F.cross_entropy(logits, batch["masked_tokens"][asked], reduction="sum") + 0.3 * soft(
        logits, taught
    )
    assert ready.objective.loss(ready.model, batch, step=0, carry=()).total.item() == pytest.approx(
        expected.item(), rel=1e-5
    )


@pytest.mark.spec(172)
def test_a_student_of_half_the_depth_starts_from_its_teacher_which_never_changes(
    masked_run: Run, tmp_path: Path
) -> None:
    before = {name: tensor.clone() for name, tensor in masked_run.model.state_dict().items()}
    words = [*SMALL, "start.every=2", f"distillation.run={masked_run.folder}"]
    recipe, _ = find_recipe(
        str(write_text(tmp_path)), [*words, "training.steps=6"], start=str(masked_run.folder)
    )
    with hurried():
        ready = prepare(recipe, out=str(tmp_path / "student"))
        run = train(ready)
    assert run.recipe.model.layers == 2
    assert ready.objective.teacher is not None
    teacher = ready.objective.teacher.model
    assert not teacher.training
    assert all(torch.equal(tensor, before[name]) for name, tensor in teacher.state_dict().items())
    assert all(parameter.grad is None for parameter in teacher.parameters())
    assert not any("teacher" in name for name in run.model.state_dict())


@pytest.mark.slow
def test_a_stopped_student_goes_on_to_the_same_bits_and_only_with_the_same_teacher(
    recurrent_run: Run, tmp_path: Path
) -> None:
    teacher = tmp_path / "teacher"
    shutil.copytree(recurrent_run.folder, teacher)
    text = write_text(tmp_path)
    with hurried():
        from seqlab.runs.train.start import train

        whole = train(prepared(text, teacher, model="gru", task="language_model", name="whole"))
        train_until(prepared(text, teacher, model="gru", task="language_model", name="stopped"), steps=3)
        other = pretrain(tmp_path, model="lstm", steps=2)
        shutil.copytree(other.folder, teacher, dirs_exist_ok=True)
        with pytest.raises(
            RunError, match=r"distillation\.digest: the weights of .* are not those in the recipe"
        ):
            resume(tmp_path / "stopped")
        shutil.copytree(recurrent_run.folder, teacher, dirs_exist_ok=True)
        again = resume(tmp_path / "stopped")
    first, second = fingerprint(whole.folder), fingerprint(again.folder)
    assert {name: first[name] for name in ("tensors", "best", "splits")} == {
        name: second[name] for name in ("tensors", "best", "splits")
    }
    shutil.rmtree(teacher)
    assert seqlab.load(again.folder).predict(["red"])  # needs no teacher any more


def test_another_task_other_labels_and_other_tokens_are_refused(
    labels_run: Run, language_run: Run, tmp_path: Path
) -> None:
    data = write_table(tmp_path)
    with pytest.raises(RecipeError, match=r"task language_model, but .* is classification"):
        prepared(data, language_run, model="gru")
    with pytest.raises(RecipeError, match=r"tokens\.kind: the run has 'words', found 'characters'"):
        prepared(data, labels_run, "tokens.kind=characters", model="gru")
    with pytest.raises(
        RecipeError,
        match=r"the teacher has different tokens \(.*differ\)",
    ):
        prepared(data, labels_run, model="transformer", start=str(_other(tmp_path, language_run)))
    data.write_text(data.read_text().replace("colour", "paint"))
    with pytest.raises(RecipeError, match="the teacher has different labels"):
        prepared(data, labels_run, model="gru")


def _other(folder: Path, source: Run) -> Path:
    """A network of the student's size with tokens of its own."""
    with hurried():
        settings = [
            *SMALL,
            "model.layers=1",
            "model.hidden_size=6",
            "model.heads=2",
            "model.dropout=0",
            "language_model.window=12",
            "tokens.kind=words",
        ]
        return seqlab.train(
            write_text(folder, lines=60), *settings, model="transformer", steps=2, out=folder / "other"
        ).folder


@pytest.mark.parametrize("task", ["translation", "captioning", "regression", "multi_label"])
def test_a_task_whose_loss_has_no_teacher_refuses_one_before_it_is_loaded(task: str) -> None:
    recipe = check({"task": task, "distillation": {"run": "nowhere"}}, where="")
    with pytest.raises(RecipeError) as caught:
        find_teacher(recipe, on_stage=lambda _: None)
    assert all(fact in str(caught.value) for fact in ("distillation.run", task))
