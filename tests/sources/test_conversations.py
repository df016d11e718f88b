"""Subtitles, chats and mail: what people said, without what surrounds it."""

from __future__ import annotations

import mailbox
from email.message import EmailMessage
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.base import Source, TextSource
from seqlab.sources.file_format import format_of
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out

SRT = """1
00:00:01,000 --> 00:00:02,500
Are you coming?

2
00:00:03,000 --> 00:00:04,000 X1:63 X2:223
{\\an8}<i>In a</i> minute, <font color="red">dear</font>.
- At 12:30?

3
00:00:05,000 --> 00:00:06,000
<b></b>

4
00:00:07,000 --> 00:00:08,000
5 < 6 & 7 > 3
"""
VTT = """WEBVTT - a film

NOTE nobody
hears this

STYLE
::cue { color: red }

intro
00:01.000 --> 00:02.500 align:start
<v Ann>Are you <00:01.500>coming?

00:03.000 --> 00:04.000
No.
"""


def open_text(path: Path, content: str, **settings: object) -> Source:
    path.write_text(content, encoding="utf-8")
    return open_source(path, DataSettings(**settings))  # type: ignore[arg-type]  # whatever a test asks for


def texts(source: Source) -> list[str]:
    return [row.values["text"] for row in source.rows()]


def test_subtitles_are_one_line_per_cue_with_the_line_of_its_times(tmp_path: Path) -> None:
    source = open_text(tmp_path / "film.srt", SRT)
    assert isinstance(source, TextSource)
    assert [(row.values["text"], row.line) for row in source.rows()] == [
        ("Are you coming?", 2),
        ("In a minute, dear. - At 12:30?", 6),
        ("5 < 6 & 7 > 3", 15),
    ]
    assert "".join(source.chunks(9)) == "".join(text + "\n" for text in texts(source))
    assert texts(open_text(tmp_path / "film.vtt", VTT)) == ["Are you coming?", "No."]
    assert texts(open_source(tmp_path / "film.srt", DataSettings(format="text")))[:2] == [
        "1",
        "00:00:01,000 --> 00:00:02,500",
    ]


def test_lines_of_held_out_subtitles_are_those_of_the_file(tmp_path: Path) -> None:
    cues = [f"{n}\n00:00:{n:02d},000 --> 00:00:{n:02d},500\nword {n}\n" for n in range(1, 41)]
    source = open_text(tmp_path / "film.srt", "\n".join(cues))
    splits = hold_out(source, how="tail", valid_share=0.2, test_share=0.2, seed=1)
    found = [(row.values["text"], row.line) for part in splits.named().values() for row in part.rows()]
    assert found == [(f"word {n}", 4 * n - 2) for n in range(1, 41)]


def test_a_file_without_a_cue_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"data\.format=text"):
        texts(open_text(tmp_path / "film.srt", "nothing\n"))


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["[01.03.24, 08:15:09] Anna: hi", "[01.03.24, 08:16:10] Ben M.: at 9:30?"], [("Anna", "hi"), ("Ben M.", "at 9:30?")]),
        (["01/03/2024, 08:15 - Anna: hi", "01/03/2024, 08:16 - Ben: a - b"], [("Anna", "hi"), ("Ben", "a - b")]),
        (["3/1/24, 8:15\u202fPM - Anna: hi", "3/1/24, 8:16\u202fPM - Ben: yes"], [("Anna", "hi"), ("Ben", "yes")]),
        (["\u200e[01.03.24, 08:15] +44 7700 1: hi", "[01.03.24, 08:16] Ben: yes"], [("+44 7700 1", "hi"), ("Ben", "yes")]),
        (["[08:15] <anna> hi: there", "[08:15] <ben> yes"], [("anna", "hi: there"), ("ben", "yes")]),
        (["2024-03-01 08:15 Anna: hi", "2024-03-01 08:16 Ben: yes"], [("Anna", "hi"), ("Ben", "yes")]),
    ],
)  # fmt: skip
def test_chats_of_several_programs_are_recognized(
    lines: list[str], expected: list[tuple[str, str]], tmp_path: Path
) -> None:
    source = open_text(tmp_path / "chat.txt", "\n".join(lines * 15) + "\n")
    assert [(row.values["author"], row.values["text"]) for row in source.rows()] == expected * 15


def test_a_message_has_all_its_lines_and_notices_are_no_messages(tmp_path: Path) -> None:
    start = [
        "01/03/2024, 08:00 - Messages are end-to-end encrypted.",
        "01/03/2024, 08:15 - Anna: a list:",
        "",
        "- bread",
        "01/03/2024, 08:16 - Ben: <Media omitted>",
        "01/03/2024, 08:17 - Ben left",
    ]
    rest = [f"02/03/2024, 09:{n} - {name}: number {n}" for n in range(10, 40) for name in ("Anna", "Ben")]
    rows = list(open_text(tmp_path / "chat.txt", "\n".join(start + rest)).rows())
    assert (rows[0].values["text"], rows[0].line) == ("a list:\n\n- bread", 2)
    assert (rows[1].values, rows[1].line) == ({"author": "Anna", "text": "number 10"}, 7)
    assert len(rows) == 61


@pytest.mark.parametrize(
    "lines",
    [
        ["2024-03-01 12:00:01 ERROR: no such file", "2024-03-01 12:00:02 INFO: started"],
        ["2024-03-01 12:00:01,123 INFO [worker-1] Note: started"],
        ["Anna: at 12:30?", "Ben: yes."],
        ["12:30 we left. Then: nothing", "13:15 we arrived"],
    ],
)
def test_logs_plays_and_diaries_are_plain_text(lines: list[str], tmp_path: Path) -> None:
    source = open_text(tmp_path / "notes.txt", "\n".join(lines * 20) + "\n")
    assert isinstance(source, TextSource)
    assert texts(source) == lines * 20


def write_mails(path: Path, count: int, **headers: str) -> list[str]:
    """A mailbox written by Python's own package; returns the texts."""
    bodies = []
    box = mailbox.mbox(path)
    for number in range(count):
        mail = EmailMessage()
        mail["From"], mail["Subject"] = f"Zoë <zoe{number}@example.org>", f"Größe {number}"
        for name, value in headers.items():
            mail[name.replace("_", "-")] = value
        text = f"Dear all,\n\nFrom here it is {number} € = fine.\n" + "long " * 40
        mail.set_content(text)
        if number % 2:
            mail.add_alternative(f"<p>other {number}</p>", subtype="html")
        if number % 3 == 0:
            mail.add_attachment(b"\0\1", maintype="application", subtype="octet-stream", filename="a.bin")
        box.add(mail)
        bodies.append(text.strip())
    box.close()
    return bodies


def test_mail_has_the_texts_that_were_sent(tmp_path: Path) -> None:
    path = tmp_path / "mails"  # recognized by its content
    bodies = write_mails(path, 7, X_Gmail_Labels="Inbox,Work")
    source = open_source(path, DataSettings())
    assert source.columns == ["sender", "subject", "text", "labels"]
    rows = list(source.rows())
    assert [row.values["text"] for row in rows] == bodies
    assert rows[2].values["sender"] == "Zoë <zoe2@example.org>"
    assert rows[2].values["subject"] == "Größe 2"
    assert {row.values["labels"] for row in rows} == {"Inbox,Work"}
    lines = path.read_bytes().split(b"\n")
    assert all(lines[row.line - 1].startswith(b"From ") for row in rows)


def test_mail_in_html_loses_its_markup_and_mail_without_text_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    head = "From a Fri Mar  1 10:00:00 2024\nFrom: a@b.org\nSubject: s\n"
    path.write_text(
        f"{head}Content-Type: text/html\n\n<style>p {{}}</style><p>a &lt; b</p><!-- c -->\n\n"
        f"{head}Content-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBO\n"
    )
    source = open_source(path, DataSettings())
    assert source.columns == ["sender", "subject", "text"]
    assert texts(source) == ["a < b", ""]


def test_a_mail_in_an_unknown_encoding_is_refused_with_its_line_or_skipped(tmp_path: Path) -> None:
    path = tmp_path / "a.mbox"
    head = "From a Fri Mar  1 10:00:00 2024\nFrom: a@b.org\nSubject: s\n"
    path.write_text(f"{head}\nfine\n\n{head}Content-Type: text/plain; charset=klingon\n\nqo\n")
    with pytest.raises(DataError, match=r"a\.mbox, line 7.*klingon"):
        texts(open_source(path, DataSettings(bad_rows="stop")))
    assert texts(open_source(path, DataSettings(bad_rows="skip"))) == ["fine"]


def test_prose_that_begins_like_mail_is_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("From here: to there\nOr: not\nso it goes\n")
    assert format_of(tmp_path / "a.txt") == "text"
