"""Files of kinds that none of the others are: banks, laboratories, surveys, catalogs, conversations, sequences."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

from tests.messy.json_exports import write_lines
from tests.messy.tables import Cells, table
from tests.messy.texts import NEWS, REVIEWS, TICKETS, draw, sentence_pairs
from tests.messy.truth import Truth, messy


@messy("app_reviews.json")
def app_reviews(path: Path) -> Truth:
    """Twenty-five reviews of an app: long links and ids of authors beside short titles and contents."""
    random, rows = Random(140), []
    for number, (text, label) in enumerate(draw(REVIEWS, 25, seed=140)):
        rows.append(
            {
                "author": {
                    "name": {"label": f"the real user number {number} from Leeds"},
                    "uri": {"label": f"https://apps.example.com/us/reviews/id{51_000_000 + 977 * number}"},
                },
                "im:version": {"label": f"3.{number % 4}.1"},
                "im:rating": {
                    "label": str(random.randint(4, 5) if label == "positive" else random.randint(1, 3))
                },
                "id": {"label": str(9_000_000_000 + 31 * number)},
                "title": {"label": f"{text.partition(',')[0]}… my honest opinion, in short"},
                "content": {"label": text.partition(" ")[2][:40], "attributes": {"type": "text"}},
                "im:contentType": {"attributes": {"term": "Application", "label": "Application"}},
                "im:voteCount": {"label": "0"},
            }
        )
    feed = {
        "feed": {
            "author": {"name": {"label": "Store"}},
            "entry": rows,
            "updated": {"label": "2024-03-01T10:00:00-07:00"},
        }
    }
    path.write_text(json.dumps(feed), encoding="utf-8")
    return Truth("classification", 25, "content.label", "im:rating.label", said=("data.text=title.label",))


@messy("play_reviews.json")
def flat_app_reviews(path: Path) -> Truth:
    """The same, flat: names of users that are longer than what some of them wrote."""
    random = Random(141)
    rows = [
        {
            "reviewId": f"{random.getrandbits(128):032x}",
            "userName": f"Alexandra von und zu Musterhausen-{number}",
            "content": text if number % 3 else text.split(",")[0],
            "score": random.randint(4, 5) if label == "positive" else random.randint(1, 3),
            "thumbsUpCount": random.randint(0, 9),
            "reviewCreatedVersion": f"5.{number % 6}.0",
            "at": f"2024-03-{1 + number % 28:02d} 11:22:33",
            "replyContent": "Thank you for your feedback, please write to our team at help@example.com so that we can look into it."
            if number % 4 == 0
            else None,
        }
        for number, (text, label) in enumerate(draw(REVIEWS, 40, seed=141))
    ]
    path.write_text(json.dumps(rows), encoding="utf-8")
    return Truth("classification", 40, "content", "score")


@messy("kontoumsaetze.csv")
def transactions(path: Path) -> Truth:
    """A bank: title lines, semicolons, cp1252, amounts with decimal commas; the purpose tells the category."""
    random = Random(142)
    kinds = {
        "Lebensmittel": (
            "REWE SAGT DANKE 4711",
            "EDEKA CENTER EINKAUF",
            "ALDI SUED FILIALE",
            "BÄCKEREI SCHMIDT",
        ),
        "Wohnen": ("MIETE WOHNUNG 12 MÄRZ", "STADTWERKE ABSCHLAG STROM", "HAUSVERWALTUNG NEBENKOSTEN"),
        "Mobilität": ("DB VERTRIEB FAHRKARTE", "SHELL TANKSTELLE KRAFTSTOFF", "MONATSKARTE VERKEHRSBETRIEBE"),
        "Freizeit": ("KINO EINTRITT ONLINE", "FITNESSSTUDIO BEITRAG", "THEATER ABO RATE"),
    }
    rows: list[Cells] = [
        ("Umsätze Girokonto", "DE00 1234 5678 9012 3456 78", "", "", "", "", ""),
        ("Kontostand vom 31.03.2024:", "4.321,09 €", "", "", "", "", ""),
        ("", "", "", "", "", "", ""),
        (
            "Buchungstag",
            "Wertstellung",
            "Zahlungsempfänger",
            "Verwendungszweck",
            "Betrag (€)",
            "Saldo (€)",
            "Kategorie",
        ),
    ]
    for number in range(260):
        kind = random.choice(list(kinds))
        day = f"{1 + number % 28:02d}.03.2024"
        purpose = f"{random.choice(kinds[kind])} {random.randint(1000, 9999)} EREF NOTPROVIDED"
        amount, left = random.randint(300, 90_000) / 100, random.randint(100_000, 900_000) / 100
        cells = (day, day, random.choice(("Lastschrift GmbH", "Karten AG", "Bank eG")), purpose)
        rows.append((*cells, f"-{german(amount)}", german(left), kind))
    path.write_bytes(table(rows, delimiter=";", end="\r\n").encode("cp1252"))
    return Truth("classification", 260, "Verwendungszweck", "Kategorie", said=("cp1252", "line 4"))


def german(amount: float) -> str:
    return f"{amount:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")


@messy("melting_points.csv")
def units_in_cells(path: Path) -> Truth:
    """A laboratory: SMILES, and the value to predict with its unit in every cell."""
    random = Random(143)
    rows: list[Cells] = [("compound", "smiles", "melting_point", "method", "remark")]
    for number in range(240):
        carbons, acid = random.randint(2, 18), random.random() < 0.5
        parts = [random.choice(("C", "C", "CC", "C(C)", "N", "O", "C=C")) for _ in range(carbons)]
        smiles = "C" + "".join(parts) + ("C(=O)O" if acid else "C")
        degrees = 3.1 * carbons + 40 * acid - 20 + random.random()
        remark = random.choice(("", "recrystallized from ethanol", "decomposes slowly"))
        rows.append(
            (f"CMP-{number:04d}", smiles, f"{degrees:.1f} °C", random.choice(("DSC", "capillary")), remark)
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("regression", 240, "smiles", "melting_point", said=("°C",))


@messy("employee_survey.csv")
def likert(path: Path) -> Truth:
    """A survey: eight statements from strongly disagree to strongly agree, a free comment that many leave out."""
    random = Random(144)
    scale = ("Strongly disagree", "Disagree", "Neither agree nor disagree", "Agree", "Strongly agree")
    statements = [
        f"I {verb} at work." for verb in ("feel respected", "learn new things", "have the tools I need")
    ]
    rows: list[Cells] = [
        (
            "Respondent",
            "Site",
            *statements,
            "Overall, how satisfied are you?",
            "Is there anything else you would like to tell us?",
        )
    ]
    levels = {"negative": scale[:2], "neutral": scale[2:3], "positive": scale[3:]}
    for number, (text, label) in enumerate(draw(REVIEWS, 320, seed=144)):
        answers = [random.choice(scale) for _ in statements]
        comment = "" if number % 5 in (1, 3) else text
        rows.append(
            (number + 1, random.choice(("North", "South")), *answers, random.choice(levels[label]), comment)
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth(
        "classification", 192, "Is there anything else you would like to tell us?", "Overall, how satisfied are you?",
        said=("128 of 320",),
    )  # fmt: skip


@messy("glossary.csv")
def merged_headers(path: Path) -> Truth:
    """A glossary from a spreadsheet: merged cells above the header become empty ones."""
    rows: list[Cells] = [
        ("Terminology of the railway, release 7", "", "", "", "", ""),
        ("", "English", "", "Deutsch", "", ""),
        ("No.", "Term", "Source", "Benennung", "Quelle", "Approved"),
    ]
    for number, (first, second) in enumerate(sentence_pairs(180, seed=145), 1):
        rows.append(
            (number, first, "ISO" if number % 2 else "UIC", second, "DIN", "yes" if number % 7 else "")
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("translation", 180, source="Term", target="Benennung")


@messy("catalog.csv")
def category_tree(path: Path) -> Truth:
    """A product feed: categories are paths in a tree, beside prices, brands, links and a number for each article."""
    random = Random(146)
    tree = {
        "Home > Kitchen > Kettles": ("Kettle", "boils 1.7 liters of water", "steel jug with a lid"),
        "Home > Kitchen > Mixers": ("Mixer", "kneads dough and whips cream", "bowl with five speeds"),
        "Home > Garden > Hoses": ("Hose", "waters beds and lawns", "does not kink, with nozzle"),
        "Sports > Cycling > Helmets": (
            "Helmet",
            "protects your head on every ride",
            "adjustable strap and vents",
        ),
    }
    rows: list[Cells] = [
        ("sku", "title", "brand", "price", "availability", "image_link", "description", "product_type")
    ]
    for number in range(280):
        leaf = random.choice(list(tree))
        name, first, second = tree[leaf]
        brand = random.choice(("Nordo", "Alpina", "Kessel"))
        text = f"The {brand} {name.lower()} {first}; {second}. Model {number}, color {random.choice(('red', 'blue'))}."
        link = f"https://img.example.com/{number}.jpg"
        rows.append(
            (
                f"SKU-{number:05d}",
                f"{brand} {name} {number}",
                brand,
                f"{random.randint(900, 9900) / 100:.2f} EUR",
                "in stock",
                link,
                text,
                leaf,
            )
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 280, "description", "product_type")


@messy("finetune.jsonl")
def conversations(path: Path) -> Truth:
    """What chat models are tuned on: a list of messages with roles in every row."""
    write_lines(
        path,
        (
            {
                "messages": [
                    {"role": "system", "content": "You judge reviews."},
                    {"role": "user", "content": text},
                    {
                        "role": "assistant",
                        "content": f"That review, which ends {text.split()[-1]}, is {label}.",
                    },
                ]
            }
            for text, label in draw(REVIEWS, 150, seed=147)
        ),
    )
    return Truth("translation", 150, source="messages.prompt", target="messages.response")


@messy("film.srt")
def subtitles(path: Path) -> Truth:
    """Subtitles: numbers and times above each text, some of two lines, some in italics."""
    blocks = []
    for number, (text, _) in enumerate(sentence_pairs(200, seed=148)):
        begin, end = (
            f"00:{at // 60:02d}:{at % 60:02d},{at * 37 % 1000:03d}" for at in (4 * number, 4 * number + 3)
        )
        words = text.split()
        shown = f"<i>{text}</i>" if number % 9 == 0 else "\n".join((" ".join(words[:4]), " ".join(words[4:])))
        blocks.append(
            f"{number + 1}\r\n{begin} --> {end}\r\n{shown}\r\n".replace("\n", "\r\n").replace("\r\r", "\r")
        )
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(blocks).encode())
    return Truth("language_model", 200, "text", said=("data.format=text",))


@messy("archive.mbox")
def mails(path: Path) -> Truth:
    """Mail from a takeout: headers, folders as labels, quoted-printable and multipart bodies."""
    lines = []
    for number, (text, kind) in enumerate(draw(TICKETS, 150, seed=149)):
        lines += [
            f"From {1_700_000_000 + number}@xxx Fri Mar 01 10:{number % 60:02d}:00 +0000 2024",
            f"X-GM-THRID: {1_700_000_000 + number}",
            f"X-Gmail-Labels: {kind}",
            f"From: =?UTF-8?Q?Zo=C3=AB_{number}?= <client{number}@example.org>",
            "To: help@example.com",
            f"Subject: {text[7:37]}",
            f"Date: Fri, 01 Mar 2024 10:{number % 60:02d}:00 +0000",
            "MIME-Version: 1.0",
        ]
        if number % 3:
            lines += ['Content-Type: text/plain; charset="utf-8"', "", text, ">From the start it was so.", ""]
        else:
            lines += [
                'Content-Type: multipart/alternative; boundary="b1"',
                "",
                "--b1",
                'Content-Type: text/plain; charset="utf-8"',
                "Content-Transfer-Encoding: quoted-printable",
                "",
                f"{text} =E2=82=AC=",
                "5",
                "--b1",
                'Content-Type: text/html; charset="utf-8"',
                "",
                f"<p>{text} &euro;5</p>",
                "--b1--",
                "",
            ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("classification", 150, "text", "labels")


@messy("family_chat.txt")
def messenger(path: Path) -> Truth:
    """A messenger's export with dashes: notices without a name, messages of several lines, left-out media."""
    random = Random(150)
    lines = ["01/03/2024, 08:00 - Messages and calls are end-to-end encrypted. Tap to learn more."]
    for number, (text, _) in enumerate(draw(NEWS, 220, seed=150)):
        stamp = f"{1 + number // 12:02d}/03/2024, {8 + number % 12:02d}:{number % 60:02d}"
        shown = "<Media omitted>" if number % 40 == 7 else text
        lines.append(f"{stamp} - {random.choice(('Zoë', 'Uncle Bob', '+44 7700 900123'))}: {shown}")
        if number % 10 == 0:
            lines.append("See: https://example.com/news")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("language_model", 214, "text", said=("data.label=author", "data.format=text"))


@messy("service.log")
def severities(path: Path) -> Truth:
    """A log with severities that differ, and stack traces between the lines."""
    random, lines = Random(151), []
    for number, (text, _) in enumerate(draw(TICKETS, 260, seed=151)):
        level = random.choice(("INFO", "INFO", "WARN", "ERROR"))
        lines.append(
            f"2024-03-{1 + number // 40:02d}T12:{number % 60:02d}:01.123Z {level:5} [main] com.acme.Job - {text}"
        )
        if level == "ERROR":
            lines += ["java.lang.IllegalStateException: no such order", "\tat com.acme.Job.run(Job.java:31)"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("language_model", len(lines), "text")


@messy("poems.txt")
def stanzas(path: Path) -> Truth:
    """Poems: a title, short lines, blank lines between stanzas; many lines begin with the same few words."""
    random, lines = Random(152), list[str]()
    for number in range(40):
        lines += [f"{'I' * (1 + number % 3)}. To the river", ""]
        for _ in range(3):
            lines += [
                f"{random.choice(('And', 'The', 'O'))} {a.lower()[4:-1]},"
                for a, _ in sentence_pairs(4, seed=number)
            ]
            lines.append("")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("language_model", len(lines), "text")


@messy("tagged_lists.parquet")
def lists_in_parquet(path: Path) -> Truth:
    """Parquet with a list of labels in each row, and an embedding that nobody asked for."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = list(draw(NEWS, 170, seed=153))
    columns = {
        "doc_id": [f"d{number}" for number in range(170)],
        "text": [text for text, _ in texts],
        "subjects": [
            [label, *(["open access"] if number % 3 == 0 else [])] for number, (_, label) in enumerate(texts)
        ],
        "embedding": [[0.1 * number, 0.2, 0.3] for number in range(170)],
    }
    pq.write_table(pa.table(columns), path)
    return Truth("multi_label", 170, "text", "subjects")


@messy("localization.fasta")
def labels_in_headers(path: Path) -> Truth:
    """Proteins with the place in the cell behind the name, between bars."""
    random, lines = Random(154), []
    motifs = {"Nucleus": "KRKR", "Mitochondrion": "MLRR", "Membrane": "LLVVLL"}
    for number in range(180):
        place = random.choice(list(motifs))
        letters = "".join(random.choices("ACDEFGHIKLMNPQRSTVWY", k=50))
        lines += [f">P{number:05d}|{place}|{'test' if number % 5 == 0 else 'train'}", motifs[place] + letters]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("classification", 180, "text", "label")


@messy("wide_sensors.csv")
def wide(path: Path) -> Truth:
    """Sensors in wide format: one recording per row, one column per moment, the class at the end."""
    random = Random(155)
    rows: list[Cells] = [("recording", *(f"t{at}" for at in range(24)), "activity")]
    for number in range(160):
        activity = random.choice(("walk", "run", "sit"))
        size = {"walk": 1.0, "run": 3.0, "sit": 0.1}[activity]
        rows.append((f"r{number}", *(round(random.gauss(0, size), 3) for _ in range(24)), activity))
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 160, label="activity")
