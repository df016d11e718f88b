"""seqlab predict --file TABLE --out ANSWERS: the user's table with prediction columns added."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from seqlab.cli.console import say
from seqlab.core.errors import SeqlabError, UsageError
from seqlab.core.files import explain_full_disk

if TYPE_CHECKING:
    from seqlab.runs.run import Run
    from seqlab.sources.base import Source
    from seqlab.sources.formats.csv_table import CsvTable
    from seqlab.sources.formats.json_document import JsonDocument
    from seqlab.sources.formats.jsonl import JsonLines
    from seqlab.tasks.prediction import Prediction

AT_ONCE = 256
Count = tuple[int, int]
"""Number of rows, and how many of them have no prediction."""
UNREADABLE = "unreadable"
"""The key that holds a line which is not a JSON object."""
Answers = dict[str, str | float]


def check_answer_table(out: str, file: str) -> None:
    """Reject wrong names of the two files."""
    if not file:
        raise UsageError(
            "--out requires --file, --vectors or --score.",
            cure="For example: --file new.csv --out answers.csv",
        )
    if Path(out).resolve() == Path(file).resolve():
        raise UsageError(f"--out {out} would overwrite the input file.", cure="Choose another name.")


def write_answer_table(run: Run, file: str, out: str) -> None:
    """Write every row of the table in order, with its prediction; cells stay empty where there is none."""
    from seqlab.sources.formats.csv_table import CsvTable
    from seqlab.sources.formats.json_document import JsonDocument
    from seqlab.sources.formats.jsonl import JsonLines
    from seqlab.sources.open_source import open_source

    data = run.recipe.data.model_copy(update={"label": "", "target": "", "format": "", "bad_rows": "skip"})
    source = open_source(Path(file), data)
    writers: dict[type, Callable[[Run, Any, TextIO], Count]] = {
        CsvTable: _write_csv,
        JsonLines: _write_json_lines,
        JsonDocument: _write_json_array,
    }
    write = next((write for kind, write in writers.items() if isinstance(source, kind)), None)
    if run.recipe.data.sequence or write is None:
        raise UsageError(
            "--out adds predictions to a table with one input per row, which this file is not.",
            where=file,
            cure="Pass a .csv, .tsv, .json or .jsonl file, or leave out --out to print the answers.",
        )
    run.spec.read_inputs(
        source, run.recipe.data, Path(file).parent
    )  # rejects a table without the input columns
    partial = Path(f"{out}.part")
    try:
        # A lone surrogate becomes its escape: the only way to write it in JSON, and visible in CSV.
        with (
            explain_full_disk(Path(out), needed=Path(file).stat().st_size),  # at least the table itself
            partial.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream,
        ):
            num_rows, num_empty = write(run, source, stream)
        partial.replace(out)
    finally:
        partial.unlink(missing_ok=True)
    empty = f", {num_empty:,} of them without a prediction" if num_empty else ""
    say(f"answers: {out} ({num_rows:,} row{'' if num_rows == 1 else 's'}{empty})")


def _write_csv(run: Run, source: CsvTable, stream: TextIO) -> Count:
    writer = csv.writer(stream, delimiter=source.delimiter, lineterminator="\n")
    names: list[str] | None = None
    num_rows = num_empty = 0
    for fields, answer in _answered(run, source, source.records()):
        if names is None:
            names = list(_columns(run))
            if source.header:
                writer.writerow([*source.header, *_unused(names, source.header)])
        width = max(source.width, len(fields))
        cells = [answer.get(name, "") for name in names]
        writer.writerow([*fields, *[""] * (width - len(fields)), *cells])
        num_rows, num_empty = num_rows + 1, num_empty + (not answer)
    return num_rows, num_empty


def _write_json_lines(run: Run, source: JsonLines, stream: TextIO) -> Count:
    num_rows = num_empty = 0
    for value, answer in _answered(run, source, source.objects()):
        stream.write(_object_with(run, value, answer) + "\n")
        num_rows, num_empty = num_rows + 1, num_empty + (not answer)
    return num_rows, num_empty


def _write_json_array(run: Run, source: JsonDocument, stream: TextIO) -> Count:
    num_rows = num_empty = 0
    for value, answer in _answered(run, source, source.objects()):
        stream.write((",\n" if num_rows else "[\n") + _object_with(run, value, answer))
        num_rows, num_empty = num_rows + 1, num_empty + (not answer)
    stream.write("\n]\n" if num_rows else "[]\n")
    return num_rows, num_empty


def _object_with(run: Run, value: Any, answer: Answers) -> str:
    """The object with the keys of the answer; a value that is not an object is kept under its own key."""
    row = value if isinstance(value, dict) else {UNREADABLE: value}
    names = _unused(_columns(run), row)
    cells = {new: answer.get(name) for name, new in zip(_columns(run), names, strict=True)}
    return json.dumps({**row, **cells}, ensure_ascii=False)


def _answered(
    run: Run, source: Source, rows: Iterable[tuple[Any, dict[str, Any] | None]]
) -> Iterator[tuple[Any, Answers]]:
    """Every row as it was read, with its answer, which is empty if the row or the prediction failed."""
    waiting = iter(rows)
    while chunk := list(islice(waiting, AT_ONCE)):
        inputs = [_input_of(run, source, values) for _, values in chunk]
        answers = iter(_predict(run, [value for value in inputs if value is not None]))
        for (row, _), value in zip(chunk, inputs, strict=True):
            prediction = None if value is None else next(answers)
            yield row, {} if prediction is None else _cells(prediction)


def _input_of(run: Run, source: Source, values: dict[str, Any] | None) -> Any:
    """The input in a row; None if there is none."""
    from seqlab.sources.in_memory import InMemoryRows

    if values is None:
        return None
    row = InMemoryRows(source.name, source.columns, [values])
    try:
        value = next(iter(run.spec.read_inputs(row, run.recipe.data, Path(source.name).parent)))
    except SeqlabError:
        return None
    texts = value.values() if isinstance(value, dict) else [value]
    return value if any(not isinstance(text, str) or text.strip() for text in texts) else None


def _predict(run: Run, inputs: list[Any]) -> list[Prediction | None]:
    if not inputs:
        return []
    try:
        return list(run.predict(inputs))
    except SeqlabError:  # find out which input failed
        return (
            [None]
            if len(inputs) == 1
            else [prediction for value in inputs for prediction in _predict(run, [value])]
        )


def _columns(run: Run) -> tuple[str, ...]:
    return ("prediction", "low", "high") if run.spec.label_is_number else ("prediction", "probability")


def _cells(prediction: Prediction) -> Answers:
    if prediction.probability is not None:
        return {"prediction": prediction.answer, "probability": round(prediction.probability, 6)}
    bounds = dict(zip(("low", "high"), (name for name, _ in prediction.ranking), strict=False))
    return {"prediction": prediction.answer, **bounds}


def _unused(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """Column names that the table does not use yet.

    >>> _unused(["prediction"], ["text", "prediction"])
    ['prediction_2']
    """
    known = set(taken)
    free = []
    for name in names:
        number, new = 2, name
        while new in known:
            new, number = f"{name}_{number}", number + 1
        free.append(new)
    return free
