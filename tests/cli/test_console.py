"""What reaches the terminal."""

from __future__ import annotations

import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.cli.console import answer, answer_json, clean, print_error, say, suggest
from seqlab.core.errors import DataError


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧 and 🏳️‍🌈",  # joined by U+200D
        "می‌خواهم",  # a zero-width non-joiner
        "क्‍ष",
        "Donau\u00addampf\u00adschiff",  # soft hyphens
        "\u200eabc\u200f",  # direction marks
        "\ufeffabc",
        "a\tb\nc",
        "naïve – “quoted” … \U0001f600",
    ],
)
def test_ordinary_text_of_any_script_is_shown_as_it_is(text: str) -> None:
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("\x9b31mred", r"\x9b31mred"),  # the 8-bit form of ESC [
        ("bell\x07", r"bell\x07"),
        ("over\rwritten", r"over\x0dwritten"),
        ("back\x08", r"back\x08"),
        ("\x00\x7f", r"\x00\x7f"),
        ("abc\u202etxt.exe", r"abc\u202etxt.exe"),
        ("\u2066hidden\u2069", r"\u2066hidden\u2069"),
        ("\udcff", r"\udcff"),
    ],
)
def test_what_could_harm_a_terminal_is_shown_as_its_code(text: str, shown: str) -> None:
    assert clean(text) == shown


@given(st.text(st.characters()))
def test_no_control_character_and_no_lone_surrogate_is_ever_left(text: str) -> None:
    shown = clean(text)
    assert all(
        character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs") for character in shown
    )
    assert clean(shown) == shown


def test_messages_go_to_standard_error_and_answers_to_standard_output(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("a message")
    answer("an answer")
    suggest(["seqlab list"])
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("an answer\nnext:\n  seqlab list\n", "a message\n")


@given(st.dictionaries(st.text(st.characters()), st.text(st.characters()) | st.floats() | st.none()))
def test_json_is_one_harmless_line_that_reads_back(value: dict[str, object]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        written: list[str] = []
        patch.setattr("builtins.print", lambda text, **_: written.append(text))
        answer_json(value)
    (line,) = written
    assert clean(line) == line
    assert "\n" not in line
    finite = {
        name: None if isinstance(part, float) and (part != part or abs(part) == float("inf")) else part
        for name, part in value.items()
    }
    assert json.loads(line) == finite


def test_json_for_a_terminal_without_unicode_is_plain_ascii(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Latin:
        encoding = "latin-1"
        write, flush = sys.stdout.write, sys.stdout.flush

    monkeypatch.setattr(sys, "stdout", Latin())
    answer_json({"word": "é…"})
    monkeypatch.undo()
    assert capsys.readouterr().out == '{"word": "\\u00e9\\u2026"}\n'


def test_a_complaint_is_never_longer_than_twelve_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_error(DataError("a\n" * 40 + "b" * 5000, where="x.csv", cure="Mend it."))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 12
    assert max(map(len, lines)) <= 600
    assert lines[0] == "DataError: x.csv: a"
