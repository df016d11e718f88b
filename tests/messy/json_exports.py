"""JSON of ticket systems, code hosts, shops, forums and annotation tools."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from random import Random

from tests.messy.texts import NEWS, REVIEWS, TICKETS, draw
from tests.messy.truth import Truth, messy


def write_lines(path: Path, rows: Iterable[object]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@messy("helpdesk_tickets.json")
def tickets(path: Path) -> Truth:
    """A page of tickets: who asked is an object, and so is the group that answers."""
    random = Random(130)
    rows = [
        {
            "url": f"https://acme.example.com/api/v2/tickets/{number}.json",
            "id": 35436 + number,
            "created_at": f"2024-03-{1 + number % 28:02d}T11:12:13Z",
            "subject": text[7:37],
            "description": text,
            "priority": random.choice(("low", "normal", "high", None)),
            "status": random.choice(("open", "solved")),
            "requester": {
                "id": 20978392 + number,
                "name": f"Client {number}",
                "email": f"c{number}@example.org",
            },
            "via": {"channel": random.choice(("web", "email"))},
            "group": {"id": 98738 + len(group), "name": group},
            "satisfaction_rating": None,
        }
        for number, (text, group) in enumerate(draw(TICKETS, 210, seed=130))
    ]
    path.write_text(json.dumps({"tickets": rows, "next_page": None, "count": 210}), encoding="utf-8")
    return Truth("classification", 210, "description", "group.name")


@messy("issues.json")
def issues(path: Path) -> Truth:
    """Issues of a code host: labels are a list of objects, some issues have none or two."""
    random, rows = Random(131), []
    for number, (text, kind) in enumerate(draw(TICKETS, 220, seed=131)):
        names = (
            [kind.lower(), *(["good first issue"] if number % 5 == 0 else [])]
            if number not in (3, 99)
            else []
        )
        rows.append(
            {
                "id": 1_000_000 + number,
                "number": number,
                "title": text[7:40],
                "user": {"login": f"dev{number % 30}", "id": number % 30, "site_admin": False},
                "labels": [{"id": 208045946 + len(name), "name": name, "color": "f29513"} for name in names],
                "state": random.choice(("open", "closed")),
                "comments": random.randint(0, 9),
                "created_at": f"2011-04-{1 + number % 28:02d}T13:33:48Z",
                "body": f"{text}\r\n\r\n```\nversion {number}\n```",
            }
        )
    path.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return Truth("multi_label", 220, "body", "labels.name")


@messy("shop_reviews.jsonl")
def shop_reviews(path: Path) -> Truth:
    """Reviews of a shop: stars as decimals, a summary beside the text, a style for some."""
    random, rows = Random(132), []
    for number, (text, label) in enumerate(draw(REVIEWS, 260, seed=132)):
        row = {
            "overall": float(random.randint(4, 5) if label == "positive" else random.randint(1, 3)),
            "verified": random.random() < 0.8,
            "reviewTime": f"03 {1 + number % 28}, 2014",
            "reviewerID": f"A{random.getrandbits(48):X}",
            "asin": f"00{random.randint(10**7, 10**8)}",
            "reviewerName": f"Reader {number}",
            "reviewText": text,
            "summary": text[:20],
            "unixReviewTime": 1_252_800_000 + 86_400 * (number % 28),
        }
        rows.append({**row, "style": {"Format:": " Paperback"}} if number % 3 else row)
    write_lines(path, rows)
    return Truth("classification", 260, "reviewText", "overall", said=("task=regression",))


@messy("forum_comments.jsonl")
def forum_comments(path: Path) -> Truth:
    """Comments of a forum: the board is the class, votes and flags stand beside it."""
    random = Random(133)
    write_lines(
        path,
        (
            {
                "author": f"user_{random.randint(1, 90)}",
                "body": text,
                "controversiality": int(random.random() < 0.1),
                "created_utc": 1_430_438_400 + 60 * number,
                "gilded": 0,
                "id": f"cq{number:05x}",
                "link_id": f"t3_34{number % 40:03x}",
                "parent_id": f"t1_cq{number // 2:05x}",
                "score": random.randint(-4, 40),
                "subreddit": board,
            }
            for number, (text, board) in enumerate(draw(NEWS, 300, seed=133))
        ),
    )
    return Truth("classification", 300, "body", "subreddit", said=("data.label=score",))


@messy("annotations.json")
def annotation_tool(path: Path) -> Truth:
    """Label Studio: the text inside `data`, the choice deep inside lists of annotations and results."""
    rows = [
        {
            "id": number,
            "data": {"text": text, "source": "import"},
            "annotations": [
                {
                    "id": 900 + number,
                    "completed_by": 1 + number % 3,
                    "lead_time": 3.2 + number % 7,
                    "result": [
                        {
                            "id": f"r{number:04d}",
                            "type": "choices",
                            "value": {"choices": [label]},
                            "to_name": "text",
                            "from_name": "sentiment",
                        }
                    ],
                }
            ],
            "predictions": [],
            "created_at": "2024-03-01T10:00:00Z",
        }
        for number, (text, label) in enumerate(draw(REVIEWS, 200, seed=134))
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return Truth("classification", 200, "data.text", "annotations.result.value.choices")


@messy("one_label_each.jsonl")
def lists_of_one(path: Path) -> Truth:
    """Doccano: labels are lists, and every list holds one."""
    write_lines(
        path,
        (
            {"id": number, "text": text, "label": [label], "Comments": []}
            for number, (text, label) in enumerate(draw(NEWS, 190, seed=135))
        ),
    )
    return Truth("classification", 190, "text", "label")


@messy("instructions.jsonl")
def instructions(path: Path) -> Truth:
    """What language models are tuned on: an instruction, an input that is empty, an output."""
    write_lines(
        path,
        (
            {
                "instruction": text,
                "input": "",
                "output": f"You wrote {' '.join(text.split()[-6:])} That is {label}.",
            }
            for text, label in draw(REVIEWS, 150, seed=136)
        ),
    )
    return Truth("translation", 150, source="instruction", target="output")
