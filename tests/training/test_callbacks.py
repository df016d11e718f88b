"""Several callbacks are told in their order; registered ones are made for each training."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from seqlab.training.base import Callback, StepReport, Validation
from seqlab.training.callbacks.callback_list import CallbackList, with_registered
from seqlab.training.callbacks.registry import callbacks

REPORT = StepReport(step=3, total_steps=9, epoch=0, loss=0.5, rate=0.1, seconds_left=1.0)
VALIDATION = Validation(0.7, higher_is_better=True)


class Recorder(Callback):
    """Keeps what it is told."""

    def __init__(self, log: list[object] | None = None) -> None:
        self.log = [] if log is None else log

    def on_step(self, report: StepReport) -> None:
        self.log.append((self, report.step))

    def on_validation(self, step: int, validation: Validation, *, is_best: bool) -> None:
        self.log.append((self, step, validation, is_best))


@pytest.fixture
def registered() -> Iterator[None]:
    callbacks.register("recorder")(Recorder)
    yield
    del callbacks._parts["recorder"]


def test_each_is_told_everything_in_order() -> None:
    log: list[object] = []
    first, second = Recorder(log), Recorder(log)
    several = CallbackList([first, second])
    several.on_step(REPORT)
    several.on_validation(3, VALIDATION, is_best=True)
    assert log == [
        (first, 3),
        (second, 3),
        (first, 3, VALIDATION, True),
        (second, 3, VALIDATION, True),
    ]


def test_a_callback_needs_only_the_events_it_wants() -> None:
    class Silent(Callback): ...

    CallbackList([Silent()]).on_step(REPORT)
    CallbackList([Silent()]).on_validation(3, VALIDATION, is_best=False)


def test_registered_callbacks_are_made_anew_for_each_training(registered: None) -> None:
    given = Recorder()
    first, second = with_registered(given), with_registered(None)
    assert first.members[0] is given
    assert [type(member) for member in second.members] == [Recorder]
    assert first.members[1] is not second.members[0]
