"""Tables and messages at the width of the terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.cli.console import say
from seqlab.cli.fit_table import fit_table
from seqlab.cli.wrap import wrap_message

CELLS = st.text(alphabet="ab0.", min_size=1, max_size=12)


@given(
    rows=st.lists(
        st.fixed_dictionaries({"run": CELLS, "accuracy": CELLS, "loss": CELLS}), min_size=1, max_size=4
    ),
    width=st.integers(24, 90),
)
def test_every_cell_is_shown_within_the_width(rows: list[dict[str, str]], width: int) -> None:
    lines = fit_table(rows, width=width)
    assert max(map(len, lines)) <= width
    shown = sorted(word for line in lines for word in line.split() if word not in rows[0])
    assert shown == sorted(cell for row in rows for cell in row.values())


@given(
    words=st.lists(st.text(alphabet="abc.=-_", min_size=1, max_size=14), min_size=1, max_size=30),
    indent=st.sampled_from(["", "  "]),
)
def test_lines_are_broken_between_words_only(words: list[str], indent: str) -> None:
    wrapped = wrap_message(indent + " ".join(words), width=40)
    assert wrapped.split() == words
    assert all(len(line) <= 40 for line in wrapped.split("\n"))
    assert wrapped.startswith(indent)


def test_a_command_stays_on_one_line() -> None:
    command = "  seqlab train --resume 'runs/a folder with a long name' " + "x" * 60
    assert wrap_message(f"next:\n{command}", width=40).split("\n")[1] == command


def test_messages_are_wrapped_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "held out 10% for valid and 10% for test; set data.valid=FILE data.test=FILE to use other data"
    monkeypatch.setenv("COLUMNS", "60")
    say(text)
    assert capsys.readouterr().err == text + "\n"
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    say(text)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "data.valid=FILE" in " ".join(lines).split()
