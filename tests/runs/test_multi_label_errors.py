"""Labels that were added or removed by mistake are found again, each with its row and its name."""

from __future__ import annotations

import csv
import random
from pathlib import Path

import pytest

from seqlab.runs.run import Run
from tests.runs.planted_errors import check_most_are_found, label_errors, train_quickly

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::seqlab.core.errors.SeqlabWarning")]
TOPICS = {
    "sports": ["goal", "match", "referee", "striker", "season"],
    "music": ["melody", "choir", "guitar", "rhythm", "concert"],
    "travel": ["hotel", "airport", "beach", "passport", "tour"],
}
PLAIN = ["people", "today", "there", "city", "again", "many"]
ROWS, PLANTED = 700, 12
Answer = tuple[int, str]
"""A line of the file, and a label."""


def write_texts(path: Path) -> set[Answer]:
    chance = random.Random(8)
    planted = {(line, chance.choice(list(TOPICS))) for line in chance.sample(range(2, ROWS + 2), PLANTED)}
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", *TOPICS])
        for line in range(2, ROWS + 2):
            topics = {topic for topic in TOPICS if chance.random() < 0.4}
            words = chance.choices(PLAIN, k=3) + [
                word for topic in topics for word in chance.sample(TOPICS[topic], 3)
            ]
            chance.shuffle(words)
            table.writerow([" ".join(words), *(int((t in topics) != ((line, t) in planted)) for t in TOPICS)])
    return planted


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, set[Answer]]:
    folder = tmp_path_factory.mktemp("labels")
    planted = write_texts(folder / "texts.csv")
    settings = (
        "tokens.kind=words",
        "data.text=text",
        "data.test_share=0.3",
        f"data.label={','.join(TOPICS)}",
    )
    return train_quickly(folder / "texts.csv", *settings, task="multi_label", model="gru", steps=120), planted


def test_planted_answers_are_found(trained: tuple[Run, set[Answer]]) -> None:
    run, planted = trained
    section = label_errors(run.results.sections)
    reported = {
        (int(error.where.rpartition("line ")[2]), error.label.partition(":")[0]) for error in section.errors
    }
    check_most_are_found(reported, planted, section)


def test_every_error_names_the_answer_of_the_file_and_the_other_one(trained: tuple[Run, set[Answer]]) -> None:
    run, _ = trained
    with Path(run.recipe.data.train).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for error in label_errors(run.results.sections).errors:
        row = rows[int(error.where.rpartition("line ")[2]) - 2]
        topic, _, answer = error.label.partition(": ")
        assert row["text"] == error.text
        assert answer == ("yes" if row[topic] == "1" else "no")
        assert error.predicted == f"{topic}: {'no' if answer == 'yes' else 'yes'}"
        assert 0.8 <= error.probability <= 1
