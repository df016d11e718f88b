"""JSON as services and databases export it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.messy.texts import NEWS, REVIEWS, TICKETS, draw, sentence_pairs
from tests.messy.truth import Truth, messy


@messy("nested.jsonl")
def nested(path: Path) -> Truth:
    """Objects inside objects: the text is in ticket.body."""
    rows = [
        {"ticket": {"id": n, "body": text, "meta": {"lang": "en"}}, "routing": {"queue": label}}
        for n, (text, label) in enumerate(draw(TICKETS, 240, seed=50))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Truth("classification", 240, "ticket.body", "routing.queue")


@messy("array.json")
def array(path: Path) -> Truth:
    """One array of objects, pretty-printed."""
    rows = [{"title": text, "section": label} for text, label in draw(NEWS, 150, seed=51)]
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    return Truth("classification", 150, "title", "section")


@messy("response.json")
def wrapped(path: Path) -> Truth:
    """The answer of a service: an object with the rows under `data`."""
    rows = [{"review": text, "rating": {"label": label}} for text, label in draw(REVIEWS, 160, seed=52)]
    path.write_text(json.dumps({"status": "ok", "count": 160, "data": rows}), encoding="utf-8")
    return Truth("classification", 160, "review", "rating.label")


@messy("optional_keys.jsonl")
def optional_keys(path: Path) -> Truth:
    """Keys that some objects lack, null for a label here and there."""
    rows = []
    for number, (text, label) in enumerate(draw(REVIEWS, 250, seed=53)):
        row = {"id": number, "text": text, "label": None if number in (40, 41, 200) else label}
        rows.append(row if number % 3 else {**row, "device": "phone"})
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Truth("classification", 247, "text", "label", said=("skipped 3 rows",))


@messy("lists.jsonl")
def lists_of_labels(path: Path) -> Truth:
    """A list of labels in every object."""
    rows = [
        {"abstract": text, "topics": [label, *(["open access"] if n % 3 == 0 else [])]}
        for n, (text, label) in enumerate(draw(NEWS, 180, seed=54))
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return Truth("multi_label", 180, "abstract", "topics")


@messy("translations.jsonl")
def nested_pairs(path: Path) -> Truth:
    """The pairs of Hugging Face: both languages inside `translation`."""
    rows = [{"translation": {"en": a, "de": b}} for a, b in sentence_pairs(190, seed=55)]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return Truth("translation", 190, source="translation.en", target="translation.de")
