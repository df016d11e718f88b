"""Tables that services, survey tools and collections of data hand out."""

from __future__ import annotations

from pathlib import Path
from random import Random

from tests.messy.tables import Cells, table
from tests.messy.texts import NEWS, REVIEWS, SMS, TICKETS, draw, sentence_pairs
from tests.messy.truth import Truth, messy


@messy("form_responses.csv")
def questions_as_names(path: Path) -> Truth:
    """A web form: whole questions as names of columns, a timestamp and a mail address first."""
    random = Random(110)
    rows: list[Cells] = [
        (
            "Timestamp",
            "Email Address",
            "How many times did you write to us?",
            "Please describe what happened, in your own words.",
            "Which team should answer?",
        )
    ]
    for number, (text, team) in enumerate(draw(TICKETS, 230, seed=110)):
        stamp = f"2024/03/{1 + number % 28:02d} {number % 12}:{number % 60:02d}:09 PM GMT+1"
        rows.append((stamp, f"guest{number}@example.org", random.randint(1, 4), text, team))
    path.write_text(table(rows), encoding="utf-8")
    return Truth(
        "classification",
        230,
        "Please describe what happened, in your own words.",
        "Which team should answer?",
    )


@messy("survey_two_headers.csv")
def two_header_rows(path: Path) -> Truth:
    """A survey: below the questions, a second row says how each was answered."""
    random = Random(111)
    rows: list[Cells] = [
        ("Respondent ID", "Collector ID", "Start Date", "Would you buy it again?", "", "Why?"),
        ("", "", "", "Response", "Other (please specify)", "Open-Ended Response"),
    ]
    for number, (text, label) in enumerate(draw(REVIEWS, 220, seed=111)):
        answer = {"positive": "Yes", "negative": "No"}.get(label, label)
        other = "not sure" if number in (9, 120) else ""
        stamp = f"03/{1 + number % 28:02d}/2024 10:{number % 60:02d}:33 AM"
        rows.append((11_800_000_000 + random.randint(0, 10**6), 4431, stamp, answer, other, text))
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 220, "Why?", "Would you buy it again?")


@messy("tracker.csv")
def repeated_names(path: Path) -> Truth:
    """An issue tracker: names that come twice, line ends inside texts, gaps, a summary beside the description."""
    random = Random(112)
    rows: list[Cells] = [
        (
            *("Summary", "Issue key", "Issue id", "Issue Type", "Status", "Priority", "Reporter", "Created"),
            *("Labels", "Labels", "Description", "Sprint", "Sprint"),
        )
    ]
    for number, (text, kind) in enumerate(draw(TICKETS, 260, seed=112)):
        opening, _, rest = text.partition(" ")
        rows.append(
            (
                *(f"{rest[:30]}", f"SUP-{number + 1}", 10_000 + number, kind),
                *(random.choice(("Open", "Done", "In Progress")), random.choice(("High", "Medium", "Low"))),
                *(f"user{number % 17}", f"{1 + number % 28:02d}/Mar/24 4:{number % 60:02d} PM"),
                *("mobile" if number % 4 == 0 else "", "beta" if number % 9 == 0 else ""),
                "" if number in (31, 200) else f"{opening}\n\n{rest}\n{{code}}\nat step {number}\n{{code}}",
                *("Sprint 7" if number % 2 else "", ""),
            )
        )
    path.write_text(table(rows, end="\r\n"), encoding="utf-8")
    return Truth("classification", 258, "Description", "Issue Type", said=("skipped 2 rows",))


@messy("questions_html.csv")
def html_bodies(path: Path) -> Truth:
    """A question site: bodies in HTML, tags in angle brackets, the class in a column called Y."""
    random = Random(113)
    rows: list[Cells] = [("Id", "Title", "Body", "Tags", "CreationDate", "Y")]
    grades = dict(zip(TICKETS, ("HQ", "LQ_CLOSE", "LQ_EDIT", "HQ"), strict=True))
    for number, (text, kind) in enumerate(draw(TICKETS, 240, seed=113)):
        tags = "".join(f"<{tag}>" for tag in random.sample(("python", "pandas", "regex", "java", "css"), 2))
        body = f"<p>{text}</p>\n\n<pre><code>x = {number}\nprint(x)\n</code></pre>\n"
        stamp = f"2016-01-{1 + number % 28:02d} 00:21:{number % 60:02d}"
        rows.append((34_552_656 + 7 * number, text[7:40], body, tags, stamp, grades[kind]))
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 240, "Body", "Y")


@messy("clinic_notes.csv")
def notes(path: Path) -> Truth:
    """Notes of a clinic: an unnamed index, line ends in quotes, classes with a space before them, a few gaps."""
    rows: list[Cells] = [("", "description", "medical_specialty", "sample_name", "transcription", "keywords")]
    for number, (text, kind) in enumerate(draw(NEWS, 300, seed=114)):
        note = f'SUBJECTIVE:,  {text}\n\nPLAN:,  see "{kind}", visit {number}.\n1.  Rest.\n2.  Water.'
        keywords = "" if number % 4 == 0 else f"{kind}, visit, {text.split()[0].strip(',').lower()},"
        rows.append(
            (number, text[:40], f" {kind}", f" Visit - {number % 9} ", "" if number == 88 else note, keywords)
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 299, "transcription", "medical_specialty", said=("skipped 1 row",))


@messy("complaints.csv")
def public_complaints(path: Path) -> Truth:
    """A public register: eleven columns, most of which could be classes, one narrative."""
    random = Random(115)
    names = (
        *("Date received", "Product", "Sub-product", "Consumer complaint narrative", "Company", "State"),
        *("ZIP code", "Submitted via", "Timely response?", "Consumer disputed?", "Complaint ID"),
    )
    rows: list[Cells] = [names]
    for number, (text, product) in enumerate(draw(TICKETS, 320, seed=115)):
        rows.append(
            (
                *(f"{1 + number % 12:02d}/12/2023", product, random.choice(("", "Other", "Premium"))),
                *(text.replace("nine", "XXXX"), random.choice(("Acme Bank", "First Credit", "Union Loans"))),
                *(random.choice(("CA", "NY", "TX", "FL")), f"{random.randint(10, 99)}XXX", "Web"),
                *(random.choice(("Yes", "No")), random.choice(("Yes", "No", "N/A")), 3_000_000 + number),
            )
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 320, "Consumer complaint narrative", "Product")


@messy("airline_tweets.csv")
def confidences(path: Path) -> Truth:
    """Tweets with a class, how sure it is, a reason for some, and columns that are nearly empty."""
    random = Random(116)
    names = (
        *("tweet_id", "airline_sentiment", "airline_sentiment_confidence", "negativereason", "airline"),
        *("airline_sentiment_gold", "name", "retweet_count", "text", "tweet_created", "user_timezone"),
    )
    rows: list[Cells] = [names]
    for number, (text, label) in enumerate(draw(REVIEWS, 280, seed=116)):
        reason = random.choice(("Late Flight", "Lost Luggage", "Can't Tell")) if label == "negative" else ""
        airline = random.choice(("United", "Delta", "Southwest"))
        rows.append(
            (
                *(570_306_133_677_760_513 + number, label, round(random.uniform(0.3, 1), 4), reason, airline),
                *(label if number in (5, 70) else "", f"flyer{number % 90}", random.randint(0, 3)),
                *(f"@{airline} {text}", f"2015-02-24 11:{number % 60:02d}:52 -0800"),
                random.choice(("Eastern Time (US & Canada)", "Quito", "")),
            )
        )
    path.write_text(table(rows), encoding="utf-8")
    return Truth("classification", 280, "text", "airline_sentiment")


@messy("spam.csv")
def overflow_columns(path: Path) -> Truth:
    """Kaggle's v1 and v2 in cp1252, with unnamed columns into which two texts overflow."""
    rows: list[Cells] = [("v1", "v2", "", "", "")]
    for number, (text, label) in enumerate(draw(SMS, 300, seed=117)):
        rest = (" GN, GE", " GNT:-)", "") if number in (95, 210) else ("", "", "")
        rows.append((label, f"{text} £{number}", *rest))
    path.write_bytes(table(rows, end="\r\n").encode("cp1252"))
    return Truth("classification", 300, "v2", "v1", said=("cp1252",))


@messy("pairs_with_ids.tsv")
def ids_beside_sentences(path: Path) -> Truth:
    """Tatoeba's pairs: the number of each sentence before it, no header."""
    lines = [
        f"{1276 + 3 * number}\t{first}\t{77 + 5 * number}\t{second}\n"
        for number, (first, second) in enumerate(sentence_pairs(190, seed=118))
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return Truth("translation", 190, source="2", target="4")


@messy("subtitles.tsv")
def timed_pairs(path: Path) -> Truth:
    """Aligned subtitles: times, two languages, a score of the alignment."""
    rows: list[Cells] = [("start", "end", "en", "de", "overlap")]
    for number, (first, second) in enumerate(sentence_pairs(200, seed=119)):
        begin, end = (
            f"00:{at // 60:02d}:{at % 60:02d},{at * 37 % 1000:03d}" for at in (4 * number, 4 * number + 3)
        )
        rows.append((begin, end, first, second, round(0.7 + number % 30 / 100, 2)))
    path.write_text(table(rows, delimiter="\t"), encoding="utf-8")
    return Truth("translation", 200, source="en", target="de")


@messy("iob_tokens.csv")
def numbered_sentences(path: Path) -> Truth:
    """A token per row, with the number of its sentence and its place in it."""
    people, places = ("Ada", "Ben", "Cleo", "Dan"), ("Paris", "Leeds", "Graz", "York")
    rows: list[Cells] = [("sent_id", "token_id", "token", "pos", "iob")]
    for number in range(130):
        words = [
            (people[number % 4], "NNP", "B-PER"),
            ("Miller", "NNP", "I-PER"),
            ("moved", "VBD", "O"),
            ("to", "IN", "O"),
            (places[number // 4 % 4], "NNP", "B-LOC"),
            (f"in {1900 + number}".split()[1], "CD", "O"),
        ]
        rows += [(number + 1, at, *word) for at, word in enumerate(words)]
    path.write_text(table(rows), encoding="utf-8")
    return Truth("tagging", 130, "token", "iob", sequence="sent_id")


@messy("chat_export.txt")
def chat(path: Path) -> Truth:
    """A messenger's chat: date, time and name before each message, and messages of several lines."""
    random, lines, count = Random(121), [], 240
    for number, (text, _) in enumerate(draw(SMS, count, seed=121)):
        stamp = f"[{1 + number // 12:02d}.03.24, {8 + number % 12:02d}:{number % 60:02d}:0{number % 10}]"
        lines.append(f"{stamp} {random.choice(('Anna', 'Ben Miller'))}: {text}")
        if number % 11 == 0:
            lines.append("and one more thing, see above")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Truth("language_model", count, "text", said=("data.label=author",))


@messy("labels.md")
def markdown(path: Path) -> Truth:
    """A table in Markdown, with a title above it and a sentence below."""
    rows = [
        f"| {number} | {text} | {label} |"
        for number, (text, label) in enumerate(draw(REVIEWS, 150, seed=122))
    ]
    head = "# Reviews\n\nCollected in March.\n\n| # | review | sentiment |\n|---|:-------|----------:|\n"
    path.write_text(head + "\n".join(rows) + "\n\nThe end.\n", encoding="utf-8")
    return Truth("classification", 150, "review", "sentiment")
