"""Small files with the names and columns of the data that documents use."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import random
import string
import zipfile
from collections.abc import Callable, Iterable, Sequence
from datetime import date, timedelta
from itertools import cycle
from pathlib import Path

from PIL import Image

from tests.docs.small_bert import write_small_bert

NUM_ROWS = 120
SIDES = {
    "good": ["great", "lovely", "not bad", "well made", "a joy"],
    "bad": ["dull", "boring", "not good", "a mess", "too long"],
}
FEELINGS = {"negative": SIDES["bad"], "neutral": ["which gate", "a question"], "positive": SIDES["good"]}
SENTENCE = [("The", "DET"), ("{}", "ADJ"), ("[]", "NOUN"), ("barks", "VERB"), (".", "PUNCT")]
SOUNDS = {"A": "AH", "B": "B", "D": "D", "K": "K", "N": "N", "O": "OW", "T": "T"}
TEXTS = [
    *("novel.txt", "notes.txt", "text.txt", "new.txt", "input.txt", "tinyshakespeare/input.txt"),
    *(f"{part}.txt{end}" for part in ("train", "valid", "test") for end in ("", ".xz")),
]
RELATIONS = (
    "The man is her uncle and the woman is her aunt .\nThe boy has a brother and the girl has a sister .\n"
    "The king of Italy likes Italian music and a car .\nThe river in Spain has a Spanish name , and football .\n"
)


class SmallFiles:
    """Writes the files into a folder; the same random draws give the same files every time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.chance = random.Random(7)

    def write_all(self) -> None:
        self._tables()
        self._texts()
        self._pairs()
        self._tags()
        self._images()
        for name in ("all-MiniLM-L6-v2", "downloads/all-MiniLM-L6-v2"):
            write_small_bert(self.folder / name)

    def write(self, name: str, content: str | bytes) -> None:
        """A file, compressed as its name says."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        pack: Callable[[bytes], bytes] = {".xz": lzma.compress, ".gz": gzip.compress}.get(path.suffix, bytes)
        path.write_bytes(pack(data))

    def table(self, name: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t" if ".tsv" in name else ",", lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
        self.write(name, text.getvalue())

    def review(self, words: Sequence[str]) -> str:
        return " ".join([*self.chance.choices(words, k=self.chance.randint(2, 6)), f"no {self.number()}"])

    def number(self) -> int:
        return self.chance.randint(1, 999)

    def _tables(self) -> None:
        reviews = [(self.review(SIDES[label]), label) for label in list(SIDES) * NUM_ROWS]
        for name in ("reviews.csv", "new-reviews.csv", "archive/reviews.csv", "train.csv", "few.csv"):
            self.table(name, ["text", "label"], reviews)
        for name in ("dev.csv", "valid.csv", "test.csv", "new.csv"):
            self.table(
                name, ["text", "label"], [(self.review(SIDES[label]), label) for label in list(SIDES) * 20]
            )
        self.table("titled.csv", ["title", "body", "label"], [("a film", *row) for row in reviews])
        self.table("films.csv", ["review", "stars"], [(text, self.number() % 5) for text, _ in reviews])
        self.table("prices.csv", ["text", "price"], [(text, self.number() / 7) for text, _ in reviews])
        for name in (
            "imdb.jsonl.xz",
            "imdb/train.jsonl.xz",
            "imdb/test.jsonl.xz",
            "train.jsonl.xz",
            "test.jsonl.xz",
        ):
            self.write(name, "".join(self.film(label) for label in list(SIDES) * NUM_ROWS))
        for number, label in enumerate(list(SIDES) * NUM_ROWS):
            side, part = {"good": "pos", "bad": "neg"}[label], "test" if number % 4 == 0 else "train"
            self.write(f"aclImdb/{part}/{side}/{number}.txt", self.review(SIDES[label]))
        self.tweets()
        series = [
            (f"s{n}", kind, self.chance.random() + (kind == "high"))
            for n in range(60)
            for kind in ("low", "high")
            for _ in range(5)
        ]
        self.table(
            "series.csv",
            ["id", "kind", "value"],
            [(f"{n}-{kind}", kind, f"{value:.3f}") for n, kind, value in series],
        )

        self._climate()

    def _climate(self) -> None:
        """Daily weather in two files, of which the second continues the first."""
        first = date(2016, 6, 1)
        rows = [
            (
                first + timedelta(days=day),
                *(f"{level + self.chance.gauss(0, 2):.2f}" for level in (20, 60, 5, 1010)),
            )
            for day in range(214)
        ]
        columns = ["date", "meantemp", "humidity", "wind_speed", "meanpressure"]
        self.table("DailyDelhiClimateTrain.csv", columns, rows[:174])
        self.table("DailyDelhiClimateTest.csv", columns, rows[174:])

    def film(self, label: str) -> str:
        row = {"id": self.number(), "label": int(label == "good"), "text": self.review(SIDES[label])}
        row["stars"] = self.chance.choice([7, 8, 9, 10] if label == "good" else [1, 2, 3, 4])
        return json.dumps(row) + "\n"

    def tweets(self) -> None:
        rows = [
            (number, split, "United", feeling, 1, "", f"@united {self.review(words)}")
            for number in range(40)
            for split in ("train", "train", "val", "test")
            for feeling, words in FEELINGS.items()
        ]
        columns = ["tweet_id", "split", "airline", "sentiment", "confidence", "negativereason", "text"]
        self.table("airline.csv.xz", columns, rows)

    def _texts(self) -> None:
        nights = ["dark", "stormy", "quiet", "long"]
        lines = [f"It was a {self.chance.choice(nights)} night, and chapter {n} began.\n" for n in range(400)]
        text = "".join(lines)
        for name in TEXTS:
            self.write(name, text)
        for name in ("book.txt", "wiki.txt"):
            self.write(name, RELATIONS * 40)
        self.write("questions-words.txt", ": family\nman woman uncle aunt\nboy girl brother sister\n")
        tune = "X:{}\nT:The Night\nM:4/4\nK:G\n|:GABc dedB|dedB dedB:|\n\n"
        for name in ("irish.abc", "irish_abc/irish.abc", "irish90.abc"):
            self.write(name, "".join(tune.format(number) for number in range(100)))

    def _pairs(self) -> None:
        numbers = [self.number() for _ in range(200)]
        words = {"en": "page {} of the book", "de": "Seite {} des Buches", "pt": "página {} do livro"}
        for language, line in words.items():
            text = "".join(line.format(number) + "\n" for number in numbers)
            self.write(f"corpus.{language}", text)
            self.write(f"news.{language}", text)
            for part in ("train", "val", "test_2016_flickr"):
                self.write(f"multi30k/{part}.{language}.gz", text)
        self.table(
            "pairs.tsv", ["letters", "reversed"], [(f"abc{number}", f"{number}cba") for number in numbers]
        )
        spelled = {"".join(self.chance.choices(list(SOUNDS), k=5)) for _ in range(300)}
        sounds = "".join(
            f"{word}  {' '.join(SOUNDS[letter] for letter in word)}\n" for word in sorted(spelled)
        )
        parts = ("train-dev-20-21", "train-dev-1-21", "test")
        for name in (
            "train.dict.xz",
            "valid.dict.xz",
            "test.dict.xz",
            *(f"cmudict-0.7b.{part}.xz" for part in parts),
        ):
            self.write(name, sounds)

    def _tags(self) -> None:
        tagged = [
            [(word.format(adjective).replace("[]", noun), tag) for word, tag in SENTENCE]
            for adjective in ["old", "young", "big", "small", "loud", "sad"] * 50
            for noun in ["".join(self.chance.choices(string.ascii_lowercase, k=6))]
        ]
        sentences = [
            "".join(
                f"{n}\t{word}\t{word}\t{tag}\t_\tNumber={number}|Case=Nom\t0\troot\t_\t_\n"
                for n, (word, tag) in enumerate(words, 1)
            )
            for number, words in zip(cycle(["Sing", "Plur"]), tagged, strict=False)
        ]
        for name in ("news.conllu", *(f"en_ewt-ud-{part}.conllu.xz" for part in ("train", "dev", "test"))):
            self.write(name, "\n".join(sentences))
        for part in ("train", "dev", "test"):
            self.write(f"ewt/en_ewt-ud-{part}.conllu.xz", "\n".join(sentences))
        self.write(
            "words.tsv", "\n".join("".join(f"{word}\t{tag}\n" for word, tag in words) for words in tagged)
        )
        spans = [
            "".join(f"{word}\t{'B-PER' if tag == 'NOUN' else 'O'}\n" for word, tag in words)
            for words in tagged
        ]
        self.write("names.conll", "\n".join(spans))

    def _images(self) -> None:
        names = [f"{number}.png" for number in range(60)]
        captions = [
            (name, f"a {self.chance.choice(['red', 'blue'])} dog runs .") for name in names for _ in range(2)
        ]
        self.table("captions.tsv", ["image", "caption"], captions)
        splits = [
            (name, ["train", "train", "dev", "test"][n % 4], n, text)
            for n, (name, text) in enumerate(captions)
        ]
        self.table("captions.tsv.xz", ["image", "split", "n", "caption"], splits)
        photos = ["photo.jpg", "image.png", "2677656448_6b7e7702af.jpg", "3385593926_d3e9c21170.jpg"]
        for name in photos:
            self.write(name, self.image(name))
        for name in names:
            self.write(name, self.image(name))
        self.table("new_images.tsv", ["image"], [[name] for name in photos])
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name in names:
                archive.writestr(name, self.image(name))
        for name in ("images.zip", "images_train.zip", "images_dev.zip", "images_test.zip"):
            self.write(name, packed.getvalue())

    def image(self, name: str) -> bytes:
        data = io.BytesIO()
        image = Image.new("RGB", (12, 10), (self.number() % 256, 99, 140))
        image.save(data, "JPEG" if name.endswith("jpg") else "PNG")
        return data.getvalue()
