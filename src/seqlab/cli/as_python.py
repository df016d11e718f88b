"""Advice in the words of the Python functions: keyword arguments in place of command-line options."""

from __future__ import annotations

import re

KEYWORDS = {"from": "start"}
"""Options whose keyword of `seqlab.train` has another name."""
TEXT_OPTION = re.compile(r"--(model|task|from|out) ([\w./-]*\w)")
NUMBER_OPTION = re.compile(r"--(minutes|seeds) ([\w.]*\w)")
TASK = re.compile(r"\btask=(\w+)")
SETTING = re.compile(r"(?<![\w.\"])((?:[a-z_]+\.)+[a-z_]+)=([\w.…+-]*\w)")


def as_python(sentence: str) -> str:
    """The sentence with every option and setting as an argument of `seqlab.train`.

    >>> as_python("a gru model; another: --model NAME")
    'a gru model; another: model="NAME"'
    >>> as_python("Try twice the time: --minutes 0.4")
    'Try twice the time: minutes=0.4'
    >>> as_python("label column 'stars'; another: data.label=NAME")
    'label column \\'stars\\'; another: "data.label=NAME"'
    """
    sentence = TEXT_OPTION.sub(lambda match: f'{_keyword(match[1])}="{match[2]}"', sentence)
    sentence = NUMBER_OPTION.sub(lambda match: f"{_keyword(match[1])}={match[2]}", sentence)
    sentence = TASK.sub(r'task="\1"', sentence)
    return SETTING.sub(r'"\1=\2"', sentence)


def _keyword(option: str) -> str:
    return KEYWORDS.get(option, option)
