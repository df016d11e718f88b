"""What the archives of a release must contain, and what they must not."""

from __future__ import annotations

import tarfile
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).parents[1]
TOP_FILES = ("LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "PKG-INFO")


def package_files() -> set[str]:
    """Every file of the package: code, recipes, kernel sources, the marker of its types."""
    return {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "seqlab").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def wheel_problems(path: Path, *, version: str) -> list[str]:
    """What is wrong with a wheel: it holds the package and its metadata, nothing else."""
    information = f"seqlab-{version}.dist-info/"
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        metadata = archive.read(f"{information}METADATA")
        entry_points = archive.read(f"{information}entry_points.txt").decode()
    packaged = {name for name in names if not name.startswith(information)}
    return [
        *_differences(path, packaged, package_files()),
        *([] if "seqlab = seqlab.cli.main:main" in entry_points else [f"{path.name}: no command seqlab"]),
        *metadata_problems(metadata, version=version),
    ]


def sdist_problems(path: Path, *, version: str) -> list[str]:
    """What is wrong with a source archive: it holds what a wheel is built from, and the tests."""
    top = f"seqlab-{version}/"
    with tarfile.open(path) as archive:
        names = {member.name.removeprefix(top) for member in archive if member.isfile()}
    expected = {*TOP_FILES, *(f"src/{name}" for name in package_files())}
    missing = [f"{path.name}: {name} is missing" for name in sorted(expected - names)]
    return (
        missing if any(name.startswith("tests/") for name in names) else [*missing, f"{path.name}: no tests"]
    )


def metadata_problems(metadata: bytes, *, version: str) -> list[str]:
    """What a package index would reject; `packaging` checks every field against the standard."""
    try:
        parsed = Metadata.from_email(metadata, validate=True)
    except ExceptionGroup as group:
        return [f"metadata: {error}" for error in group.exceptions]
    facts = {
        "name": parsed.name == "seqlab",
        "version": str(parsed.version) == version,
        "a description in Markdown": parsed.description_content_type == "text/markdown"
        and bool(parsed.description),
        "a license": bool(parsed.license_expression),
    }
    return [f"metadata: {fact} is missing or wrong" for fact, holds in facts.items() if not holds]


def _differences(path: Path, found: set[str], expected: set[str]) -> list[str]:
    return [
        *(f"{path.name}: {name} is missing" for name in sorted(expected - found)),
        *(f"{path.name}: {name} does not belong there" for name in sorted(found - expected)),
    ]
