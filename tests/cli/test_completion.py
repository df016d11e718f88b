"""Completion in a shell: what may follow, through the protocol that the shells speak."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from seqlab.cli.completion import completers
from seqlab.cli.completion.attach import COMPLETERS
from seqlab.cli.completion.completers import DATA_SETTINGS, RUN_SETTINGS
from seqlab.cli.completion.index import load_index
from seqlab.cli.main import app
from seqlab.recipes.sections import section_names, settings_help

SEQLAB = [sys.executable, "-c", "from seqlab.cli.main import main; main()"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file, a folder and two runs, in which completion is asked for."""
    (tmp_path / "laps.csv").touch()
    (tmp_path / "my laps.csv").touch()
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "a.csv").touch()
    for run in ("laps-lstm", "laps-gru"):
        (tmp_path / "runs" / run).mkdir(parents=True)
        (tmp_path / "runs" / run / "recipe.toml").touch()
    (tmp_path / "runs" / "notes").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def words(completions: list[tuple[str, str]], start: str) -> list[str]:
    """What typer keeps of an answer."""
    return [word for word, _ in completions if word.startswith(start)]


def asked(protocol: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """What seqlab answers to a shell."""
    environment = {**os.environ, "_SEQLAB_COMPLETE": f"complete_{protocol}", **variables}
    return subprocess.run(SEQLAB, env=environment, capture_output=True, text=True, check=True)


def in_bash(*typed: str) -> list[str]:
    """The words that bash is offered after these; it hands them over in lines."""
    ended = asked("bash", COMP_WORDS="\n".join(typed), COMP_CWORD=str(len(typed) - 1))
    assert ended.stderr == ""
    return ended.stdout.split()


def in_zsh(line: str) -> str:
    ended = asked("zsh", _TYPER_COMPLETE_ARGS=line)
    assert ended.stderr == ""
    return ended.stdout


def test_a_setting_is_completed_with_its_default() -> None:
    found = words(completers.settings("training.le"), "training.le")
    assert found == ["training.learning_rate=", "training.learning_rate=0.001"]


def test_a_setting_that_chooses_is_completed_with_its_choices() -> None:
    assert words(completers.settings("training.optim"), "training.optim")[0] == "training.optimizer="
    assert "training.optimizer=adamw" in words(completers.settings("training.optim"), "training.optim")
    assert words(completers.settings("model.bidirectional="), "model.bidirectional=") == [
        "model.bidirectional=true",
        "model.bidirectional=false",
    ]


def test_values_come_from_every_model_that_has_the_setting() -> None:
    values = words(completers.settings("model.pooling="), "model.pooling=")
    assert values == [f"model.pooling={word}" for word in ("last", "first", "max", "mean", "queries")]


def test_names_of_models_and_tasks_are_values_too() -> None:
    assert words(completers.settings("model=bil"), "model=bil") == ["model=bilstm"]
    assert words(completers.settings("task=ta"), "task=ta") == ["task=tagging"]
    assert words(completers.settings("model.cell.kind=peep"), "model.cell.kind=peep") == [
        "model.cell.kind=peephole_lstm"
    ]


def test_without_a_dot_sections_are_offered() -> None:
    assert words(completers.settings("d"), "d") == [
        "data.",
        "decoder.",
        "distillation.",
        "decoding.",
    ]
    assert "training.steps=" in words(completers.settings("trai"), "trai")


def test_every_setting_that_is_explained_can_be_completed() -> None:
    explained = {entry.name for section in section_names() for entry in settings_help(section)}
    assert load_index().settings.keys() == explained | {"task", "model"}
    assert {*DATA_SETTINGS, *RUN_SETTINGS} <= explained


def test_settings_of_decoding_go_without_their_section() -> None:
    assert words(completers.decoding_settings("n_b"), "n_b") == ["n_best=", "n_best=1"]


def test_models_after_a_comma() -> None:
    assert words(completers.model_list("lstm,bil"), "lstm,bil") == ["lstm,bilstm"]


@pytest.mark.usefixtures("folder")
def test_data_is_a_dataset_a_recipe_or_a_file() -> None:
    assert words(completers.data_or_recipe("la"), "la") == ["languages", "laps.csv"]
    assert words(completers.data_or_recipe("im"), "im") == ["imdb", "imdb-lecture"]
    assert completers.data_or_recipe("tabl") == []  # only a folder: the shell knows it better


@pytest.mark.usefixtures("folder")
def test_files_of_a_setting_are_those_that_need_no_quotes() -> None:
    assert words(completers.settings("data.train="), "data.train=") == [
        "data.train=laps.csv",
        "data.train=runs/",
        "data.train=table/",
    ]
    assert words(completers.settings("data.valid=ta"), "data.valid=ta") == [
        "data.valid=table/",
        "data.valid=table/a.csv",
    ]
    assert completers.settings("data.test=missing/a") == []


@pytest.mark.usefixtures("folder")
def test_runs_are_folders_with_a_recipe() -> None:
    assert words(completers.runs(), "") == ["laps-gru", "laps-lstm"]
    assert words(completers.settings("start.run=laps-l"), "start.run=laps-l") == ["start.run=laps-lstm"]
    assert words(completers.data_or_runs("laps"), "laps") == ["laps-gru", "laps-lstm"]


def test_topics_of_explain_need_no_quotes() -> None:
    topics = words(completers.topics(), "")
    assert {"early-stopping", "lstm", "training", "training.clip_norm", "languages"} <= set(topics)
    assert [topic for topic in topics if " " in topic] == []


def test_each_completer_belongs_to_a_parameter_that_exists() -> None:
    parameters = {
        command.name: set(inspect.signature(command.callback).parameters)
        for command in app.registered_commands
        if command.callback is not None
    }
    assert {name: set(table) - parameters[name] for name, table in COMPLETERS.items()} == {
        name: set() for name in COMPLETERS
    }


def test_a_damaged_index_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    whole = load_index()
    (path,) = tmp_path.glob("completion-*.json")
    kept = path.read_bytes()
    path.write_text('{"stamp": ', encoding="utf-8")
    assert load_index() == whole
    assert path.read_bytes() == kept


def test_an_index_of_older_code_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    whole = load_index()
    (path,) = tmp_path.glob("completion-*.json")
    path.write_text('{"stamp": [1, 2], "settings": {}, "names": {}, "topics": {}}', encoding="utf-8")
    assert load_index() == whole


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["tra"], ["train"]),
        (["train", "laps.csv", "training.le"], ["training.learning_rate=", "training.learning_rate=0.001"]),
        (["train", "laps.csv", "model.bidirectional", "=", "t"], ["true"]),
        (["train", "laps.csv", "model.bidirectional", "="], ["true", "false"]),
        (["train", "laps.csv", "model.bidirectional=t"], ["model.bidirectional=true"]),
        (["train", "laps.csv", "data.text", "=", "a", "--model", "bil"], ["bilstm"]),
        (["train", "laps.csv", "--model", "=", "bil"], ["bilstm"]),
        (["train", "laps.csv", "--dry"], ["--dry-run"]),
        (["train", "la"], ["languages", "laps.csv"]),
        (["train", "--resume", "laps-l"], ["laps-lstm"]),
        (["compare", "laps-gru", "laps-l"], ["laps-lstm"]),
        (["list", "data"], ["datasets"]),
        (["explain", "early"], ["early-stopping"]),
    ],
    ids=" ".join,
)
def test_bash_is_offered(typed: list[str], offered: list[str]) -> None:
    assert in_bash("seqlab", *typed) == offered


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("seqlab tra", ['"train"']),
        (
            "seqlab train laps.csv training.le",
            ['"training.learning_rate="', '"training.learning_rate=0.001"'],
        ),
        ("seqlab train laps.csv model.bidirectional=t", ['"model.bidirectional=true"']),
        ("seqlab train laps.csv --model bil", ['"bilstm"']),
        ("seqlab evaluate ", ['"laps-gru"', '"laps-lstm"']),
        ("seqlab list data", ['"datasets"']),
    ],
)
def test_zsh_is_offered(line: str, offered: list[str]) -> None:
    answer = in_zsh(line)
    assert answer.startswith("_arguments ")
    assert len(answer.splitlines()) == len(offered)  # a sentence never breaks its line
    for entry, expected in zip(answer.splitlines(), offered, strict=True):
        assert expected in entry


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="bash may not be there")
def test_a_real_bash_completes_with_the_installed_script(folder: Path) -> None:
    shim = folder / "bin" / "seqlab"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m seqlab.cli.main "$@"\n', encoding="utf-8")
    shim.chmod(0o755)
    script = """
    source <(_SEQLAB_COMPLETE=source_bash seqlab)
    COMP_WORDS=(seqlab train laps.csv training.optimizer = adamw) COMP_CWORD=5
    _seqlab_completion seqlab
    echo "${COMPREPLY[*]}"
    complete -p seqlab
    """
    environment = {**os.environ, "PATH": f"{shim.parent}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(
        ["bash", "--norc", "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    offered, registered = ended.stdout.splitlines()
    assert offered == "adamw"
    assert registered == "complete -o default -F _seqlab_completion seqlab"


@pytest.mark.slow
def test_an_answer_imports_no_torch_and_reads_no_settings_classes() -> None:
    load_index()  # the first answer after an installation collects it
    code = (
        "import atexit, sys\n"
        "names = ('torch', 'numpy', 'rich.console', 'seqlab.recipes.recipe')\n"
        "atexit.register(lambda: print(*(name for name in names if name in sys.modules), file=sys.stderr))\n"
        "from seqlab.cli.main import main; main()"
    )
    typed = {"COMP_WORDS": "seqlab train x training.le", "COMP_CWORD": "3"}
    environment = {**os.environ, "_SEQLAB_COMPLETE": "complete_bash", **typed}
    ended = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert "training.learning_rate=" in ended.stdout
    assert ended.stderr.strip() == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no measure of a child's processor time")
def test_an_answer_takes_little_more_than_typer_itself() -> None:
    """0.25 s of processor time where it was measured; the machine's speed is taken out by a comparison."""
    import resource

    def seconds(*command: str, **variables: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, env={**os.environ, **variables}, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    load_index()
    words = {"COMP_WORDS": "seqlab train x training.le", "COMP_CWORD": "3"}
    answers, imports = [], []
    for _ in range(3):
        answers.append(seconds(*SEQLAB, _SEQLAB_COMPLETE="complete_bash", **words))
        imports.append(seconds(sys.executable, "-c", "import typer; from pydantic import TypeAdapter"))
    assert min(answers) < 2 * min(imports)
