"""The format of a file: from its name or, if that is ambiguous, from its first lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

from seqlab.core.errors import DataError
from seqlab.sources.encoding import detect_encoding, first_lines
from seqlab.sources.files.compression import first_bytes, plain_name
from seqlab.sources.formats.chat_log import looks_like_chat
from seqlab.sources.formats.json_document import looks_like_lines
from seqlab.sources.formats.label_files import LABEL_FILES, looks_like_label_files
from seqlab.sources.formats.label_folders import find_label_folders, is_tar
from seqlab.sources.formats.labeled_lines import looks_labeled
from seqlab.sources.formats.mailbox import looks_like_mail
from seqlab.sources.formats.markdown_table import looks_like_markdown_table
from seqlab.sources.formats.registry import formats_by_suffix
from seqlab.sources.formats.structured_text import describe_columns, describe_structure
from seqlab.sources.formats.subtitles import looks_like_subtitles
from seqlab.sources.formats.tagged_words import looks_tagged

FOREIGN = {
    b"%PDF": "a PDF",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"SQLite format 3": "an SQLite database",
    b"\x80\x04": "a pickle",
    b"{\\rtf": "an RTF document",
}
LOOKED_AT = 20
OWN_ENCODING = ("gettext", "tmx", "parquet", "folders", "label_files", "mailbox")
"""Formats that declare their encoding, or have none."""
CONVERSATIONS = {"mailbox": looks_like_mail, "chat_log": looks_like_chat, "subtitles": looks_like_subtitles}
"""Formats that are recognized by the lines of a text file, in which people speak or write to each other."""
PLAIN_SUFFIXES = ("", ".txt", ".text", ".log")
FEWEST_LINES = 5
"""Minimum number of lines with the same number of tabs for a .txt file to be read as a table."""


@dataclass(frozen=True)
class FileFormat:
    """The name of a format, why it was chosen if not from the file name, and the encoding."""

    name: str
    why: str = ""
    encoding: str = ""


def format_of(path: Path) -> str:
    """The name of the format of a file."""
    return find_format(path).name


def find_format(path: Path, *, name: str = "", encoding: str = "") -> FileFormat:
    """The format and the encoding of a file, unless the settings name them."""
    if name in OWN_ENCODING:
        return FileFormat(name, encoding=encoding)
    if not name and (is_tar(path) or (path.suffix.lower() == ".zip" and find_label_folders(path))):
        return _archive_format(path, encoding)
    encoding = encoding or detect_encoding(path)
    form = FileFormat(name) if name else _by_content(path, encoding)
    return form if form.name in OWN_ENCODING else replace(form, encoding=encoding)


def _archive_format(path: Path, encoding: str) -> FileFormat:
    """The format of an archive of text files: in a single folder with words as file names, each file may be a label."""
    if len(find_label_folders(path)) < 2 and looks_like_label_files(path):
        return FileFormat("label_files", LABEL_FILES, encoding)
    return FileFormat("folders", encoding=encoding)


def _by_content(path: Path, encoding: str) -> FileFormat:
    """The format of a file and, if it does not follow from the name, why."""
    suffix = PurePath(plain_name(path)).suffix.lower()
    by_name = formats_by_suffix().get(suffix)
    name = by_name or _sniff(path, suffix, encoding)
    if name in ("json", "jsonl"):
        return _json_format(path, encoding, by_name)
    if name in ("tsv", "text") and looks_tagged(path, encoding):
        return FileFormat(
            "tagged",
            "" if by_name == "tsv" else "words with tags; set data.format=text to read it as plain text",
        )
    is_open = (name == "text" and suffix in PLAIN_SUFFIXES) or not by_name
    if is_open and (form := _conversation_format(path, encoding)):
        return form
    if (name == "text" or not by_name) and looks_like_markdown_table(
        [line for line in first_lines(path, encoding) if line.strip()]
    ):
        return FileFormat(
            "markdown",
            "a Markdown table; the text around it is ignored; set data.format=text to read everything"
            " as text",
        )
    if (name == "text" and suffix in ("", ".txt", ".text")) or (name == "text" and not by_name):
        return _text_format(path, encoding)
    return FileFormat(name)


def _conversation_format(path: Path, encoding: str) -> FileFormat | None:
    """Mail, a chat or subtitles; None for anything else. They say themselves how they are read."""
    lines = first_lines(path, encoding)
    return next((FileFormat(name) for name, looks in CONVERSATIONS.items() if lines and looks(lines)), None)


def _json_format(path: Path, encoding: str, by_name: str | None) -> FileFormat:
    if by_name == "jsonl":
        opening = next((line.lstrip()[:1] for line in first_lines(path, encoding) if line.strip()), "{")
        return FileFormat("json" if opening == "[" else "jsonl")
    return FileFormat("jsonl" if looks_like_lines(path, encoding) else "json")


def _text_format(path: Path, encoding: str) -> FileFormat:
    """Text may be a table with tabs, or lines that begin with a label."""
    lines = [line for line in first_lines(path, encoding) if line.strip()]
    tabs = {line.count("\t") for line in lines}
    if len(lines) >= FEWEST_LINES and len(tabs) == 1 and tabs != {0}:
        return FileFormat(
            "tsv",
            "every line contains tabs, so it is read as a table; set data.format=text to read it as"
            " plain text",
        )
    if looks_labeled(lines):
        return FileFormat(
            "labeled_lines", "every line starts with a label; set data.format=text to read it as plain text"
        )
    return FileFormat("text", describe_structure(lines, str(path)) or describe_columns(lines, str(path)))


def _sniff(path: Path, suffix: str, encoding: str) -> str:
    """The format of a file whose name does not determine it."""
    start = first_bytes(path, 4096)
    if start.startswith(b"PAR1"):
        return "parquet"
    foreign = next((what for magic, what in FOREIGN.items() if start.startswith(magic)), "")
    if foreign or (b"\0" in start and not encoding):
        known = ", ".join(sorted(formats_by_suffix()))
        what = (
            f"is {foreign}, not text or a table."
            if foreign
            else f"contains bytes that are not text, and its name ends in '{suffix}'."
        )
        raise DataError(
            what,
            where=str(path),
            cure=f"Supported extensions: {known} (each also with .gz .xz .bz2 .zip). For any other name,"
            " set data.format.",
        )
    lines = first_lines(path, encoding)
    opening = next((line.lstrip() for line in lines if line.strip()), start.lstrip().decode(errors="replace"))
    if opening.startswith(("{", "[{")):
        return "json"
    return _table_format(lines[:LOOKED_AT]) or "text"


def _table_format(lines: Sequence[str]) -> str:
    """The table format whose delimiter occurs equally often in every line; among several, the one with the fewest
    empty cells. Empty if there is none.

    >>> _table_format(["+,S10,\\t\\tacgt", "-,S12,\\t\\tggca"]), _table_format(["a\\tb, c, d", "d\\te, f, g"])
    ('csv', 'tsv')
    """
    filled: dict[str, float] = {}
    for mark, kind in (("\t", "tsv"), (",", "csv"), (";", "csv"), ("|", "csv")):
        counts = {line.count(mark) for line in lines}
        if len(lines) > 1 and len(counts) == 1 and counts != {0}:
            cells = [cell for line in lines for cell in line.split(mark)]
            filled[kind] = max(sum(map(bool, map(str.strip, cells))) / len(cells), filled.get(kind, 0))
    return max(filled, key=lambda kind: filled[kind], default="")
