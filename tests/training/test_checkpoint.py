from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from seqlab.core.errors import EnvironmentProblem
from seqlab.core.files import sha256
from seqlab.training.checkpoints.checkpoint import Checkpoint, Checkpoints
from seqlab.training.checkpoints.weights_file import read_weights

FILES = ("MANIFEST.json", "best.safetensors", "state.json", "tensors.safetensors")


def checkpoint(step: int) -> Checkpoint:
    return Checkpoint(
        step,
        {"w": torch.full((4,), float(step))},
        best={"w": torch.full((4,), step / 10)},
        state={"seconds": step * 1.5},
    )


def saved(folder: Path, *steps: int, run_id: str = "run") -> Checkpoints:
    checkpoints = Checkpoints(folder, run_id=run_id)
    for step in steps:
        checkpoints.save(checkpoint(step))
    return checkpoints


def place(folder: Path, step: int) -> Path:
    return folder / f"step-{step:09d}"


def loaded_step(checkpoints: Checkpoints) -> int | None:
    found, _ = checkpoints.load()
    if found is None:
        return None
    assert found.tensors["w"].tolist() == [found.step] * 4  # never a mixture
    assert found.best["w"].tolist() == pytest.approx([found.step / 10] * 4)
    assert found.state == {"seconds": found.step * 1.5}
    return found.step


def test_what_is_saved_comes_back(tmp_path: Path) -> None:
    assert loaded_step(saved(tmp_path, 3)) == 3
    assert sorted(entry.name for entry in place(tmp_path, 3).iterdir()) == sorted(FILES)


def test_nothing_saved_is_nothing_found(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path / "none").load() == (None, [])


def test_the_newest_two_are_kept_and_last_leads_to_the_newest(tmp_path: Path) -> None:
    saved(tmp_path, 0, 5, 10, 15)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["last", "step-000000010", "step-000000015"]
    assert (tmp_path / "last").resolve() == place(tmp_path, 15).resolve()


def test_the_manifest_has_the_checksums_that_anybody_can_compute(tmp_path: Path) -> None:
    saved(tmp_path, 3)
    manifest = json.loads((place(tmp_path, 3) / "MANIFEST.json").read_text(encoding="utf-8"))
    for name in FILES[1:]:
        assert manifest["files"][name] == {
            "size": (place(tmp_path, 3) / name).stat().st_size,
            "sha256": sha256(place(tmp_path, 3) / name),
        }


def test_every_file_is_loadable_by_itself(tmp_path: Path) -> None:
    saved(tmp_path, 3)
    assert read_weights(place(tmp_path, 3) / "best.safetensors", run_id="run")["w"].tolist() == pytest.approx(
        [0.3] * 4
    )


def flip(path: Path, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    path.write_bytes(content)


def truncate(path: Path, chance: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: chance.randrange(len(content))])


@pytest.mark.slow
@pytest.mark.parametrize(("damage", "times"), [(flip, 200), (truncate, 50)], ids=["flipped", "truncated"])
def test_damage_of_any_file_is_noticed_and_the_checkpoint_before_is_taken(
    damage: Callable[[Path, random.Random], None], times: int, tmp_path: Path
) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    whole = {name: (place(tmp_path, 10) / name).read_bytes() for name in FILES}
    chance = random.Random(4)
    for number in range(times):
        name = FILES[number % len(FILES)]
        damage(place(tmp_path, 10) / name, chance)
        found, problems = checkpoints.load()
        if (
            found is not None and found.step == 10
        ):  # only blanks, or the step in the manifest, which nobody reads
            assert name == "MANIFEST.json"
            assert loaded_step(checkpoints) == 10
        else:
            assert loaded_step(checkpoints) == 5
            assert len(problems) == 1
            assert str(place(tmp_path, 10)) in problems[0]
        (place(tmp_path, 10) / name).write_bytes(whole[name])
    assert loaded_step(checkpoints) == 10


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_noticed(name: str, tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    (place(tmp_path, 10) / name).unlink()
    assert loaded_step(checkpoints) == 5
    assert str(place(tmp_path, 10) / name) in checkpoints.load()[1][0]


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_other_checkpoint_is_noticed(name: str, tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    shutil.copy(place(tmp_path, 5) / name, place(tmp_path, 10) / name)
    assert loaded_step(checkpoints) == 5


def test_tensors_and_best_in_each_others_place_are_noticed(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    one, other = (place(tmp_path, 10) / name for name in ("tensors.safetensors", "best.safetensors"))
    contents = one.read_bytes(), other.read_bytes()
    one.write_bytes(contents[1])
    other.write_bytes(contents[0])
    assert loaded_step(checkpoints) == 5


def test_a_checkpoint_of_another_run_is_noticed(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path / "here", 5)
    saved(tmp_path / "there", 10, run_id="another")
    shutil.copytree(place(tmp_path / "there", 10), place(tmp_path / "here", 10))
    assert loaded_step(checkpoints) == 5
    assert checkpoints.load()[1] == [
        f"{place(tmp_path / 'here', 10)}: the checkpoint belongs to another run."
    ]


def change_manifest(folder: Path, **changes: Any) -> None:
    path = folder / "MANIFEST.json"
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changes}), encoding="utf-8")


@pytest.mark.parametrize("version", [0, 2, 99, "1", None, [], -1])
def test_a_checkpoint_of_an_older_or_newer_format_is_refused(version: object, tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    change_manifest(place(tmp_path, 10), format=version)
    assert loaded_step(checkpoints) == 5
    assert "this seqlab reads format 1" in checkpoints.load()[1][0]


@pytest.mark.parametrize(
    "files", [None, [], {}, {"tensors.safetensors": 3}, {"../outside": {"size": 1, "sha256": "x"}}]
)
def test_a_manifest_that_says_too_little_is_refused(files: object, tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    change_manifest(place(tmp_path, 10), files=files)
    assert loaded_step(checkpoints) == 5


@pytest.mark.parametrize(
    "content", ["", "[]", "null", "[" * 200_000, '{"format": ' + "1" * 5000 + "}", "\x00", " " * 2_000_000]
)
def test_a_manifest_that_is_none_is_refused(content: str, tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    (place(tmp_path, 10) / "MANIFEST.json").write_text(content, encoding="utf-8")
    assert loaded_step(checkpoints) == 5


def test_a_folder_in_the_place_of_a_file_is_noticed(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    (place(tmp_path, 10) / "state.json").unlink()
    (place(tmp_path, 10) / "state.json").mkdir()
    assert loaded_step(checkpoints) == 5


def test_when_all_are_damaged_each_is_named_and_none_is_taken(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    for step in (5, 10):
        (place(tmp_path, step) / "state.json").write_text("{}", encoding="utf-8")
    found, problems = checkpoints.load()
    assert found is None
    assert [
        str(place(tmp_path, step)) in problem for step, problem in zip((10, 5), problems, strict=True)
    ] == [True, True]


def test_training_that_went_back_behind_a_damaged_checkpoint_keeps_its_own_best_and_two_whole_ones(
    tmp_path: Path,
) -> None:
    checkpoints = saved(tmp_path, 40, 50)
    flip(place(tmp_path, 50) / "tensors.safetensors", random.Random(1))
    assert loaded_step(checkpoints) == 40
    for step in (45, 47):
        checkpoints.save(checkpoint(step))
        assert loaded_step(checkpoints) == step
    for step, before in ((47, 45), (45, None)):
        assert loaded_step(checkpoints) == step
        shutil.rmtree(place(tmp_path, step))
        assert loaded_step(checkpoints) == before


def test_a_damaged_checkpoint_of_the_same_step_is_replaced(tmp_path: Path) -> None:
    checkpoints = saved(tmp_path, 5, 10)
    flip(place(tmp_path, 10) / "best.safetensors", random.Random(1))
    checkpoints.save(checkpoint(10))
    assert loaded_step(checkpoints) == 10


class Usage(NamedTuple):
    free: int


def test_too_little_space_is_noticed_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoints = saved(tmp_path, 5)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(free=3_000))
    with pytest.raises(EnvironmentProblem, match=r"no space left: needs 65 kB, has 3 kB\.") as caught:
        checkpoints.save(checkpoint(10))
    assert caught.value.exit_code == 3
    assert "saved before is intact" in caught.value.cure
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["last", "step-000000005"]
    assert loaded_step(checkpoints) == 5
