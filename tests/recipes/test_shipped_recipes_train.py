"""Every shipped recipe makes two updates on a little data of its own kind, is saved, and answers."""

from __future__ import annotations

import csv
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import seqlab
from seqlab.recipes.read import shipped_recipes

IN_SECONDS = ("cmudict",)
"""The others read or count for longer, before or after their two updates."""
WORDS = ["ash", "birch", "cedar", "elm", "fir", "hazel", "larch", "maple", "oak", "pine", "rowan", "yew"]
FEWER = ("training.epochs=0", "training.minutes=0", "training.threads=1", "training.evaluate_every=2")

SHORT = "decoding.max_tokens=5"  # what has hardly learned does not end


def sentences(count: int, seed: int) -> list[str]:
    luck = random.Random(seed)
    return [" ".join(luck.choices(WORDS, k=luck.randint(3, 7))) for _ in range(count)]


def reviews(folder: Path) -> list[str]:
    labels = ["good", "bad"]
    with (folder / "reviews.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["text", "label", "sentiment"])
        rows.writerows(
            [f"{text} {labels[place % 2]}", *[labels[place % 2]] * 2]
            for place, text in enumerate(sentences(60, seed=1))
        )
    return [f"data.train={folder / 'reviews.csv'}"]


def unnamed_reviews(folder: Path) -> list[str]:
    with (folder / "reviews.jsonl").open("w", encoding="utf-8") as file:
        file.writelines(
            json.dumps({"text": text, "label": place % 2}) + "\n"
            for place, text in enumerate(sentences(60, seed=2))
        )
    return [f"data.train={folder / 'reviews.jsonl'}", "data.text=text", "data.label=label"]


def prose(folder: Path) -> list[str]:
    for part, count in (("train", 300), ("valid", 80), ("test", 80)):
        (folder / part).write_text("\n".join(sentences(count, seed=count)) + "\n", encoding="utf-8")
    return [f"data.{part}={folder / part}" for part in ("train", "valid", "test")]


def one_text(folder: Path) -> list[str]:
    (folder / "text").write_text("\n".join(sentences(400, seed=3)) + "\n", encoding="utf-8")
    return [f"data.train={folder / 'text'}"]


def tagged(folder: Path) -> list[str]:
    def lines(sentence: str) -> str:
        rows = [
            [str(place), word, "_", "NOUN" if "a" in word else "VERB", *"______"]
            for place, word in enumerate(sentence.split(), start=1)
        ]
        return "".join("\t".join(row) + "\n" for row in rows) + "\n"

    (folder / "train.conllu").write_text("".join(map(lines, sentences(60, seed=4))), encoding="utf-8")
    return [f"data.train={folder / 'train.conllu'}"]


def captions(folder: Path) -> list[str]:
    for part, count in (("train", 60), ("val", 10), ("test", 10)):
        read = sentences(count, seed=count)
        (folder / f"{part}.en").write_text("\n".join(read) + "\n", encoding="utf-8")
        (folder / f"{part}.de").write_text("\n".join(text.upper() for text in read) + "\n", encoding="utf-8")
    return [
        f"data.train={folder / 'train'}",
        f"data.valid={folder / 'val'}",
        f"data.test={folder / 'test'}",
        "tokens.size=60",
        SHORT,
    ]


def dictionary(folder: Path) -> list[str]:
    luck = random.Random(5)
    for part, count in (("train", 80), ("valid", 12), ("test", 12)):
        words = ["".join(luck.choices("ABDEKT", k=luck.randint(2, 6))) for _ in range(count)]
        (folder / part).write_text("".join(f"{word}  {' '.join(word)}\n" for word in words), encoding="utf-8")
    return [*(f"data.{part}={folder / part}" for part in ("train", "valid", "test")), SHORT]


def built_in(_: Path) -> list[str]:
    return ["data.max_rows=40"]


DATA: dict[str, Callable[[Path], Sequence[str]]] = {
    "airline": reviews,
    "bert-small": built_in,
    "characters": one_text,
    "cmudict": dictionary,
    "gpt-small": built_in,
    "imdb": unnamed_reviews,
    "imdb-lecture": unnamed_reviews,
    "lstm-lecture": unnamed_reviews,
    "multi30k": captions,
    "multi30k-gru": captions,
    "shakespeare": one_text,
    "tunes": one_text,
    "ud-tagging": tagged,
    "words": prose,
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow if name in IN_SECONDS else pytest.mark.long)
        for name in shipped_recipes()
    ],
)
def test_a_shipped_recipe_trains_and_is_loaded_again(name: str, tmp_path: Path) -> None:
    data = DATA[name](tmp_path)
    run = seqlab.train(name, *data, *FEWER, steps=2, out=tmp_path / "run")
    again = seqlab.load(tmp_path / "run")
    assert again.recipe.training.steps == 2
    assert again.recipe.model == run.recipe.model
    assert again.results
    assert {score: each.value for score, each in again.results.items()} == {
        score: each.value for score, each in run.results.items()
    }
