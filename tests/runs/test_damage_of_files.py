"""Damaged files of a run are noticed, named, and cured where that is possible."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqlab.core.errors import RunError, SeqlabError
from seqlab.runs.folder.manifest import complete_manifest, read_manifest
from seqlab.runs.run import Run
from seqlab.runs.train.start import resume
from tests.runs import toy_runs
from tests.runs.toy_runs import CLASSIFIER, fingerprint, finish, go_on, newest_checkpoint, start

pytestmark = pytest.mark.slow  # trainings and commands: short each, long together


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    assert finish(start, toy_runs.write_data("classifier", folder), folder / "run", CLASSIFIER) == 0
    return folder / "run"


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run", symlinks=True))


def listed_files(folder: Path) -> list[Path]:
    first = [folder / name for name in ("model.safetensors", "recipe.toml", "MANIFEST.json", "choices.json")]
    return [*first, *sorted((folder / "tokens").iterdir())]


def damages(content: bytes, number: int, chance: random.Random) -> Iterator[bytes]:
    for _ in range(number):
        place = chance.randrange(len(content))
        yield content[:place] + bytes([content[place] ^ (1 << chance.randrange(8))]) + content[place + 1 :]
    for _ in range(number // 4):
        yield content[: chance.randrange(len(content))]


@pytest.mark.slow
def test_no_flipped_byte_and_no_truncation_in_any_file_of_a_model_is_loaded(run: Path) -> None:
    """240 flips and 60 truncations, over all files that a prediction depends on."""
    Run.load(run)
    chance = random.Random(6)
    paths = listed_files(run)
    tried = 0
    for place, path in enumerate(paths):
        content = path.read_bytes()
        for damaged in damages(content, 40 if place < 6 else 0, chance):
            path.write_bytes(damaged)
            with pytest.raises(SeqlabError) as caught:
                Run.load(run)
            assert str(run) in str(caught.value)
            assert len(str(caught.value).splitlines()) <= 12
            tried += 1
        path.write_bytes(content)
    assert tried == 300
    Run.load(run)


@pytest.mark.parametrize(
    "name", ["model.safetensors", "MANIFEST.json", "recipe.toml", "choices.json", "tokens"]
)
def test_a_missing_file_is_named_with_a_cure(name: str, run: Path) -> None:
    path = run / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    with pytest.raises(SeqlabError) as caught:
        Run.load(run)
    assert str(run) in str(caught.value)
    assert caught.value.cure


def test_a_file_too_many_is_refused(run: Path) -> None:
    (run / "tokens" / "more.json").write_text("{}", encoding="utf-8")
    with pytest.raises(RunError, match=r"more\.json: the file was added after training"):
        Run.load(run)


@pytest.mark.parametrize("version", [0, 3, None])
def test_a_run_of_another_format_is_refused(version: object, run: Path) -> None:
    manifest = json.loads((run / "MANIFEST.json").read_text(encoding="utf-8"))
    (run / "MANIFEST.json").write_text(json.dumps({**manifest, "format": version}), encoding="utf-8")
    with pytest.raises(RunError, match=rf"format {version}, .* format 2"):
        Run.load(run)


@pytest.mark.slow
def test_weights_and_checkpoints_of_another_run_are_refused_although_they_fit(
    run: Path, whole: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    assert finish(start, whole.parent / "notes.csv", other, [*CLASSIFIER, "training.seed=5"]) == 0
    shutil.copy(other / "model.safetensors", run / "model.safetensors")
    with pytest.raises(RunError, match=r"model\.safetensors: the file was changed after training"):
        Run.load(run)
    complete_manifest(run, read_manifest(run))
    with pytest.raises(RunError, match=r"model\.safetensors: the weights belong to another run"):
        Run.load(run)
    for place in (run / "checkpoints").glob("step-*"):
        shutil.rmtree(place)
        shutil.copytree(other / "checkpoints" / place.name, place)
    with pytest.raises(RunError, match=r"no intact checkpoint .*belongs to another run"):
        resume(run)


@pytest.mark.slow
def test_a_damaged_file_of_the_model_is_written_anew_by_a_resume(run: Path, whole: Path) -> None:
    content = (run / "model.safetensors").read_bytes()
    for damaged in (content[:-3], b"", b"\x80\x04pickle"):
        (run / "model.safetensors").write_bytes(damaged)
        assert finish(go_on, whole, run, CLASSIFIER) == 0
        assert fingerprint(run) == fingerprint(whole)


def resume_and_say(folder: Path, said: Path) -> None:
    resume(folder, on_stage=lambda text: said.open("a", encoding="utf-8").write(text + "\n") and None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tensors.safetensors", "best.safetensors", "state.json", "MANIFEST.json"])
def test_a_damaged_checkpoint_is_said_and_the_one_before_gives_the_same_bits(
    name: str, run: Path, whole: Path, tmp_path: Path
) -> None:
    path = newest_checkpoint(run) / name
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] + b"!" + content[len(content) // 2 + 1 :])
    assert finish(resume_and_say, run, tmp_path / "said") == 0
    assert f"skipped a checkpoint: {path}" in (tmp_path / "said").read_text(encoding="utf-8")
    assert "resuming after step 15 of 17" in (tmp_path / "said").read_text(encoding="utf-8")
    assert fingerprint(run) == fingerprint(whole)


def test_without_any_whole_checkpoint_nothing_is_resumed_and_nothing_is_lost(run: Path) -> None:
    for place in (run / "checkpoints").glob("step-*"):
        (place / "state.json").unlink()
    with pytest.raises(RunError) as caught:
        resume(run)
    assert "there is no intact checkpoint to resume from: " in str(caught.value)
    assert "state.json" in str(caught.value)
    assert "train again" in caught.value.cure
    assert Run.load(run)


def test_data_that_changed_since_is_refused_also_without_a_journal(
    run: Path, whole: Path, tmp_path: Path
) -> None:
    (run / "journal.jsonl").unlink()
    path = whole.parent / "notes.csv"
    content = path.read_text(encoding="utf-8")
    path.write_text(content.replace("low", "mid"), encoding="utf-8")
    try:
        with pytest.raises(RunError, match="has changed since the run started"):
            resume(run)
    finally:
        path.write_text(content, encoding="utf-8")
