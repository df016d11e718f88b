"""seqlab schema, as an editor's user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqlab.recipes.json_schema import recipe_schema
from tests.cli.running import run


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = run(capsys, "schema")
    assert (outcome.code, outcome.err) == (0, "")
    assert json.loads(outcome.out) == recipe_schema()


def test_the_schema_is_written_to_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "recipe.schema.json"
    outcome = run(capsys, "schema", "--out", str(path))
    assert (outcome.code, outcome.out) == (0, "")
    assert "#:schema ./recipe.schema.json" in outcome.err
    assert json.loads(path.read_text(encoding="utf-8")) == recipe_schema()
