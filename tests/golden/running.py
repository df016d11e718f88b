"""Trains a case through the public surface of seqlab and asks the result."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import seqlab
from tests.golden import observe
from tests.golden.cases import CASES, N_BEST, QUESTIONS, TEACHER, VECTORS, Case
from tests.golden.data import write

ENVIRONMENT = {"SEQLAB_NATIVE": "0", "OMP_NUM_THREADS": "1"}
"""The numbers are those of the kernels in Python, on one thread: others round differently.

Set it before torch is imported.
"""
TOP = 3


def observed(name: str, folder: Path, changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Everything that is compared about a case. changes: settings that differ from the table."""
    run = seqlab.load(train(name, folder, changes))
    return {**observe.training(run), **_answers(CASES[name], run)}


def train(name: str, folder: Path, changes: Mapping[str, Any] | None = None) -> Path:
    """The folder of the finished run of a case; the cases that it needs are trained before."""
    case = CASES[name]
    settings = {**case.all_settings(), **(changes or {})}
    start = train(case.start, folder) if case.start else ""
    if case.teacher:
        settings[TEACHER] = train(case.teacher, folder)
    if case.vectors:
        settings[VECTORS] = write(case.vectors, folder)
    run = seqlab.train(
        write(case.data, folder),
        *_words(settings),
        task=case.task,
        model=case.model,
        start=start,
        out=folder / name,
    )
    return run.folder


def _words(settings: Mapping[str, Any]) -> list[str]:
    """As on the command line."""
    return [
        f"{name}={str(value).lower() if isinstance(value, bool) else value}"
        for name, value in settings.items()
    ]


def _answers(case: Case, run: Any) -> dict[str, Any]:
    """What a trained model says; what a case does not ask for is left out."""
    questions = QUESTIONS[case.data] if case.questions is None else case.questions
    top = 1 if case.task in ("translation", "captioning") else TOP
    found: dict[str, Any] = {
        "predictions": [observe.prediction(each) for each in run.predict(questions, top=top)]
    }
    for settings in case.searches:
        searched = run.with_decoding(**settings).predict(questions, top=settings.get(N_BEST, 1))
        found.setdefault("searches", []).append([observe.prediction(each) for each in searched])
    if case.texts:
        found["texts"] = [run.generate(**settings) for settings in case.texts]
    if case.likelihoods:
        found["likelihoods"] = [observe.likelihood(each) for each in run.score(case.likelihoods)]
    if case.adapts:
        found["adapted"] = observe.scores(run.adapted_scores(cache=True, dynamic=True))
    if case.gives_vectors:
        found["vectors"] = run.vectors(questions).tolist()
    return found
