"""What the tests of planted label errors share: a small training, and how many of the errors are found."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import seqlab
from seqlab.pages.sections.base import ReportSection
from seqlab.pages.sections.label_errors import LabelErrors
from seqlab.runs.run import Run


def train_quickly(data: Path, *settings: str, **arguments: Any) -> Run:
    """Train a small model on a file; the run is next to it."""
    common = ("training.threads=1", "model.hidden_size=16", "training.learning_rate=0.02")
    return seqlab.train(data, *common, *settings, out=data.parent / "run", verbose=False, **arguments)


def label_errors(sections: Sequence[ReportSection]) -> LabelErrors:
    (section,) = [section for section in sections if isinstance(section, LabelErrors)]
    return section


def check_most_are_found(reported: set[Any], planted: set[Any], section: LabelErrors) -> None:
    """Four of five reported errors were planted, four of five planted ones are reported, by both judges."""
    assert len(reported & planted) / len(reported) >= 0.8
    assert len(reported & planted) / len(planted) >= 0.8
    assert len(section.errors) <= 20
    assert {error.by for error in section.errors} == {"this model", "naive Bayes"}
