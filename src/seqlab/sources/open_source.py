"""A path -> the source that reads it."""

from __future__ import annotations

from pathlib import Path

from seqlab.core.errors import DataError, listed, nearest
from seqlab.sources.base import Source, require_columns
from seqlab.sources.encoding import describe_encoding
from seqlab.sources.file_format import find_format
from seqlab.sources.files.compression import COMPRESSIONS, check_exists
from seqlab.sources.files.folders import files_below, files_in
from seqlab.sources.formats.aligned_lines import AlignedLines, find_pair, pairs_of_folder
from seqlab.sources.formats.fasta import Fasta
from seqlab.sources.formats.label_files import (
    LABEL_FILES,
    LabelFiles,
    could_be_labels,
    looks_like_label_files,
)
from seqlab.sources.formats.label_folders import LabelFolders, find_label_folders, is_tar
from seqlab.sources.formats.registry import formats_by_suffix, source_formats
from seqlab.sources.formats.text_file import TextFile
from seqlab.sources.settings import DataSettings
from seqlab.sources.split_names import SPLITS
from seqlab.sources.views.filtered import ColumnSplit, part_of

ONE_TEXT = (
    "one text in several files; for one label per file and one example per line, set data.format=label_files"
)


def open_source(path: str | Path, settings: DataSettings) -> Source:
    """The source that reads a file or folder.

    The format comes from the settings, else from the name, else from the content.
    """
    path = Path(path)
    if pair := find_pair(path, settings):
        return AlignedLines(pair, settings)
    if path.is_dir():
        return _open_folder(path, settings)
    check_exists(path)
    form = find_format(path, name=settings.format, encoding=settings.encoding)
    source = source_formats.get(form.name)(path, settings.model_copy(update={"encoding": form.encoding}))
    encoding_note = "" if settings.encoding else describe_encoding(form.encoding)
    source.notes = tuple(filter(None, (encoding_note, form.why, *source.notes)))
    return source


def is_there(path: str, settings: DataSettings) -> bool:
    """Whether a name refers to a file, a folder, or two line-aligned files."""
    return Path(path).exists() or find_pair(Path(path), settings) is not None


def open_parts(path: str | Path, settings: DataSettings) -> dict[str, Source]:
    """All splits of a path: at least `train`, and `valid` and `test` if the folder or a split column
    names them.
    """
    path = Path(path)
    if path.is_dir() or is_tar(path) or path.suffix.lower() == ".zip":
        parts = _parts_of_folder(path, settings)
        if parts:
            return parts
    source = open_source(path, settings)
    column = next((name for name in source.columns if name.lower() in ("split", "subset", "fold")), "")
    return split_by_column(source, column) if column and _names_parts(source, column) else {"train": source}


def split_by_column(source: Source, column: str) -> dict[str, Source]:
    """The splits named in a column of the source."""
    require_columns(source, [column])
    parts = {part_of(row, column) for row in source.rows()}
    if "train" not in parts:
        raise DataError(
            f"column '{column}' does not mark any row as train.",
            where=source.name,
            cure="If the column means something else, rename it.",
        )
    return {part: ColumnSplit(source, column, part) for part in ("train", "valid", "test") if part in parts}


def _names_parts(source: Source, column: str) -> bool:
    row = next(iter(source.rows()), None)
    return row is not None and str(row.values.get(column)).strip().lower() in SPLITS


def _open_folder(folder: Path, settings: DataSettings) -> Source:
    if settings.format == "text":
        return TextFile(_text_files(folder, deep=True), settings, name=str(folder))
    if settings.format == "label_files":
        return LabelFiles(folder, settings)
    if settings.format == "folders" or find_label_folders(folder):
        return LabelFolders(folder, settings)
    known = formats_by_suffix()
    sequences = [entry for entry in files_in(folder) if known.get(_suffix(entry)) == "fasta"]
    if settings.format in ("", "fasta") and len(sequences) > 1:
        return Fasta(sequences, settings, name=str(folder))
    texts = _text_files(folder, deep=False)
    tables = [entry for entry in files_in(folder) if _suffix(entry) in known and entry not in texts]
    if tables:
        raise DataError(
            f"the folder contains {len(tables)} tables, expected one.",
            where=str(folder),
            cure=nearest("train", [entry.name for entry in tables]),
        )
    return _open_texts(folder, texts, settings)


def _open_texts(folder: Path, texts: list[Path], settings: DataSettings) -> Source:
    """Text files in one folder: one text, or one label per file."""
    source: Source
    if not settings.format and looks_like_label_files(folder):
        source, why = LabelFiles(folder, settings), LABEL_FILES
    else:
        source = TextFile(texts, settings, name=str(folder))
        why = ONE_TEXT if could_be_labels([path.name for path in texts]) else ""
    source.notes = tuple(filter(None, (why, _describe_left_out(folder, texts), *source.notes)))
    return source


def _describe_left_out(folder: Path, texts: list[Path]) -> str:
    """Text files in subfolders, which are read only with data.format=text."""
    count = len(_text_files(folder, deep=True)) - len(texts)
    if not count:
        return ""
    files = "1 text file" if count == 1 else f"{count:,} text files"
    return f"skipped {files} in subfolders; set data.format=text to include them"


def _parts_of_folder(path: Path, settings: DataSettings) -> dict[str, Source]:
    """`train/` and `test/`, `train.csv` and `test.csv`, or `train.en` and `train.de` with `test.en`
    and `test.de`.
    """
    if path.is_dir() and (pairs := pairs_of_folder(path, settings)):
        return pairs
    folders = find_label_folders(path)
    if any(part for part, _ in folders):
        names = sorted({part for part, _ in folders if part})
        return {
            part: LabelFolders(path, settings, part=part)
            for part in ("train", "valid", "test")
            if part in names
        }
    if not path.is_dir() or folders:
        return {}
    files = _files_by_part(path)
    if "train" not in files:
        return {}
    for part, candidates in files.items():
        if len(candidates) > 1:
            raise DataError(
                f"several files could be {part}: {listed([entry.name for entry in candidates])}.",
                where=str(path),
                cure="Remove all but one, or name the files with data.train=FILE data.valid=FILE data.test=FILE.",
            )
    return {
        part: open_source(files[part][0], settings) for part in ("train", "valid", "test") if part in files
    }


def _files_by_part(folder: Path) -> dict[str, list[Path]]:
    """The files of a folder whose names are those of splits, by split."""
    known, files = formats_by_suffix(), dict[str, list[Path]]()
    for entry in files_in(folder):
        part = SPLITS.get(entry.name.partition(".")[0].lower(), "")
        if part and _suffix(entry) in known:
            files.setdefault(part, []).append(entry)
    return files


def _suffix(path: Path) -> str:
    return Path(path.stem).suffix.lower() if path.suffix.lower() in COMPRESSIONS else path.suffix.lower()


def _text_files(folder: Path, *, deep: bool) -> list[Path]:
    entries = files_below(folder) if deep else files_in(folder)
    known = formats_by_suffix()
    files = [entry for entry in entries if known.get(_suffix(entry)) == "text"]
    if not files and not any(known.get(_suffix(entry)) for entry in entries):
        cure = "Expected text files, one folder of text files per label, or train.csv and test.csv."
        raise DataError("the folder contains no data that seqlab can read.", where=str(folder), cure=cure)
    return files
