"""No file of a run can change an answer unnoticed: flipped, truncated or deleted, it is refused or changes
nothing.
"""

from __future__ import annotations

import hashlib
import json
import math
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab.core.errors import RunError, SeqlabError
from seqlab.core.files import sha256
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.folder.manifest import complete_manifest, read_manifest, reopen_manifest
from seqlab.runs.run import Run
from seqlab.runs.train.prepare import prepare
from seqlab.runs.train.start import resume, train
from seqlab.training.base import NullCallback, Validation
from seqlab.training.checkpoints.checkpoint import Checkpoints
from seqlab.training.checkpoints.weights_file import read_weights, write_weights
from tests.cli.running import run as command
from tests.cli.tiny_pairs import train_tiny, write_pairs
from tests.runs.source_runs import SMALL, hurried, write_table, write_tags, write_text
from tests.runs.toy_runs import CLASSIFIER, write_data

pytestmark = pytest.mark.slow  # trains one run of each kind
QUESTIONS = {"translation": ["abca", "cb"]}
FLIPS, CUTS = 5, 3


def train_run(task: str, folder: Path) -> Path:
    """A small run of a task, in a folder of its own beside its data."""
    folder.mkdir()
    if task == "translation":
        return train_tiny(write_pairs(folder), "run", steps=3).folder
    data = {"language_model": write_text, "tagging": write_tags}.get(task, write_table)(folder)
    if task in ("multi_label", "regression"):
        lines = data.read_text(encoding="utf-8").splitlines()
        answers = [
            ("a|b", "b", "")[row % 3] if task == "multi_label" else f"{row / 7:.2f}"
            for row in range(len(lines))
        ]
        rows = [f"{line.split(',')[0]},{answer}" for line, answer in zip(lines[1:], answers, strict=False)]
        data.write_text("\n".join([lines[0], *rows]) + "\n", encoding="utf-8")
    with hurried():
        run = seqlab.train(
            data, *SMALL, "model.hidden_size=8", task=task, model="gru", steps=8, out=folder / "run"
        )
    return run.folder


LONGER = ("multi_label", "regression", "tagging", "translation")


@pytest.fixture(
    scope="module",
    params=[
        "classification",
        "language_model",
        *(pytest.param(task, marks=pytest.mark.long) for task in LONGER),
    ],
)
def whole(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, cache_folder: Path
) -> Path:
    return train_run(request.param, tmp_path_factory.mktemp("manifest") / request.param)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Path:
    return train_run("classification", tmp_path_factory.mktemp("manifest") / "classification")


@pytest.fixture
def run(classifier: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(classifier, tmp_path / "run", symlinks=True))


def answers(folder: Path) -> list[str]:
    """Predictions with every digit of their probabilities."""
    loaded = Run.load(folder)
    return [
        repr(each)
        for each in loaded.predict(
            QUESTIONS.get(loaded.recipe.task, ["red one blue 7", "two green", "unknown words"])
        )
    ]


def results(folder: Path) -> str:
    return json.dumps(Run.load(folder).results.raw)


def damages(content: bytes, chance: random.Random) -> Iterator[tuple[str, bytes | None]]:
    yield "deleted", None
    for cut in (
        {0, len(content) - 1, *(chance.randrange(len(content)) for _ in range(CUTS))} if content else ()
    ):
        yield f"cut to {cut} bytes", content[:cut]
    for _ in range(FLIPS if content else 0):
        place, bit = chance.randrange(len(content)), chance.randrange(8)
        yield (
            f"bit {bit} of byte {place}",
            content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :],
        )


def refused_or_same(folder: Path, ask: Any, expected: object, *, about: str) -> bool:
    """Whether the damage was refused."""
    found, problem = expected, None
    try:
        found = ask(folder)
    except SeqlabError as error:
        problem = error
    assert found == expected, about
    assert problem is None or (str(folder) in str(problem) and problem.cure), f"{about}: {problem}"
    return problem is not None


def test_no_damage_to_any_file_changes_an_answer_or_a_result(whole: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(whole, tmp_path / "run", symlinks=True))
    expected, shown, chance = answers(folder), results(folder), random.Random(8)
    paths = [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink() and "last" not in path.parts
    ]
    read = {"MANIFEST.json", "recipe.toml", "model.safetensors"} | {
        path.name for path in (folder / "tokens").rglob("*") if path.is_file()
    }
    if expected and (folder / "choices.json").exists():
        read.add("choices.json")
    for path in paths:
        content, name = path.read_bytes(), str(path.relative_to(folder))
        for what, damaged in damages(content, chance):
            path.unlink() if damaged is None else path.write_bytes(damaged)
            about = f"{name} {what}"
            is_refused = refused_or_same(folder, answers, expected, about=about)
            assert is_refused or path.parent.name.startswith("step-") or path.name not in read, about
            is_refused = refused_or_same(folder, results, shown, about=about)
            assert is_refused or path.name != "results.json", about
            path.write_bytes(content)
    assert (answers(folder), results(folder)) == (expected, shown)


@pytest.mark.parametrize("task", ["classification", "multi_label", "regression"])
def test_tasks_that_choose_something_after_training_keep_it(task: str, tmp_path: Path) -> None:
    """Or the test above would prove nothing about choices.json."""
    assert (train_run(task, tmp_path / task) / "choices.json").is_file()


def edit(path: Path, change: dict[str, Any]) -> None:
    path.write_text(
        json.dumps({**json.loads(path.read_text(encoding="utf-8")), **change}, indent=1), encoding="utf-8"
    )


def test_an_edited_temperature_is_refused_with_file_and_cure(run: Path) -> None:
    edit(run / "choices.json", {"choices": {"temperature": 3.0}})
    with pytest.raises(RunError, match=r"choices\.json") as caught:
        Run.load(run)
    assert f"seqlab train --resume {run}" in caught.value.cure


def test_missing_choices_are_refused_with_file_and_cure(run: Path) -> None:
    (run / "choices.json").unlink()
    with pytest.raises(RunError, match=r"choices\.json") as caught:
        Run.load(run)
    assert f"seqlab train --resume {run}" in caught.value.cure


def test_an_edited_score_is_not_shown(run: Path) -> None:
    path = run / "results.json"
    text = path.read_text(encoding="utf-8")
    value = json.loads(text)["splits"]["test"]["scores"][0]["value"]
    path.write_text(text.replace(str(value), "0.99", 1), encoding="utf-8")
    with pytest.raises(RunError, match=r"results\.json") as caught:
        Run.load(run).results  # noqa: B018 - read when it is asked for
    assert f"seqlab train --resume {run}" in caught.value.cure


ODD = {
    "a list": [],
    "splits of text": {"splits": "test"},
    "training of text": {"training": "long"},
    "seconds of text": {"training": {"seconds": "many"}},
    "seconds of truth": {"training": {"seconds": True}},
    "warnings in an object": {"warnings": {}},
    "warnings of numbers": {"warnings": [1]},
    "no provenance": {"provenance": None},
    "a split of text": {"splits": {"test": "good"}},
    "scores of text": {"splits": {"test": {"scores": ["accuracy"]}}},
    "a value that is a list": {"splits": {"test": {"scores": [{"name": "accuracy", "value": [1]}]}}},
    "a value that is no number": {"splits": {"test": {"scores": [{"name": "accuracy", "value": math.nan}]}}},
    "an infinite value": {"splits": {"test": {"scores": [{"name": "accuracy", "value": math.inf}]}}},
    "a value of 400 digits": {"splits": {"test": {"scores": [{"name": "accuracy", "value": 10**400}]}}},
    "a difference of text": {"splits": {"test": {"scores": [{"name": "a", "value": 1, "difference": "x"}]}}},
}


@pytest.mark.parametrize("change", ODD.values(), ids=ODD)
def test_results_of_other_types_are_refused_with_file_and_cure(change: Any, run: Path) -> None:
    """With the right digest: whoever makes a run can write what he likes into it."""
    path = run / "results.json"
    raw = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**raw, **change} if isinstance(change, dict) else change), encoding="utf-8")
    complete_manifest(run, read_manifest(run))
    with pytest.raises(RunError, match=r"results\.json") as caught:
        Run.load(run).results  # noqa: B018 - read when it is asked for
    assert f"seqlab train --resume {run}" in caught.value.cure


@pytest.mark.parametrize("name", [name for name in ODD if name != "a difference of text"])  # is not listed
def test_a_list_of_runs_says_which_results_are_damaged(
    name: str, run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same files, with the right digest."""
    path, change = run / "results.json", ODD[name]
    raw = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**raw, **change} if isinstance(change, dict) else change), encoding="utf-8")
    complete_manifest(run, read_manifest(run))
    (run.parent / "runs").mkdir()
    run.rename(run.parent / "runs" / "odd")
    monkeypatch.chdir(run.parent)
    outcome = command(capsys, "list", "runs")
    assert outcome.code == 0, outcome.err
    assert "damaged" in outcome.out
    assert "seqlab train --resume runs/odd" in outcome.out


@pytest.mark.parametrize(
    "value",
    ["NaN", "1e999", "-1", "true", '"2"', "1" + "0" * 400],
    ids=["no number", "infinite", "negative", "truth", "text", "400 digits"],
)
def test_a_temperature_that_is_none_is_refused(value: str, run: Path) -> None:
    """With the right digest."""
    path = run / "choices.json"
    text = path.read_text(encoding="utf-8")
    content = json.loads(text)
    content["choices"]["temperature"] = 12345
    path.write_text(json.dumps(content).replace("12345", value), encoding="utf-8")
    complete_manifest(run, read_manifest(run))
    with pytest.raises(RunError, match=r"choices\.json.*temperature") as caught:
        Run.load(run)
    assert f"seqlab train --resume {run}" in caught.value.cure


def test_weights_of_an_earlier_checkpoint_of_the_same_run_are_refused(run: Path) -> None:
    """They carry the right checksum and the right run, and answer differently."""
    steps = sorted((run / "checkpoints").glob("step-*"))
    before, now = ((place / "best.safetensors").read_bytes() for place in steps[-2:])
    changed = before if before != now else before[:-1] + bytes([before[-1] ^ 1])
    (run / "model.safetensors").write_bytes(changed)
    with pytest.raises(RunError, match=r"model\.safetensors"):
        Run.load(run)


class KeepBest(NullCallback):
    """Keeps a copy of the best weights of every validation that found better ones."""

    def __init__(self, run: Path) -> None:
        self.run, self.copies = run, list[bytes]()

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        if is_best:
            self.copies.append((self.run / "model.safetensors").read_bytes())


def test_an_interrupted_run_refuses_its_own_older_weights(tmp_path: Path) -> None:
    data, folder = write_data("classifier", tmp_path), tmp_path / "run"
    keeper = KeepBest(folder)
    with hurried():
        recipe, _ = find_recipe(str(data), [*CLASSIFIER, "training.evaluate_every=1", "training.threads=1"])
        train(prepare(recipe, out=str(folder)), callback=keeper)
    manifest = reopen_manifest(folder, read_manifest(folder))  # as if killed before it was scored
    (folder / "choices.json").unlink(missing_ok=True)
    assert not manifest.is_scored
    assert len(set(keeper.copies)) > 1
    expected = answers(folder)
    (folder / "model.safetensors").write_bytes(keeper.copies[0])
    with pytest.raises(RunError, match=r"model\.safetensors") as caught:
        Run.load(folder)
    assert f"seqlab train --resume {folder}" in caught.value.cure
    shutil.rmtree(folder / "checkpoints")
    with pytest.raises(RunError, match=r"model\.safetensors"):  # the journal knows it too
        Run.load(folder)
    (folder / "model.safetensors").write_bytes(keeper.copies[-1])
    assert answers(folder) == expected


@pytest.mark.parametrize("damage", ["deleted", "edited"])
@pytest.mark.parametrize("name", ["choices.json", "results.json", "model.safetensors"])
def test_resuming_writes_a_damaged_file_again(name: str, damage: str, run: Path, classifier: Path) -> None:
    content = (run / name).read_bytes()
    (run / name).unlink()
    if damage == "edited" and name == "results.json":
        scores = json.loads(content)["splits"]["test"]["scores"]
        (run / name).write_bytes(content.replace(str(scores[0]["value"]).encode(), b"0.99", 1))
    elif damage == "edited":
        (run / name).write_bytes(content[:-40] + bytes([content[-40] ^ 1]) + content[-39:])
    with hurried():
        resume(run)
    assert Run.load(run).results["accuracy"] == Run.load(classifier).results["accuracy"]
    assert answers(run) == answers(classifier)
    first, again = (
        json.loads((folder / "results.json").read_text(encoding="utf-8"))["splits"]
        for folder in (classifier, run)
    )
    assert first == again


def write_as_earlier_format(run: Path) -> None:
    """Format 1 listed recipe and tokens only, and its digest was what weights and checkpoints carry."""
    manifest = read_manifest(run)
    files = {
        name: record
        for name, record in manifest.files.items()
        if name.startswith("tokens") or name == "recipe.toml"
    }
    (run / "MANIFEST.json").write_text(
        json.dumps({"format": 1, "files": files, "data": dict(manifest.data)}, indent=1), encoding="utf-8"
    )
    digest = sha256(run / "MANIFEST.json")
    write_weights(run / "model.safetensors", read_weights(run / "model.safetensors"), run_id=digest)
    checkpoint, _ = Checkpoints(run / "checkpoints", run_id=manifest.run_id).load()
    assert checkpoint is not None
    checkpoint.state.pop("step", None)
    Checkpoints(run / "checkpoints", run_id=digest).save(checkpoint)


def test_a_run_of_the_earlier_format_is_refused_until_it_is_resumed(run: Path, classifier: Path) -> None:
    write_as_earlier_format(run)
    edit(run / "choices.json", {"choices": {"temperature": 3.0}})
    with pytest.raises(RunError, match=r"MANIFEST\.json") as caught:
        Run.load(run)
    assert f"seqlab train --resume {run}" in caught.value.cure
    with hurried():
        resume(run)
    assert answers(run) == answers(classifier)


def test_a_resumed_run_is_unfinished_until_it_is_scored_again(
    run: Path, classifier: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed in between, it must not answer with the old choices for new weights."""

    class Killed(Exception):
        pass

    def die(*_: object) -> None:
        raise Killed

    monkeypatch.setattr("seqlab.runs.train.scoring.complete_manifest", die)
    with hurried(), pytest.raises(Killed):
        resume(run)
    with pytest.raises(RunError, match=r"choices\.json") as caught:
        Run.load(run)
    assert f"seqlab train --resume {run}" in caught.value.cure
    monkeypatch.undo()
    with hurried():
        resume(run)
    assert answers(run) == answers(classifier)


def test_every_file_that_an_answer_depends_on_is_in_the_manifest(run: Path) -> None:
    tokens = {str(path.relative_to(run)) for path in (run / "tokens").rglob("*") if path.is_file()}
    files = read_manifest(run).files
    assert set(files) == tokens | {
        "recipe.toml",
        "model.safetensors",
        "choices.json",
        "results.json",
        "card.md",
        "journal.jsonl",
    }
    for name, record in files.items():
        assert record == {
            "size": len((run / name).read_bytes()),
            "sha256": hashlib.sha256((run / name).read_bytes()).hexdigest(),
        }, name
