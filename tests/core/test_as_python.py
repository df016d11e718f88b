"""Advice for Python users names keyword arguments, and each of them is one of `seqlab.train`."""

from __future__ import annotations

import inspect
import re

import pytest

from seqlab.api import train
from seqlab.core.as_python import as_python


@pytest.mark.parametrize(
    ("command", "python"),
    [
        ("use --model bilstm for a network", 'use model="bilstm" for a network'),
        ("another model (--model NAME), another", 'another model (model="NAME"), another'),
        ("use --minutes NUMBER to change it", "use minutes=NUMBER to change it"),
        ("Try twice the time: training.steps=300", 'Try twice the time: "training.steps=300"'),
        ("another task: task=NAME", 'another task: task="NAME"'),
        ("fine-tune it: --from runs/novel-lstm", 'fine-tune it: start="runs/novel-lstm"'),
        ("set model.attention_dropout=0 to disable", 'set "model.attention_dropout=0" to disable'),
        ("with others: data.text=title,body", 'with others: "data.text=title,body"'),
        ("data.label=toxic, or data.text=a", '"data.label=toxic", or "data.text=a"'),
        ("moved: data.train=data/new.csv.", 'moved: "data.train=data/new.csv".'),
        ("also: data.label='Your age?' or data.text=a", 'also: "data.label=Your age?" or "data.text=a"'),
        ("a.csv, line 3 (model.dropout)", "a.csv, line 3 (model.dropout)"),
    ],
)
def test_options_become_arguments(command: str, python: str) -> None:
    assert as_python(command) == python
    keywords = re.findall(r"(?<![\w.\"])(\w+)=", python)
    assert set(keywords) <= set(inspect.signature(train).parameters)
