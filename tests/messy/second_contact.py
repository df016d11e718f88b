"""A second set of kinds that none of the others are: judgments, games, recipes, code, patents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random

from tests.messy.json_exports import write_lines
from tests.messy.tables import Cells, table
from tests.messy.texts import NEWS, TICKETS, draw
from tests.messy.truth import Truth, messy


@messy("court_cases.csv")
def court(path: Path) -> Truth:
    """Judgments: a short title of parties, a number, a judge, a long text of facts, who won."""
    random = Random(161)
    rows: list[Cells] = [("case_no", "parties", "judge", "decided_on", "facts", "pages", "winning_party")]
    for number, (text, label) in enumerate(draw(TICKETS, 200, seed=161)):
        winner = "appellant" if label in ("Billing", "Account") else "respondent"
        parties = f"{random.choice(('Miller', 'Jones', 'Okafor'))} v. {random.choice(('State', 'Acme Ltd', 'City of Hull'))}"
        facts = (
            f"The appellant stated: {text} The court heard both sides. {text} It considered exhibit {number}."
        )
        rows.append(
            (
                f"{2000 + number % 24}-CV-{number:05d}",
                parties,
                f"J. {random.choice('ABCD')}. Smith",
                f"12 March {2000 + number % 24}",
                facts,
                random.randint(2, 60),
                winner,
            )
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 200, "facts", "winning_party")


@messy("chess_openings.tsv")
def chess(path: Path) -> Truth:
    """Games in algebraic notation, the name of the opening, ratings and a result."""
    random = Random(162)
    openings = {
        "Sicilian Defense": "1. e4 c5 2. Nf3 d6",
        "French Defense": "1. e4 e6 2. d4 d5",
        "Slav Defense": "1. d4 d5 2. c4 c6",
    }
    rows: list[Cells] = [("game_id", "white_elo", "black_elo", "moves", "eco", "opening", "result")]
    for _ in range(240):
        name = random.choice(list(openings))
        third, fourth = random.choice(("Nc3 Nf6", "d4 a6", "Bb5 Nc6")), random.choice(("g6", "h6", "b5"))
        moves = f"{openings[name]} 3. {third} 4. O-O {fourth} 5. Qd{random.randint(2, 4)}"
        eco = f"{name[0]}{random.randint(10, 14)}"
        rows.append(
            (
                f"g{random.getrandbits(40):010x}",
                random.randint(900, 2600),
                random.randint(900, 2600),
                moves,
                eco,
                name,
                random.choice(("1-0", "0-1", "1/2-1/2")),
            )
        )
    path.write_text(table(rows, delimiter="\t"), encoding="utf-8")
    return Truth("classification", 240, "moves", "opening")


@messy("recipes.json")
def recipes(path: Path) -> Truth:
    """Recipes: a list of ingredients in each row, and the cuisine."""
    random = Random(163)
    things = {
        "italian": ("basil", "parmesan", "tomato paste", "olive oil"),
        "mexican": ("corn tortilla", "cilantro", "lime", "black beans"),
        "indian": ("garam masala", "ghee", "cumin seed", "basmati rice"),
    }
    rows = []
    for number in range(220):
        cuisine = random.choice(list(things))
        parts = [
            *random.sample(things[cuisine], 3),
            *random.sample(("salt", "onion", "garlic", "water", "butter"), 3),
        ]
        rows.append({"id": 1000 + number, "cuisine": cuisine, "ingredients": random.sample(parts, 6)})
    path.write_text(json.dumps(rows, indent=2), encoding="utf-8")
    return Truth("classification", 220, "ingredients", "cuisine")


@messy("commits.jsonl")
def defects(path: Path) -> Truth:
    """Code with newlines and tabs: a function, its project and hash, and whether it was vulnerable."""
    random = Random(164)

    def rows() -> Iterator[dict[str, object]]:
        for number in range(200):
            bad = random.random() < 0.4
            call = "strcpy(buffer, name);" if bad else "strncpy(buffer, name, sizeof buffer);"
            code = f"static int f{number}(const char *name)\n{{\n\tchar buffer[{random.randint(8, 64)}];\n\t{call}\n\treturn {number};\n}}\n"
            yield {
                "project": random.choice(("qemu", "FFmpeg")),
                "commit_id": f"{random.getrandbits(160):040x}",
                "target": int(bad),
                "func": code,
                "idx": number,
            }

    write_lines(path, rows())
    return Truth("classification", 200, "func", "target")


@messy("patents.csv")
def patents(path: Path) -> Truth:
    """Patents: claims that are longer than abstracts, classes with subclasses, inventors in one cell."""
    random = Random(167)
    rows: list[Cells] = [
        ("publication_number", "inventors", "filing_date", "ipc_class", "title", "abstract", "num_claims")
    ]
    sections = {"sports": "A63B", "business": "G06Q", "science": "G01N"}
    for number, (text, label) in enumerate(draw(NEWS, 230, seed=167)):
        names = "; ".join(
            random.sample(("Ito, Ken", "Diaz, Ana", "Li, Wei", "Roy, Eva"), random.randint(1, 3))
        )
        abstract = f"The invention relates to the following: {text}. In one embodiment, a device {number} is provided."
        rows.append(
            (
                f"US{10_000_000 + 13 * number}B2",
                names,
                f"2019{1 + number % 12:02d}{1 + number % 28:02d}",
                sections[label],
                text.split(" 1")[0][:30],
                abstract,
                random.randint(3, 30),
            )
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 230, "abstract", "ipc_class")


@messy("movies.csv")
def objects_in_cells(path: Path) -> Truth:
    """Films: genres as a list of JSON objects in a cell of a table, a tagline for some, votes and a budget."""
    random = Random(170)
    rows: list[Cells] = [("budget", "genres", "id", "original_title", "overview", "tagline", "vote_average")]
    for number in range(170):
        genres = random.sample(("Action", "Drama", "Comedy"), random.randint(1, 2))
        cell = json.dumps([{"id": 20 + len(name), "name": name} for name in genres])
        story = f"A {' and '.join(genres).lower()} about hero {number}, who saves the {random.choice(('town', 'day'))}."
        tagline = "" if number % 3 else f"Be number {number}."
        vote = round(random.random() * 10, 1)
        rows.append((number * 1000, cell, number, f"Movie {number}", story, tagline, vote))
    path.write_text(table(rows), encoding="utf-8")
    return Truth("multi_label", 170, "overview", "genres")


@messy("tagged_posts.csv")
def printed_lists(path: Path) -> Truth:
    """Lists as Python prints them, in a table that pandas wrote."""
    rows: list[Cells] = [("", "post", "topics")]
    for number, (text, label) in enumerate(draw(NEWS, 160, seed=171)):
        rows.append((number, text, str([label, *(["live"] if number % 4 == 0 else [])])))
    path.write_text(table(rows), encoding="utf-8")
    return Truth("multi_label", 160, "post", "topics")
