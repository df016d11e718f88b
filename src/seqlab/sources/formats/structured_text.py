"""Text that is not prose: markup, tables and records in formats that seqlab reads as plain text, with a word about it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from seqlab.core.shell_words import setting_word

MARKS = {
    "XML": (
        r"<\?xml\b",
        "python -c \"import sys, pandas; pandas.read_xml(sys.argv[1], parser='etree').to_csv(sys.argv[2], index=False)\" FILE FILE.csv",
    ),
    "HTML": (r"(?i)<(!doctype html|html)\b", "pandoc -t plain --wrap=none FILE -o FILE.txt"),
    "TeX": (r"\\documentclass\b", "pandoc -f latex -t plain --wrap=none FILE -o FILE.txt"),
    "a calendar or contacts": (r"BEGIN:V[A-Z]+", ""),
    "ARFF": (r"(?i)@relation\b", ""),
    "BibTeX": (r"@[A-Za-z]+\s*\{", ""),
    "a database dump": (r"(?i)(create table|insert into|drop table)\b|--.*\bdump\b", ""),
}
"""How the first line that is not a comment begins, and a command that converts the file, if there is a usual one."""
COLUMN_MARKS = ("|||", "|", ";")
FEWEST_LINES = 5
COMMENT = re.compile(r"\s*(%|#|/\*|--(?!.*\bdump\b))")


def describe_structure(lines: Sequence[str], name: str) -> str:
    """What a text file looks like, and what can be done; empty for prose. name: of the file.

    >>> describe_structure(["% by hand", "@relation iris"], "iris.arff").partition(";")[0]
    'looks like ARFF, and is read as plain text, marks and all'
    >>> describe_structure(["<3 is a heart"], "a.txt"), describe_structure([], "a.txt")
    ('', '')
    """
    first = next((line.strip() for line in lines if line.strip() and not COMMENT.match(line)), "")
    kind = next((kind for kind, (pattern, _) in MARKS.items() if re.match(pattern, first)), "")
    if not kind:
        return ""
    command = MARKS[kind][1].replace("FILE", shlex.quote(name))
    example = f", for example: {command}" if command else " or to a table with one row per example"
    return f"looks like {kind}, and is read as plain text, marks and all; convert it to what should be learned{example}"


def describe_columns(lines: Sequence[str], name: str) -> str:
    """What to do if every line of a text has the same number of marks between columns; empty if not.

    >>> describe_columns(["a;b"] * 9, "a.txt").partition("; ")[2], describe_columns(["a;b"] * 8 + ["a"], "a.txt")
    ("if it separates columns, set data.format=csv data.delimiter=';'", '')
    """
    for mark in COLUMN_MARKS:
        counts = {line.count(mark) for line in lines}
        if len(lines) >= FEWEST_LINES and len(counts) == 1 and counts != {0}:
            file, table = shlex.quote(name), shlex.quote(f"{name}.tsv")
            awk = f"run: awk -F ' *[|][|][|] *' -v OFS='\\t' '{{$1=$1}}1' {file} > {table}"
            cure = awk if len(mark) > 1 else f"set data.format=csv {setting_word('data.delimiter', mark)}"
            return f"every line contains '{mark}' equally often, and is read as plain text; if it separates columns, {cure}"
    return ""
