"""The lecture's run on the real reviews: minutes, so only in `make test-long`."""

from __future__ import annotations

from pathlib import Path

import pytest

import seqlab


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.spec(5, 159)
def test_the_recipe_reaches_the_test_accuracy_of_the_lecture(shared_data: Path, tmp_path: Path) -> None:
    parts = {name: str(shared_data / "imdb" / f"{name}.jsonl.xz") for name in ("train", "test")}
    run = seqlab.train("imdb-lecture", out=tmp_path / "run", **parts)
    assert run.num_parameters == 1_612_802
    assert run.results.split == "test"
    assert run.results["accuracy"].value >= 0.82217
