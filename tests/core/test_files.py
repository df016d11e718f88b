"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import resource
from pathlib import Path
from threading import Thread

import pytest

from seqlab.core.errors import EnvironmentProblem, MissingExtra
from seqlab.core.extras import require
from seqlab.core.files import explain_full_disk, free_space, megabytes, sha256, write_whole
from seqlab.core.seeds import derive


def test_text_and_bytes_are_written_and_folders_made(tmp_path: Path) -> None:
    write_whole(tmp_path / "a" / "b.txt", "é\n")
    write_whole(tmp_path / "a" / "b.bin", b"\0\1")
    assert (tmp_path / "a" / "b.txt").read_bytes() == "é\n".encode()
    assert (tmp_path / "a" / "b.bin").read_bytes() == b"\0\1"


def test_a_failure_in_between_leaves_the_old_content_and_no_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "results.json"
    write_whole(path, "old")

    def fail(_: int) -> None:
        raise OSError(errno.EIO, "broken")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="broken"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_two_threads_write_the_same_file_one_after_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sync = tmp_path / "table.jsonl", os.fsync

    def write_in_between(handle: int) -> None:
        """Another thread writes the whole file while this one waits for the disk."""
        monkeypatch.setattr(os, "fsync", sync)
        other = Thread(target=write_whole, args=(path, "other"))
        other.start()
        other.join()
        assert path.read_text() == "other"
        sync(handle)

    monkeypatch.setattr(os, "fsync", write_in_between)
    write_whole(path, "own")
    assert path.read_text() == "own"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("code", "facts"),
    [
        (errno.ENOSPC, ["no space left", "5.0 MB", "has "]),
        (errno.EDQUOT, ["quota", "5.0 MB"]),
        (errno.EFBIG, ["5.0 MB", "ulimit -f"]),
    ],
    ids=["full", "quota", "large"],
)
def test_a_file_that_cannot_grow_is_told_with_the_reason_and_what_it_needs(
    code: int, facts: list[str], tmp_path: Path
) -> None:
    with pytest.raises(EnvironmentProblem) as caught, explain_full_disk(tmp_path / "x", needed=5_000_000):
        raise OSError(code, "full")
    assert [fact for fact in facts if fact not in str(caught.value)] == []
    assert "saved before is intact" in str(caught.value)
    assert caught.value.exit_code == 3


def test_a_limit_on_the_size_of_files_is_not_reported_as_a_full_disk(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, before[1]))
    try:
        with pytest.raises(EnvironmentProblem) as caught:
            write_whole(tmp_path / "x", bytes(3_000_000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [fact for fact in ("3.0 MB", "2.0 MB", "ulimit -f") if fact not in str(caught.value)] == []
    assert "no space" not in str(caught.value)


def test_a_folder_in_the_place_of_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "results.json").mkdir()
    with pytest.raises(EnvironmentProblem, match=r"results\.json: .*folder") as caught:
        write_whole(tmp_path / "results.json", "text")
    assert "Remove" in caught.value.cure
    assert [path.name for path in tmp_path.iterdir()] == ["results.json"]


def test_other_trouble_with_a_file_stays_what_it_is(tmp_path: Path) -> None:
    with pytest.raises(PermissionError), explain_full_disk(tmp_path, needed=1):
        raise PermissionError(errno.EACCES, "no")


def test_the_checksum_is_that_of_the_whole_content(tmp_path: Path) -> None:
    content = os.urandom(3_000_001)
    (tmp_path / "x").write_bytes(content)
    assert sha256(tmp_path / "x") == hashlib.sha256(content).hexdigest()


def test_free_space_can_be_asked_for_a_folder_that_is_not_there_yet(tmp_path: Path) -> None:
    assert free_space(tmp_path / "a" / "b" / "c") > 0


@pytest.mark.parametrize(
    ("size", "words"),
    [(0, "0 kB"), (999, "0 kB"), (999_999, "999 kB"), (1_000_000, "1.0 MB"), (2_500_000_000, "2.5 GB")],
)
def test_sizes_in_words(size: int, words: str) -> None:
    assert megabytes(size) == words


def test_a_missing_package_is_a_hint_and_a_broken_one_is_not() -> None:
    with pytest.raises(MissingExtra, match="This needs the package 'no-such'"):
        require("no_such_package.part", extra="x", purpose="This", package="no-such")
    assert require("json", extra="x", purpose="This").loads("1") == 1


def test_seeds_for_different_purposes_differ_and_stay_the_same() -> None:
    assert derive(1, "order", 0) == derive(1, "order", 0)
    seeds = {
        derive(seed, word, number)
        for seed in range(5)
        for word in ("order", "weights")
        for number in range(5)
    }
    assert len(seeds) == 50
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert derive(1, "a", 23) != derive(1, "a2", 3)


def test_files_are_written_where_folders_cannot_be_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on Windows."""
    open_file = os.open

    def refuse_folders(path: Path, *options: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return open_file(path, *options)

    monkeypatch.setattr(os, "open", refuse_folders)
    write_whole(tmp_path / "a.txt", "whole")
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "whole"
