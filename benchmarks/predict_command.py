"""CPU time of `seqlab predict RUN TEXT` for one sentence in a fresh process, next to `import torch` alone.

python -m benchmarks.predict_command [REPEATS]

One thread, interleaved; the median and the range of the repeats. Bytecode is cached, as in an installed package:
with PYTHONDONTWRITEBYTECODE=1 every start would compile seqlab again, which takes 0.3 s.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import seqlab

TARGET = 1.2
"""Seconds of CPU time, torch included."""
PREDICT = "import sys; from seqlab.cli.main import main; main(sys.argv[1:])"


def main(arguments: list[str]) -> None:
    repeats = int(arguments[0]) if arguments else 5
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        seqlab.train("languages", model="gru", steps=2, out=run, verbose=False)
        commands = {
            "python -c pass": ["-c", "pass"],
            "import torch": ["-c", "import torch"],
            "seqlab --help": ["-c", PREDICT, "--help"],
            "predict one sentence": ["-c", PREDICT, "predict", str(run), "Schmidt"],
        }
        environment = _environment(bytecode=Path(folder) / "bytecode")
        for command in commands.values():  # compiles what is not compiled yet
            _cpu_seconds(command, environment)
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(repeats):
            for name, command in commands.items():
                seconds[name].append(_cpu_seconds(command, environment))
    for name, values in seconds.items():
        spread = f"{min(values):.2f} to {max(values):.2f}"
        print(f"{name:<22} {statistics.median(values):.2f} s of CPU time ({spread})")
    median = statistics.median(seconds["predict one sentence"])
    print(f"target: at most {TARGET} s: {'reached' if median <= TARGET else 'missed'}")


def _environment(*, bytecode: Path) -> dict[str, str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPYCACHEPREFIX": str(bytecode)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _cpu_seconds(command: list[str], environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *command],
        check=True,
        capture_output=True,
        env=environment,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main(sys.argv[1:])
