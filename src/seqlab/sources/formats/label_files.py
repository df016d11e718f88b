"""A folder, zip or tar archive with one text file per label and one example per line.

names/French.txt: Abel, Beaumont, …           names/German.txt: Abel, Bauer, …
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from statistics import fmean, median

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows, Pass
from seqlab.sources.base import Row, Source
from seqlab.sources.encoding import describe_encodings, encoding_of
from seqlab.sources.files.compression import check_name_is_text
from seqlab.sources.files.lines import decode_whole
from seqlab.sources.files.trees import open_tree
from seqlab.sources.formats.label_folders import TEXT_ENDINGS
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.settings import DataSettings
from seqlab.sources.split_names import SPLITS

MOST_LABELS = 200
FEWEST_LINES = 10
"""Minimum number of lines of the median file; with fewer, the files are texts."""
MOST_WORDS = 3
"""Maximum mean number of words per line; with more, the files are texts."""
LABEL_FILES = (
    "one file per label, one example per line (lines are short); set data.format=text to read it as one text"
)
NOT_LABELS = {"readme", "license", "licence", "notes", "index", "changelog", "requirements", "stopwords"}
LINE_END = re.compile(r"\r\n|\n|\r")


@source_formats.register("label_files")
class LabelFiles(Source):
    """A row per line with the columns `text` and `label`; the name of the file is the label."""

    suffixes = ()

    def __init__(self, path: Path, settings: DataSettings) -> None:
        self.path = path
        self.name = str(path)
        self.columns = ["text", "label"]
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        self._labels = _labels(open_tree(path).names)
        if len(self._labels) < 2:
            raise DataError(
                f"found {len(self._labels)} text files, expected one for each label.",
                where=self.name,
                cure="For example, French.txt and German.txt in one folder, with one example per line.",
            )
        self.notes = () if settings.encoding else describe_encodings(map(encoding_of, self._contents()))

    def rows(self) -> Iterator[Row]:
        return self.bad_rows.usable(
            self._usable_rows,
            most=self._settings.max_rows,
            where=self.name,
            otherwise="all files are empty.",
            cure="Each line of a file is one example.",
        )

    def fingerprint(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        for name, content in open_tree(self.path).read(list(self._labels)):
            digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
        settings = self._settings
        return f"label_files:{digest.hexdigest()}:{settings.encoding}:{settings.bad_rows}:{settings.max_rows}"

    def _contents(self) -> Iterator[bytes]:
        return (content for _, content in open_tree(self.path).read(list(self._labels)))

    def _usable_rows(self, reading: Pass) -> Iterator[Row]:
        for name, content in open_tree(self.path).read(list(self._labels)):
            where = f"{self.path}/{name}"
            try:
                check_name_is_text(where)
                encoding = self._settings.encoding or encoding_of(content)
                text = decode_whole(content, encoding=encoding, where=where)
            except DataError as error:
                reading.reject(error, rows=1 + content.count(b"\n"))
                continue
            for number, line in enumerate(LINE_END.split(text), start=1):
                if line.strip():
                    yield Row({"text": line, "label": self._labels[name]}, where, number)


def _labels(names: Sequence[str]) -> dict[str, str]:
    """The label of each text file."""
    return {
        name: name_of_file.partition(".")[0]
        for name in names
        if (name_of_file := PurePosixPath(name).name).lower().endswith(TEXT_ENDINGS)
    }


def could_be_labels(names: Sequence[str]) -> bool:
    """Whether the text files of one folder are named like labels: words rather than numbers or splits.

    >>> could_be_labels(["names/French.txt", "names/German.txt"]), could_be_labels(["1.txt", "2.txt"])
    (True, False)
    >>> could_be_labels(["train.txt", "test.txt"]), could_be_labels(["a/x.txt", "b/y.txt"])
    (False, False)
    """
    labels = _labels(names)
    return (
        2 <= len(labels) <= MOST_LABELS
        and len({PurePosixPath(name).parent for name in labels}) == 1
        and all(
            label.isprintable() and not re.search(r"\d", label) and re.search(r"[^\W\d_]{2}", label)
            for label in labels.values()
        )
        and not {label.lower() for label in labels.values()} & (SPLITS.keys() | NOT_LABELS)
    )


def looks_like_label_files(path: Path) -> bool:
    """Whether files named like labels have short lines, such as words and names."""
    tree = open_tree(path)
    if not could_be_labels(tree.names):
        return False
    num_lines, words = list[int](), list[int]()
    for name, content in tree.read(list(_labels(tree.names))):
        try:
            text = decode_whole(content, encoding=encoding_of(content), where=name)
        except DataError:
            return False
        lines = [line for line in LINE_END.split(text) if line.strip()]
        num_lines.append(len(lines))
        words += [len(line.split()) for line in islice(lines, 1000)]
    return bool(words) and median(num_lines) >= FEWEST_LINES and fmean(words) <= MOST_WORDS
