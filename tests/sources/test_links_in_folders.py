"""What stands in a data folder is read or refused: links, pipes and files that are gone are never left out silently."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.files import folders
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings


@pytest.fixture
def reviews(tmp_path: Path) -> Path:
    """One folder of texts per label."""
    for label in ("bad", "good"):
        (tmp_path / "reviews" / label).mkdir(parents=True)
        for number in range(3):
            (tmp_path / "reviews" / label / f"{number}.txt").write_text(f"{label} {number}", encoding="utf-8")
    return tmp_path / "reviews"


def labels_of(folder: Path) -> list[str]:
    return [row.values["label"] for row in open_source(folder, DataSettings()).rows()]


def test_a_label_whose_folder_is_a_link_is_read(reviews: Path, tmp_path: Path) -> None:
    (reviews / "good").rename(tmp_path / "elsewhere")
    (reviews / "good").symlink_to(tmp_path / "elsewhere")
    assert labels_of(reviews) == ["bad"] * 3 + ["good"] * 3


def test_a_linked_file_is_read(reviews: Path, tmp_path: Path) -> None:
    (reviews / "good" / "0.txt").rename(tmp_path / "moved.txt")
    (reviews / "good" / "0.txt").symlink_to(tmp_path / "moved.txt")
    assert labels_of(reviews) == ["bad"] * 3 + ["good"] * 3


def dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def upwards(path: Path) -> None:
    path.symlink_to("../..")


@pytest.mark.parametrize("make", [dangling, device, upwards, os.mkfifo])
def test_what_cannot_be_read_is_named(make: object, reviews: Path) -> None:
    assert callable(make)
    make(reviews / "good" / "9.txt")
    with pytest.raises(DataError, match=r"good/9\.txt") as caught:
        labels_of(reviews)
    assert caught.value.cure


@pytest.mark.parametrize("form", ["", "text"])
@pytest.mark.parametrize("make", [dangling, os.mkfifo])
def test_a_text_that_cannot_be_read_is_named(make: object, form: str, tmp_path: Path) -> None:
    assert callable(make)
    (tmp_path / "1.txt").write_text("once upon a time\n" * 9, encoding="utf-8")
    make(tmp_path / "2.txt")
    with pytest.raises(DataError, match=r"2\.txt"):
        open_source(tmp_path, DataSettings(format=form))


def test_hidden_links_are_no_data(reviews: Path) -> None:
    dangling(reviews / "good" / ".9.txt")
    upwards(reviews / ".cache")
    assert len(labels_of(reviews)) == 6


def test_a_folder_that_never_ends_is_refused(reviews: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MOST_ENTRIES", 5)
    with pytest.raises(DataError, match=r"reviews.* 5 files"):
        labels_of(reviews)


def test_links_that_double_with_every_level_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Fourteen folders, each with two links to the next: no file, and sixteen thousand ways down."""
    monkeypatch.setattr(folders, "MOST_ENTRIES", 1_000)
    for level in range(14):
        (tmp_path / str(level)).mkdir()
        for name in ("left", "right"):
            (tmp_path / str(level) / name).symlink_to(tmp_path / str(level + 1))
    (tmp_path / "14").mkdir()
    with pytest.raises(DataError, match=r"1,000 files"):
        folders.files_below(tmp_path / "0")


@pytest.fixture
def deepest(tmp_path: Path) -> Iterator[Path]:
    """A folder below more folders than Python has stack frames, which pytest could not remove either."""
    nested = [tmp_path.joinpath(*["a"] * level) for level in range(1, 1_101)]
    for folder in nested:
        folder.mkdir()
    yield nested[-1]
    for folder in reversed(nested):
        folder.rmdir()


@pytest.mark.slow
def test_folders_may_be_nested_deeply(deepest: Path, tmp_path: Path) -> None:
    text = deepest / "text.txt"
    text.write_text("once", encoding="utf-8")
    try:
        assert folders.files_below(tmp_path) == [text]
    finally:
        text.unlink()
