"""Runs that several tests start from."""

from __future__ import annotations

import pytest

from seqlab.runs.run import Run
from tests.runs.source_runs import pretrain


@pytest.fixture(scope="session")
def language_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return pretrain(tmp_path_factory.mktemp("language"))


@pytest.fixture(scope="session")
def recurrent_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return pretrain(tmp_path_factory.mktemp("recurrent"), model="lstm")


@pytest.fixture(scope="session")
def masked_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return pretrain(tmp_path_factory.mktemp("masked"), task="masked_language_model")
