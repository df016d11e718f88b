"""Texts for predictions as they come in: from a pipe, a keyboard or a file, always in their order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

from seqlab.cli.console import say
from seqlab.core.errors import DataError

if TYPE_CHECKING:
    from seqlab.recipes.recipe import Recipe

AT_ONCE = 256


def together(inputs: Iterator[Any], *, at_once: int = AT_ONCE) -> Iterator[list[Any]]:
    """Lists of what is there at the moment: whoever writes slowly gets an answer to every line, a file is read in large parts."""
    waiting: Queue[Any] = Queue(maxsize=4 * at_once)
    end = object()

    def read() -> None:
        try:
            for value in inputs:
                waiting.put(value)
            waiting.put(end)
        except BaseException as error:  # noqa: BLE001 - raised again where the values are used
            waiting.put(error)

    Thread(target=read, daemon=True).start()
    while True:
        part = [waiting.get()]
        while len(part) < at_once and part[-1] is not end and not isinstance(part[-1], BaseException):
            try:
                part.append(waiting.get_nowait())
            except Empty:
                break
        last = part[-1]
        stops = last is end or isinstance(last, BaseException)
        if values := part[:-1] if stops else part:
            yield values
        if isinstance(last, BaseException):
            raise last
        if stops:
            return


def lines_of_stdin() -> Iterator[str]:
    """One text per line; an empty line is an empty text, so that answers stay beside their questions."""
    if sys.stdin.isatty():
        say("type a text and press Enter; Ctrl-D ends")
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            where = f"standard input, line {number}"
            raise DataError("holds bytes that are not UTF-8.", where=where, cure="Convert it first: iconv -f latin1 -t utf-8") from error


def inputs_of_file(path: str, recipe: Recipe) -> Iterator[Any]:
    """The texts of a table or of a plain text file, or the sequences of a table with one row per step; labels are not needed."""
    from seqlab.sources.base import TextSource
    from seqlab.sources.columns import require_columns, text_of
    from seqlab.sources.files.compression import plain_name
    from seqlab.sources.open_source import open_source
    from seqlab.sources.views.frames import steps_of
    from seqlab.sources.views.joined_columns import join_columns, parts_of
    from seqlab.sources.views.series import Series
    from seqlab.sources.word_lists import words_of

    data = recipe.data
    is_side = bool(data.source) and plain_name(Path(path)).endswith(f".{data.source}")  # new.en, whether or not new.de lies beside it
    own = {"target": "", "format": "text" if is_side else ""} if Path(path).is_file() else {"format": ""}
    source = open_source(Path(path), data.model_copy(update={"label": "", **own}))
    if recipe.task == "tagging" and data.features and not data.sequence:
        return (steps_of(row, data.features[0]) for row in source.rows())
    if recipe.task == "captioning":
        require_columns(source, [data.source])
        return (picture_of(row.values[data.source], Path(path).parent) for row in source.rows())
    if data.sequence:
        series = Series(source, sequence=data.sequence, features=data.features)
        return (row.values["steps"] for row in series.rows())
    if data.language and data.language in source.columns:  # as one would type it
        require_columns(source, [data.source])
        return (f"{text_of(row, data.language)}: {text_of(row, data.source)}" for row in source.rows())
    column = "text" if isinstance(source, TextSource) else data.text
    source = source if isinstance(source, TextSource) else join_columns(source, data.text)
    require_columns(source, [column])
    if recipe.task == "tagging" and column == data.text:
        return (words_of(row, column) for row in source.rows())
    parts = parts_of(data.text, source.columns)
    return ({part: row.values[part] for part in parts} if parts else text_of(row, column) for row in source.rows())


def picture_of(cell: Any, folder: Path) -> Any:
    """Pixels as they are; a file beside the table by its whole name, another one as the table names it."""
    return str(folder / cell.strip()) if isinstance(cell, str) and (folder / cell.strip()).is_file() else cell
