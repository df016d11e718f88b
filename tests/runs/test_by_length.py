"""Short and long sources apart: the same parts for all runs, and each scored like the whole."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from seqlab.metrics.items import mean_items
from seqlab.runs.compare.by_length import quality_by_length
from tests.cli.running import run
from tests.cli.tiny_pairs import train_tiny, write_pairs
from tests.pages.reading import Page


@pytest.mark.spec(116)
def test_each_part_has_the_mean_of_its_own_rows() -> None:
    lengths = np.array([3, 4, 5] * 10 + [6, 9, 10] * 10 + [12] * 2, np.float64)
    rng = np.random.default_rng(2)
    right = {name: rng.integers(0, 2, len(lengths)).astype(np.float64) for name in ("with", "without")}
    found = quality_by_length(
        "exact_match", {name: mean_items(values) for name, values in right.items()}, lengths, unit="words"
    )
    assert found is not None
    parts = [(lengths <= 4), (lengths > 4) & (lengths <= 6), lengths > 6]
    assert [part.name for part in found.parts["with"]] == [
        "3–4",
        "5–6",
        "9–12",
    ]  # two rows of 12 are too few to stand alone
    assert found.middles == pytest.approx([lengths[chosen].mean() for chosen in parts])
    for name, values in right.items():
        assert [part.value for part in found.parts[name]] == pytest.approx(
            [values[chosen].mean() for chosen in parts]
        )
        assert [part.count for part in found.parts[name]] == [int(chosen.sum()) for chosen in parts]
        assert all(part.low <= part.value <= part.high for part in found.parts[name])
    same = np.full(40, 7.0)
    assert quality_by_length("exact_match", {"with": mean_items(same)}, same, unit="words") is None


@pytest.mark.slow
@pytest.mark.spec(116)
def test_quality_by_length_with_and_without_attention_is_one_chart_of_a_comparison(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = write_pairs(tmp_path)
    trained = [
        train_tiny(data, name, "data.test_share=0.5", f"decoder.attention={name}", steps=20)
        for name in ("additive", "none")
    ]
    folders = [str(one.folder) for one in trained]
    found = run(capsys, "compare", *folders, "--out", str(tmp_path / "both"))
    assert found.code == 0
    assert "exact_match by characters in the source:" in found.out
    page = Page((tmp_path / "both" / "compare.html").read_text(encoding="utf-8"))
    assert "lengths" in page.values("id")
    assert "exact match by source length" in page.text
    told = json.loads(run(capsys, "compare", *folders, "--out", str(tmp_path / "again"), "--json").out)[
        "by_length"
    ]
    assert set(told["parts"]) == {"additive", "none"}
    for one in trained:  # the parts together are the whole
        parts = told["parts"][one.folder.name]
        whole = sum(part["value"] * part["count"] for part in parts) / sum(part["count"] for part in parts)
        assert whole == pytest.approx(one.results["exact_match"].value)
    assert [part["name"] for part in told["parts"]["additive"]] == [
        part["name"] for part in told["parts"]["none"]
    ]
