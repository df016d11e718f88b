"""Settings -> the train, validation and test data of a task: the only way from files to examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from seqlab.core.errors import DataError, RecipeError, closest, listed, shortened
from seqlab.core.notify import Notify, ignore
from seqlab.sources.base import STEPS, Source, TextSource, require_columns
from seqlab.sources.column_roles import SAMPLE
from seqlab.sources.data_spec import DataSpec
from seqlab.sources.files.compression import plain_name
from seqlab.sources.local_numbers import PlainNumbers, decimal_of, unit_of, without_unit
from seqlab.sources.open_source import is_there, open_parts, open_source
from seqlab.sources.opened_data import OpenedData, split_seed
from seqlab.sources.settings import DataSettings
from seqlab.sources.views.series import NO_NUMBER
from seqlab.sources.views.subsample import fewer_rows

Spec = TypeVar("Spec", bound=DataSpec)


def open_dataset(
    data: DataSettings,
    choose: Callable[[Source], tuple[Spec, list[str]]],
    *,
    seed: int,
    file_format: str = "",
    on_note: Notify = ignore,
) -> tuple[Spec, OpenedData]:
    """Open the files of a recipe, find the columns, and hold out the splits that no file provides.

    choose: the task of the training data, and why.
    file_format: the default format of the files.
    on_note: called with every guess as soon as it is made, before anything is read in full.
    """
    reasons = _Reasons(on_note)
    data = data.model_copy(update={"format": data.format or file_format})
    parts = open_parts(data.train, data)
    reasons.add(*parts["train"].notes)
    spec, why = choose(parts["train"])
    data, about_columns = spec.find_columns(parts["train"], data)
    data, about_numbers = _with_decimal(spec, parts["train"], data)
    reasons.add(*about_columns, *why, *about_numbers)
    warnings = spec.warnings(parts["train"], data)
    parts |= open_named_parts(data)
    parts = {name: _usable(spec, data, source) for name, source in parts.items()}
    check_columns(spec, data, parts.values())
    _reject_constant_steps(data, parts["train"])
    warnings += _warn_of_single_steps(data, parts["train"])
    opened = spec.hold_out(spec.join_parts(OpenedData(data, parts, [], warnings)), seed=seed)
    _tell_skipped(opened.parts, reasons)
    reasons.add(*opened.reasons)
    return spec, subsampled(replace(opened, reasons=reasons.sentences), seed=seed)


class _Reasons:
    """Collects the decisions and shows each one immediately."""

    def __init__(self, on_note: Notify) -> None:
        self.sentences: list[str] = []
        self._on_note = on_note

    def add(self, *sentences: str) -> None:
        for sentence in sentences:
            self._on_note(sentence)
        self.sentences += sentences

    def warn(self, sentence: str) -> None:
        self._on_note(f"WARNING: {sentence}")
        self.sentences.append(sentence)


def _usable(spec: DataSpec, data: DataSettings, source: Source) -> Source:
    """One row per example, without unusable ones, which are counted with those of the file."""
    examples = _examples(spec, data, source)
    checked = spec.check_rows(examples, data)
    if checked is not examples and source.bad_rows.tolerates:
        checked.bad_rows = source.bad_rows
    return checked


def _with_decimal(spec: DataSpec, source: Source, data: DataSettings) -> tuple[DataSettings, list[str]]:
    """The settings with the decimal separator and the units, if numbers are not in Python's notation."""
    columns = [name for name in spec.number_columns(data) if name in source.columns]
    if not columns or (data.decimal and data.units):
        return data, []
    rows = list(islice(source.rows(), SAMPLE))
    cells_of = {
        name: [
            cell for row in rows if isinstance(cell := row.values.get(name), str) and not _is_missing(cell)
        ]
        for name in columns
    }
    data, reasons = _with_units(data, cells_of)
    cells = [without_unit(cell, data.units) for cells in cells_of.values() for cell in cells]
    if data.decimal or not (decimal := decimal_of(cells)):
        return data, reasons
    sentence = (
        f"numbers use '{decimal}' as the decimal separator ({shortened(cells[0], 20)}); set"
        " data.decimal=. to change it"
    )
    return data.model_copy(update={"decimal": decimal}), [*reasons, sentence]


def _is_missing(cell: str) -> bool:
    return cell.strip().lower() in NO_NUMBER


def _with_units(data: DataSettings, cells_of: Mapping[str, Sequence[str]]) -> tuple[DataSettings, list[str]]:
    """The settings with the unit after the numbers of each column."""
    units = {name: unit_of(cells) for name, cells in cells_of.items() if not data.units}
    named = {name: unit for name, unit in units.items() if unit}
    if not named:
        return data, []
    pairs = listed([f"{name} in {unit}" for name, unit in named.items()])
    sentence = f"numbers with a unit ({pairs}), which is removed; set data.units=NAME,NAME to change it"
    return data.model_copy(update={"units": tuple(dict.fromkeys(named.values()))}), [sentence]


def _plain_numbers(spec: DataSpec, data: DataSettings, source: Source) -> Source:
    columns = spec.number_columns(data)
    if not columns or not (data.decimal or data.units):
        return source
    return PlainNumbers(source, columns, decimal=data.decimal, units=data.units)


def _tell_skipped(parts: Mapping[str, Source], reasons: _Reasons) -> None:
    """One sentence for each file with unusable rows, a warning if they are many."""
    files = {id(part.bad_rows): part.bad_rows for part in parts.values()}
    for bad_rows in files.values():
        if sentence := bad_rows.sentence():
            (reasons.warn if bad_rows.are_many else reasons.add)(sentence)


def open_further(path: str, data: DataSettings, spec: DataSpec) -> Source:
    """More labeled data, read the same way as the training data.

    If a folder has a test split, that is used.
    """
    if not exists(path, data):
        raise missing(path)
    parts = open_parts(path, data)
    source = _examples(spec, data, parts.get("test") or parts["train"])
    check_columns(spec, data, [source])
    return spec.join_further(source, lambda: _opened_before(spec, data))


def _opened_before(spec: DataSpec, data: DataSettings) -> dict[str, Source]:
    """The splits of a run that have files of their own and still exist."""
    if not exists(data.train, data):
        return {}
    named = data.model_copy(
        update={name: "" for name in ("valid", "test") if not exists(getattr(data, name), data)}
    )
    parts = open_parts(data.train, data) | open_named_parts(named)
    return {name: _examples(spec, data, source) for name, source in parts.items()}


def _examples(spec: DataSpec, data: DataSettings, source: Source) -> Source:
    return spec.as_examples(_plain_numbers(spec, data, source), data)


def open_inputs(path: str, data: DataSettings, spec: DataSpec) -> Iterator[Any]:
    """The inputs of a file to predict. Labels are not needed; a text file contains one text per line."""
    is_side = bool(data.source) and plain_name(Path(path)).endswith(
        f".{data.source}"
    )  # new.en, with or without new.de
    changes = {"target": "", "format": "text" if is_side else ""} if Path(path).is_file() else {"format": ""}
    source = open_source(Path(path), data.model_copy(update={"label": "", **changes}))
    if spec.number_columns(data.model_copy(update={"label": ""})):
        source = _plain_numbers(spec, data, source)
    return spec.read_inputs(source, data, Path(path).parent)


def open_named_parts(data: DataSettings) -> dict[str, Source]:
    """The validation and test data named in the settings."""
    paths = {"valid": data.valid, "test": data.test}
    return {
        name: open_parts(path, data).get(name) or open_source(path, data)
        for name, path in paths.items()
        if path
    }


def check_columns(spec: DataSpec, data: DataSettings, sources: Iterable[Source]) -> None:
    for source in sources:
        require_columns(source, spec.required_columns(source, data))


def exists(path: str, data: DataSettings) -> bool:
    try:
        return is_there(path, data)
    except OSError as error:
        raise DataError(
            f"cannot be accessed ({error.strerror}).",
            where=shortened(path),
            cure="Check the name and the permissions.",
        ) from error


def missing(path: str, *, names: Sequence[str] = (), examples: str = "") -> DataError:
    """The error for a missing file; suggests similar files in the folder and similar `names` that are
    known.
    """
    folder = Path(path).parent
    there = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    endings = sorted({ending for name in there if (ending := _language_behind(Path(path).name, name))})
    if not folder.is_dir():
        cure = f"There is no folder '{shortened(str(folder), 200)}' either."
    elif len(endings) > 1:
        sides = " ".join(
            f"data.{side}={ending}" for side, ending in zip(("source", "target"), endings, strict=False)
        )
        cure = (
            f"Files named '{shortened(path)}' exist with the extensions {listed(endings)}: to train on"
            f" aligned lines, add {sides}, for example."
        )
    elif close := closest(Path(path).name, [*there, *names]):
        cure = f"Did you mean '{close if close in names else folder / close}'?"
    else:
        cure = f"The folder contains: {listed(sorted(there))}."
    return DataError("there is no such file or folder.", where=shortened(path, 200), cure=cure + examples)


def _language_behind(name: str, file: str) -> str:
    """The two-letter language code that follows a prefix in a file name.

    >>> _language_behind("corpus", "corpus.de.gz"), _language_behind("corpus", "corpus.csv"), _language_behind("corpus", "other.en")
    ('de', '', '')
    """
    ending = file.removeprefix(f"{name}.").split(".")[0] if file.startswith(f"{name}.") else ""
    return ending if len(ending) == 2 and ending.isalpha() else ""


def _reject_constant_steps(data: DataSettings, train: Source) -> None:
    """Constant numbers carry no information. Reading stops at the first change."""
    if not data.sequence or STEPS not in train.columns:  # words may have one row each, too
        return
    steps = (tuple(step) for row in train.rows() for step in row.values[STEPS])
    first = next(steps, None)
    if first is not None and all(step == first for step in steps):
        numbers = listed([f"{name} {value:g}" for name, value in zip(data.features, first, strict=False)])
        raise DataError(
            f"every step contains the same numbers ({numbers}).",
            where=train.name,
            cure="There is nothing to learn from; choose other columns with data.features=NAME,NAME",
        )


def _warn_of_single_steps(data: DataSettings, train: Source) -> list[str]:
    """If every series has a single step, rows were probably mistaken for sequences."""
    if STEPS not in train.columns or any(len(row.values[STEPS]) > 1 for row in islice(train.rows(), SAMPLE)):
        return []
    warning = (
        "every sequence has a single step, so the model cannot learn from their order: is"
        f" '{data.sequence}' the sequence column? To change it, set data.sequence=NAME"
    )
    return [warning]


def subsampled(opened: OpenedData, *, seed: int) -> OpenedData:
    """The same data with at most `data.train_rows` training rows."""
    data, train = opened.settings, opened.parts["train"]
    if not data.train_rows:
        return opened
    if isinstance(train, TextSource):
        raise RecipeError(
            "it draws rows at random, and shuffled lines are not running text.",
            where="data.train_rows",
            cure="Remove the setting; to read only the beginning of a file, set data.max_rows=NUMBER",
        )
    fewer = fewer_rows(
        train, data.train_rows, seed=split_seed(data, seed), columns=[data.text or data.sequence or STEPS]
    )
    return replace(opened, parts={**opened.parts, "train": fewer})
