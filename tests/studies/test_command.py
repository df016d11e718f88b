from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqlab.studies.base import studies
from tests.cli.running import run
from tests.cli.test_startup import after_command


@pytest.mark.slow
def test_a_study_prints_its_table_and_writes_its_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = run(capsys, "study", "vanishing", "--quick")
    assert ended.code == 0
    assert ended.out.startswith("distance  ")
    assert "\nclaim: Each step multiplies a gradient" in ended.out
    assert "\nfound: Over 30 steps" in ended.out
    assert "page: runs/studies/vanishing/study.html\nnext:\n  seqlab study vanishing\n" in ended.out
    assert "<svg" in (tmp_path / "runs/studies/vanishing/study.html").read_text(encoding="utf-8")


@pytest.mark.slow
def test_json_is_one_object_and_the_folder_can_be_chosen(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(
        capsys, "study", "vanishing", "--quick", "--seed", "3", "--out", str(tmp_path / "here"), "--json"
    )
    assert (ended.json["study"], ended.json["seed"], ended.json["quick"]) == ("vanishing", 3, True)
    assert [row["distance"] for row in ended.json["rows"]] == [1, 10, 30]
    written = json.loads((tmp_path / "here" / "finding.json").read_text(encoding="utf-8"))
    assert written["rows"] == ended.json["rows"]
    assert Path(ended.json["page"]) == tmp_path / "here" / "study.html"


def test_an_unknown_study_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(capsys, "study", "recal")
    assert ended.code == 2
    assert "there is no study called 'recal'" in ended.err
    assert "Did you mean 'recall'?" in ended.err
    assert "seqlab study NAME" in run(capsys, "study").err


def test_studies_are_listed_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(capsys, "list", "studies", "--json").json["studies"]
    assert list(found) == studies.names()
    assert all(len(sentence) > 30 and sentence[-1] in ".?" for sentence in found.values())
    assert "next:\n  seqlab study " in run(capsys, "list", "studies").out


def test_a_wrong_name_does_not_wait_for_torch(tmp_path: Path) -> None:
    assert "torch" not in after_command(["study", "recal"], folder=tmp_path)
