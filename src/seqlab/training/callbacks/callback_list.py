"""Combine several callbacks into one."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.training.base import Callback, StepReport, Validation
from seqlab.training.callbacks.registry import callbacks


class CallbackList(Callback):
    """Calls several callbacks in order."""

    def __init__(self, members: Sequence[Callback]) -> None:
        self.members = members

    def on_step(self, report: StepReport) -> None:
        for member in self.members:
            member.on_step(report)

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        for member in self.members:
            member.on_validation(step, validation, is_best=is_best)


def with_registered(callback: Callback | None) -> CallbackList:
    """Combine a callback with a new instance of each callback class that a plug-in or the program
    registered.
    """
    registered = [callbacks.get(name)() for name in callbacks.names()]
    return CallbackList([*([callback] if callback is not None else []), *registered])
