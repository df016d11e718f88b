"""Parse untrusted TOML in bounded time."""

from __future__ import annotations

import re
import tomllib
from typing import Any

MOST_PARTS = 50
"""Parts of a dotted key. Settings have three; parse time grows quadratically with the number of parts."""
_PART = r"""(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_DEEP_KEY = re.compile(rf"\.[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART}){{{MOST_PARTS - 1}}}")


def parse_toml(text: str) -> dict[str, Any]:
    """Parse TOML text; raises ValueError if it is not valid or nested too deeply.

    >>> parse_toml("training.steps = 5")
    {'training': {'steps': 5}}
    """
    if _DEEP_KEY.search(text):
        raise ValueError(f"a key has more than {MOST_PARTS} parts.")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply.") from error
