"""What is imported, and when: a usage error must not wait for torch."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

WATCHED = ("torch", "pydantic", "numpy", "tokenizers", "matplotlib", "sklearn")


def imported(code: str, *, folder: Path) -> set[str]:
    """Which of the heavy packages a new process has imported after running some code."""
    report = f"\nprint(*[name for name in {WATCHED!r} if name in sys.modules], file=sys.stderr)"
    ended = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}{report}"],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return set(ended.stderr.splitlines()[-1].split()) if ended.stderr.strip() else set()


def after_command(words: list[str], *, folder: Path) -> set[str]:
    code = f"from seqlab.cli.main import main\ntry:\n    main({words!r})\nexcept SystemExit:\n    pass"
    return imported(code, folder=folder)


def test_importing_seqlab_imports_nothing_heavy(tmp_path: Path) -> None:
    assert imported("import seqlab\nseqlab.__version__\ndir(seqlab)", folder=tmp_path) == set()


@pytest.mark.parametrize(
    "words",
    [["--help"], ["train", "--help"], ["trian"], ["train", "--modle", "x"], ["--version"]],
    ids=" ".join,
)
def test_help_and_usage_errors_import_nothing_heavy(words: list[str], tmp_path: Path) -> None:
    assert after_command(words, folder=tmp_path) <= {"pydantic"}  # typer itself may use it


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["train", "languages", "training.stepz=3"],
        ["train", "missing.toml"],
        ["train", "languages", "--model", "x"],
        ["list"],
        ["explain", "training"],
        ["explain", "lstm"],
        ["explain", "beam search"],
        ["generate", "runs/x", "--temperature", "-1"],
        ["data", "missing.csv"],
        ["train", "missing.csv"],
        ["import", "--list"],
    ],
    ids=" ".join,
)
def test_mistakes_in_settings_and_what_only_reads_do_not_import_torch(
    words: list[str], tmp_path: Path
) -> None:
    assert "torch" not in after_command(words, folder=tmp_path)


def test_the_importer_itself_sees_no_torch_behind_the_help(tmp_path: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "seqlab.cli.main", "--help"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    names = {
        line.rpartition("|")[2].strip()
        for line in ended.stderr.splitlines()
        if line.startswith("import time:")
    }
    assert "typer" in names
    assert not names & {"torch", "numpy", "pydantic"}


@pytest.mark.slow
def test_loading_runs_does_not_import_what_only_scores_and_ensembles_need(tmp_path: Path) -> None:
    names = (
        "seqlab.runs.ensemble",
        "seqlab.models.encoder_decoder",
        "seqlab.runs.survey.data_survey",
        "seqlab.runs.data",
        "seqlab.tasks.evaluator",
        "seqlab.tasks.vectors",
        "seqlab.pages.charts.attention_map",
    )
    code = (
        f"import sys, seqlab.runs.run; sys.exit(','.join(name for name in {names!r} if name in sys.modules))"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert ended.stderr.strip() == ""


@pytest.mark.slow
def test_reading_a_recipe_collects_the_options_of_its_own_cell_only(tmp_path: Path) -> None:
    code = (
        "import sys; from seqlab.cells import settings; made = []; make = settings.options_in_source\n"
        "settings.options_in_source = lambda module, name: made.append(name) or make(module, name)\n"
        "from seqlab.recipes.read import check\n"
        "check({'model': {'kind': 'recurrent', 'cell': {'kind': 'gru'}}}, where=''); print(*made)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    assert set(ended.stdout.split()) <= {"gru", "lstm"}  # lstm: the default of the section
