"""A release: what the wheel and the source archive hold, and whether the checks would notice."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from release.__main__ import build, project_version
from release.contents import metadata_problems, package_files, sdist_problems, wheel_problems
from release.trial import trial_problems

VERSION = project_version()
METADATA = f"""Metadata-Version: 2.4
Name: seqlab
Version: {VERSION}
License-Expression: Apache-2.0
Description-Content-Type: text/markdown

Words.
"""


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("dist") / "dist")


@pytest.mark.long
def test_the_wheel_holds_the_package_and_nothing_else(archives: tuple[Path, Path]) -> None:
    wheel, _ = archives
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert {
        "seqlab/py.typed",
        "seqlab/recipes/imdb.toml",
        "seqlab/cells/native/kernels/kernels.cpp",
        "seqlab/cells/native/kernels/scan.h",
        "seqlab/cli/main.py",
        f"seqlab-{VERSION}.dist-info/licenses/LICENSE",
    } <= names
    assert {name.partition("/")[0] for name in names} == {"seqlab", f"seqlab-{VERSION}.dist-info"}
    assert wheel_problems(wheel, version=VERSION) == []


@pytest.mark.long
def test_the_source_archive_holds_what_a_wheel_is_built_from(archives: tuple[Path, Path]) -> None:
    assert sdist_problems(archives[1], version=VERSION) == []


@pytest.mark.long
def test_the_wheel_works_once_it_is_installed(archives: tuple[Path, Path]) -> None:
    assert trial_problems(archives[0], version=VERSION) == []


@pytest.mark.slow
def test_a_wheel_without_a_recipe_or_with_tests_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "seqlab.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name in package_files() - {"seqlab/recipes/imdb.toml"}:
            archive.writestr(name, "")
        archive.writestr("tests/test_api.py", "")
        archive.writestr(f"seqlab-{VERSION}.dist-info/METADATA", METADATA)
        archive.writestr(f"seqlab-{VERSION}.dist-info/entry_points.txt", "[console_scripts]\n")
    assert wheel_problems(path, version=VERSION) == [
        "seqlab.whl: seqlab/recipes/imdb.toml is missing",
        "seqlab.whl: tests/test_api.py does not belong there",
        "seqlab.whl: no command seqlab",
    ]


def test_metadata_that_an_index_would_reject_is_noticed() -> None:
    assert metadata_problems(METADATA.encode(), version=VERSION) == []
    (problem,) = metadata_problems(METADATA.replace(VERSION, "first").encode(), version=VERSION)
    assert "version" in problem
    (problem,) = metadata_problems(METADATA.encode(), version="99.0")
    assert "version" in problem
    problems = metadata_problems(METADATA.replace("Apache-2.0", "my own").encode(), version=VERSION)
    assert any("license" in problem for problem in problems)
