"""The layouts of data sets that many people start from, filled with the texts of this folder."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from tests.messy.tables import Cells, table
from tests.messy.texts import NEWS, REVIEWS, SMS, TICKETS, draw, sentence_pairs
from tests.messy.truth import Truth, messy

FLAGS = ("billing", "technical", "urgent", "angry")


@messy("comments_flags.csv")
def flag_columns(path: Path) -> Truth:
    """A column of 0 and 1 for every label."""
    random = Random(90)
    rows: list[Cells] = [("id", "comment_text", *FLAGS)]
    for number, (text, queue) in enumerate(draw(TICKETS, 240, seed=90)):
        flags = (int(queue == "Billing"), int(queue == "Technical"), int("!" in text), random.randint(0, 1))
        rows.append((f"{number:08x}f", text, *flags))
    path.write_text(table(rows), encoding="utf-8")
    return Truth(
        "multi_label", 240, "comment_text", ",".join(FLAGS), said=("task=classification data.label=billing",)
    )


@messy("question_pairs.csv")
def text_pairs(path: Path) -> Truth:
    """Two questions, and whether they ask the same."""
    random = Random(91)
    rows: list[Cells] = [("id", "qid1", "qid2", "question1", "question2", "is_duplicate")]
    texts = [text for text, _ in draw(TICKETS, 400, seed=91)]
    for number in range(200):
        same = random.random() < 0.4
        other = f"Once more: {texts[number]}" if same else texts[200 + number]
        rows.append((number, 2 * number, 2 * number + 1, texts[number], other, int(same)))
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 200, "question1,question2", "is_duplicate", said=("data.text=question1",))


@messy("inference.jsonl")
def entailment(path: Path) -> Truth:
    """Two sentences with their parses, the labels of annotators beside the agreed one."""
    random, rows = Random(92), []
    for number, (first, second) in enumerate(sentence_pairs(240, seed=92)):
        label = random.choice(("entailment", "neutral", "contradiction"))
        rows.append(
            {
                "annotator_labels": [label, random.choice(("neutral", label))],
                "captionID": f"{number}.jpg#0",
                "gold_label": label,
                "sentence1": first,
                "sentence1_parse": f"(ROOT (S ( {first} )))",
                "sentence2": second,
                "sentence2_parse": f"(ROOT (S ( {second} )))",
            }
        )
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Truth(
        "classification", 240, "sentence1,sentence2", "gold_label", said=("data.label=annotator_labels",)
    )


@messy("business_reviews.json")
def stars_as_decimals(path: Path) -> Truth:
    """Lines of JSON in a .json file; stars are 4.0, votes stand beside them."""
    random = Random(93)
    lines = [
        json.dumps(
            {
                "review_id": f"{random.getrandbits(64):x}z",
                "stars": float(random.randint(4, 5) if label == "positive" else random.randint(1, 3)),
                "useful": random.randint(0, 4),
                "funny": random.randint(0, 3),
                "text": text,
                "date": "2014-02-11 19:55:40",
            }
        )
        for text, label in draw(REVIEWS, 240, seed=93)
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("classification", 240, "text", "stars", said=("task=regression",))


@messy("entities_table.csv")
def word_per_row(path: Path) -> Truth:
    """A word per row; the sentence is named in its first row alone."""
    people, places = ("Ada", "Ben", "Cleo", "Dan"), ("Paris", "Leeds", "Graz", "York")
    rows: list[Cells] = [("Sentence #", "Word", "POS", "Tag")]
    for number in range(120):
        words = [
            (people[number % 4], "NNP", "B-per"),
            ("lives", "VBZ", "O"),
            ("in", "IN", "O"),
            (places[number // 4 % 4], "NNP", "B-geo"),
            ("since", "IN", "O"),
            (1950 + number, "CD", "O"),
        ]
        rows += [(f"Sentence: {number + 1}" if at == 0 else "", *word) for at, word in enumerate(words)]
    path.write_text(table(rows), encoding="utf-8")
    return Truth("tagging", 120, "Word", "Tag", sequence="Sentence #")


@messy("anki.txt")
def sentences_with_sources(path: Path) -> Truth:
    """English, German and an attribution, with tabs and without a header."""
    lines = [
        f"{first}\t{second}\tCC-BY 2.0 (France) Attribution: tatoeba.org #{7000 + number}\n"
        for number, (first, second) in enumerate(sentence_pairs(160, seed=94))
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return Truth("translation", 160, source="1", target="2")


@messy("tweets_no_header.csv")
def quoted_without_header(path: Path) -> Truth:
    """Everything in quotes, no header, cp1252: polarity, id, date, query, user, text."""
    lines = [
        f'"{0 if label == "negative" else 4}","{1467810369 + 97 * number}","Mon Apr 06 22:19:{number % 60:02d} PDT 2009",'
        f'"NO_QUERY","user{number % 50}","{text} – £5"\n'
        for number, (text, label) in enumerate(draw(REVIEWS, 240, seed=95))
    ]
    path.write_bytes("".join(lines).encode("cp1252"))
    return Truth("classification", 240, "6", "1", said=("cp1252", "data.header=true"))


@messy("app.log")
def log_lines(path: Path) -> Truth:
    """A log: lines begin with a date, and that is no label."""
    lines = [
        f"2024-03-{1 + number // 40:02d} 12:{number % 60:02d}:01,123 INFO [worker-{number % 4}] {text}\n"
        for number, (text, _) in enumerate(draw(NEWS, 240, seed=96))
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return Truth("language_model", 240, "text")


@messy("SMSCollection")
def no_ending(path: Path) -> Truth:
    """A label, a tab and a text; no header and no ending of the file name."""
    lines = [f"{label}\t{text}\n" for text, label in draw(SMS, 240, seed=97)]
    path.write_text("".join(lines), encoding="utf-8")
    return Truth("classification", 240, "2", "1")
