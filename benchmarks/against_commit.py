"""This code compared with an older commit of itself: start-up, training loops, the lecture's epoch, decoding.

    python -m benchmarks.against_commit OLD_CLONE [NAME …] [--repeats 7]

OLD_CLONE is a clone of the older commit with its own `.venv`, made like the one of this clone, because the installed
packages affect start-up. Start-up is measured in fresh processes. For the rest, each side runs its own version of
a benchmark of this folder in one process that stays open, and the two alternate, so that a change in the machine's
load affects both. One thread, CPU time. The ratio compares the best repeats; its range is the middle half of the
single ratios.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from benchmarks.timing import cpu_seconds

HERE = Path(__file__).parents[1]
TARGET = 1.03
COMMAND = "import sys; from seqlab.cli.main import main; sys.argv = ['seqlab', *sys.argv[1:]]; main()"
STARTS = {
    "import": ["import seqlab"],
    "help": [COMMAND, "--help"],
    "explain": [COMMAND, "explain", "training"],
}
BENCHMARKS = {
    "lstm": ["training_loop", "lstm"],
    "transformer": ["training_loop", "transformer"],
    "writer": ["training_loop", "writer"],
    "imdb": ["imdb_lecture", "--rows", "6000", str(HERE.parent / "shared" / "data" / "imdb")],
    "decoding": ["decoding", "--beam", "5", "--batch", "32"],
}
WORKER = """
import importlib, sys, time
import torch

def serve(candidates, **_):
    # Takes the place of `interleaved`: runs seqlab's candidate once per line of standard input.
    run = next(work for name, work in candidates.items() if "seqlab" in name)
    for _ in sys.stdin:
        start = time.process_time()
        run()
        print("seconds", time.process_time() - start, flush=True)
    raise SystemExit

torch.set_num_threads(1)
module = importlib.import_module("benchmarks." + sys.argv[1])
module.interleaved = serve
module.main(sys.argv[2:])
"""


def python(clone: Path, code: str, *arguments: str) -> list[str]:
    return [str(clone / ".venv" / "bin" / "python"), "-c", code, *arguments]


def environment() -> dict[str, str]:
    """One thread, compiled modules are kept, and no kernels unless asked for: one side may have built them."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {"SEQLAB_NATIVE": "0", **kept, "OMP_NUM_THREADS": "1"}


def start_up(clone: Path, arguments: list[str]) -> Callable[[], float]:
    """Seconds of one fresh process."""

    def measure() -> float:
        start = cpu_seconds()
        subprocess.run(
            python(clone, *arguments), cwd=clone, env=environment(), check=True, stdout=subprocess.DEVNULL
        )
        return cpu_seconds() - start

    return measure


def open_worker(clone: Path, arguments: list[str], stack: ExitStack) -> Callable[[], float]:
    """Seconds of one repeat in a process that stays open."""
    worker = stack.enter_context(
        subprocess.Popen(
            python(clone, WORKER, *arguments),
            cwd=clone,
            env=environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
    )
    assert worker.stdin is not None
    assert worker.stdout is not None
    requests, answers = worker.stdin, worker.stdout
    stack.callback(requests.close)

    def measure() -> float:
        requests.write("\n")
        requests.flush()
        for line in answers:
            if line.startswith("seconds "):
                return float(line.split()[1])
        raise SystemExit(f"{clone}: the benchmark {' '.join(arguments)} ended early")

    return measure


def compare(name: str, old: Callable[[], float], new: Callable[[], float], repeats: int) -> str:
    """Both take turns; the first turn only warms up."""
    turns = [(old(), new()) for _ in range(repeats + 1)][1:]
    best_old, best_new = (min(side) for side in zip(*turns, strict=True))
    ratio = best_new / best_old
    low, _, high = statistics.quantiles([after / before for before, after in turns], n=4)
    verdict = "met" if ratio <= TARGET else "MISSED"
    return (
        f"{name:<12} old {best_old:7.3f} s  new {best_new:7.3f} s  ratio {ratio:.3f}"
        f"  (turns {low:.3f} to {high:.3f}; target at most {TARGET:g}: {verdict})"
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.against_commit")
    parser.add_argument("old", type=Path)
    parser.add_argument("names", nargs="*", choices=[*STARTS, *BENCHMARKS, []])
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args(arguments)
    for name in options.names or [*STARTS, *BENCHMARKS]:
        if name == "imdb" and not Path(BENCHMARKS[name][-1]).exists():
            print(f"{name:<12} left out: there is no data in {BENCHMARKS[name][-1]}")
            continue
        with ExitStack() as stack:
            if name in STARTS:
                old, new = (start_up(clone.resolve(), STARTS[name]) for clone in (options.old, HERE))
            else:
                old, new = (
                    open_worker(clone.resolve(), BENCHMARKS[name], stack) for clone in (options.old, HERE)
                )
            print(compare(name, old, new, options.repeats), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
