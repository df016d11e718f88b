"""Pictures at the command line: trained from a table beside an archive, asked by file names, scored against
several captions.
"""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

import seqlab
from seqlab.runs.run import Run
from tests.cli.running import run

image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.slow
COLOURS = {"red": (210, 20, 20), "green": (20, 160, 40), "blue": (30, 60, 210)}


@pytest.fixture(scope="module")
def walls(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Learns to name the colour of walls, each of which has two captions."""
    folder = tmp_path_factory.mktemp("walls")
    rows = []
    with zipfile.ZipFile(folder / "images.zip", "w") as archive:
        for number in range(45):
            name, colour = f"{number}.png", list(COLOURS)[number % 3]
            image.new("RGB", (9 + number % 4, 8), tuple(part + number // 3 for part in COLOURS[colour])).save(
                folder / name
            )
            archive.write(folder / name, name)
            rows += [f"{name}\ta {colour} wall", f"{name}\ta wall, {colour}"]
            (folder / name).unlink()
    (folder / "captions.tsv").write_text("image\tcaption\n" + "\n".join(rows) + "\n")
    settings = [
        "data.source=image",
        "data.target=caption",
        "data.images=images.zip",
        "data.image_size=8",
        "training.threads=1",
    ]
    sizes = [
        "model.kind=image_convolutional",
        "model.hidden_size=8",
        "decoder.hidden_size=16",
        "training.learning_rate=0.01",
    ]
    return seqlab.train(
        folder / "captions.tsv", *settings, *sizes, task="captioning", steps=80, out=folder / "run"
    )


@pytest.mark.spec(15)
def test_a_picture_file_is_described_wherever_it_lies(
    walls: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, colour in COLOURS.items():
        image.new("RGB", (30, 20), colour).save(tmp_path / f"{name}.jpg")
    found = run(
        capsys,
        "predict",
        str(walls.folder),
        str(tmp_path / "red.jpg"),
        str(tmp_path / "blue.jpg"),
        "--beam",
        "3",
    )
    assert found.code == 0
    assert ["red" in found.out.splitlines()[0], "blue" in found.out.splitlines()[1]] == [True, True]
    (tmp_path / "new.csv").write_text("image\nblue.jpg\ngreen.jpg\n")
    listed = run(
        capsys, "predict", str(walls.folder), "--file", str(tmp_path / "new.csv")
    )  # beside the table, not in the run's archive
    assert ["blue" in listed.out.splitlines()[0], "green" in listed.out.splitlines()[1]] == [True, True]
    several = run(capsys, "predict", str(walls.folder), str(tmp_path / "red.jpg"), "--top", "5")
    assert several.code == 2
    assert "--top 5 is more than the 1 answer" in several.err
    (tmp_path / "both.csv").write_text("image,caption\nblue.jpg,a blue wall\nblue.jpg,a red wall\n")
    scores = run(
        capsys, "predict", str(walls.folder), "--score", "--file", str(tmp_path / "both.csv"), "--json"
    ).json["scores"]
    assert scores[0]["log_prob"] > scores[1]["log_prob"]
    missing = run(capsys, "predict", str(walls.folder), "nowhere.png")
    assert missing.code == 2
    assert "there is no image file 'nowhere.png' in images.zip" in missing.err


@pytest.mark.spec(15)
def test_a_report_scores_all_captions_of_a_picture_and_shows_where_was_looked(
    walls: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(run(capsys, "evaluate", str(walls.folder), "--json").out)
    assert found["scores"]["exact_match"]["value"] > 0.9  # either caption counts
    assert found["scores"]["exact_match"]["baseline"] < 0.7
    together = run(capsys, "evaluate", str(walls.folder), "--with", str(walls.folder), "--json").json
    assert (
        len(together["sections"]["image_attention"]["examples"])
        == len(found["sections"]["image_attention"]["examples"])
        > 0
    )
    page = (walls.folder / "report.html").read_text(encoding="utf-8")
    assert "Example outputs" in page
    assert ">Attention<" in page
    assert page.count("<use") >= 12
