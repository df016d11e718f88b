"""A folder made by somebody hostile runs no code, eats no memory, and touches nothing outside of itself."""

from __future__ import annotations

import json
import math
import os
import pickle
import re
import resource
import shutil
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.digests import with_digest
from seqlab.core.errors import RunError, SeqlabError
from seqlab.runs.folder.layout import read_recipe
from seqlab.runs.folder.manifest import begin_manifest, complete_manifest, read_manifest
from seqlab.runs.run import Run
from seqlab.runs.train.start import resume
from seqlab.training.checkpoints.checkpoint import Checkpoint, Checkpoints
from seqlab.training.checkpoints.weights_file import read_weights, write_weights
from tests.runs import toy_runs
from tests.runs.toy_runs import CLASSIFIER, finish, start

MEGABYTE = 1 << 20


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    assert finish(start, toy_runs.write_data("classifier", folder), folder / "run", CLASSIFIER) == 0
    return folder / "run"


@pytest.fixture
def run(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "run", symlinks=True))


class Bomb:
    """Whoever unpickles it makes a file called owned."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str]]:
        return os.mkdir, (str(self.folder / "owned"),)


def header(text: bytes, data: bytes = b"") -> bytes:
    return struct.pack("<Q", len(text)) + text + data


def replace_weights(content: bytes) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        (run / "model.safetensors").write_bytes(content)
        complete_manifest(run, read_manifest(run))

    return change


def pickle_as_weights(run: Path) -> None:
    replace_weights(pickle.dumps(Bomb(run.parent)))(run)


def pickle_instead_of_weights(run: Path) -> None:
    (run / "model.safetensors").unlink()
    (run / "model.pt").write_bytes(pickle.dumps(Bomb(run.parent)))


def many_tensors(run: Path) -> None:
    entries = b",".join(
        b'"%07d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % number for number in range(1_200_000)
    )
    replace_weights(header(b"{" + entries + b"}"))(run)


def change_a_weight(run: Path, value: float) -> str:
    """Put a number into the last tensor, with the right checksums; the name of the tensor."""
    path, manifest = run / "model.safetensors", read_manifest(run)
    weights = read_weights(path)
    name = list(weights)[-1]
    weights[name].view(-1)[-1] = value
    write_weights(path, weights, run_id=manifest.run_id)
    complete_manifest(run, manifest)
    return name


def reseal(run: Path) -> None:
    """The hostile side can compute checksums too."""
    manifest = begin_manifest(run, recipe=(run / "recipe.toml").read_text(encoding="utf-8"), data={})
    write_weights(run / "model.safetensors", read_weights(run / "model.safetensors"), run_id=manifest.run_id)
    choices = json.loads((run / "choices.json").read_text(encoding="utf-8"))
    (run / "choices.json").write_text(json.dumps({**choices, "run": manifest.run_id}), encoding="utf-8")
    complete_manifest(run, manifest)


def change_recipe(old: str, new: str) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        text = (run / "recipe.toml").read_text(encoding="utf-8")
        assert old in text
        (run / "recipe.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
        reseal(run)

    return change


def change_manifest(name: str) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        list_file(run, name, size=9)

    return change


def list_file(run: Path, name: str, *, size: int) -> None:
    """Put a file into the list of checksums, which then has the right digest."""
    manifest = json.loads((run / "MANIFEST.json").read_text(encoding="utf-8"))
    manifest["content"]["files"][name] = {"size": size, "sha256": "0" * 64}
    (run / "MANIFEST.json").write_text(
        json.dumps({**manifest, **with_digest(manifest["content"])}), encoding="utf-8"
    )


def write(name: str, content: str) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        (run / name).write_text(content, encoding="utf-8")
        if name != "MANIFEST.json":
            reseal(run)

    return change


def grow(name: str) -> Callable[[Path], None]:
    """A file of 500 MB that takes no space, with its size in the list of checksums."""

    def change(run: Path) -> None:
        with (run / name).open("wb") as file:
            file.truncate(500 * MEGABYTE)
        if name.startswith("tokens"):
            list_file(run, name, size=500 * MEGABYTE)

    return change


def link(name: str, target: str) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        path = run / name
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        path.symlink_to(target)

    return change


def pipe(name: str) -> Callable[[Path], None]:
    def change(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    return change


HOSTILE: dict[str, tuple[Callable[[Path], None], str]] = {
    "a pickle called model.safetensors": (pickle_as_weights, "the file is damaged"),
    "a pickle called model.pt": (pickle_instead_of_weights, "model.safetensors: the file is missing"),
    "a zip bomb": (replace_weights(b"PK\x03\x04" + b"\0" * 10_000), "the file is damaged"),
    "a header of a billion bytes": (
        replace_weights(struct.pack("<Q", 10**9) + b"{}"),
        "its header claims 1000000000 bytes",
    ),
    "1.2 million tensors": (many_tensors, "its header claims"),
    "a shape of 10^18": (
        replace_weights(
            header(b'{"a":{"dtype":"F32","shape":[1000000000000000000],"data_offsets":[0,4]}}', b"0000")
        ),
        "its header cannot be read",
    ),
    "a deep header": (replace_weights(header(b'{"a":' + b"[" * 4_000_000)), "its header cannot be read"),
    "a task that is a function": (
        change_recipe('task = "classification"', 'task = "os.system"'),
        "'os.system'",
    ),
    "a model that is a path": (change_recipe('kind = "transformer"', 'kind = "../../evil"'), "model"),
    "a setting that does not exist": (
        change_recipe("[training]", '[training]\non_start = "rm -rf /"'),
        "on_start",
    ),
    "a deep recipe": (write("recipe.toml", "a = " + "[" * 50_000), "the recipe cannot be read"),
    "a recipe with an endless number": (
        write("recipe.toml", "a = " + "9" * 60_000),
        "the recipe cannot be read",
    ),
    "a recipe of a newer format": (change_recipe("format = 2", "format = 7"), "the recipe has format 7"),
    "a huge recipe": (grow("recipe.toml"), "recipe"),
    "a tokenizer of a kind that is code": (
        write("tokens/tokenizer.settings.json", '{"format": 1, "kind": "os.system", "lowercase": false}'),
        "os.system",
    ),
    "a deep tokenizer": (write("tokens/tokenizer.settings.json", "[" * 90_000), "tokenizer.settings.json"),
    "a tokenizer of 500 MB": (grow("tokens/tokenizer.settings.json"), "too large"),
    "a list of checksums of 500 MB": (grow("MANIFEST.json"), "MANIFEST.json"),
    "a deep list of checksums": (write("MANIFEST.json", "[" * 500_000), "MANIFEST.json"),
    "a list of checksums that is a list": (write("MANIFEST.json", "[]"), "MANIFEST.json"),
    "a name that leads out": (change_manifest("../../../etc/hostname"), "not a file of a run"),
    "a name from the root": (change_manifest("/etc/hostname"), "not a file of a run"),
    "a name with a zero": (change_manifest("tokens/a\0b"), "not a file of a run"),
    "a link to a system file": (link("tokens/labels.json", "/etc/hostname"), "points outside the run folder"),
    "a link upwards": (link("tokens/labels.json", "../../notes.csv"), "points outside the run folder"),
    "tokens that are elsewhere": (link("tokens", "/etc"), "points outside the run folder"),
    "weights that are elsewhere": (
        link("model.safetensors", "/etc/hostname"),
        "points outside the run folder",
    ),
    "a recipe that is elsewhere": (link("recipe.toml", "/etc/hostname"), "points outside the run folder"),
    "checksums that are elsewhere": (link("MANIFEST.json", "/etc/hostname"), "points outside the run folder"),
    "a journal that is elsewhere": (link("journal.jsonl", "/etc/hostname"), "points outside the run folder"),
    "checkpoints that are elsewhere": (link("checkpoints", "/tmp"), "points outside the run folder"),
    "a link in a circle": (link("tokens/labels.json", "labels.json"), "labels.json"),
    "a pipe that never answers": (pipe("tokens/labels.json"), "is neither a file nor a folder"),
    "weights that are a pipe": (pipe("model.safetensors"), "is neither a file nor a folder"),
}


def memory_peak() -> int:
    """The most bytes of memory since the peak was last forgotten."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return 1024 * int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1])


def load_all_and_tell(whole: Path, folder: Path, answer: Path) -> None:
    """Load a healthy run first, so that all is imported; then each hostile one, measured."""
    Run.load(whole)
    told = {}
    for number, name in enumerate(HOSTILE):
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak
        memory, clock = memory_peak(), time.perf_counter()
        try:
            Run.load(folder / str(number) / "run")
            words = "loaded"
        except SeqlabError as error:
            words = str(error)
        except Exception as error:  # noqa: BLE001 - told to the test
            words = f"a bug: {error!r}"
        told[name] = {
            "words": words,
            "seconds": time.perf_counter() - clock,
            "megabytes": (memory_peak() - memory) / MEGABYTE,
        }
    told["children"] = {"megabytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024}
    answer.write_text(json.dumps(told), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="measures memory as Linux does")
def test_hostile_folders_are_refused_at_once(whole: Path, tmp_path: Path) -> None:
    for number, (change, _) in enumerate(HOSTILE.values()):
        shutil.copytree(whole, tmp_path / str(number) / "run", symlinks=True)
        change(tmp_path / str(number) / "run")
    assert finish(load_all_and_tell, whole, tmp_path, tmp_path / "answer", timeout=90) == 0
    told = json.loads((tmp_path / "answer").read_text(encoding="utf-8"))
    assert told.pop("children")["megabytes"] == 0
    for number, (name, (_, words)) in enumerate(HOSTILE.items()):
        assert words in told[name]["words"], name
        assert len(told[name]["words"]) < 2000, name
        assert told[name]["seconds"] <= 1, name
        assert told[name]["megabytes"] <= 50, name
        assert [path.name for path in (tmp_path / str(number)).iterdir()] == ["run"], (
            name
        )  # no code ran, nothing was written outside


def test_a_pickle_beside_healthy_weights_is_not_even_opened(run: Path) -> None:
    for name in ("model.pt", "pytorch_model.bin", "tokens.pkl"):
        (run / name).write_bytes(pickle.dumps(Bomb(run.parent)))
    Run.load(run)
    assert not (run.parent / "owned").exists()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_weights_that_are_not_finite_are_refused_with_the_tensor(value: float, run: Path) -> None:
    name = change_a_weight(run, value)
    with pytest.raises(RunError, match=rf"model\.safetensors.*{re.escape(name)}") as caught:
        Run.load(run)
    assert f"seqlab train --resume {run}" in caught.value.cure


def test_very_large_weights_are_loaded(run: Path) -> None:
    """Their sum is infinite, they are not."""
    change_a_weight(run, 3e38)
    Run.load(run)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", [".lock", ".lock-owner", "journal.jsonl", "checkpoints", "model.safetensors", "report.html"]
)
def test_resuming_writes_through_no_link(name: str, run: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("precious", encoding="utf-8")
    (outside / "tmp-1-1").mkdir()
    link(name, str(outside if name == "checkpoints" else outside / "file"))(run)
    with pytest.raises(SeqlabError, match="points outside the run folder"):
        resume(run)
    assert (outside / "file").read_text(encoding="utf-8") == "precious"
    assert (outside / "tmp-1-1").is_dir()


def test_a_recipe_that_describes_another_model_is_refused_before_it_is_built(run: Path) -> None:
    text = (run / "recipe.toml").read_text(encoding="utf-8")
    (run / "recipe.toml").write_text(
        text.replace("hidden_size = 12", "hidden_size = 1200000"), encoding="utf-8"
    )
    with pytest.raises(SeqlabError, match="was changed after training"):
        resume(run)
    manifest = begin_manifest(run, recipe=(run / "recipe.toml").read_text(encoding="utf-8"), data={})
    _rename_run(toy_runs.newest_checkpoint(run), manifest.run_id)
    clock = time.perf_counter()
    with pytest.raises(SeqlabError, match="the weights do not fit the recipe"):
        resume(run)
    assert time.perf_counter() - clock < 10
    assert read_recipe(run).model.hidden_size == 1_200_000


ODD_STATES: dict[str, Callable[[dict[str, Any]], object]] = {
    "no budget": lambda state: state.pop("budget"),
    "a budget of text": lambda state: state.update(budget="12 steps"),
    "a plan without an interval": lambda state: state["budget"].pop("evaluate_every"),
    "an interval of 0": lambda state: state["budget"].update(evaluate_every=0),
    "steps of text": lambda state: state["budget"].update(total_steps="many"),
    "steps that are no number": lambda state: state["budget"].update(total_steps=math.nan),
    "seconds of 400 digits": lambda state: state["budget"].update(before=10**400),
    "a setting that no budget has": lambda state: state["budget"].update(on_start="rm"),
    "a position in a list": lambda state: state.update(position=[1, 2]),
    "a negative position": lambda state: state["position"].update(batch=-1),
    "progress of text": lambda state: state.update(progress="far"),
    "endless seconds": lambda state: state["progress"].update(seconds=math.inf),
    "a tally of text": lambda state: state["progress"]["since_log"].update(total="much"),
}


@pytest.mark.parametrize("name", ODD_STATES)
def test_a_checkpoint_with_a_state_of_other_types_is_refused(name: str, run: Path) -> None:
    """With the right digests: whoever makes a run can write what he likes into it."""
    place = toy_runs.newest_checkpoint(run)
    state = json.loads((place / "state.json").read_text(encoding="utf-8"))
    tensors, best = (read_weights(place / f"{part}.safetensors") for part in ("tensors", "best"))
    ODD_STATES[name](state)
    Checkpoints(place.parent, run_id=read_manifest(run).run_id).save(
        Checkpoint(state.pop("step"), tensors, best=best, state=state)
    )
    with pytest.raises(RunError, match=r"checkpoints: the state of the checkpoint cannot be read"):
        resume(run)


def _rename_run(place: Path, digest: str) -> None:
    """Write a checkpoint again as that of another run."""
    state = json.loads((place / "state.json").read_text(encoding="utf-8"))
    tensors, best = (read_weights(place / f"{name}.safetensors") for name in ("tensors", "best"))
    Checkpoints(place.parent, run_id=digest).save(
        Checkpoint(state.pop("step"), tensors, best=best, state=state)
    )
