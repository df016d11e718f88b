"""The same seed gives the same bits, in any process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import toy_runs
from tests.runs.toy_runs import fingerprint, finish, start

REPOSITORY = Path(__file__).parents[2]
CODE = """
import sys
from pathlib import Path
from tests.runs.toy_runs import SETTINGS, start, write_data
for kind, settings in SETTINGS.items():
    start(write_data(kind, Path(sys.argv[1])), Path(sys.argv[2]) / kind, settings)
"""


@pytest.mark.slow
def test_two_processes_with_other_hashes_end_with_the_same_bits(tmp_path: Path) -> None:
    for number in ("1", "777"):  # each with a cache of its own, so that the encoding is done again too
        settings = {
            "PYTHONHASHSEED": number,
            "PYTHONPATH": str(REPOSITORY),
            "SEQLAB_CACHE": str(tmp_path / f"cache-{number}"),
        }
        subprocess.run(
            [sys.executable, "-c", CODE, str(tmp_path), str(tmp_path / number)],
            env={**os.environ, **settings},
            check=True,
        )
    for kind in toy_runs.SETTINGS:
        assert fingerprint(tmp_path / "1" / kind) == fingerprint(tmp_path / "777" / kind)


@pytest.mark.slow
def test_another_seed_gives_other_weights(tmp_path: Path) -> None:
    data = toy_runs.write_data("classifier", tmp_path)
    for seed in (1, 2):
        assert finish(start, data, tmp_path / str(seed), [*toy_runs.CLASSIFIER, f"training.seed={seed}"]) == 0
    assert fingerprint(tmp_path / "1")["tensors"] != fingerprint(tmp_path / "2")["tensors"]
