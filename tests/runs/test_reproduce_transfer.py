"""Runs that start from other runs are trained again to the same bits, or the run that is missing is named."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import seqlab
from seqlab.core.errors import RunError, SeqlabError, UsageError
from seqlab.runs.reproduce.reproduce import reproduce
from seqlab.runs.run import Run
from tests.cli.running import run as type_command
from tests.runs.source_runs import SMALL, fine_tune, hurried, pretrain, write_table, write_tags

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::seqlab.core.errors.SeqlabWarning")]


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return pretrain(tmp_path_factory.mktemp("source"))


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("teacher")
    settings = (*SMALL, "model.layers=2", "model.hidden_size=8", "tokens.kind=words")
    with hurried():
        return seqlab.train(
            write_table(folder),
            *settings,
            model="transformer",
            steps=6,
            out=folder / "teacher",
            verbose=False,
        )


def distill(teacher: Path, folder: Path, *settings: str, **options: str) -> Run:
    words = (*SMALL, f"distillation.run={teacher}", *settings)
    with hurried():
        return seqlab.train(
            write_table(folder), *words, steps=6, out=folder / "student", verbose=False, **options
        )


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param((), id="all"),
        pytest.param(("start.freeze=backbone",), id="frozen", marks=pytest.mark.long),
        pytest.param(("start.lora_rank=2",), id="lora", marks=pytest.mark.long),
        pytest.param(
            ("start.every=2", "start.layer_decay=0.7"), id="every second layer", marks=pytest.mark.long
        ),
    ],
)
def test_a_fine_tuned_classifier(source: Run, tmp_path: Path, settings: tuple[str, ...]) -> None:
    tuned = fine_tune(tmp_path, source, *settings, verbose=False)
    repetition = reproduce(tuned.folder, out=str(tmp_path / "again"))
    assert repetition.is_identical, repetition
    assert repetition.settings == {}
    assert repetition.loss_difference == repetition.score_difference == 0


@pytest.mark.long
def test_a_fine_tuned_tagger(source: Run, tmp_path: Path) -> None:
    tuned = fine_tune(tmp_path, source, data=write_tags(tmp_path), verbose=False)
    assert reproduce(tuned.folder, out=str(tmp_path / "again")).is_identical


@pytest.mark.long
def test_a_language_model_that_continued(source: Run, tmp_path: Path) -> None:
    text = tmp_path / "more.txt"
    text.write_text("one two three red blue green pink four\n" * 80, encoding="utf-8")
    tuned = fine_tune(tmp_path, source, "language_model.window=12", data=text, verbose=False)
    assert reproduce(tuned.folder, out=str(tmp_path / "again")).is_identical


@pytest.mark.long
def test_a_run_that_started_from_a_fine_tuned_one(source: Run, tmp_path: Path) -> None:
    first = fine_tune(tmp_path, source, "start.lora_rank=2", name="first", verbose=False)
    second = fine_tune(tmp_path, first, name="second", verbose=False)
    assert reproduce(second.folder, out=str(tmp_path / "again")).is_identical


def test_a_distilled_student(teacher: Run, tmp_path: Path) -> None:
    student = distill(teacher.folder, tmp_path, "model.layers=1", "model.hidden_size=8", model="transformer")
    repetition = reproduce(student.folder, out=str(tmp_path / "again"))
    assert repetition.is_identical, repetition
    assert repetition.settings == {}


@pytest.mark.long
def test_a_distilled_student_that_starts_from_layers_of_its_teacher(teacher: Run, tmp_path: Path) -> None:
    student = distill(teacher.folder, tmp_path, "start.every=2", start=str(teacher.folder))
    assert reproduce(student.folder, out=str(tmp_path / "again")).is_identical


@pytest.mark.long
def test_word_vectors_from_a_file(tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("".join(f"{word} 0.1 {n / 7} -0.3 0.2\n" for n, word in enumerate(["red", "one"])))
    words = (*SMALL, "tokens.kind=words", "model.hidden_size=6", f"start.vectors={vectors}")
    with hurried():
        run = seqlab.train(
            write_table(tmp_path), *words, model="lstm", steps=6, out=tmp_path / "run", verbose=False
        )
    assert reproduce(run.folder, out=str(tmp_path / "again")).is_identical
    vectors.unlink()
    with pytest.raises(SeqlabError, match=r"vectors\.txt"):
        reproduce(run.folder, out=str(tmp_path / "third"))
    assert not (tmp_path / "third").exists()


@pytest.mark.parametrize("kind", ["start", "distillation"])
def test_a_source_that_is_gone_is_named_before_training(teacher: Run, tmp_path: Path, kind: str) -> None:
    copied = Path(shutil.copytree(teacher.folder, tmp_path / "copied"))
    run = _trained_with(copied, tmp_path, kind)
    shutil.rmtree(copied)
    with pytest.raises(SeqlabError) as caught:
        reproduce(run.folder, out=str(tmp_path / "again"))
    assert str(copied) in caught.value.message
    assert f"{kind}.run=" in caught.value.message  # how to say where it is now
    assert not (tmp_path / "again").exists()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["start", "distillation"])
def test_a_source_with_other_weights_is_refused(teacher: Run, tmp_path: Path, kind: str) -> None:
    copied = Path(shutil.copytree(teacher.folder, tmp_path / "copied"))
    run = _trained_with(copied, tmp_path, kind)
    shutil.rmtree(copied)
    shutil.copytree(fine_tune(tmp_path, teacher, name="other", verbose=False).folder, copied)
    with pytest.raises(RunError, match=rf"{kind}\.digest"):
        reproduce(run.folder, out=str(tmp_path / "again"))
    assert not (tmp_path / "again").exists()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["start", "distillation"])
def test_a_source_that_was_moved_is_found_where_the_user_says(
    teacher: Run, tmp_path: Path, kind: str
) -> None:
    copied = Path(shutil.copytree(teacher.folder, tmp_path / "copied"))
    run = _trained_with(copied, tmp_path, kind)
    moved = copied.rename(tmp_path / "moved")
    repetition = reproduce(run.folder, out=str(tmp_path / "again"), sources={f"{kind}.run": str(moved)})
    assert repetition.is_identical
    assert list(repetition.settings) == [f"{kind}.run"]


def _trained_with(source: Path, folder: Path, kind: str) -> Run:
    if kind == "start":
        return fine_tune(folder, source, verbose=False)
    return distill(source, folder, "model.layers=1", "model.hidden_size=8", model="transformer")


def test_a_place_of_something_that_the_run_does_not_have_is_refused(source: Run) -> None:
    with pytest.raises(UsageError, match=r"distillation\.run"):
        reproduce(source.folder, sources={"distillation.run": "elsewhere"})
    with pytest.raises(UsageError, match=r"training\.seed"):
        reproduce(source.folder, sources={"training.seed": "3"})


def test_the_command_takes_the_new_place_too(
    source: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied = Path(shutil.copytree(source.folder, tmp_path / "copied"))
    run = fine_tune(tmp_path, copied, verbose=False)
    moved = copied.rename(tmp_path / "moved")
    words = ("reproduce", str(run.folder), "--out", str(tmp_path / "again"), "-q")
    refused = type_command(capsys, *words)
    assert refused.code == 2
    assert "start.run=FOLDER" in refused.err
    outcome = type_command(capsys, *words, f"start.run={moved}", "--json")
    assert outcome.code == 0
    assert outcome.json["bit_identical"]
