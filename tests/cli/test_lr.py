"""seqlab lr, and training with the rate that it suggests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

import seqlab
from seqlab.core.errors import UsageError
from seqlab.runs.folder.layout import RECIPE
from seqlab.runs.run import Run
from tests.cli.running import run as type_command
from tests.runs.film_reviews import write_films

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::seqlab.core.errors.SeqlabWarning")]
SETTINGS = (
    "training.threads=1",
    "model.hidden_size=8",
    "model.dropout=0.3",
    "training.batch_size=8",
    "tokens.kind=words",
)


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_films(tmp_path_factory.mktemp("films") / "films.csv")


def test_the_command_suggests_a_rate_and_leaves_nothing_behind(
    films: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = films.read_bytes()
    outcome = type_command(capsys, "lr", str(films), *SETTINGS, "--model", "gru", "-q")
    assert outcome.code == 0
    assert list(tmp_path.iterdir()) == []
    assert films.read_bytes() == before
    suggested = [word for word in outcome.out.split() if word.startswith("training.learning_rate=")][-1]
    assert f"--model gru {' '.join(SETTINGS)} {suggested}" in " ".join(outcome.out.split())
    assert outcome.out.count(suggested) == 2  # the suggestion, and the command to type


def test_the_same_seed_gives_the_same_curve_and_another_one_another(
    films: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def curve(seed: int) -> dict[str, object]:
        words = ("lr", str(films), *SETTINGS, "--model", "gru", "-q", "--json", "--steps", "30")
        found: dict[str, object] = type_command(capsys, *words, f"training.seed={seed}").json
        return found

    first = curve(1)
    torch.rand(3)
    assert curve(1) == first
    assert curve(2)["losses"] != first["losses"]


def test_the_page_has_the_curve_and_the_suggestion(
    films: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "lr.html"
    outcome = type_command(
        capsys, "lr", str(films), *SETTINGS, "--model", "gru", "-q", "--page", str(page), "--json"
    )
    text = page.read_text(encoding="utf-8")
    assert f"training.learning_rate={outcome.json['suggestion']:g}" in text
    assert "<svg" in text
    assert "not finite" not in text  # losses of the divergence are left out, not drawn as gaps
    assert outcome.json["page"] == str(page)


def test_python_finds_the_same_as_the_command(films: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("lr", str(films), *SETTINGS, "--model", "gru", "-q", "--json", "--steps", "40")
    command = type_command(capsys, *words).json
    search = seqlab.find_learning_rate(films, *SETTINGS, model="gru", steps=40, verbose=False)
    assert json.loads(json.dumps(search.to_json())) == command
    assert "&lt;svg" in search._repr_html_()


@pytest.mark.parametrize(
    ("words", "facts"),
    [
        (("--low", "1", "--high", "0.1"), ["--low", "0.1"]),
        (("--low", "0"), ["--low"]),
        (("--steps", "3"), ["--steps", "20"]),
        (("--page", "curve.png"), ["curve.png", "lr.html"]),
    ],
)
def test_a_range_that_cannot_be_is_refused(
    films: Path, words: tuple[str, ...], facts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = type_command(capsys, "lr", str(films), *words)
    assert outcome.code == 2
    for fact in facts:
        assert fact in outcome.err


def test_python_names_its_arguments(films: Path) -> None:
    with pytest.raises(UsageError) as caught:
        seqlab.find_learning_rate(films, *SETTINGS, steps=3, verbose=False)
    assert "steps=" in str(caught.value)
    assert "--steps" in caught.value.message


@pytest.fixture(scope="module")
def auto(films: Path) -> Run:
    return seqlab.train(
        films,
        *SETTINGS,
        "training.learning_rate=auto",
        model="gru",
        steps=6,
        out=films.parent / "auto",
        verbose=False,
    )


def test_auto_trains_with_the_suggestion_and_records_it(films: Path, auto: Run) -> None:
    search = seqlab.find_learning_rate(films, *SETTINGS, model="gru", verbose=False)
    assert search.suggestion is not None
    assert auto.recipe.training.learning_rate == search.suggestion
    assert not auto.recipe.training.find_learning_rate
    assert f"learning_rate = {search.suggestion}" in (auto.folder / RECIPE).read_text(encoding="utf-8")


def test_a_run_with_auto_equals_one_with_the_number(films: Path, auto: Run, tmp_path: Path) -> None:
    rate = auto.recipe.training.learning_rate
    same = seqlab.train(
        films, *SETTINGS, model="gru", steps=6, learning_rate=rate, out=tmp_path / "same", verbose=False
    )
    digests = [run.results.raw["training"]["weights_sha256"] for run in (auto, same)]
    assert digests[0] == digests[1]


def test_auto_is_reproduced_without_another_test(auto: Run, tmp_path: Path) -> None:
    assert auto.reproduce(out=tmp_path / "again").is_identical
