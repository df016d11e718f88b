"""Tiny datasets, written by seeded generators: each can be learned a little in a dozen updates."""

from __future__ import annotations

import csv
import datetime as dt
import json
import math
import random
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

GOOD = ["good", "fine", "lovely", "warm", "clever", "happy"]
BAD = ["bad", "dull", "awful", "cold", "silly", "sad"]
PLAIN = ["the", "film", "story", "was", "and", "music", "very", "actor", "scene", "quite", "a", "long"]
NOUNS = ["dog", "bird", "river", "house", "teacher", "garden"]
VERBS = ["sees", "likes", "paints", "finds", "visits"]
ADJECTIVES = ["red", "old", "quiet", "small"]
NAMES = [["Anna"], ["Paul"], ["Ada", "Byron"], ["Marie", "Curie"]]
CITIES = [["Paris"], ["New", "York"], ["Oslo"]]
DIGITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
COLORS = {"red": (210, 30, 30), "green": (30, 170, 40), "blue": (40, 60, 210)}


def _table(
    path: Path, header: Sequence[str], rows: Iterable[Sequence[object]], *, delimiter: str = ","
) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
    return path


def _lines(path: Path, lines: Iterable[str]) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _opinion(chance: random.Random, words: Sequence[str], *, shortest: int = 2, longest: int = 9) -> str:
    """Plain words with one or two that tell."""
    text = chance.choices(PLAIN, k=chance.randint(shortest, longest))
    for _ in range(chance.randint(1, 2)):
        text.insert(chance.randint(0, len(text)), chance.choice(words))
    return " ".join(text)


def reviews(folder: Path) -> Path:
    """Two classes; one label in ten is wrong."""
    chance = random.Random(11)
    rows = []
    for number in range(150):
        is_good = number % 2 == 0
        label = is_good if chance.random() > 0.1 else not is_good
        rows.append((_opinion(chance, GOOD if is_good else BAD), "good" if label else "bad"))
    return _table(folder / "reviews.csv", ["text", "label"], rows)


def tickets(folder: Path) -> Path:
    """Two columns of text, three classes of which one is rare: the title or the body tells."""
    chance = random.Random(12)
    kinds = {"praise": GOOD, "complaint": BAD, "question": ["where", "when", "why", "how"]}
    rows = []
    for number in range(150):
        kind = "question" if number % 10 == 0 else "praise" if number % 3 == 0 else "complaint"
        told, silent = (
            _opinion(chance, kinds[kind], longest=4),
            " ".join(chance.choices(PLAIN, k=chance.randint(1, 5))),
        )
        rows.append((told, silent, kind) if number % 2 else (silent, told, kind))
    return _table(folder / "tickets.csv", ["title", "body", "kind"], rows)


def topics(folder: Path) -> Path:
    """Sets of labels: none, one or several."""
    chance = random.Random(13)
    words = {
        "animals": ["dog", "cat", "owl"],
        "water": ["river", "sea", "rain"],
        "home": ["house", "table", "door"],
    }
    rows = []
    for _ in range(150):
        labels = [label for label in words if chance.random() < 0.45]
        text = chance.choices(PLAIN, k=chance.randint(2, 6)) + [
            chance.choice(words[label]) for label in labels
        ]
        chance.shuffle(text)
        rows.append((" ".join(text), ";".join(labels)))
    return _table(folder / "topics.csv", ["text", "labels"], rows)


def stars(folder: Path) -> Path:
    """A number for a text: good words minus bad words, with noise."""
    chance = random.Random(14)
    rows = []
    for _ in range(150):
        good, bad = chance.randint(0, 3), chance.randint(0, 3)
        text = (
            chance.choices(GOOD, k=good)
            + chance.choices(BAD, k=bad)
            + chance.choices(PLAIN, k=chance.randint(1, 5))
        )
        chance.shuffle(text)
        rows.append((" ".join(text), f"{2.5 + 0.7 * (good - bad) + chance.gauss(0, 0.2):.3f}"))
    return _table(folder / "stars.csv", ["text", "stars"], rows)


def _series(chance: random.Random, *, rises: bool) -> list[tuple[float, float]]:
    slope, height = (0.3 if rises else -0.3), chance.gauss(0, 1)
    return [
        (height + slope * step + chance.gauss(0, 0.3), chance.gauss(2, 1))
        for step in range(chance.randint(4, 9))
    ]


def trends(folder: Path) -> Path:
    """Numeric series with a class each, one row per step."""
    chance = random.Random(15)
    rows = []
    for number in range(120):
        rises = chance.random() < 0.5
        rows += [
            (f"s{number}", f"{x:.3f}", f"{y:.3f}", "up" if rises else "down")
            for x, y in _series(chance, rises=rises)
        ]
    return _table(folder / "trends.csv", ["series", "x", "y", "trend"], rows)


def doses(folder: Path) -> Path:
    """Numeric series with a number each: the mean of one column."""
    chance = random.Random(16)
    rows = []
    for number in range(120):
        series = _series(chance, rises=chance.random() < 0.5)
        dose = 3 * sum(x for x, _ in series) / len(series) + 10 + chance.gauss(0, 0.3)
        rows += [(f"s{number}", f"{x:.3f}", f"{y:.3f}", f"{dose:.3f}") for x, y in series]
    return _table(folder / "doses.csv", ["series", "x", "y", "dose"], rows)


def phases(folder: Path) -> Path:
    """Numeric series with a tag for every step."""
    chance = random.Random(17)
    rows = []
    for number in range(100):
        level = 0.0
        for _ in range(chance.randint(4, 9)):
            level += chance.gauss(0, 1)
            rows.append(
                (
                    f"s{number}",
                    f"{level + chance.gauss(0, 0.3):.3f}",
                    f"{chance.gauss(0, 1):.3f}",
                    "high" if level > 0 else "low",
                )
            )
    return _table(folder / "phases.csv", ["series", "x", "y", "phase"], rows)


def weather(folder: Path) -> Path:
    """Two daily series with a weekly pattern: a gap in one, an input of the past, and one known in advance."""
    chance = random.Random(22)
    rows = []
    for town, level in (("Ulm", 10.0), ("Jena", 200.0)):
        for day in range(150):
            is_holiday = chance.random() < 0.1
            value = level * (
                1 + 0.1 * math.sin(2 * math.pi * day / 7) + 0.05 * is_holiday + chance.gauss(0, 0.02)
            )
            date = dt.date(2025, 1, 1) + dt.timedelta(days=day)
            shown = "" if town == "Ulm" and 40 <= day < 44 else f"{value:.3f}"
            rows.append((date.isoformat(), town, shown, f"{chance.gauss(2, 1):.3f}", str(int(is_holiday))))
    return _table(folder / "weather.csv", ["date", "town", "load", "wind", "holiday"], rows)


def images(folder: Path) -> Path:
    """Images of 8 by 8 pixels, read row by row: a horizontal bar, a vertical bar or a square."""
    chance = random.Random(18)
    rows = []
    for number in range(120):
        kind = ("bar", "pole", "square")[number % 3]
        top, left = chance.randint(0, 4), chance.randint(0, 4)
        height, width = {"bar": (1, 4), "pole": (4, 1), "square": (4, 4)}[kind]
        for row in range(8):
            lit = [0 <= row - top < height and 0 <= column - left < width for column in range(8)]
            rows.append(
                (f"i{number}", *(f"{(0.9 if on else 0.1) + chance.gauss(0, 0.05):.3f}" for on in lit), kind)
            )
    return _table(folder / "images.csv", ["image", *(f"p{column}" for column in range(8)), "shape"], rows)


def _sentence(chance: random.Random) -> list[tuple[str, str, str]]:
    """Words with a part of speech and a mark of the name they belong to."""

    def thing() -> list[tuple[str, str, str]]:
        if chance.random() < 0.4:
            kind, name = (
                ("PER", chance.choice(NAMES)) if chance.random() < 0.6 else ("LOC", chance.choice(CITIES))
            )
            return [(word, "PROPN", f"{'I' if place else 'B'}-{kind}") for place, word in enumerate(name)]
        adjective = [(chance.choice(ADJECTIVES), "ADJ", "O")] if chance.random() < 0.5 else []
        return [("the", "DET", "O"), *adjective, (chance.choice(NOUNS), "NOUN", "O")]

    return [*thing(), (chance.choice(VERBS), "VERB", "O"), *thing(), (".", "PUNCT", "O")]


def tags(folder: Path) -> Path:
    """Words with parts of speech."""
    chance = random.Random(19)
    lines: list[str] = []
    for _ in range(90):
        lines += [*(f"{word}\t{tag}" for word, tag, _ in _sentence(chance)), ""]
    return _lines(folder / "tags.tsv", lines)


def names(folder: Path) -> Path:
    """Words with marks of names (BIO)."""
    chance = random.Random(20)
    lines: list[str] = []
    for _ in range(90):
        lines += [*(f"{word}\t{mark}" for word, _, mark in _sentence(chance)), ""]
    return _lines(folder / "names.tsv", lines)


def story(folder: Path) -> Path:
    """One text of short sentences."""
    chance = random.Random(21)
    return _lines(
        folder / "story.txt", (" ".join(word for word, _, _ in _sentence(chance)) for _ in range(160))
    )


def notes(folder: Path) -> Path:
    """A table of texts without a label: documents for a language model."""
    chance = random.Random(22)
    rows = (
        (" ".join(word for _ in range(chance.randint(1, 3)) for word, _, _ in _sentence(chance)),)
        for _ in range(90)
    )
    return _table(folder / "notes.csv", ["note"], rows)


def numbers(folder: Path) -> Path:
    """Pairs: words for digits into digits, the last one first."""
    chance = random.Random(23)
    rows = []
    for _ in range(150):
        digits = [chance.randrange(10) for _ in range(chance.randint(1, 5))]
        rows.append(
            (" ".join(DIGITS[digit] for digit in digits), " ".join(str(digit) for digit in reversed(digits)))
        )
    return _table(folder / "numbers.tsv", ["words", "digits"], rows, delimiter="\t")


def two_languages(folder: Path) -> Path:
    """The same pairs for one model that writes in two ways."""
    chance = random.Random(24)
    rows = []
    for number in range(150):
        digits = [chance.randrange(10) for _ in range(chance.randint(1, 5))]
        language = "up" if number % 2 else "down"
        rows.append(
            (
                " ".join(DIGITS[digit] for digit in digits),
                " ".join(map(str, digits if language == "up" else digits[::-1])),
                language,
            )
        )
    return _table(folder / "two_languages.tsv", ["words", "digits", "order"], rows, delimiter="\t")


def walls(folder: Path) -> Path:
    """Images of 8 by 8 colored pixels, as numbers, with one or two captions each."""
    chance = random.Random(25)
    lines = []
    for number in range(60):
        upper, lower = chance.choice(list(COLORS)), chance.choice(list(COLORS))
        image = [
            [
                [
                    min(255, max(0, part + chance.randint(-30, 30)))
                    for part in COLORS[upper if row < 4 else lower]
                ]
                for _ in range(8)
            ]
            for row in range(8)
        ]
        captions = [f"{upper} above {lower}", f"a wall , {upper} on {lower}"][: 1 + number % 2]
        lines += [json.dumps({"image": image, "caption": caption}) for caption in captions]
    return _lines(folder / "walls.jsonl", lines)


def vectors(folder: Path) -> Path:
    """Word vectors for some of the words, in the format of GloVe."""
    chance = random.Random(26)
    return _lines(
        folder / "vectors.txt",
        (
            f"{word} {' '.join(f'{chance.gauss(0, 0.5):.3f}' for _ in range(12))}"
            for word in [*GOOD, *BAD, *PLAIN[:6]]
        ),
    )


WRITERS: dict[str, Callable[[Path], Path]] = {
    writer.__name__: writer
    for writer in (
        reviews,
        tickets,
        topics,
        stars,
        trends,
        doses,
        phases,
        weather,
        images,
        tags,
        names,
        story,
        notes,
        numbers,
        two_languages,
        walls,
        vectors,
    )
}


def write(name: str, folder: Path) -> Path:
    """The file of a dataset, in this folder."""
    return WRITERS[name](folder)
