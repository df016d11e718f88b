"""Build a Markdown document with YAML front matter, with untrusted text escaped."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

LONGEST_TEXT = 80
SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#])")
CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


def escape_markdown(text: str, *, longest: int = LONGEST_TEXT) -> str:
    """Escape text from a user's file and put it on one line.

    >>> escape_markdown("a|b *c*\\nd")
    'a\\\\|b \\\\*c\\\\* d'
    """
    plain = CONTROL.sub(" ", text).strip()
    return SPECIAL.sub(r"\\\1", plain if len(plain) <= longest else plain[: longest - 1] + "…")


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """
    >>> print("\\n".join(markdown_table(["split", "rows"], [["train", "80"]])))
    | split | rows |
    |---|---|
    | train | 80 |
    """
    lines = [heads, *rows]
    return [_table_line(lines[0]), "|" + "---|" * len(heads), *map(_table_line, lines[1:])]


def _table_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def to_yaml(value: Any, *, indent: int = 0) -> list[str]:
    """Format dicts, lists, numbers and strings as block-style YAML. Strings are quoted as in JSON, which is valid YAML.

    >>> print("\\n".join(to_yaml({"tags": ["a: b"], "results": [{"value": 0.5, "name": "x"}]})))
    tags:
      - "a: b"
    results:
      - value: 0.5
        name: "x"
    """
    space = " " * indent
    if isinstance(value, dict):
        lines: list[str] = []
        for name, part in value.items():
            if isinstance(part, dict | list) and part:
                lines += [f"{space}{name}:", *to_yaml(part, indent=indent + 2)]
            else:
                lines.append(f"{space}{name}: {json.dumps(part, ensure_ascii=False)}")
        return lines
    lines = []
    for part in value:
        if isinstance(part, dict):
            first, *rest = to_yaml(part, indent=indent + 2)
            lines += [f"{space}- {first.lstrip()}", *rest]
        else:
            lines.append(f"{space}- {json.dumps(part, ensure_ascii=False)}")
    return lines
