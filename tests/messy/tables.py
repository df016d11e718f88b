"""Tables as spreadsheets and databases export them."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random

from tests.messy.texts import FRENCH_REVIEWS, GERMAN_REVIEWS, NEWS, REVIEWS, SMS, TICKETS, draw
from tests.messy.truth import Truth, messy

Cells = Sequence[object]


def table(rows: Iterable[Cells], *, delimiter: str = ",", end: str = "\n") -> str:
    text = io.StringIO()
    csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(rows)
    return text.getvalue()


def chance(seed: int) -> Random:
    return Random(seed)


@messy("tickets.csv")
def empty_cells(path: Path) -> Truth:
    """Empty labels and texts here and there, a queue beside a customer tier."""
    random = chance(1)
    rows: list[Cells] = []
    for number, (text, queue) in enumerate(draw(TICKETS, 400, seed=1)):
        body = "" if number in (17, 200) else text
        label = "" if number in (30, 99, 301, 350) else queue
        rows.append((f"T-{5000 + number}", body, label, random.choice(("gold", "silver", "bronze"))))
    path.write_text(table([("ticket", "body", "queue", "tier"), *rows]), encoding="utf-8")
    return Truth("classification", 394, "body", "queue", said=("data.label=tier", "skipped 6 rows"))


@messy("bewertungen.csv")
def german_excel(path: Path) -> Truth:
    """Excel: semicolons, cp1252 with the euro sign, trailing unnamed empty columns, CRLF, some empty labels."""
    random = chance(2)
    rows: list[Cells] = [("Datum", "Artikel", "Kommentar", "Einschätzung", "", "")]
    for number, (text, label) in enumerate(draw(GERMAN_REVIEWS, 300, seed=2)):
        article = random.choice(("Wasserkocher", "Mixer"))
        rows.append(
            (f"{1 + number % 28:02d}.03.2024", article, text, "" if number % 70 == 5 else label, "", "")
        )
    path.write_bytes(table(rows, delimiter=";", end="\r\n").encode("cp1252"))
    return Truth("classification", 295, "Kommentar", "Einschätzung", said=("cp1252", "data.label=Artikel"))


@messy("avis.csv")
def french_names(path: Path) -> Truth:
    """French names of columns, BOM and CRLF."""
    rows: list[Cells] = [("identifiant", "ville", "commentaire", "avis")]
    random = chance(3)
    rows += [
        (9000 + number, random.choice(("Lyon", "Nice", "Lille")), text, label)
        for number, (text, label) in enumerate(draw(FRENCH_REVIEWS, 180, seed=3))
    ]
    path.write_bytes(b"\xef\xbb\xbf" + table(rows, end="\r\n").encode())
    return Truth("classification", 180, "commentaire", "avis")


@messy("umfrage_utf16.csv")
def utf16_with_bom(path: Path) -> Truth:
    """UTF-16 LE with a byte order mark, semicolons."""
    rows = [
        ("Nr", "Text", "Urteil"),
        *((n, t, y) for n, (t, y) in enumerate(draw(GERMAN_REVIEWS, 150, seed=4), 1)),
    ]
    path.write_text(table(rows, delimiter=";"), encoding="utf-16")
    return Truth("classification", 150, "Text", "Urteil", said=("UTF-16",))


@messy("export_utf16be.txt")
def utf16_big_endian_tabs(path: Path) -> Truth:
    """Excel's "Unicode text": UTF-16, tabs, named .txt; here big-endian and without a mark."""
    rows = [("Kommentar", "Bewertung"), *draw(GERMAN_REVIEWS, 160, seed=5)]
    path.write_bytes(table(rows, delimiter="\t", end="\r\n").encode("utf-16-be"))
    return Truth("classification", 160, "Kommentar", "Bewertung", said=("UTF-16",))


@messy("wohnungen.csv")
def decimal_commas(path: Path) -> Truth:
    """A price to predict, with decimal commas and dots between thousands; rooms and a city beside it."""
    random = chance(6)
    rows: list[Cells] = [("Ort", "Zimmer", "Beschreibung", "Miete")]
    places = {
        "ruhige Lage am Park": 250,
        "zentral, aber laut": 100,
        "mit Balkon und Garten": 320,
        "im Hinterhof": 0,
    }
    for number in range(320):
        rooms, place = random.randint(1, 5), random.choice(list(places))
        rent = 280.5 + 190 * rooms + places[place] + random.randint(0, 9000) / 100
        amount = f"{rent:,.2f}".replace(",", " ").replace(".", ",").replace(" ", ".")
        text = f"Schöne Wohnung mit {rooms} Zimmern, {place}, frei ab {1 + number % 28}. Mai, Objekt {number}"
        rows.append((random.choice(("Graz", "Linz", "Wien")), rooms, text, amount))
    path.write_text(table(rows, delimiter=";"), encoding="utf-8")
    return Truth("regression", 320, "Beschreibung", "Miete", said=("decimal",))


@messy("reviews.tsv")
def tabs(path: Path) -> Truth:
    """Tabs, quotation marks inside texts, the label in the first column."""
    rows = [f'{label}\tThey said "{text}' for text, label in draw(REVIEWS, 240, seed=7)]
    path.write_text("\n".join(["sentiment\treview", *rows]) + "\n", encoding="utf-8")
    return Truth("classification", 240, "review", "sentiment")


@messy("crm_export.psv")
def pipes(path: Path) -> Truth:
    """Pipes between the columns, a name that says nothing about the format."""
    rows = [
        f"{n}|{text}|{label}|2024-02-{1 + n % 28:02d}"
        for n, (text, label) in enumerate(draw(TICKETS, 200, seed=8))
    ]
    path.write_text("\n".join(["case_id|description|category|created", *rows]) + "\n", encoding="utf-8")
    return Truth("classification", 200, "description", "category")


@messy("feedback.csv")
def quoted_newlines(path: Path) -> Truth:
    """Texts with line ends inside quotes."""
    rows = [(text.replace(". ", ".\n\n", 1), label) for text, label in draw(REVIEWS, 150, seed=9)]
    path.write_text(table([("feedback", "rating_class"), *rows]), encoding="utf-8")
    return Truth("classification", 150, "feedback", "rating_class")


@messy("monthly_report.csv")
def totals_row(path: Path) -> Truth:
    """A totals row at the end, and a blank line before it."""
    rows: list[Cells] = [("No", "Message", "Department", "Minutes")]
    rows += [(n, text, label, 5 + n % 40) for n, (text, label) in enumerate(draw(TICKETS, 220, seed=10), 1)]
    path.write_text(table([*rows, ("", "", "", ""), ("Total", "", "", 4321)]), encoding="utf-8")
    return Truth("classification", 220, "Message", "Department")


@messy("auswertung.csv")
def title_lines(path: Path) -> Truth:
    """Title, date of the export and a blank line above the header."""
    rows: list[Cells] = [("Auswertung Kundenfeedback 2024",), ("Stand: 31.03.2024",), ()]
    rows += [
        ("ID", "Feedback", "Stimmung"),
        *((n, t, y) for n, (t, y) in enumerate(draw(GERMAN_REVIEWS, 130, seed=11))),
    ]
    path.write_text(table(rows, delimiter=";"), encoding="utf-8")
    return Truth("classification", 130, "Feedback", "Stimmung", said=("line 4",))


@messy("commented.csv")
def comment_lines(path: Path) -> Truth:
    """Lines with # above the header, with commas in them."""
    rows = table([("text", "topic"), *draw(NEWS, 210, seed=12)])
    path.write_text(
        "# exported by newsdb 3.2, all rights reserved\n# rows: 210, encoding: utf-8, zone: UTC\n" + rows
    )
    return Truth("classification", 210, "text", "topic", said=("line 3",))


@messy("sms_no_header.csv")
def no_header(path: Path) -> Truth:
    """No header: the first line is a row."""
    path.write_text(table([(label, text) for text, label in draw(SMS, 300, seed=13)]), encoding="utf-8")
    return Truth("classification", 300, "2", "1", said=("data.header=true",))


@messy("news_no_header.tsv")
def no_header_tabs(path: Path) -> Truth:
    """No header, tabs, an id first."""
    rows = [f"{100 + n}\t{text}\t{label}" for n, (text, label) in enumerate(draw(NEWS, 180, seed=14))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return Truth("classification", 180, "2", "3", said=("data.header=true",))


@messy("helpdesk.csv")
def several_texts(path: Path) -> Truth:
    """A subject and a body, ids, timestamps, and three columns that could be labels."""
    random = chance(15)
    rows: list[Cells] = [("id", "created_at", "subject", "body", "priority", "channel", "queue")]
    for number, (text, label) in enumerate(draw(TICKETS, 350, seed=15)):
        subject = " ".join(text.split()[2:7])
        stamp = f"2024-01-{1 + number % 28:02d}T{number % 24:02d}:15:00Z"
        rows.append(
            (number, stamp, subject, text, random.choice("123"), random.choice(("mail", "web")), label)
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth(
        "classification", 350, "body", "queue", said=("data.text=subject,body", "data.label=channel")
    )


@messy("ratings.csv")
def stars(path: Path) -> Truth:
    """Stars from 1 to 5: five classes, with regression named as the other way."""
    random = chance(16)
    levels = {"negative": (1, 2), "neutral": (3,), "positive": (4, 5)}
    rows = [(n, text, random.choice(levels[y])) for n, (text, y) in enumerate(draw(REVIEWS, 400, seed=16))]
    path.write_text(table([("review_id", "review_text", "stars"), *rows]), encoding="utf-8")
    return Truth("classification", 400, "review_text", "stars", said=("task=regression",))


@messy("articles.csv")
def several_labels(path: Path) -> Truth:
    """Several labels in a cell, with semicolons between them."""
    random = chance(17)
    rows = []
    for text, label in draw(NEWS, 260, seed=17):
        others = random.sample(("europe", "live", "opinion", "video"), random.randint(0, 2))
        rows.append((text, ";".join([label, *others])))
    path.write_text(table([("headline", "tags"), *rows]), encoding="utf-8")
    return Truth("multi_label", 260, "headline", "tags", said=("';'",))


@messy("jobs.csv")
def salaries(path: Path) -> Truth:
    """A salary to predict, with thousands marks; a city that could be a label."""
    random = chance(18)
    levels = {"Junior": 38_000, "Senior": 61_000, "Lead": 78_000}
    jobs = ("data engineer", "nurse", "electrician", "accountant", "teacher of mathematics")
    rows: list[Cells] = [("job_id", "description", "city", "salary")]
    for number in range(280):
        level, job = random.choice(list(levels)), random.choice(jobs)
        text = f"{level} {job} wanted for our team, flexible hours, reference {number}"
        rows.append(
            (number, text, random.choice(("Leeds", "York", "Hull")), levels[level] + random.randint(0, 5000))
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("regression", 280, "description", "salary", said=("data.label=city",))


@messy("flags.csv")
def flags(path: Path) -> Truth:
    """Yes and no in two columns, of which the text explains one."""
    random = chance(19)
    rows: list[Cells] = [("message", "newsletter", "complaint")]
    rows += [
        (text, random.choice(("yes", "no")), "yes" if label == "negative" else "no")
        for text, label in draw(REVIEWS, 240, seed=19)
    ]
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 240, "message", "complaint", said=("data.label=newsletter",))


@messy("toxic.csv")
def zero_and_one(path: Path) -> Truth:
    """0 and 1 as labels, beside an id column and a comment length."""
    rows: list[Cells] = [("", "comment_text", "length", "toxic")]
    rows += [(n, t, len(t), int(y == "spam")) for n, (t, y) in enumerate(draw(SMS, 300, seed=20))]
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 300, "comment_text", "toxic")


@messy("merged.csv")
def repeated_names(path: Path) -> Truth:
    """Two columns with the same name, spaces around names."""
    rows: list[Cells] = [(" id ", " text ", "note", "note", " label ")]
    rows += [
        (n, t, "", "checked" if n % 3 else "open", y) for n, (t, y) in enumerate(draw(NEWS, 150, seed=21))
    ]
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 150, "text", "label", said=("note",))


@messy("quoted_numbers.csv")
def quoted_numbers(path: Path) -> Truth:
    """Everything quoted, also the numbers of the classes."""
    text = io.StringIO()
    names = list(NEWS)
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerows([("class", "headline"), *((names.index(y) + 1, t) for t, y in draw(NEWS, 200, seed=22))])
    path.write_text(text.getvalue(), encoding="utf-8")
    return Truth("classification", 200, "headline", "class")


@messy("mixed_case.csv")
def mixed_case(path: Path) -> Truth:
    """The same class in several spellings: to be told, not to be merged in silence."""
    random = chance(23)
    spell = (str, str.upper, str.capitalize, lambda name: f"{name} ")
    rows = [
        (t, random.choice(spell)(y) if n % 5 == 0 else y) for n, (t, y) in enumerate(draw(SMS, 260, seed=23))
    ]
    path.write_text(table([("sms", "type"), *rows]), encoding="utf-8")
    return Truth("classification", 260, "sms", "type")


@messy("people.csv")
def names_and_mails(path: Path) -> Truth:
    """Names, mail addresses, links and phone numbers beside the text."""
    random = chance(24)
    rows: list[Cells] = [("name", "email", "phone", "url", "comment", "sentiment", "country")]
    for number, (text, label) in enumerate(draw(REVIEWS, 200, seed=24)):
        first, last = random.choice(("Ada", "Ben", "Cleo", "Dan")), random.choice(("Moss", "Reed", "Lane"))
        mail = f"{first}.{last}{number}@example.com".lower()
        link = f"https://shop.example.com/reviews/{number}"
        rows.append(
            (
                f"{first} {last}",
                mail,
                f"+44 20 7946 {number:04d}",
                link,
                text,
                label,
                random.choice(("UK", "US")),
            )
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 200, "comment", "sentiment")


@messy("sensors.csv")
def series(path: Path) -> Truth:
    """One row per step of a recording, with a class for each recording."""
    random = chance(25)
    rows: list[Cells] = [("recording", "t", "ax", "ay", "activity")]
    for number in range(60):
        activity = random.choice(("walk", "run", "sit"))
        size = {"walk": 1.0, "run": 3.0, "sit": 0.1}[activity]
        rows += [
            (f"r{number}", t, round(random.gauss(0, size), 3), round(random.gauss(0, size), 3), activity)
            for t in range(8)
        ]
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 60, label="activity", sequence="recording")


@messy("latin1_names.csv")
def umlauts_late(path: Path) -> Truth:
    """cp1252 with its first umlaut far below the header, commas inside quotes."""
    rows: list[Cells] = [("comment", "class")]
    rows += draw(REVIEWS, 150, seed=26)
    rows += [
        (t + ", schön für 5 €", "negative" if y == "schlecht" else "positive")
        for t, y in draw(GERMAN_REVIEWS, 50, seed=26)
    ]
    path.write_bytes(table(rows).encode("cp1252"))
    return Truth("classification", 200, "comment", "class", said=("cp1252",))


@messy("ragged.csv")
def ragged_rows(path: Path) -> Truth:
    """Two rows with a comma too many because somebody forgot the quotes."""
    lines = table(
        [("id", "text", "label"), *((n, t, y) for n, (t, y) in enumerate(draw(SMS, 200, seed=27)))]
    ).splitlines()
    lines[50] = "49,well, maybe, we should talk tomorrow,ham"
    lines[120] = "119,call now, win today,spam"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("classification", 198, "text", "label", said=("skipped 2 rows", "line 51"))


@messy("index_column.csv")
def pandas_index(path: Path) -> Truth:
    """The index that pandas writes: a first column without a name."""
    rows: list[Cells] = [("", "news", "section")]
    rows += [(n, t, y) for n, (t, y) in enumerate(draw(NEWS, 150, seed=28))]
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 150, "news", "section")


@messy("split_column.csv")
def split_column(path: Path) -> Truth:
    """A column that says which rows are for testing."""
    rows: list[Cells] = [("text", "label", "split")]
    rows += [
        (t, y, ("train", "train", "train", "val", "test")[n % 5])
        for n, (t, y) in enumerate(draw(SMS, 250, seed=29))
    ]
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 250, "text", "label")


@messy("missing_marks.csv")
def marked_gaps(path: Path) -> Truth:
    """Gaps that are written as N/A, in a column of numbers beside the label."""
    rows: list[Cells] = [("review", "helpful_votes", "verdict")]
    rows += [(t, "N/A" if n % 4 == 0 else n % 17, y) for n, (t, y) in enumerate(draw(REVIEWS, 200, seed=30))]
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 200, "review", "verdict")


@messy("quotes_only.csv")
def one_column(path: Path) -> Truth:
    """Text alone, in a table with an id."""
    path.write_text(table([("nr", "quote"), *((n, t) for n, (t, _) in enumerate(draw(NEWS, 200, seed=31)))]))
    return Truth("language_model", 200, "quote")
