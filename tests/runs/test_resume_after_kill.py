"""Killed at any moment, also inside a save, a run goes on to the same bits."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.runs import toy_runs
from tests.runs.toy_runs import fingerprint, finish, folder_in_memory, go_on, kill_after, leftovers, start


@dataclass(frozen=True)
class Unbroken:
    """A run that nobody disturbed: what it ended with, and how long it took."""

    data: Path
    settings: list[str]
    fingerprint: dict[str, Any]
    seconds: float


@pytest.fixture(scope="module")
def memory() -> Iterator[Path]:
    with folder_in_memory() as folder:
        yield folder


@pytest.fixture(scope="module")
def unbroken(memory: Path, cache_folder: Path) -> dict[str, Unbroken]:
    runs = {}
    for kind, settings in toy_runs.SETTINGS.items():
        folder = memory / kind
        data = toy_runs.write_data(kind, folder)
        assert finish(start, data, folder / "first", settings) == 0  # fills the cache of encoded data
        clock = time.monotonic()
        assert finish(start, data, folder / "run", settings) == 0
        seconds = time.monotonic() - clock
        assert fingerprint(folder / "first") == fingerprint(folder / "run")
        runs[kind] = Unbroken(data, settings, fingerprint(folder / "run"), seconds)
    return runs


def kill_and_go_on(run: Unbroken, folder: Path, moments: list[float]) -> None:
    """Kill at each of some moments (as shares of the time of the whole run), go on, and compare."""
    while not all(
        kill_after(moment * run.seconds, go_on, run.data, folder, run.settings) == -signal.SIGKILL
        for moment in moments
    ):
        shutil.rmtree(folder)  # the machine is faster than before and the run had ended: once more, earlier
        moments = [moment / 2 for moment in moments]
    assert finish(go_on, run.data, folder, run.settings) == 0
    assert fingerprint(folder) == run.fingerprint
    assert leftovers(folder) == []


def spread(number: int, *, seed: int) -> list[float]:
    """Random moments, one in each of as many equal parts of the run, so that none of it is left out."""
    chance = random.Random(seed)
    return [(place + chance.random()) / number for place in range(number)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["language_model", "classifier"])
def test_three_kills_change_no_bit(kind: str, unbroken: dict[str, Unbroken], memory: Path) -> None:
    folder = memory / f"{kind}-killed"
    first, *others = spread(2, seed=len(kind))
    runs = [[first, first / 2], *([moment] for moment in others)]  # the first is killed again as it goes on
    for number, moments in enumerate(runs):
        kill_and_go_on(unbroken[kind], folder / str(number), moments)


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("kind", ["language_model", "classifier"])
def test_five_hundred_kills_change_no_bit(kind: str, unbroken: dict[str, Unbroken], memory: Path) -> None:
    folder = memory / f"{kind}-killed-often"
    moments = spread(250, seed=1000 + len(kind))
    for number, moment in enumerate(moments):
        kill_and_go_on(unbroken[kind], folder / str(number), [moment])


# Killed inside a save: the faults are put into the child, at exact places


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def die_at_call(owner: str, name: str, number: int, *, after: bool) -> None:
    """Make the n-th call of a function the last thing that this process does."""
    import importlib

    module, _, attribute = owner.partition(":")
    holder: Any = importlib.import_module(module)
    holder = getattr(holder, attribute) if attribute else holder
    original: Callable[..., Any] = getattr(holder, name)
    left = iter(range(number - 1, -1, -1))

    def count(*arguments: Any, **options: Any) -> Any:
        is_last = next(left) == 0
        if is_last and not after:
            die()
        answer = original(*arguments, **options)
        if is_last:
            die()
        return answer

    setattr(holder, name, count)


def die_after_part(share: float, number: int) -> None:
    """Die when the n-th file of tensors is written to some share."""
    from seqlab.training.checkpoints import weights_file as weights

    original = weights.save_file
    left = iter(range(number - 1, -1, -1))

    def write_part(tensors: Any, path: Path, metadata: Any) -> None:
        original(tensors, path, metadata=metadata)
        if next(left) == 0:
            os.truncate(path, int(path.stat().st_size * share))
            die()

    weights.save_file = write_part


def start_with(
    fault: Callable[..., None], arguments: tuple[Any, ...], options: dict[str, Any], *run: Any
) -> None:
    fault(*arguments, **options)
    start(*run)


def faults() -> Iterator[tuple[str, Callable[..., None], tuple[Any, ...], dict[str, Any]]]:
    """Thirty places to die: in the middle of files, before and after syncs, renames, replacements and
    removals.
    """
    for share in (0.1, 0.5, 0.9):
        for number in (
            4,
            5,
            7,
            9,
        ):  # the tensors and the best weights of a checkpoint, and the file of the model
            yield f"{share:.0%} of file {number}", die_after_part, (share, number), {}
    for number in (20, 24, 27, 33, 40, 47):
        yield f"at sync {number}", die_at_call, ("os", "fsync", number), {"after": number % 2 == 0}
    for number in (1, 2, 3, 4):
        for after in (False, True):
            yield (
                f"{'after' if after else 'before'} rename {number}",
                die_at_call,
                ("pathlib:Path", "rename", number),
                {"after": after},
            )
    for number in (12, 16):
        yield f"at replacement {number}", die_at_call, ("pathlib:Path", "replace", number), {"after": True}
    for number in (3, 5):
        yield f"at removal {number}", die_at_call, ("shutil", "rmtree", number), {"after": False}


FAULTS = list(faults())


@pytest.mark.parametrize(
    "every",
    [
        pytest.param(7, marks=pytest.mark.slow, id="every seventh"),
        pytest.param(1, marks=pytest.mark.long, id="all thirty"),
    ],
)
def test_a_death_inside_a_save_goes_on_from_the_checkpoint_before(
    every: int, unbroken: dict[str, Unbroken], memory: Path
) -> None:
    assert len(FAULTS) == 30
    for number, (name, fault, arguments, options) in list(enumerate(FAULTS))[::every]:
        run = unbroken["language_model" if number % 2 else "classifier"]
        folder = memory / f"fault-{number}-of-every-{every}"
        assert (
            finish(start_with, fault, arguments, options, run.data, folder, run.settings) == -signal.SIGKILL
        ), name
        assert finish(go_on, run.data, folder, run.settings) == 0, name
        assert fingerprint(folder) == run.fingerprint, name
        assert leftovers(folder) == [], name
