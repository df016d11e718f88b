"""What there is and what it means, from the place that checks it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from seqlab.attention.base import score_functions
from seqlab.cells.settings import CELL_KINDS
from seqlab.cli.groups import GROUPS
from seqlab.cli.kinds import KINDS
from seqlab.core.settings import choices_of, sentence_of
from seqlab.datasets.base import datasets
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.models.base import backbones
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import MODEL_KINDS
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.summaries import MODEL_SYNONYMS
from seqlab.positions.base import positional_encodings
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.sections import section_names, settings_help
from seqlab.runs.folder.manifest import begin_manifest, complete_manifest
from seqlab.training.settings import TrainingSettings
from tests.cli.running import run

NOON = 1_770_000_000
DAY = time.strftime("%Y-%m-%d %H:%M", time.localtime(NOON))


@pytest.mark.slow
@pytest.mark.parametrize("section", section_names())
def test_a_section_is_explained_setting_by_setting_with_their_own_sentences(
    section: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "explain", section).out
    for entry in settings_help(section):
        assert f"{entry.name} ({entry.kind}; " in out
        assert f"    {entry.sentence}\n" in out
    assert "next:\n  seqlab " in out


def test_one_setting_is_explained_by_its_dotted_name_and_by_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    sentence = TrainingSettings.model_fields["clip_norm"].description
    dotted, short = run(capsys, "explain", "training.clip_norm").out, run(capsys, "explain", "clip_norm").out
    assert (
        dotted
        == short
        == f"training.clip_norm (number; default 1)\n    {sentence}\nnext:\n  seqlab train FILE"
        " training.clip_norm=VALUE\n"
    )


def test_a_setting_that_differs_between_models_is_shown_in_every_form(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = run(capsys, "explain", "model.hidden_size").out
    fields = [
        settings.model_fields["hidden_size"]
        for settings in MODEL_KINDS.values()
        if "hidden_size" in settings.model_fields
    ]
    assert out.count("model.hidden_size (") == len({(field.default, field.description) for field in fields})
    assert "default 256" in out
    assert f"default {TransformerSettings().hidden_size}" in out


@pytest.mark.parametrize("name", CELL_KINDS)
def test_a_cell_is_explained_with_its_sentence_and_its_options(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "explain", name).out
    assert f"cell {name}: {sentence_of(CELL_KINDS[name])} Options: " in out
    for option, field in CELL_KINDS[name].model_fields.items():
        assert (f"model.cell.{option} (" in out and f"    {field.description}\n" in out) == (option != "kind")
    assert out.endswith(f"next:\n  seqlab train FILE --model {name}\n")


@pytest.mark.parametrize("topic", ["model", "model.cell"])
def test_the_model_is_explained_with_the_cells_to_choose_from(
    topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = run(capsys, "explain", topic).out
    for name, settings in CELL_KINDS.items():
        assert f"cell {name}: {sentence_of(settings)} Options: " in out
    assert "model.cell (additive | coupled_lstm | gru | " in out
    assert ("model.cell.forget_bias (" in out) == (topic == "model.cell")


def test_an_option_is_explained_with_the_cells_that_have_it(capsys: pytest.CaptureFixture[str]) -> None:
    dotted, short = (
        run(capsys, "explain", "model.cell.peepholes").out,
        run(capsys, "explain", "peepholes").out,
    )
    assert dotted == short
    assert dotted.startswith("model.cell.peepholes (diagonal | full; default diagonal)\n")
    assert "    Cells: peephole_lstm.\n" in dotted
    found = run(capsys, "explain", "forget_bias", "--json").json["settings"]
    assert [(entry["name"], entry["kinds"]) for entry in found] == [
        (
            "model.cell.forget_bias",
            [name for name, settings in CELL_KINDS.items() if "forget_bias" in settings.model_fields],
        )
    ]


@pytest.mark.parametrize(
    ("topic", "new"),
    [
        ("search", "decoding"),
        ("training.carry_state", "language_model.stateful"),
        ("length_alpha", "decoding.length_penalty"),
    ],
)
def test_an_old_name_is_explained_by_the_new_one(
    topic: str, new: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "explain", topic)
    assert ended.code == 2
    assert new in ended.err


def test_the_section_of_a_task_is_explained_with_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "explain", "language_model").out
    assert "task language_model: " in out
    assert "language_model.window (whole number; default 128)\n" in out
    assert run(capsys, "explain", "language_model.window").out.startswith("language_model.window (")


def test_a_term_of_several_words_needs_no_quotation_marks(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "explain", "beam", "search").out == run(capsys, "explain", "beam search").out
    ended = run(capsys, "explain", "beem", "search", "--json")
    assert ended.code == 2
    assert "beem search" in ended.err
    assert "beam search" in ended.err


def test_explain_alone_names_every_part_of_a_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "explain").out
    for name, field in Recipe.model_fields.items():
        assert f"{name}: {field.description}\n" in out


@pytest.mark.parametrize(
    ("topic", "command"),
    [
        ("lstm", "seqlab train FILE --model lstm"),
        ("classification", "seqlab train FILE --task classification"),
        ("languages", "seqlab train languages"),
        ("bpe", "seqlab train FILE tokens.kind=bpe"),
        ("scaled_dot", "seqlab list attention"),
        ("rotary", "seqlab train FILE --model transformer model.positions=rotary"),
    ],
)
def test_a_name_is_explained_with_a_command_that_uses_it(
    topic: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "explain", topic)
    assert ended.out.startswith(
        f"{'model' if topic == 'lstm' else 'task' if topic == 'classification' else ended.out.split()[0]}"
        f" {topic}: "
    )
    assert ended.out.endswith(f"next:\n  {command}\n")


def test_a_name_of_two_parts_is_explained_as_both(capsys: pytest.CaptureFixture[str]) -> None:
    out = run(capsys, "explain", "additive").out
    assert "cell additive: " in out
    assert "attention additive: " in out
    assert "v · tanh(W q + U k)" in out


def test_scores_and_positions_are_listed_from_their_files(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(capsys, "list", "--json").json
    assert found["attention"] == {name: score_functions.summary(name) for name in score_functions.names()}
    assert found["positions"] == {
        name: positional_encodings.summary(name) for name in positional_encodings.names()
    }
    assert set(found["positions"]) == set(
        choices_of(TransformerSettings.model_fields["positions"].annotation)
    )
    assert set(found["optimizers"]) == set(choices_of(TrainingSettings.model_fields["optimizer"].annotation))


def test_everything_is_listed_with_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(capsys, "list", "--json").json
    assert list(found["models"]) == list(MODEL_ALIASES)
    assert list(found["cells"]) == list(CELL_KINDS)
    assert list(found["datasets"]) == datasets.names()
    for kind, entries in found.items():
        for name, sentence in entries.items():
            assert len(sentence) > 15, f"{kind} {name}"


@pytest.mark.parametrize(
    "kind",
    [
        "tasks",
        "models",
        "cells",
        "attention",
        "positions",
        "optimizers",
        "tokens",
        "formats",
        "metrics",
        "datasets",
        "recipes",
        "studies",
        "runs",
    ],
)
def test_every_list_ends_with_a_command(
    kind: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "\nnext:\n  seqlab " in run(capsys, "list", kind).out


def results_of(score: dict[str, object], **provenance: str) -> str:
    """The smallest results.json with this score."""
    parts: dict[str, object] = {"training": {}, "provenance": provenance, "warnings": []}
    return json.dumps({"splits": {"test": {"scores": [score]}}, **parts})


def test_runs_are_listed_with_their_first_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    results = results_of({"name": "macro_f1", "value": 0.51234}, created="2026-02-03 04:05:06 +0100")
    for name, content in (
        ("whole", results),
        ("edited", results),
        ("early", results),
        ("broken", "{"),
        ("odd", "[]"),
        ("open", None),
    ):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "recipe.toml").write_text("")
        os.utime(folder / "recipe.toml", (NOON, NOON))
        if content is not None:
            (folder / "results.json").write_text(content)
            (folder / "model.safetensors").write_text("")
            complete_manifest(folder, begin_manifest(folder, recipe="", data={}))
    (tmp_path / "runs/edited/results.json").write_text(results.replace("0.51234", "0.99"))
    (tmp_path / "runs/early/MANIFEST.json").write_text('{"format": 1, "files": {}, "data": {}}')
    found = run(capsys, "list", "runs", "--json").json["runs"]
    assert found["whole"] == "2026-02-03 04:05  test macro_f1 0.5123"
    for name in ("edited", "early", "broken", "odd"):
        assert found[name].startswith(f"{DAY}  results are damaged")
        assert found[name].endswith(f"seqlab train --resume runs/{name}"), name
        assert "0.99" not in found[name]
    assert found["open"] == f"{DAY}  not finished; resume with: seqlab train --resume runs/open"


def test_runs_with_equal_scores_have_a_line_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second"):
        folder = tmp_path / "runs" / name
        folder.mkdir(parents=True)
        (folder / "recipe.toml").write_text("")
        (folder / "results.json").write_text(results_of({"name": "accuracy", "value": 0.5}))
        (folder / "model.safetensors").write_text("")
        complete_manifest(folder, begin_manifest(folder, recipe="", data={}))
    lines = run(capsys, "list", "runs").out.splitlines()[1:3]
    assert [line.split()[:1] + line.split()[3:] for line in lines] == [
        ["first", "test", "accuracy", "0.5000"],
        ["second", "test", "accuracy", "0.5000"],
    ]


def test_only_models_have_names_of_sections_of_every_recipe(capsys: pytest.CaptureFixture[str]) -> None:
    """`seqlab explain training` does not look for such parts, which takes as long as everything else."""
    parts = run(capsys, "list", "--json").json
    explained = set(parts) - {"models", "runs"}
    assert not {name for kind in explained for name in parts[kind]} & set(Recipe.model_fields)


@pytest.mark.parametrize("name", ["lstm", "gru", "rnn", "transformer"])
def test_a_model_is_explained_with_its_number_of_parameters(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = (
        TransformerSettings()
        if name == "transformer"
        else RecurrentSettings.model_validate({"kind": "recurrent", "cell": name})
    )
    backbone = backbones.get(settings.kind).from_settings(settings, causal=False)
    count = sum(parameter.numel() for parameter in backbone.parameters())
    assert f"{count:,} with" in run(capsys, "explain", name).out


def test_every_built_in_part_has_a_place_in_the_list_of_its_kind() -> None:
    for kind, groups in GROUPS.items():
        names = [name for members in groups.values() for name in members]
        assert len(names) == len(set(names)), kind
        assert set(names) == set(KINDS[kind].names()), kind


def test_models_are_listed_by_family_on_one_line_each(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(capsys, "list", "models").out.splitlines()
    titles = [line.strip() for line in lines if line.startswith("  ") and not line.startswith("    ")]
    assert titles[:-1] == list(GROUPS["models"])  # the last one is the command
    entries = [line for line in lines if line.startswith("    ")]
    assert len(entries) == len(MODEL_ALIASES) - len(MODEL_SYNONYMS)
    assert max(map(len, lines)) <= 80
    labels = [line.strip().partition("  ")[0] for line in entries]
    for name, target in MODEL_SYNONYMS.items():
        assert f"{target}, {name}" in labels


def test_every_list_fits_80_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    assert [line for line in run(capsys, "list").out.splitlines() if len(line) > 80] == []
