"""Texts for predictions as they come in: from a pipe, a keyboard or a file, always in their order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, Any

from seqlab.cli.console import say
from seqlab.core.errors import DataError

if TYPE_CHECKING:
    pass

AT_ONCE = 256


def available_chunks(inputs: Iterator[Any], *, at_once: int = AT_ONCE) -> Iterator[list[Any]]:
    """Lists of what is there at the moment: whoever writes slowly gets an answer to every line, a file is
    read in large parts.
    """
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
            raise DataError(
                "holds bytes that are not UTF-8.",
                where=where,
                cure="Convert it first: iconv -f latin1 -t utf-8",
            ) from error
