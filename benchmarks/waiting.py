"""How threads wait for each other: an LSTM on two threads, with both cores idle or one busy.

    python -m benchmarks.waiting [--repeats 3]

Each way of waiting runs in processes of its own, because OpenMP reads it once. `one core taken` runs a busy
loop beside it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys

WAYS = {
    "spin on (the default of torch)": {},
    "sleep at once": {"OMP_WAIT_POLICY": "PASSIVE"},
    "spin shortly (seqlab)": {"GOMP_SPINCOUNT": "1000"},
}

STEPS = """
import time, torch
torch.set_num_threads(2)
lstm, steps = torch.nn.LSTM(128, 384, batch_first=True), torch.randn(16, 64, 128)
def update():
    lstm(steps)[0].sum().backward()
for _ in range(3):
    update()
times = []
for _ in range(20):
    clock = time.perf_counter()
    update()
    times.append(time.perf_counter() - clock)
print(sorted(times)[10])
"""


def median_step(environment: dict[str, str]) -> float:
    done = subprocess.run(
        [sys.executable, "-c", STEPS],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.waiting")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args(arguments)
    for situation, others in (("cores free", 0), ("one core taken", 1)):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(others)]
        try:
            found = {way: [] for way in WAYS}
            for _ in range(options.repeats):
                for way, environment in WAYS.items():
                    found[way].append(median_step(environment) * 1000)
        finally:
            for process in busy:
                process.kill()
        for way, times in found.items():
            print(
                f"{situation:<16} {way:<32} median {statistics.median(times):6.0f} ms per step  "
                f" ({min(times):.0f} to {max(times):.0f})",
                flush=True,
            )


if __name__ == "__main__":
    main(sys.argv[1:])
