"""Every messy file is understood with nothing but its name, and what was assumed about it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.messy.measure import MESSY_FILES, understand
from tests.messy.truth import MessyFile


@pytest.mark.parametrize("file", MESSY_FILES, ids=lambda file: file.name)
def test_task_columns_and_rows_are_found(file: MessyFile, tmp_path: Path) -> None:
    understood = understand(file, tmp_path)
    assert understood.wrong == ""
    told = "\n".join(understood.sentences)
    assert [fact for fact in understood.truth.said if fact not in told] == [], told
