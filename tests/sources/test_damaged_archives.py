"""A damaged archive raises a DataError or gives exactly the rows it was packed with: never fewer, never
others.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.files.trees import open_tree
from seqlab.sources.open_source import open_parts, open_source
from seqlab.sources.settings import DataSettings
from seqlab.tokens.vector_files import read_word_vectors

BLOCK = 512
CHANCE = random.Random(11)
WORDS = ["a", "fine", "dull", "film", "plot", "naïve", "quite", "long", "again"]


def _text() -> bytes:
    return " ".join(CHANCE.choices(WORDS, k=CHANCE.randint(20, 140))).encode()


# Names whose damage could go unnoticed: one bit turns 'n' into '.', 'o' into '/', and 'train' into a folder
# that is no part.
REVIEWS = {
    f"all/{part}/{label}/{name}": _text()
    for part in ("train", "test")
    for label, names in {"pos": ["note.txt", "9.txt", "hello"], "neg": ["nine.txt", "cello", "3.txt"]}.items()
    for name in names
}
TABLE = b"text,label\n" + b"".join(
    b"%s,%s\n" % (_text(), b"pos" if number % 2 else b"neg") for number in range(40)
)


def tarred(compress: str) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=f"w:{compress}", format=tarfile.GNU_FORMAT) as archive:  # type: ignore[call-overload]
        for name, content in REVIEWS.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def in_streams(compress: Callable[[bytes], bytes]) -> bytes:
    """As pbzip2 and others write: several compressed streams one after the other. Each ends with a line, so that
    no reader of tables notices when one is missing.
    """
    lines = TABLE.splitlines(keepends=True)
    return b"".join(compress(b"".join(lines[start : start + 5])) for start in range(0, len(lines), 5))


ARCHIVES: dict[str, Callable[[], bytes]] = {
    "reviews.tar": lambda: tarred(""),
    "reviews.tar.gz": lambda: tarred("gz"),
    "reviews.tgz": lambda: tarred("gz"),
    "reviews.tar.bz2": lambda: tarred("bz2"),
    "reviews.tar.xz": lambda: tarred("xz"),
    "reviews.zip": lambda: zipped(REVIEWS),
    "stored.zip": lambda: zipped(REVIEWS, zipfile.ZIP_STORED),
    "table.csv.gz": lambda: gzip.compress(TABLE),
    "table.csv.bz2": lambda: bz2.compress(TABLE),
    "table.csv.xz": lambda: lzma.compress(TABLE),
    "table.csv.zip": lambda: zipped({"table.csv": TABLE}),
    "stored.csv.zip": lambda: zipped({"table.csv": TABLE}, zipfile.ZIP_STORED),
    "streams.csv.gz": lambda: in_streams(gzip.compress),
    "streams.csv.bz2": lambda: in_streams(bz2.compress),
    "streams.csv.xz": lambda: in_streams(lzma.compress),
}
CUTS, FLIPS = 50, 100
Rows = dict[str, list[dict[str, Any]]]


def rows_of(path: Path, *, bad_rows: str = "stop") -> Rows:
    """Rows in the order of their files' names, since archives may keep another order."""
    parts = open_parts(path, DataSettings(bad_rows=bad_rows))
    return {
        part: [row.values for row in sorted(source.rows(), key=lambda row: (row.file, row.line))]
        for part, source in parts.items()
    }


def expect_rows_or_error(path: Path, whole: Rows, *, about: str) -> bool:
    """Whether the damage was noticed."""
    rows, problem = whole, None
    try:
        rows = rows_of(path)
    except DataError as error:
        problem = error
    assert rows == whole, about
    assert problem is None or (path.name in str(problem) and problem.cure), f"{about}: {problem}"
    return problem is not None


def flipped(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :]


def is_data_of_a_plain_tar(content: bytes, name: str) -> Callable[[int], bool]:
    """Which bytes are contents of files in an uncompressed tar: they have no checksum, so no reader can
    notice a flip there.
    """
    if not name.endswith(".tar"):
        return lambda _: False
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        spans = [range(member.offset_data, member.offset_data + member.size) for member in archive]
    return lambda place: any(place in span for span in spans)


@pytest.mark.parametrize("name", ARCHIVES)
def test_the_undamaged_archive_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(ARCHIVES[name]())
    rows = rows_of(tmp_path / name)
    if "csv" in name:
        assert len(rows["train"]) == 40
    else:
        texts = {
            part: sorted(text.decode() for path, text in REVIEWS.items() if f"/{part}/" in path)
            for part in ("train", "test")
        }
        assert {part: sorted(row["text"] for row in found) for part, found in rows.items()} == texts


@pytest.mark.parametrize("name", ARCHIVES)
def test_no_cut_gives_fewer_rows(name: str, tmp_path: Path) -> None:
    path, content = tmp_path / name, ARCHIVES[name]()
    path.write_bytes(content)
    whole, chance = rows_of(path), random.Random(1)
    cuts = {
        *chance.sample(range(len(content)), min(CUTS, len(content))),
        *range(len(content) - 12, len(content)),
    }
    if name.endswith(".tar"):
        cuts |= set(range(0, len(content), BLOCK))
    for cut in sorted(cuts):
        path.write_bytes(content[:cut])
        expect_rows_or_error(path, whole, about=f"cut at byte {cut} of {len(content)}")


@pytest.mark.slow
@pytest.mark.parametrize("name", ARCHIVES)
def test_no_flipped_bit_gives_other_rows(name: str, tmp_path: Path) -> None:
    path, content = tmp_path / name, ARCHIVES[name]()
    path.write_bytes(content)
    whole, chance = rows_of(path), random.Random(2)
    is_free = is_data_of_a_plain_tar(content, name)
    places = [place for place in range(len(content)) if not is_free(place)]
    noticed = 0
    for place in chance.sample(places, min(FLIPS, len(places))):
        bit = chance.randrange(8)
        path.write_bytes(flipped(content, place, bit))
        noticed += expect_rows_or_error(path, whole, about=f"bit {bit} of byte {place} of {len(content)}")
    assert noticed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reviews.tar", "reviews.zip"])
def test_no_flipped_bit_in_a_header_gives_other_rows(name: str, tmp_path: Path) -> None:
    """The names of members stand here; every byte of the central directory of a zip and of the second header
    of a tar.
    """
    path, content = tmp_path / name, ARCHIVES[name]()
    path.write_bytes(content)
    whole, chance = rows_of(path), random.Random(3)
    if name.endswith(".zip"):
        (start,) = struct.unpack("<L", content[-6:-2])
        places = list(range(start, len(content)))
    else:
        with tarfile.open(path) as archive:
            start = archive.getmembers()[1].offset
        places = list(range(start, start + BLOCK))
    for place in places:
        path.write_bytes(flipped(content, place, bit := chance.choice((0, 5, 6))))
        expect_rows_or_error(
            path, whole, about=f"bit {bit} of byte {place}, {place - start} bytes into the headers"
        )


def swallow_second_record(content: bytes, start: int) -> bytes:
    """One bit: the comment of the first record is 64 bytes long, as a record is."""
    return flipped(content, start + 32, 6)


def skip_first_record(content: bytes, start: int) -> bytes:
    """The directory begins one record later. Wrong in one of the two numbers, it would be elsewhere for Python,
    too.
    """
    (size,) = struct.unpack("<L", content[-10:-6])
    return content[:-10] + struct.pack("<LL", size - 64, start + 64) + content[-2:]


HIDING = {
    "the comment of the first record swallows the second": swallow_second_record,
    "the directory starts after the first record": skip_first_record,
}
"""In a central directory of nine records of 64 bytes each."""


@pytest.mark.parametrize("hide", HIDING.values(), ids=HIDING)
def test_a_zip_with_fewer_members_than_it_says_is_refused(
    hide: Callable[[bytes, int], bytes], tmp_path: Path
) -> None:
    names = [f"all/{label}/{number:06d}.txt" for label in ("neg", "pos", "off") for number in range(3)]
    content = zipped(dict.fromkeys(names, b"text"), zipfile.ZIP_STORED)
    (start,) = struct.unpack("<L", content[-6:-2])
    hidden = hide(content, start)
    with zipfile.ZipFile(io.BytesIO(hidden)) as archive:
        assert len(archive.namelist()) == 8  # Python's reader does not notice
        assert archive.testzip() is None
    path = tmp_path / "all.zip"
    path.write_bytes(hidden)
    with pytest.raises(DataError, match=r"all\.zip"):
        rows_of(path)


def test_a_tar_without_its_end_blocks_is_refused_with_a_cure(tmp_path: Path) -> None:
    content = tarred("")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        last = archive.getmembers()[-1]
    end = last.offset_data + -(-last.size // BLOCK) * BLOCK
    path = tmp_path / "cut.tar"
    for blocks, is_whole in ((0, False), (1, False), (2, True)):
        path.write_bytes(content[: end + blocks * BLOCK])
        if is_whole:
            assert sum(map(len, rows_of(path).values())) == len(REVIEWS)
        else:
            with pytest.raises(DataError, match=r"cut\.tar") as caught:
                rows_of(path)
            assert caught.value.cure


@pytest.mark.parametrize(
    ("ending", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)]
)
def test_the_checksum_behind_long_padding_is_reached(
    ending: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """An archive may be padded to records of any length, and nobody needs to read what follows its end."""
    content, path = compress(tarred("") + bytes(2_000_000)), tmp_path / f"padded.tar.{ending}"
    path.write_bytes(content)
    assert sum(map(len, rows_of(path).values())) == len(REVIEWS)
    path.write_bytes(flipped(content, len(content) - 5, 2))
    with pytest.raises(DataError, match=rf"padded\.tar\.{ending}"):
        rows_of(path)


def test_an_erased_header_is_not_taken_for_the_end(tmp_path: Path) -> None:
    content = tarred("")
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        place = archive.getmembers()[7].offset
    path = tmp_path / "erased.tar"
    path.write_bytes(content[:place] + bytes(2 * BLOCK) + content[place + 2 * BLOCK :])
    with pytest.raises(DataError, match=r"erased\.tar"):
        rows_of(path)


def test_two_archives_in_one_file_are_not_read_as_one(tmp_path: Path) -> None:
    path = tmp_path / "two.tar"
    path.write_bytes(tarred("") + tarred(""))
    with pytest.raises(DataError, match=r"two\.tar"):
        rows_of(path)


@pytest.mark.parametrize("name", ["twice.tar", "twice.zip"])
def test_a_file_that_is_in_an_archive_twice_is_refused(name: str, tmp_path: Path) -> None:
    """Unpacking would keep the last one; reading both would train on text that was replaced."""
    path, texts = tmp_path / name, [("pos/a", "old"), ("neg/b", "x"), ("pos/a", "new")]
    if name.endswith(".tar"):
        with tarfile.open(path, "w") as archive:
            for member, text in texts:
                header = tarfile.TarInfo(member)
                header.size = len(text)
                archive.addfile(header, io.BytesIO(text.encode()))
    else:
        with zipfile.ZipFile(path, "w") as archive:
            for member, text in texts[:2]:
                archive.writestr(member, text)
            with pytest.warns(UserWarning, match="Duplicate"):
                archive.writestr(*texts[2])
    with pytest.raises(DataError, match=r"twice.*'pos/a'"):
        open_source(path, DataSettings())


@pytest.mark.parametrize("kind", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_and_foreign_names_are_read_in_every_form_of_tar(kind: int, tmp_path: Path) -> None:
    files = {
        f"root/{'deep' * 20}/{label}/{'é' * 30 if label == 'pos' else 'e' * 30}.txt": label
        for label in ("pos", "neg")
    }
    with tarfile.open(tmp_path / "all.tar", "w", format=kind) as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(text), 1.5
            archive.addfile(member, io.BytesIO(text.encode()))
    assert {row["label"]: row["text"] for row in rows_of(tmp_path / "all.tar")["train"]} == {
        "pos": "pos",
        "neg": "neg",
    }


@pytest.mark.parametrize("name", ["reviews.tar.gz", "table.csv.gz", "table.csv.zip"])
def test_damage_is_no_bad_row_that_can_be_skipped(name: str, tmp_path: Path) -> None:
    content = ARCHIVES[name]()
    path = tmp_path / name
    path.write_bytes(
        content[:-8] + bytes([content[-8] ^ 1]) + content[-7:]
        if name.endswith("gz")
        else flipped(content, 60, 3)
    )
    with pytest.raises(DataError):
        rows_of(path, bad_rows="skip")


def test_a_file_that_is_damaged_after_it_was_opened_ends_in_an_error(tmp_path: Path) -> None:
    """The first pass was whole; a later one must not take a cut for the end."""
    content = tarred("gz")
    path = tmp_path / "reviews.tar.gz"
    path.write_bytes(content)
    tree = open_tree(path)
    path.write_bytes(content[:-8] + bytes([content[-8] ^ 1]) + content[-7:])  # the checksum alone
    with pytest.raises(DataError, match=r"reviews\.tar\.gz"):
        list(tree.read(tree.names[:1]))


@pytest.mark.parametrize(
    ("ending", "compress"), [(".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress)]
)
def test_a_compressed_text_inside_an_archive_is_checked_to_its_end(
    ending: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    def packed(inner: bytes) -> Rows:
        path = tmp_path / "all.zip"
        path.write_bytes(zipped({f"pos/a.txt{ending}": inner, "neg/b.txt": b"plain"}))
        return rows_of(path)

    two = compress(b"one ") + compress(b"two")
    assert [row["text"] for row in packed(two)["train"]] == ["plain", "one two"]
    for broken in (two[:-3], compress(b"one ") + flipped(compress(b"two"), 0, 3), two + b"more"):
        with pytest.raises(DataError, match=r"all\.zip"):
            packed(broken)


def test_a_compressed_text_of_no_bytes_is_not_an_empty_text(tmp_path: Path) -> None:
    for name, content in {"pos/a.txt.gz": gzip.compress(b""), "neg/b.txt.gz": b""}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=r"b\.txt\.gz.* 0 bytes"):
        rows_of(tmp_path)
    path = tmp_path / "all.tar"
    with tarfile.open(path, "w") as archive:
        for name in ("pos/a.txt.gz", "neg/b.txt.gz"):
            archive.add(tmp_path / name, name)
    with pytest.raises(DataError, match=r"b\.txt\.gz"):
        rows_of(path)


@pytest.mark.parametrize(
    ("ending", "compress"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)]
)
def test_zeros_after_a_compressed_file_are_padding(
    ending: str, compress: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    path = tmp_path / f"t.csv.{ending}"
    path.write_bytes(compress(b"text,label\na,1\n") + bytes(8) + compress(b"b,2\n") + bytes(512))
    assert [row.values["text"] for row in open_source(path, DataSettings()).rows()] == ["a", "b"]


def test_word_vectors_are_checked_to_the_end_of_their_file(tmp_path: Path) -> None:
    plain = b"2 1\na " + struct.pack("<f", 1.0) + b"\nb " + struct.pack("<f", 2.0)
    path = tmp_path / "v.bin.gz"
    for end in (b"", b"\n", b"\n\n"):
        content = gzip.compress(plain + end)
        path.write_bytes(content)
        assert read_word_vectors(path).words == ["a", "b"]
        path.write_bytes(flipped(content, len(content) - 8, 0))
        with pytest.raises(DataError, match=r"v\.bin\.gz"):
            read_word_vectors(path)


@pytest.mark.slow
def test_a_large_member_is_passed_over_without_filling_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "large.tar.gz"
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, size in {"unsup/large.txt": 80_000_000, "pos/a.txt": 3, "neg/b.txt": 3}.items():
            member = tarfile.TarInfo(name)
            member.size = size
            archive.addfile(member, io.BytesIO(b"x" * size))
    tracemalloc.start()
    try:
        assert len(rows_of(path)["train"]) == 2
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
