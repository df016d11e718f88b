"""Processor time of `seqlab predict RUN TEXT` for one sentence in a fresh process, beside `import torch` alone.

python -m benchmarks.predict_command [REPEATS]

One thread, interleaved; the best of the repeats counts.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import seqlab

TARGET = 1.2
"""Seconds of processor time, torch included."""
PREDICT = "import sys; from seqlab.cli.main import main; main(sys.argv[1:])"


def main(arguments: list[str]) -> None:
    repeats = int(arguments[0]) if arguments else 5
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        seqlab.train("languages", model="gru", steps=2, out=run, verbose=False)
        commands = {
            "python -c pass": ["-c", "pass"],
            "import torch": ["-c", "import torch"],
            "predict one sentence": ["-c", PREDICT, "predict", str(run), "Schmidt"],
        }
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(repeats):
            for name, command in commands.items():
                seconds[name].append(_cpu_seconds(command))
    for name, values in seconds.items():
        print(f"{name:<22} {min(values):.2f} s of processor time")
    best = min(seconds["predict one sentence"])
    print(f"target: at most {TARGET} s: {'reached' if best <= TARGET else 'missed'}")


def _cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *command],
        check=True,
        capture_output=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main(sys.argv[1:])
