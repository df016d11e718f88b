"""Short packed sequences, which torch's own layer runs, take the scan and the kernels in these tests."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _short_scans(short_scans: None) -> None:
    pass
