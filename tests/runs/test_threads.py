"""A loaded run serves several threads at once, and prepares everything when it is loaded."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

import seqlab
from seqlab.runs.run import Run
from tests.golden.cases import CASES, QUESTIONS
from tests.golden.running import train

pytestmark = pytest.mark.slow  # every run is trained first

NUM_THREADS = 8
RUNS = (
    "bigru_learned_merge",
    "transformer_rms_rotary_swiglu",
    "label_sets",
    "regression_text",
    "tagger_crf",
    "language_model_lstm",
    "language_model_rotary_window",
    "pretraining",
    "translation_additive",
    "translation_transformer",
    "captioning",
)
"""Every task, recurrent and attentive networks: golden cases, whose data and settings are small."""


@pytest.fixture(scope="module", params=RUNS)
def trained(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Run, list[Any]]:
    case, folder = CASES[request.param], tmp_path_factory.mktemp(request.param)
    inputs = QUESTIONS[case.data] if case.questions is None else case.questions
    return seqlab.load(train(request.param, folder)), list(inputs)


def _ask(run: Run, inputs: list[Any], number: int) -> list[dict[str, Any]]:
    """Different threads ask in a different order, so that batches differ in shape at the same moment."""
    inputs = inputs[number % len(inputs) :] + inputs[: number % len(inputs)]
    top = 1 if run.spec.generates else 3
    predictions = [prediction for text in inputs for prediction in run.predict([text], top=top)]
    if run.spec.generates:
        predictions += run.predict(inputs, top=2, beam=3)
    return [prediction.to_json() for prediction in predictions]


def test_eight_threads_get_the_answers_of_one(trained: tuple[Run, list[Any]]) -> None:
    run, inputs = trained
    expected = [_ask(run, inputs, number) for number in range(NUM_THREADS)]
    assert len({str(answers) for answers in expected[: len(inputs)]}) > 1, "every thread asks something else"
    start = Barrier(NUM_THREADS)

    def work(number: int) -> list[list[dict[str, Any]]]:
        start.wait()
        return [_ask(run, inputs, number) for _ in range(3)]

    with ThreadPoolExecutor(NUM_THREADS) as pool:
        answers = list(pool.map(work, range(NUM_THREADS)))
    for number, repeats in enumerate(answers):
        assert repeats == [expected[number]] * 3


def test_generating_in_eight_threads_is_the_same(tmp_path: Path) -> None:
    run = seqlab.load(train("language_model_lstm", tmp_path))

    def write(seed: int) -> str:
        return run.generate("a", seed=seed, max_tokens=40)

    expected = [write(seed) for seed in range(NUM_THREADS)]
    assert len(set(expected)) > 1
    with ThreadPoolExecutor(NUM_THREADS) as pool:
        assert list(pool.map(write, range(NUM_THREADS))) == expected
