"""Ctrl-C and SIGTERM end training after the next step, with a checkpoint."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class StopRequest:
    """Whether a stop was requested.

    A second Ctrl-C interrupts immediately, and so does the first if there is nothing to save.
    """

    def __init__(self) -> None:
        self.asked = False
        self.can_wait = True

    def handle(self, number: int, frame: FrameType | None) -> None:
        if self.asked or not self.can_wait:
            signal.default_int_handler(signal.SIGINT, frame)
        self.asked = True


@contextmanager
def catch_stop_signals() -> Iterator[StopRequest]:
    """Make SIGINT and SIGTERM only set a flag. Does nothing outside the main thread."""
    request = StopRequest()
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = {number: signal.signal(number, request.handle) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
