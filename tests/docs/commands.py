"""Commands in documents: lines of code blocks, and commands quoted in sentences."""

from __future__ import annotations

import re
import shlex

FENCE = re.compile(r"^ *```.*?^ *```", re.DOTALL | re.MULTILINE)
CONTINUED = re.compile(r" \\\n *")
QUOTED = re.compile(r"`(seqlab [a-z][^`\n]*)`")


def commands(text: str) -> list[list[str]]:
    """Every line of a document's code blocks that is a seqlab command, as its words. A backslash at the end
    continues a command on the next line.
    """
    text = CONTINUED.sub(" ", text)
    blocks = FENCE.findall(text)
    indented = [line for line in FENCE.sub("", text).splitlines() if line.startswith("    ")]
    lines = [line.strip().removeprefix("$ ") for line in [*"\n".join(blocks).splitlines(), *indented]]
    return [
        shlex.split(line.partition("  #")[0])
        for line in lines
        if line.startswith("seqlab ") and not line.startswith("seqlab [")
    ]


def quoted_commands(text: str) -> list[list[str]]:
    """Every seqlab command that a sentence or a table quotes, as its words."""
    return [shlex.split(command) for command in QUOTED.findall(FENCE.sub("", text))]
