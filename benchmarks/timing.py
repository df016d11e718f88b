"""Timing on a machine that others use too: interleaved repeats, CPU time beside wall time, best and
median.
"""

from __future__ import annotations

import resource
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Timing:
    """Seconds of every repeat: wall time, and CPU time of this process and the children it waited for.

    Processor time of one thread does not grow when other work takes the machine, so its best value is the one
    to compare.
    """

    name: str
    wall: tuple[float, ...]
    cpu: tuple[float, ...]

    @property
    def best_cpu(self) -> float:
        return min(self.cpu)

    @property
    def best_wall(self) -> float:
        return min(self.wall)

    @property
    def median_wall(self) -> float:
        return statistics.median(self.wall)

    @property
    def spread(self) -> float:
        """How far the repeats lie apart: (worst - best) / best of the CPU time."""
        return (max(self.cpu) - min(self.cpu)) / max(min(self.cpu), 1e-9)

    def line(self) -> str:
        return (
            f"{self.name:<36} cpu best {self.best_cpu:8.3f} s  (spread {self.spread:4.0%})   "
            f"wall best {self.best_wall:8.3f} s  median {self.median_wall:8.3f} s"
        )


def interleaved(
    candidates: Mapping[str, Callable[[], object]], *, repeats: int = 5, warm_up: int = 1
) -> dict[str, Timing]:
    """Run every candidate once per round, so that a change in the machine's load meets them all."""
    wall: dict[str, list[float]] = {name: [] for name in candidates}
    cpu: dict[str, list[float]] = {name: [] for name in candidates}
    for round_number in range(warm_up + repeats):
        for name, function in candidates.items():
            start_wall, start_cpu = time.perf_counter(), cpu_seconds()
            function()
            if round_number >= warm_up:
                wall[name].append(time.perf_counter() - start_wall)
                cpu[name].append(cpu_seconds() - start_cpu)
    return {name: Timing(name, tuple(wall[name]), tuple(cpu[name])) for name in candidates}


def cpu_seconds() -> float:
    """Processor time of this process and of the child processes that it has waited for."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def verdict(measured: float, target: float, *, unit: str) -> str:
    """`1.561 nats (target at most 1.69: met)`."""
    return f"{measured:.3f} {unit} (target at most {target:g}: {'met' if measured <= target else 'MISSED'})"
