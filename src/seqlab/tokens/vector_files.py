"""Files of word vectors: word2vec's text (a line `words width` first), GloVe's (no such line), and word2vec's
binary (NAME.bin).

Compressed files are decompressed on the fly. Memory is never allocated because a header asks for it: it grows with
what was actually read, and a header that declares more than the file can contain is rejected before the first word.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import IO, NoReturn

import numpy as np

from seqlab.core.errors import DataError, shortened
from seqlab.sources.files.compression import check_exists, compression, open_binary, plain_name
from seqlab.tokens.word_vectors import Vectors, WordVectors

WIDEST = 20_000
LONGEST_WORD = 10_000
LONGEST_LINE = LONGEST_WORD + 40 * WIDEST
MOST_NUMBERS = 2_000_000_000
"""8 GB of float32: a small compressed file can expand without limit."""
BINARY = ".bin"
WordFilter = Callable[[str], bool]


def read_word_vectors(path: str | Path, *, is_needed: WordFilter | None = None) -> WordVectors:
    """The vectors of a file in its order; with `is_needed` only those of the given words are kept, though all are
    checked.
    """
    path = Path(path)
    table = _Table(path, is_needed)
    for where, word, numbers in _entries(path):
        table.add(where, word, numbers)
    return table.finished()


def width_of(path: str | Path) -> int:
    """The dimension of the vectors, from the first word of a file."""
    table = _Table(Path(path), None)
    with closing(_entries(Path(path))) as entries:
        for where, word, numbers in islice(entries, 1):
            table.add(where, word, numbers)
    return table.finished().width


def _entries(path: Path) -> Generator[tuple[str, str, Vectors]]:
    """The position of a word, the word, and its vector."""
    check_exists(path)
    read = _read_binary if plain_name(path).lower().endswith(BINARY) else _read_text
    with open_binary(path) as stream:
        yield from read(stream, path)


class _Table:
    """The words and vectors read so far."""

    def __init__(self, path: Path, is_needed: WordFilter | None) -> None:
        self.path = path
        self.is_needed = is_needed
        self.seen: dict[str, str] = {}
        self.words: list[str] = []
        self.numbers = bytearray()
        self.width = 0

    def add(self, where: str, word: str, numbers: Vectors) -> None:
        if not np.isfinite(numbers).all():
            bad = int(np.argmin(np.isfinite(numbers))) + 1
            _reject(
                self.path,
                where,
                f"value {bad} of the word '{shortened(word)}' is not finite in float32 ({numbers[bad - 1]}).",
            )
        if word in self.seen:
            _reject(
                self.path,
                where,
                f"the word '{shortened(word)}' occurs twice; it was first seen at {self.seen[word]}.",
                cure="Keep only one of the two.",
            )
        self.seen[word] = where
        self.width = len(numbers)
        if self.is_needed is not None and not self.is_needed(word):
            return
        self.words.append(word)
        self.numbers += numbers.tobytes()
        if len(self.numbers) > 4 * MOST_NUMBERS:
            _reject(
                self.path,
                where,
                f"more than {MOST_NUMBERS:,} numbers.",
                cure="Keep only the most frequent words.",
            )

    def finished(self) -> WordVectors:
        if not self.seen:
            raise DataError(
                "contains no word vectors.",
                where=str(self.path),
                cure="Each line must be a word followed by its values, separated by spaces.",
            )
        return WordVectors(
            self.words, np.frombuffer(self.numbers, dtype="<f4").reshape(len(self.words), self.width)
        )


def _read_text(stream: IO[bytes], path: Path) -> Iterator[tuple[str, str, Vectors]]:
    """Lines with a word and its values. The dimension is that of the header, or of the first line."""
    promised, width, num_lines = -1, 0, 0
    for number, line in enumerate(_lines(stream, path), start=1):
        where = f"line {number}"
        fields = _decoded(line, path, where).strip("\r\n ").split(" ")
        if number == 1 and len(fields) == 2 and all(field.isascii() and field.isdigit() for field in fields):
            promised, width = _header(fields, path, bytes_of_a_number=2)
            continue
        if fields == [""]:
            _reject(
                path,
                where,
                "is empty.",
                cure="Each line must be a word followed by its values, separated by spaces.",
            )
        width = width or len(fields) - 1
        if not 0 < width <= WIDEST:
            _reject(
                path,
                where,
                f"a word with {width:,} values; expected 1 to {WIDEST:,}.",
                cure="Each line must be a word followed by its values.",
            )
        yield where, *_cut(fields, width, path, where)
        num_lines += 1
        if num_lines == promised + 1 and promised >= 0:
            _reject(
                path,
                where,
                f"the header declares {promised:,} words, but this is one more.",
                cure="Correct the first line.",
            )
    if 0 <= num_lines < promised:
        raise DataError(
            f"ends after {num_lines:,} of the {promised:,} words that the header declares.",
            where=str(path),
            cure="Download it again.",
        )


def _cut(fields: list[str], width: int, path: Path, where: str) -> tuple[str, Vectors]:
    """The word and its numbers. A word may contain spaces, but extra numbers are not part of it."""
    count, word = len(fields) - 1, " ".join(fields[: len(fields) - width])
    too_many = count > width and any(_is_number(field) for field in fields[1 : len(fields) - width])
    if count < width or too_many or not word:
        _reject(
            path,
            where,
            f"the word '{shortened(fields[0])}' has {count} values, expected {width}.",
            cure="All words must have the same number of values.",
        )
    try:
        numbers = [float(field) for field in fields[len(fields) - width :]]
    except ValueError:
        wrong = next(field for field in fields[len(fields) - width :] if not _is_number(field))
        _reject(
            path,
            where,
            f"'{shortened(wrong)}' is not a number.",
            cure=f"Binary word2vec files must be named NAME{BINARY}.",
        )
    with np.errstate(over="ignore"):  # values too large for float32 become infinite, and are rejected as such
        return word, np.array(numbers).astype(np.float32)


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _read_binary(stream: IO[bytes], path: Path) -> Iterator[tuple[str, str, Vectors]]:
    """`words width` and a line break; then each word, a space, and its values as float32, little
    endian.
    """
    first = stream.readline(100)
    fields = first.decode("ascii", "replace").split()
    if not first.endswith(b"\n") or len(fields) != 2 or not all(field.isdigit() for field in fields):
        _reject(
            path,
            "its beginning",
            "expected a header line with the number of words and their dimension.",
            cure="Text files must not be named .bin.",
        )
    promised, width = _header(fields, path, bytes_of_a_number=4)
    for number in range(1, promised + 1):
        where = f"word {number:,}"
        letters = bytearray()
        while (letter := stream.read(1)) != b" ":
            if not letter or len(letters) > LONGEST_WORD:
                _reject(
                    path,
                    where,
                    f"the file ends inside the word, or the word is longer than {LONGEST_WORD:,} bytes; the"
                    f" header declares {promised:,} words.",
                )
            letters += letter
        word = _decoded(bytes(letters).lstrip(b"\n"), path, where)
        numbers = stream.read(4 * width)
        if len(numbers) < 4 * width:
            _reject(
                path,
                where,
                f"the file ends inside its values; the header declares {promised:,} words.",
                cure="Download it again.",
            )
        yield where, word, np.frombuffer(numbers, dtype="<f4").astype(np.float32)
    if stream.read(2).strip() or stream.read(1):  # up to the end, where a compressed file has its checksum
        _reject(
            path,
            "its end",
            f"the file continues after the {promised:,} words that the header declares.",
            cure="Download it again.",
        )


def _header(fields: list[str], path: Path, *, bytes_of_a_number: int) -> tuple[int, int]:
    """Both numbers of the first line, if the file is large enough for them."""
    longest = max(map(len, fields))
    words, width = (int(field) for field in fields) if longest <= 12 else (0, 0)
    if not words or not 0 < width <= WIDEST:
        _reject(
            path,
            "line 1",
            f"declares {shortened(fields[0])} words of dimension {shortened(fields[1])}; the dimension"
            f" must be 1 to {WIDEST:,}.",
        )
    size = path.stat().st_size
    if not compression(path) and words * (1 + bytes_of_a_number * width) > size:
        _reject(
            path,
            "line 1",
            f"declares {words:,} words of dimension {width:,}, but the file has only {size:,} bytes.",
            cure="Download it again.",
        )
    return words, width


def _lines(stream: IO[bytes], path: Path) -> Iterator[bytes]:
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            _reject(
                path,
                f"line {number}",
                f"is longer than {LONGEST_LINE:,} bytes.",
                cure="Each line must be a word followed by its values.",
            )
        yield line


def _decoded(letters: bytes, path: Path, where: str) -> str:
    try:
        return letters.decode("utf-8")
    except UnicodeDecodeError:
        _reject(
            path,
            where,
            "is not UTF-8.",
            cure=f"Convert the file to UTF-8 first; binary word2vec files must be named NAME{BINARY}.",
        )


def _reject(path: Path, where: str, what: str, *, cure: str = "") -> NoReturn:
    raise DataError(what, where=f"{path}, {where}", cure=cure)
