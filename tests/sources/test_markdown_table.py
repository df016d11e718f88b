"""Tables in Markdown files, and Markdown files that are no tables."""

from __future__ import annotations

from pathlib import Path

from seqlab.sources.base import TextSource
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings

RULE = "|:---|---:|"


def read(path: Path, *lines: str) -> list[tuple[int, dict[str, str]]]:
    path.write_text("\n".join(lines) + "\n")
    return [(row.line, row.values) for row in open_source(path, DataSettings()).rows()]


def test_rows_keep_their_lines_and_escaped_pipes(tmp_path: Path) -> None:
    rows = read(
        tmp_path / "notes.md",
        "# Notes",
        "",
        "| text | label |",
        RULE,
        "| good | pos |",
        "| a \\| b | neg |",
        "|  | pos",
    )
    assert rows == [
        (5, {"text": "good", "label": "pos"}),
        (6, {"text": "a | b", "label": "neg"}),
        (7, {"text": "", "label": "pos"}),
    ]


def test_a_text_with_a_small_table_stays_text(tmp_path: Path) -> None:
    path = tmp_path / "readme.md"
    path.write_text(
        "\n".join(["| a | b |", RULE, "| 1 | 2 |", *(f"Line {n} of the text." for n in range(9))])
    )
    assert isinstance(open_source(path, DataSettings()), TextSource)


def test_the_settings_can_ask_for_text(tmp_path: Path) -> None:
    path = tmp_path / "table.md"
    path.write_text("\n".join(["| a | b |", RULE, *["| 1 | 2 |"] * 9]))
    source = open_source(path, DataSettings())
    assert source.columns == ["a", "b"]
    assert any("data.format=text" in note for note in source.notes)
    assert isinstance(open_source(path, DataSettings(format="text")), TextSource)
