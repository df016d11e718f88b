"""Wrong tags that were planted in a file are found again, by sentence and word number."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from seqlab.runs.run import Run
from tests.runs.planted_errors import check_most_are_found, label_errors, train_quickly

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::seqlab.core.errors.SeqlabWarning")]
WORDS = {
    "DET": ["the", "a", "this", "every"],
    "ADJ": ["old", "small", "green", "quiet", "heavy"],
    "NOUN": ["dog", "river", "house", "teacher", "song", "train"],
    "VERB": ["sees", "follows", "paints", "hears", "finds"],
}
SHAPE = ["DET", "ADJ", "NOUN", "VERB", "DET", "NOUN"]
SENTENCES, PLANTED = 400, 12
Place = tuple[int, int]
"""The first line of a sentence, and the number of a word in it."""


def write_sentences(path: Path) -> set[Place]:
    chance = random.Random(4)
    wrong = {(number, chance.randrange(len(SHAPE))) for number in chance.sample(range(SENTENCES), PLANTED)}
    lines, planted = list[str](), set[Place]()
    for number in range(SENTENCES):
        first = len(lines) + 1
        for place, tag in enumerate(SHAPE):
            shown = tag
            if (number, place) in wrong:
                planted.add((first, place + 1))
                shown = chance.choice([other for other in WORDS if other != tag])
            lines.append(f"{chance.choice(WORDS[tag])}\t{shown}")
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")
    return planted


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, set[Place]]:
    folder = tmp_path_factory.mktemp("tags")
    planted = write_sentences(folder / "sentences.tsv")
    return train_quickly(folder / "sentences.tsv", task="tagging", model="bilstm", steps=60), planted


def place_of(where: str) -> Place:
    match = re.fullmatch(r".*, line (\d+), word (\d+)", where)
    assert match, where
    return int(match[1]), int(match[2])


def test_planted_tags_are_found_in_training_and_test_data(trained: tuple[Run, set[Place]]) -> None:
    run, planted = trained
    section = label_errors(run.results.sections)
    check_most_are_found({place_of(error.where) for error in section.errors}, planted, section)


def test_every_error_names_the_word_and_the_tag_of_the_file(trained: tuple[Run, set[Place]]) -> None:
    run, _ = trained
    lines = Path(run.recipe.data.train).read_text(encoding="utf-8").splitlines()
    for error in label_errors(run.results.sections).errors:
        line, number = place_of(error.where)
        word, tag = lines[line - 1 + number - 1].split("\t")
        assert f"[{word}]" in error.text
        assert tag == error.label != error.predicted
        assert 0.8 <= error.probability <= 1


def test_a_clean_file_has_none(tmp_path: Path, trained: tuple[Run, set[Place]]) -> None:
    run, _ = trained
    clean = tmp_path / "clean.tsv"
    sentence = "".join(f"{WORDS[tag][0]}\t{tag}\n" for tag in SHAPE)
    clean.write_text(f"{sentence}\n" * 30, encoding="utf-8")
    assert label_errors(run.evaluate(clean).sections).found == 0
