"""Every messy file is understood with nothing but its name, and what was assumed about it is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.runs.data import open_data
from seqlab.runs.find_recipe import find_recipe
from tests.messy.measure import MESSY_FILES, understand
from tests.messy.truth import MessyFile


@pytest.mark.parametrize("file", MESSY_FILES, ids=lambda file: file.name)
def test_task_columns_and_rows_are_found(file: MessyFile, tmp_path: Path) -> None:
    understood = understand(file, tmp_path)
    assert understood.wrong == ""
    told = "\n".join(understood.sentences)
    assert [fact for fact in understood.truth.said if fact not in told] == [], told


@pytest.mark.parametrize("file", MESSY_FILES, ids=lambda file: file.name)
def test_a_run_finds_the_same_rows_again_with_the_settings_that_it_keeps(
    file: MessyFile, tmp_path: Path
) -> None:
    file.write(tmp_path / file.name)
    first = open_data(find_recipe(str(tmp_path / file.name), [])[0])
    again = open_data(first.recipe)
    assert {name: part.fingerprint() for name, part in again.parts.items()} == {
        name: part.fingerprint() for name, part in first.parts.items()
    }
    assert again.recipe == first.recipe
