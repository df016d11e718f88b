"""Folders of text files, one folder per label (the layout of aclImdb), on disk or inside a zip or tar
archive.

root/pos/0_9.txt            root/train/pos/0_9.txt          root/test/pos/0_10.txt
root/neg/0_3.txt            root/train/neg/0_3.txt          root/test/neg/0_2.txt
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath

from seqlab.core.errors import DataError
from seqlab.sources.bad_rows import BadRows
from seqlab.sources.base import Row, Source
from seqlab.sources.encoding import describe_encodings, encoding_of
from seqlab.sources.files.compression import check_name_is_text
from seqlab.sources.files.lines import decode_whole
from seqlab.sources.files.trees import Tree, open_tree
from seqlab.sources.formats.registry import source_formats
from seqlab.sources.settings import DataSettings
from seqlab.sources.split_names import SPLITS

TEXT_ENDINGS = (".txt", ".text", ".txt.gz", ".txt.xz", ".txt.bz2")
LOOKED_AT = 100
"""Number of files whose encodings are reported."""
NOT_LABELS = {"unsup"}  # aclImdb's reviews without a label


@source_formats.register("folders")
class LabelFolders(Source):
    """Every file is one text; its folder is its label.

    `part` selects `train/`, `valid/` or `test/` of a larger folder.
    """

    def __init__(self, path: Path, settings: DataSettings, *, part: str = "") -> None:
        self.path = path
        self.name = f"{path}/{part}" if part else str(path)
        self.columns = ["text", "label"]
        self.bad_rows = BadRows.of(settings.bad_rows)
        self._settings = settings
        folders = find_label_folders(path)
        parts = sorted({name for name, _ in folders})
        self._part = part or ("train" if "train" in parts else parts[0] if parts else "")
        if not any(name == self._part for name, _ in folders):
            cure = (
                "Expected one folder of .txt files per label, such as pos/ and neg/, optionally under"
                " train/ and test/."
            )
            raise DataError(
                "found no folders of text files that could be labels.", where=self.name, cure=cure
            )
        encodings = () if settings.encoding else self._describe_encodings()
        self.notes = (*encodings, *describe_left_out(open_tree(path).names))

    def rows(self) -> Iterator[Row]:
        yield from islice(self._all_rows(), self._settings.max_rows or None)

    def fingerprint(self) -> str:
        digest = hashlib.blake2b(digest_size=16)
        tree = open_tree(self.path)
        for name, content in tree.read(self._files_of_part(tree)):
            digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
        return f"folders:{digest.hexdigest()}:{self._settings.encoding}:{self._settings.bad_rows}:{self._settings.max_rows}"

    def _all_rows(self) -> Iterator[Row]:
        reading = self.bad_rows.new_pass()
        tree = open_tree(self.path)
        labels = _labels(tree.names)
        for name, content in tree.read(self._files_of_part(tree)):
            where = f"{self.path}/{name}"
            try:
                check_name_is_text(where)
                encoding = self._settings.encoding or encoding_of(content)
                text = decode_whole(content, encoding=encoding, where=where)
            except DataError as error:
                reading.reject(error)
            else:
                yield Row({"text": text, "label": labels[name][1]}, where, 1)

    def _describe_encodings(self) -> tuple[str, ...]:
        """The encodings of the first files; each file is decoded on its own."""
        tree = open_tree(self.path)
        first = tree.read(self._files_of_part(tree)[:LOOKED_AT])
        try:
            return describe_encodings(encoding_of(content) for _, content in first)
        except DataError:  # reported where the file is read or skipped
            return ()

    def _files_of_part(self, tree: Tree) -> list[str]:
        return [name for name, (part, _) in _labels(tree.names).items() if part == self._part]


def find_label_folders(path: Path) -> set[tuple[str, str]]:
    """(part, label) of every folder of text files; the part is empty if there are no train and test
    folders.
    """
    return set(_labels(open_tree(path).names).values())


def is_tar(path: Path) -> bool:
    return path.name.lower().endswith((".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2"))


def describe_left_out(names: Sequence[str]) -> tuple[str, ...]:
    """A line about the text files that are in no label folder; none if all are used.

    >>> describe_left_out(["pos/1.txt", "neg/2.txt", "extra.txt", "unsup/3.txt", "logo.png"])
    ('left out 2 text files outside the folders of the labels, such as extra.txt',)
    >>> describe_left_out(["pos/1.txt", "neg/2.txt"])
    ()
    """
    labels = _labels(names)
    left_out = [name for name in names if name.lower().endswith(TEXT_ENDINGS) and name not in labels]
    if not left_out:
        return ()
    files = f"{len(left_out):,} text file{'' if len(left_out) == 1 else 's'}"
    return (f"left out {files} outside the folders of the labels, such as {left_out[0]}",)


def _labels(names: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The part and label of each file: its last folder is the label, and the one above may name a part."""
    labels = {}
    for name in names:
        *folders, file = PurePosixPath(name).parts
        ending = "".join(PurePosixPath(file).suffixes[-2:]).lower()
        is_text = ending.endswith(TEXT_ENDINGS) or not PurePosixPath(file).suffix
        if not folders or not is_text or folders[-1] in NOT_LABELS or folders[-1].lower() in SPLITS:
            continue
        part = SPLITS.get(folders[-2].lower(), "") if len(folders) > 1 else ""
        labels[name] = (part, folders[-1])
    if any(part for part, _ in labels.values()):
        labels = {name: (part, label) for name, (part, label) in labels.items() if part}
    return labels
