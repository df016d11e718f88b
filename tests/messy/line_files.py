"""Files of lines: labels before texts, tagged words, plain text."""

from __future__ import annotations

from pathlib import Path

from tests.messy.texts import NEWS, REVIEWS, SMS, draw, sentence_pairs
from tests.messy.truth import Truth, messy


@messy("questions.label")
def label_and_text(path: Path) -> Truth:
    """A label, a space, a text."""
    lines = [f"{label.upper()}:desc {text}" for text, label in draw(NEWS, 300, seed=60)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("classification", 300, "text", "label", said=("data.format=text",))


@messy("sms.txt")
def lowercase_labels(path: Path) -> Truth:
    """ham and spam before the text, in a .txt file."""
    path.write_text("".join(f"{label} {text}\n" for text, label in draw(SMS, 260, seed=61)), encoding="utf-8")
    return Truth("classification", 260, "text", "label", said=("data.format=text",))


@messy("fasttext.txt")
def fasttext(path: Path) -> Truth:
    """The format of fastText."""
    lines = [f"__label__{label} {text}" for text, label in draw(REVIEWS, 220, seed=62)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("classification", 220, "text", "label")


@messy("prose.txt")
def prose(path: Path) -> Truth:
    """Plain text: paragraphs with blank lines between them."""
    sentences = [a for a, _ in sentence_pairs(200, seed=63)]
    paragraphs = [" ".join(sentences[at : at + 4]) for at in range(0, 200, 4)]
    text = "\n\n".join(paragraphs) + "\n"
    path.write_text(text, encoding="utf-8")
    return Truth("language_model", text.count("\n"), "text")


@messy("entities.txt")
def tagged(path: Path) -> Truth:
    """CoNLL columns with spaces, in a .txt file."""
    people, places = ("Ada", "Ben", "Cleo", "Dan"), ("Paris", "Leeds", "Graz", "York")
    blocks = [
        f"{people[n % 4]} NNP B-PER\nlives VBZ O\nin IN O\n{places[n // 4 % 4]} NNP B-LOC\nsince IN O\n{1950 + n} CD O\n. . O\n"
        for n in range(120)
    ]
    path.write_text("-DOCSTART- -X- O\n\n" + "\n".join(blocks), encoding="utf-8")
    return Truth("tagging", 120, "1", "3")
