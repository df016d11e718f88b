"""Translates advice for Python users: keyword arguments in place of command-line options."""

from __future__ import annotations

import re
from itertools import zip_longest

KEYWORDS = {"from": "start"}
"""Options whose keyword argument of `seqlab.train` has a different name."""
COMMAND = re.compile(r"\bseqlab [a-z]+ [^,;\n]*")
"""Commands to type into a terminal, which are not translated."""
TEXT_OPTION = re.compile(r"--(model|task|from|out|data) ([\w./-]*\w)")
NUMBER_OPTION = re.compile(r"--(minutes|beam|top|steps|low|high) ([\w.]*\w)")
BARE_OPTION = re.compile(r"--(model|task|from|out|minutes|steps|low|high)\b")
TASK = re.compile(r"\btask=(\w+)")
SETTING = re.compile(r"(?<![\w.\"])((?:[a-z_]+\.)+[a-z_]+)=(?:((?:[\w.…+/-]|,(?=\w))*\w)|'([^'\n]*)')")
"""Values may be paths, lists of columns, and names in quotation marks."""


def as_python(sentence: str) -> str:
    """The sentence with every option and setting as an argument of a Python function such as `seqlab.train`.

    >>> as_python("a gru model; use --model NAME to change it")
    'a gru model; use model="NAME" to change it'
    >>> as_python("Try training twice as long: --minutes 0.4")
    'Try training twice as long: minutes=0.4'
    >>> as_python("label column 'stars'; set data.label=NAME to change it")
    'label column \\'stars\\'; set "data.label=NAME" to change it'
    >>> as_python("Choose another --out, or continue: seqlab train --resume runs/a data.train=FILE")
    'Choose another out=, or continue: seqlab train --resume runs/a data.train=FILE'
    """
    commands = COMMAND.findall(sentence)
    others = [_arguments(part) for part in COMMAND.split(sentence)]
    return "".join(part for pair in zip_longest(others, commands, fillvalue="") for part in pair)


def _arguments(sentence: str) -> str:
    sentence = TEXT_OPTION.sub(lambda match: f'{_keyword(match[1])}="{match[2]}"', sentence)
    sentence = NUMBER_OPTION.sub(lambda match: f"{_keyword(match[1])}={match[2]}", sentence)
    sentence = BARE_OPTION.sub(lambda match: f"{_keyword(match[1])}=", sentence)
    sentence = TASK.sub(r'task="\1"', sentence)
    return SETTING.sub(lambda match: f'"{match[1]}={match[2] or match[3]}"', sentence)


def _keyword(option: str) -> str:
    return KEYWORDS.get(option, option)
