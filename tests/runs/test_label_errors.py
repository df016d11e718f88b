"""Wrong labels that were planted in a file are found again, with their lines."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from seqlab.pages.sections.label_errors import LabelErrors
from seqlab.runs.run import Run
from tests.cli.running import run as type_command
from tests.runs.planted_errors import check_most_are_found, label_errors, train_quickly

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::seqlab.core.errors.SeqlabWarning")]
ROWS, PLANTED = 900, 18
GOOD = ["fine", "lovely", "great", "moving", "funny", "clever"]
BAD = ["dull", "awful", "boring", "tedious", "silly", "weak"]
PLAIN = ["film", "plot", "actors", "music", "scene", "script", "ending", "camera", "story", "cast"]


def write_reviews(path: Path) -> set[int]:
    """Reviews of mostly plain words, some of them of both opinions; the lines of the labels that are wrong."""
    chance = random.Random(11)
    planted = set(chance.sample(range(2, ROWS + 2), PLANTED))
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "label"])
        for line in range(2, ROWS + 2):
            own, other = (GOOD, BAD) if chance.random() < 0.5 else (BAD, GOOD)
            words = (
                chance.choices(PLAIN, k=5)
                + chance.sample(own, 3)
                + chance.choices(other, k=chance.random() < 0.3)
            )
            chance.shuffle(words)
            label = "good" if (own is GOOD) != (line in planted) else "bad"
            table.writerow([" ".join(words), label])
    return planted


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, set[int]]:
    folder = tmp_path_factory.mktemp("errors")
    planted = write_reviews(folder / "reviews.csv")
    return train_quickly(folder / "reviews.csv", "tokens.kind=words", model="gru", steps=80), planted


def lines_in(section: LabelErrors) -> set[int]:
    return {int(error.where.rpartition("line ")[2]) for error in section.errors}


def test_most_planted_errors_are_found_with_few_false_alarms(trained: tuple[Run, set[int]]) -> None:
    run, planted = trained
    section = label_errors(run.results.sections)
    check_most_are_found(lines_in(section), planted, section)


def test_every_error_names_the_label_of_the_file_and_another(trained: tuple[Run, set[int]]) -> None:
    run, _ = trained
    path = Path(run.recipe.data.train)
    lines = path.read_text(encoding="utf-8").splitlines()
    section = label_errors(run.results.sections)
    for error in section.errors:
        file, _, line = error.where.rpartition(", line ")
        assert file == str(path)
        assert lines[int(line) - 1] == f"{error.text},{error.label}"
        assert error.predicted != error.label
        assert 0.8 <= error.probability <= 1


def test_report_evaluate_and_train_show_them(
    trained: tuple[Run, set[int]], capsys: pytest.CaptureFixture[str]
) -> None:
    run, _ = trained
    section = label_errors(run.results.sections)
    report = (run.folder / "report.html").read_text(encoding="utf-8")
    assert "Likely label errors" in report
    assert section.errors[0].where in report
    outcome = type_command(capsys, "evaluate", str(run.folder))
    assert f"likely label errors ({section.found}" in outcome.out
    assert f"{section.errors[0].where}: labeled" in outcome.out
    outcome = type_command(capsys, "evaluate", str(run.folder), "--json")
    assert outcome.json["sections"]["label_errors"]["found"] == section.found
