"""Who shares weights over time, counted and measured."""

from __future__ import annotations

import pytest

from seqlab.studies.weight_sharing import KERNEL, WIDTH, weight_sharing


@pytest.mark.spec(49)
def test_recurrence_and_convolution_share_weights_in_time_and_attention_computes_them_from_data() -> None:
    finding = weight_sharing(seed=0, quick=True)
    kinds = {row["layer"]: row["weights between steps"] for row in finding.rows}
    assert kinds == {
        "recurrence": "shared in time",
        "convolution": "shared in time",
        "attention": "computed from the data",
        "a weight for every pair of steps": "not shared",
    }
    square = WIDTH * WIDTH
    expected = {
        "recurrence": (2 * square + WIDTH, 2 * square + WIDTH),
        "convolution": (KERNEL * square + WIDTH, KERNEL * square + WIDTH),
        "attention": (4 * square + 4 * WIDTH, 4 * square + 4 * WIDTH),
        "a weight for every pair of steps": (64 * square + 8 * WIDTH, 256 * square + 16 * WIDTH),
    }
    for name, (short, long) in expected.items():
        assert finding.value("parameters, 8 steps", layer=name) == short
        assert finding.value("parameters, 16 steps", layer=name) == long
    assert finding.value("change with data", layer="attention") > 0.05
    assert "(4, 4, 3)" in str(finding.select_rows(layer="convolution")[0]["weights"])
