"""Every command and every block of Python in README and docs runs, on small files and with short trainings."""

from __future__ import annotations

import ast
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path

import pytest
import torch

from tests.check_each import check_each
from tests.docs.pages import ROOT
from tests.docs.small_files import SmallFiles
from tests.docs.small_runs import train_briefly
from tests.docs.story import PAGES, PUBLISHED_WEIGHTS, Code, Command, Step, page_name, steps_of
from tests.docs.storyteller import Storyteller, is_benchmark, is_study, story_of, weights_story_of
from tests.interop.real_weights import g2p_file, minilm_folder, smollm_file

Tell = Callable[[str, Sequence[Step]], None]

STORIES = {page_name(page): page for page in PAGES}
FIRST = ("README.md", "docs/index.md", "docs/get_started/", "docs/tutorials/")
"""Pages that are run by default; the others only in `make test-long`."""
SLOWEST = ("docs/tutorials/masked_language_model.md", "docs/tutorials/translation.md")
"""Of these, the two that take longest."""
NOT_RUN = {
    "README.md": 1,
    "docs/benchmarks.md": 5,
    "docs/get_started/install.md": 5,
    "docs/guides/extend.md": 2,
    "docs/guides/fine_tune.md": 2,
    "docs/guides/import_pretrained.md": 2,
    "docs/guides/reproduce.md": 1,
    "docs/index.md": 1,
    "docs/reference/editor_completion.md": 1,
}
"""How many commands and blocks of a page have a comment that says why they are not run."""

WITH_WEIGHTS = {"docs/concepts/gpt.md": 1, "docs/guides/import_pretrained.md": 9}
"""How many run only where the packages of the test extra have brought published weights."""


@pytest.fixture(scope="module")
def small_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("small_files")
    SmallFiles(folder).write_all()
    return folder


@pytest.fixture
def tell(
    small_files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Tell]:
    """Runs steps of a page in a folder of its own, next to the small files."""
    train_briefly(monkeypatch)
    threads = torch.get_num_threads()

    def tell(name: str, steps: Sequence[Step]) -> None:
        folder = tmp_path / name.replace("/", "-")
        shutil.copytree(small_files, folder)
        monkeypatch.chdir(folder)
        Storyteller(STORIES[name], capsys, monkeypatch).tell(steps)

    yield tell
    torch.set_num_threads(threads)


def is_default(name: str) -> bool:
    return name.startswith(FIRST) and name not in SLOWEST


def _stories() -> list[object]:
    return [
        pytest.param(name, marks=pytest.mark.slow if is_default(name) else pytest.mark.long)
        for name, page in STORIES.items()
        if any(isinstance(step, Command) for step in story_of(page))
    ]


@pytest.mark.parametrize("name", _stories())
def test_a_page_runs_from_top_to_bottom(name: str, tell: Tell) -> None:
    tell(name, story_of(STORIES[name]))


@pytest.mark.slow
def test_examples_with_their_output_print_it(tell: Tell) -> None:
    """Those that need nothing but what the page shows above them, on pages that only `make test-long` runs as a
    whole.
    """
    names = [name for name in STORIES if not is_default(name) and _examples(name)]
    assert len(names) > 20
    check_each(names, lambda name: tell(name, _examples(name)))


def _examples(name: str) -> list[Step]:
    return [step for step in story_of(STORIES[name]) if isinstance(step, Code) and step.prints is not None]


@pytest.mark.long
def test_every_study_that_a_page_names_runs(tell: Tell) -> None:
    commands = {step.text: step for page in PAGES for step in steps_of(page) if is_study(step)}
    quick = {
        line if "--quick" in line else f"{line.partition('  #')[0]} --quick": step.line
        for line, step in commands.items()
    }
    tell("docs/guides/studies.md", [Command(line, "", text, "") for text, line in quick.items()])


def test_every_benchmark_that_a_page_names_exists() -> None:
    lines = [step.text for page in PAGES for step in steps_of(page) if is_benchmark(step)]
    named = {name for line in lines for name in re.findall(r"python -m benchmarks\.(\w+)", line)}
    assert len(named) > 10
    assert {name for name in named if not (ROOT / "benchmarks" / f"{name}.py").is_file()} == set()


@pytest.mark.long
@pytest.mark.timeout(900)  # a network of thirty layers, on whatever else the machine does
@pytest.mark.parametrize("name", WITH_WEIGHTS)
def test_examples_with_published_weights_print_what_the_page_shows(
    name: str, tell: Tell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINILM", str(minilm_folder()))
    monkeypatch.setenv("G2P", str(g2p_file()))
    monkeypatch.setenv("SMOLLM", str(smollm_file()))
    steps = weights_story_of(STORIES[name])
    assert len(steps) == WITH_WEIGHTS[name]
    tell(name, steps)


def test_what_is_not_run_is_listed_with_a_reason() -> None:
    counts = Counter(
        page_name(page)
        for page in PAGES
        for step in steps_of(page)
        if step.reason not in ("", PUBLISHED_WEIGHTS)
    )
    assert counts == NOT_RUN


@pytest.mark.slow
def test_python_parses_and_names_what_exists() -> None:
    check_each(STORIES, lambda name: [imports_exist(step) for step in steps_of(STORIES[name])])


def imports_exist(step: Step) -> None:
    """Also in blocks that are not run."""
    if not isinstance(step, Code):
        return
    for node in ast.walk(ast.parse(step.text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "seqlab":
            module = import_module(node.module or "")
            missing = [name.name for name in node.names if not hasattr(module, name.name)]
            assert missing == [], f"{node.module} has no {missing}"
