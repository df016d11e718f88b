"""Files that GitHub and pre-commit read: they parse, and they name what exists."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")


def read(path: Path) -> dict[str, Any]:
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def steps_of(workflow: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_and_pins_its_actions(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    extra = {name: job["permissions"] for name, job in workflow["jobs"].items() if "permissions" in job}
    assert extra in ({}, {"publish": {"id-token": "write"}})
    actions = [step["uses"] for step in steps_of(workflow) if "uses" in step]
    assert actions
    assert [action for action in actions if not re.search(r"@(v\d+|release/v\d+)$", action)] == []
    assert all("timeout-minutes" in job for job in workflow["jobs"].values())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_runs_targets_of_the_makefile(path: Path) -> None:
    targets = [
        target for step in steps_of(read(path)) for target in re.findall(r"^make (\S+)", step.get("run", ""))
    ]
    assert targets
    assert [target for target in targets if not re.search(rf"^{target}:", MAKEFILE, re.MULTILINE)] == []


def test_every_system_and_every_python_is_tested() -> None:
    matrix = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix == {
        "system": ["ubuntu-latest", "macos-latest", "windows-latest"],
        "python": ["3.11", "3.12", "3.13"],
    }


def test_the_hooks_before_a_commit_are_the_tools_of_make_check() -> None:
    (local,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    assert local["repo"] == "local"
    recipe = MAKEFILE.partition("\ncheck:")[2].partition("\n\n")[0]
    tools = re.findall(r"^\t\$\(BIN\)/(\S+(?: (?:format|check))?)", recipe, re.MULTILINE)
    hooks = [hook["entry"].removeprefix(".venv/bin/") for hook in local["hooks"]]
    assert [re.split(r" --", hook)[0] for hook in hooks] == tools


@pytest.mark.parametrize("name", ["bug", "feature"])
def test_an_issue_form_asks_something(name: str) -> None:
    form = read(ROOT / ".github" / "ISSUE_TEMPLATE" / f"{name}.yml")
    assert form["name"]
    assert form["description"]
    assert any(part.get("validations", {}).get("required") for part in form["body"])


def test_the_citation_has_what_the_format_requires_and_no_second_version() -> None:
    citation = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= citation.keys()
    assert citation["authors"] == [{"name": "The seqlab authors"}]
    assert "version" not in citation  # it is in pyproject.toml
