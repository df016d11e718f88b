"""`seqlab train --from` and `seqlab predict --vectors`."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from seqlab.runs.run import Run
from tests.cli.running import run

pytestmark = pytest.mark.slow  # short each, long together

SMALL = ("training.threads=1", "training.batch_size=16", "training.steps=4")


@pytest.fixture(scope="session")
def tuned(story_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that the tests fine-tune on."""
    path = tmp_path_factory.mktemp("tuned") / "animals.csv"
    lines = [
        f"the {'small' if n % 2 else 'old'} cat sees number {n} .,{'young' if n % 2 else 'aged'}"
        for n in range(60)
    ]
    path.write_text("text,age\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_run_starts_from_another_one_and_says_what_it_takes(
    capsys: pytest.CaptureFixture[str], story_run: Run, tuned: Path, tmp_path: Path
) -> None:
    out = run(
        capsys,
        "train",
        str(tuned),
        "--from",
        str(story_run.folder),
        "start.freeze=embedding",
        *SMALL,
        "--out",
        str(tmp_path / "new"),
    )
    assert out.code == 0
    assert f"starting from {story_run.folder} with its tokens and recurrent network" in out.err
    assert " trainable" in out.err
    assert "--model NAME" not in out.err.partition(" trainable")[2].partition("\n")[0]


def test_a_dry_run_shows_the_recipe_with_the_digest(
    capsys: pytest.CaptureFixture[str], story_run: Run, tuned: Path
) -> None:
    out = run(capsys, "train", str(tuned), "--from", str(story_run.folder), *SMALL, "--dry-run", "--json")
    start = out.json["recipe"]["start"]
    assert start["run"] == str(story_run.folder.resolve())
    assert len(start["digest"]) == 64
    assert out.json["recipe"]["tokens"]["kind"] == "characters"


def test_from_is_not_for_a_run_that_goes_on(capsys: pytest.CaptureFixture[str], story_run: Run) -> None:
    out = run(capsys, "train", "--resume", "runs/x", "--from", str(story_run.folder))
    assert out.code == 2
    assert "--resume accepts no other settings" in out.err


def test_mistakes_about_the_source_are_answered_without_torch(story_run: Run, tuned: Path) -> None:
    words = ["train", str(tuned), "--from", str(story_run.folder), "model.hidden_size=7"]
    ask = (
        f"try: main({words!r})\nexcept SystemExit as ended: sys.exit(9 if 'torch' in sys.modules else"
        " ended.code)"
    )
    code = f"import sys\nfrom seqlab.cli.main import main\n{ask}"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ended.returncode == 2, ended.stderr
    assert "model.hidden_size: the run has 48, found 7. Only these may differ: dropout" in ended.stderr


def test_vectors_are_lines_of_json_in_the_order_of_the_texts(
    capsys: pytest.CaptureFixture[str], story_run: Run
) -> None:
    texts = ["the old cat", "a dog"]
    out = run(capsys, "predict", str(story_run.folder), "--vectors", *texts)
    lines = [json.loads(line) for line in out.out.splitlines()]
    assert [line["input"] for line in lines] == texts
    assert np.array([line["vector"] for line in lines]) == pytest.approx(story_run.vectors(texts), abs=1e-5)
    whole = run(
        capsys, "predict", str(story_run.folder), "--vectors", "--pooling", "last", "--json", *texts
    ).json
    assert whole["pooling"] == "last"
    assert np.array([line["vector"] for line in whole["vectors"]]) == pytest.approx(
        story_run.vectors(texts, pooling="last"), abs=1e-5
    )


def test_vectors_of_a_file_become_one_array(
    capsys: pytest.CaptureFixture[str], story_run: Run, tmp_path: Path
) -> None:
    (tmp_path / "new.txt").write_text("the old cat\na dog\nthe river\n", encoding="utf-8")
    place = tmp_path / "new.npy"
    out = run(
        capsys,
        "predict",
        str(story_run.folder),
        "--file",
        str(tmp_path / "new.txt"),
        "--vectors",
        "--out",
        str(place),
    )
    assert out.code == 0
    assert out.out == ""
    assert f"3 vectors with {story_run.model.backbone.output_size} dimensions" in out.err
    assert np.load(place) == pytest.approx(story_run.vectors(["the old cat", "a dog", "the river"]), abs=1e-5)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "x.npy"], "--out requires --file"),
        (["--pooling", "max"], "--pooling applies only to --vectors"),
        (["--vectors", "--out", "x.csv"], "does not end in .npy"),
        (["--vectors", "--out", "x.npy", "--json"], "--out and --json"),
        (["--vectors", "--pooling", "middle"], "'middle'"),
        (["--vectors", "--out", "nowhere/x.npy"], "the vectors cannot be written"),
    ],
    ids=["out alone", "pooling alone", "another file", "both", "pooling", "no folder"],
)
def test_words_that_do_not_go_together_are_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], story_run: Run
) -> None:
    out = run(capsys, "predict", str(story_run.folder), "a text", *words)
    assert out.code in (2, 3)
    assert said in out.err
