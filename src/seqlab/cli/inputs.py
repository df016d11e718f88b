"""Inputs for predictions, in order: from arguments, a pipe, the keyboard or a file."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

from seqlab.cli.console import say
from seqlab.cli.streams import require_input
from seqlab.core.errors import DataError, EnvironmentProblem, UsageError

if TYPE_CHECKING:
    from seqlab.recipes.recipe import Recipe

AT_ONCE = 256
CHUNK_BYTES = 1 << 16


def open_inputs(recipe: Recipe, texts: list[str] | None, file: str) -> Iterator[Any]:
    """The inputs of a run: texts, or sequences of numbers as JSON."""
    from seqlab.runs.data import open_prediction_inputs
    from seqlab.tasks.spec import find_spec

    if file:
        return open_prediction_inputs(recipe, file)
    lines = iter(texts) if texts else lines_of_stdin()
    has_text = bool(recipe.data.text) or find_spec(recipe.task).predicts_tokens
    return (
        (_require_utf8(line) for line in lines)
        if has_text
        else (_numbers(line, place) for place, line in enumerate(lines, start=1))
    )


def open_pairs(recipe: Recipe, texts: list[str] | None, file: str) -> Iterator[tuple[Any, str]]:
    """Sources and targets to score, from a file or as lines with a tab between the two."""
    if file:
        return _pairs_of_file(file, recipe)
    return _pairs_of_lines(_require_utf8(line) for line in texts or lines_of_stdin())


def available_chunks(inputs: Iterator[Any], *, at_once: int = AT_ONCE) -> Iterator[list[Any]]:
    """Chunks of the inputs available so far: someone who types gets an answer to every line, while a file is
    read in large chunks.
    """
    waiting: Queue[Any] = Queue(maxsize=4 * at_once)
    end = object()

    def read() -> None:
        try:
            for value in inputs:
                waiting.put(value)
            waiting.put(end)
        except BaseException as error:  # noqa: BLE001 - re-raised in the consuming thread
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
    """One text per line; an empty line is an empty text, so that answers stay aligned with inputs."""
    require_input()
    if sys.stdin.isatty():
        say("Type a text and press Enter; press Ctrl-D to quit.")
    for number, line in enumerate(_split_lines(_stdin_chunks()), start=1):
        try:
            yield line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            where = f"standard input, line {number}"
            raise DataError(
                "is not valid UTF-8.",
                where=where,
                cure="Convert it first: iconv -f latin1 -t utf-8",
            ) from error


def _stdin_chunks() -> Iterator[bytes]:
    """Standard input in chunks, as they arrive.

    They are read from the file descriptor: a thread that waits inside `sys.stdin.buffer` holds a lock that Python
    needs to shut down, and Python would abort.
    """
    try:
        descriptor = sys.stdin.fileno()
    except OSError:  # standard input was replaced by an object in memory
        yield sys.stdin.buffer.read()
        return
    try:
        while chunk := os.read(descriptor, CHUNK_BYTES):
            yield chunk
    except OSError as error:  # a directory, or a file opened for writing
        raise EnvironmentProblem(
            f"standard input cannot be read ({error.strerror}).",
            cure="Pass a file with --file, or pipe it in.",
        ) from error


def _split_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Whole lines, without line ends.

    >>> list(_split_lines([b"a\\n\\nb", b"c", b"\\nd"])), list(_split_lines([b"a\\n"]))
    ([b'a', b'', b'bc', b'd'], [b'a'])
    """
    rest: list[bytes] = []
    for chunk in chunks:
        *lines, last = chunk.split(b"\n")
        for line in lines:
            yield b"".join([*rest, line])
            rest = []
        rest.append(last)
    if any(rest):
        yield b"".join(rest)


def _pairs_of_lines(lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    """SOURCE<tab>TARGET."""
    for place, line in enumerate(lines, start=1):
        source, tab, target = line.partition("\t")
        if not tab:
            raise DataError(
                "no tab between source and target.",
                where=f"input {place}",
                cure=(
                    "Separate the two with a tab, or pass a file with both columns: --score --file pairs.tsv"
                ),
            )
        yield source, target


def _pairs_of_file(path: str, recipe: Recipe) -> Iterator[tuple[Any, str]]:
    """Both columns of a file in the format of the training data."""
    from seqlab.runs.data import open_further_data, with_columns
    from seqlab.sources.base import text_of
    from seqlab.tasks.spec import find_spec

    source = open_further_data(recipe, path)
    data = with_columns(recipe, source).data
    inputs = find_spec(recipe.task).read_inputs(source, data, Path(path).parent)
    targets = (text_of(row, data.target) for row in source.rows())
    yield from zip(inputs, targets, strict=True)


def _require_utf8(text: str) -> str:
    """Reject bytes that are not text, which a shell may pass on."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError(
            "is not valid UTF-8.",
            where=text[:40],
            cure="Convert it to UTF-8, or pass a file with --file.",
        )
    return text


def _numbers(text: str, place: int) -> Any:
    """A sequence of numbers, written as JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(
            "expected numbers as JSON, found text.",
            where=f"input {place}",
            cure="Pass a list of steps, such as [[0.5, 1], [0.7, 2]], or a file with --file.",
        ) from error
