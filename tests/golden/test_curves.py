"""Every golden case gives the numbers and texts that were recorded (`python -m tests.golden.record` writes
them anew).
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.golden.cases import CASES, LEARNING_RATE
from tests.golden.comparing import CURVES, differences, read, shortened
from tests.golden.running import ENVIRONMENT, observed

pytestmark = pytest.mark.slow  # a fraction of a second each, long together
SHOWN = 8
DEFAULT = {
    *("lstm", "gru", "bilstm_deep", "lstm_dropout_kinds", "convolutional", "bag_beside_gru", "transformer"),
    *("transformer_rms_rotary_swiglu", "class_weights", "series_classification", "images_by_patches"),
    *("tokens_bpe", "accumulation", "epochs_and_patience", "average_moving", "distillation", "fine_tuning"),
    *("lora", "word_vectors", "label_sets", "regression_text", "regression_series", "language_model_lstm"),
    *("language_model_transformer", "language_model_words", "sampled_softmax", "tagger", "tagger_crf"),
    *("pretraining", "translation_additive", "translation_local_predicted", "translation_transformer"),
    *("scheduled_sampling", "captioning", "captioning_recurrent", "forecasting_lstm"),
    "forecasting_transformer",
}
"""Every task with its main models and each way of training; `make test-long` trains the other cases too."""


def default_or_long(names: Iterable[str], default: Collection[str]) -> list[Any]:
    return [name if name in default else pytest.param(name, marks=pytest.mark.long) for name in names]


@pytest.fixture(scope="session")
def training_process() -> Iterator[ProcessPoolExecutor]:
    """Another process, as a user's own: no shape checks (they take three times as long), no compiled kernels
    (they round differently), one thread.
    """
    with ProcessPoolExecutor(max_workers=1, mp_context=multiprocessing.get_context("spawn")) as executor:
        with pytest.MonkeyPatch.context() as patch:
            for name, value in ENVIRONMENT.items():
                patch.setenv(name, value)
            # The process inherits the environment when it starts, so it starts here; tests that follow do not.
            executor.submit(len, ENVIRONMENT).result()
        yield executor


@pytest.fixture
def found_differences(training_process: ProcessPoolExecutor, tmp_path: Path) -> Callable[..., list[str]]:
    def find(name: str, changes: Mapping[str, object] | None = None) -> list[str]:
        found = training_process.submit(observed, name, tmp_path, changes).result()
        return list(differences(read(name), shortened(found)))

    return find


@pytest.mark.parametrize("name", default_or_long(CASES, DEFAULT))
def test_a_case_gives_what_was_recorded(name: str, found_differences: Callable[..., list[str]]) -> None:
    lines = found_differences(name)
    assert not lines, "\n".join([f"{len(lines)} differences:", *lines[:SHOWN]])


@pytest.mark.parametrize(
    "name",
    default_or_long(
        ["rnn", "regression_series", "tagger_crf", "language_model_lstm", "translation_transformer"],
        ["rnn", "translation_transformer"],
    ),
)
def test_a_rate_that_is_one_percent_higher_is_noticed(
    name: str, found_differences: Callable[..., list[str]]
) -> None:
    lines = found_differences(name, {LEARNING_RATE: 1.01 * CASES[name].all_settings()[LEARNING_RATE]})
    assert {line.partition("[")[0] for line in lines} >= {"losses", "learning_rates", "validations"}


def test_every_task_is_trained_by_default() -> None:
    assert CASES.keys() >= DEFAULT
    assert {CASES[name].task for name in DEFAULT} == {case.task for case in CASES.values()}


def test_every_case_is_recorded_and_every_record_has_a_case() -> None:
    assert {path.stem for path in CURVES.glob("*.json")} == CASES.keys()


def test_differences_are_found_in_numbers_texts_and_shapes() -> None:
    recorded = {"loss": [1.0, 2.0], "text": "ab", "none": None, "is_best": True}
    assert (
        list(differences(recorded, {"loss": [1.0 + 9e-6, 2.0], "text": "ab", "none": None, "is_best": True}))
        == []
    )
    for found in (
        {**recorded, "loss": [1.0, 2.00003]},
        {**recorded, "loss": [1.0]},
        {**recorded, "text": "ab "},
        {**recorded, "none": 0.0},
        {**recorded, "is_best": 1},
        {**recorded, "more": 1},
        {"loss": [1.0, 2.0], "text": "ab", "none": None},
    ):
        assert len(list(differences(recorded, found))) == 1
