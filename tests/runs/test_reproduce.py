"""A run that is trained again from its own folder: the same bits, or a plain word about what differs."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import pytest

import seqlab
from seqlab.core.errors import RunError
from seqlab.core.files import write_whole
from seqlab.runs.folder.layout import CHOICES, JOURNAL, RECIPE, WEIGHTS
from seqlab.runs.folder.manifest import begin_manifest, complete_manifest, read_manifest
from seqlab.runs.reproduce.agreement import relative_difference
from seqlab.runs.reproduce.reproduce import reproduce
from seqlab.runs.run import Run
from seqlab.training.checkpoints.weights_file import read_weights, replace_weights
from seqlab.training.journal import read_journal
from tests.cli.running import run as type_command
from tests.runs.film_reviews import write_films

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::seqlab.core.errors.SeqlabWarning")]
SETTINGS = (
    "training.threads=1",
    "model.hidden_size=8",
    "model.dropout=0.2",
    "data.seed=7",
    "training.batch_size=8",
)


def test_equal_values_do_not_differ_even_if_they_are_not_finite() -> None:
    assert relative_difference(math.inf, math.inf) == relative_difference(math.nan, math.nan) == 0
    assert relative_difference(math.inf, 3.0) == relative_difference(3.0, math.nan) == 1


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_films(tmp_path_factory.mktemp("films") / "films.csv")


@pytest.fixture(scope="module")
def run(films: Path) -> Run:
    settings = (*SETTINGS, "training.evaluate_every=4")
    return seqlab.train(films, *settings, model="gru", steps=12, out=films.parent / "run", verbose=False)


def test_the_same_seed_gives_the_same_bits(run: Run, tmp_path: Path) -> None:
    repetition = run.reproduce(out=tmp_path / "again")
    assert repetition.is_identical
    assert repetition.agrees
    assert (repetition.weight_difference, repetition.loss_difference, repetition.score_difference) == (
        0,
        0,
        0,
    )
    assert repetition.compared_losses == 12 + 3
    assert repetition.places == repetition.settings == {}
    assert (tmp_path / "again" / WEIGHTS).read_bytes() == (run.folder / WEIGHTS).read_bytes()
    assert repetition.digests[0] == run.results.raw["training"]["weights_sha256"]
    assert repetition.digests[0][:16] in repetition.lines()[0]
    assert "same result" in repetition.verdict


def test_a_time_budget_becomes_its_recorded_steps(films: Path, tmp_path: Path) -> None:
    timed = seqlab.train(films, *SETTINGS, model="gru", minutes=0.06, out=tmp_path / "timed", verbose=False)
    events = read_journal(timed.folder / JOURNAL)
    planned = [event for event in events if event["event"] == "planned"]
    assert planned  # the plan of a few seconds never holds
    repetition = timed.reproduce(out=tmp_path / "again")
    again = read_journal(tmp_path / "again" / JOURNAL)
    for name in ("planned", "validated"):
        assert [event["step"] for event in again if event["event"] == name] == [
            event["step"] for event in events if event["event"] == name
        ]
    assert repetition.run.results.raw["training"]["steps"] == timed.results.raw["training"]["steps"]
    assert repetition.is_identical
    assert repetition.loss_difference == 0


def test_changed_data_is_refused_before_training(
    run: Run, films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = tmp_path / "films.csv"
    moved.write_text(films.read_text(encoding="utf-8").replace("film 3 was", "film 3 is"), encoding="utf-8")
    outcome = type_command(
        capsys, "reproduce", str(run.folder), f"data.train={moved}", "--out", str(tmp_path / "again"), "-q"
    )
    assert outcome.code == 2
    assert "train" in outcome.err
    assert str(run.folder) in outcome.err
    assert not (tmp_path / "again").exists()


def test_moved_data_with_the_same_content_is_the_same_data(
    run: Run, films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    moved = shutil.copy(films, tmp_path / "moved.csv")
    outcome = type_command(
        capsys,
        "reproduce",
        str(run.folder),
        f"data.train={moved}",
        "--out",
        str(tmp_path / "a"),
        "-q",
        "--json",
    )
    assert outcome.code == 0
    assert outcome.json["bit_identical"]
    assert list(outcome.json["settings"]) == ["data.train"]


def test_another_seed_in_the_recipe_is_noticed_by_the_manifest(run: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run.folder, tmp_path / "run"))
    change_seed(folder)
    with pytest.raises(RunError, match=r"recipe\.toml"):
        reproduce(folder)


def test_a_forged_seed_shows_as_a_difference(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(run.folder, tmp_path / "run"))
    change_seed(folder)
    forge_manifest(folder)
    outcome = type_command(capsys, "reproduce", str(folder), "--out", str(tmp_path / "again"), "-q")
    assert outcome.code == 2
    assert "weights: differ by" in outcome.out
    assert "seed differs: 1, now 2" in outcome.out
    assert "result differs" in outcome.out


def test_only_the_place_of_data_can_change(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = type_command(capsys, "reproduce", str(run.folder), "training.seed=2")
    assert outcome.code == 2
    assert "training.seed=2" in outcome.err
    assert "data.train=FILE" in outcome.err


def test_a_run_without_a_recorded_plan_is_refused(run: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(run.folder, tmp_path / "run"))
    lines = (folder / JOURNAL).read_text(encoding="utf-8").splitlines()
    (folder / JOURNAL).write_text("\n".join(lines[1:]) + "\n", encoding="utf-8")
    with pytest.raises(RunError, match="journal"):
        reproduce(folder)


def change_seed(folder: Path) -> None:
    recipe = (folder / RECIPE).read_text(encoding="utf-8")
    assert recipe.count("\nseed = 1\nthreads") == 1
    (folder / RECIPE).write_text(
        recipe.replace("\nseed = 1\nthreads", "\nseed = 2\nthreads"), encoding="utf-8"
    )


def forge_manifest(folder: Path) -> None:
    """Make every file of a run belong to its recipe, whatever that says."""
    data = read_manifest(folder).data
    manifest = begin_manifest(folder, recipe=(folder / RECIPE).read_text(encoding="utf-8"), data=data)
    replace_weights(folder / WEIGHTS, read_weights(folder / WEIGHTS), run_id=manifest.run_id, step=12)
    if (folder / CHOICES).is_file():
        choices = json.loads((folder / CHOICES).read_text(encoding="utf-8"))
        write_whole(folder / CHOICES, json.dumps({**choices, "run": manifest.run_id}))
    complete_manifest(folder, manifest)
