"""Kernels are code: a library that another user could have written is not loaded."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from seqlab.cells.native import library as native_library
from seqlab.cells.native.build import build_library
from seqlab.cells.native.library import native_kernels
from seqlab.cells.native.trust import distrust_reason


@pytest.fixture
def library(tmp_path: Path) -> Path:
    path = tmp_path / "cache" / "native" / "kernels.so"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    for place in (path, path.parent, path.parent.parent):
        place.chmod(0o755)
    return path


@pytest.fixture
def reloaded() -> Iterator[None]:
    native_library.reload_library()
    yield
    native_library.reload_library()


def test_a_library_that_only_its_user_writes_is_trusted(library: Path) -> None:
    assert distrust_reason(library) == ""


@pytest.mark.parametrize("level", [0, 1, 2], ids=["file", "folder", "folder above"])
@pytest.mark.parametrize("mode", [0o757, 0o777])
def test_a_place_that_others_write_is_named(library: Path, level: int, mode: int) -> None:
    place = (library, library.parent, library.parent.parent)[level]
    place.chmod(mode)
    assert str(place.resolve()) in distrust_reason(library)


def test_the_sticky_bit_keeps_others_from_replacing_a_folder_but_not_from_writing_the_file(
    library: Path,
) -> None:
    library.parent.parent.chmod(0o1777)
    assert distrust_reason(library) == ""
    library.chmod(0o1777)
    assert "kernels.so" in distrust_reason(library)


def test_a_link_is_judged_by_what_it_points_to(library: Path, tmp_path: Path) -> None:
    library.parent.chmod(0o777)
    link = tmp_path / "link.so"
    link.symlink_to(library)
    assert "native" in distrust_reason(link)


@pytest.mark.usefixtures("reloaded")
def test_kernels_in_a_folder_of_everybody_are_left_alone_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path / "shared"))
    loaded: list[Path] = []
    monkeypatch.setattr(torch.ops, "load_library", loaded.append)
    path = native_library.library_path()
    path.parent.mkdir(parents=True)
    path.write_bytes(b"")
    path.parent.chmod(0o777)
    with pytest.warns(UserWarning, match=r"kernels are not loaded.*native.*chmod"):
        assert native_kernels(torch.zeros(1)) is None
    assert loaded == []


@pytest.mark.slow
@pytest.mark.usefixtures("reloaded")
def test_what_is_built_in_a_folder_of_everybody_is_closed_to_others(
    kernels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SEQLAB_CACHE", str(tmp_path))
    folder = tmp_path / "native"
    folder.mkdir()
    folder.chmod(0o777)
    monkeypatch.setattr("seqlab.cells.native.build._compile", lambda path: shutil.copy(kernels, path))
    assert distrust_reason(build_library()) == ""
