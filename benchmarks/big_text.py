"""A text of a gigabyte: peak memory while it is encoded and trained on, and the speed of encoding.

    python -m benchmarks.big_text [--megabytes 1000] [--steps 50] [--tokens characters]

The text is the standard library's own source, repeated and numbered. The same model is trained on a small
text first, in a process of its own: the difference of the two peaks is what the size of the corpus costs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

from benchmarks.timing import verdict

TARGET_MB = 1000.0

TRAIN = """
import json, resource, sys, time
from seqlab.runs.train.prepare import prepare
from seqlab.runs.train.start import train
from seqlab.recipes.read import check, override
path, out, *words = sys.argv[1:]
clock = time.perf_counter()
prepared = prepare(check(override({"data": {"train": path}}, words, model="lstm"), where="benchmark"), out=out)
encoded = time.perf_counter() - clock
train(prepared)
tokens = prepared.splits["train"].store["tokens"]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"peak_mb": peak, "prepare_seconds": encoded, "tokens": tokens.num_steps}))
"""


def write_text(path: Path, megabytes: int) -> None:
    """Source files one after the other, with a line number now and then so that no two rounds are equal."""
    sources = [file.read_bytes() for file in sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))]
    size, number = 0, 0
    with path.open("wb") as text:
        while size < megabytes * 1_000_000:
            size += text.write(b"# %d\n" % number + sources[number % len(sources)])
            number += 1


def train(path: Path, folder: Path, words: list[str]) -> dict[str, float]:
    environment = {**os.environ, "SEQLAB_CACHE": str(folder / "cache")}
    command = [sys.executable, "-c", TRAIN, str(path), str(folder / "run"), *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.big_text")
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--tokens", default="characters")
    options = parser.parse_args(arguments)
    words = [
        f"training.steps={options.steps}",
        f"tokens.kind={options.tokens}",
        "data.valid_share=0.001",
        "data.test_share=0.001",
        f"training.evaluate_every={options.steps}",
    ]
    peaks = {}
    for megabytes in (1, options.megabytes):
        with tempfile.TemporaryDirectory() as folder:
            text = Path(folder) / "text.txt"
            write_text(text, megabytes)
            clock = time.perf_counter()
            result = train(text, Path(folder), words if megabytes > 1 else [*words[:2], *words[4:]])
            peaks[megabytes] = result["peak_mb"]
            print(
                f"{megabytes:5} MB: peak {result['peak_mb']:7.0f} MB, {result['tokens']:,.0f} tokens, read,"
                f" counted, encoded and forecast in {result['prepare_seconds']:.0f} s, all in"
                f" {time.perf_counter() - clock:.0f} s",
                flush=True,
            )
    print("memory above the model's:", verdict(peaks[options.megabytes] - peaks[1], TARGET_MB, unit="MB"))


if __name__ == "__main__":
    main(sys.argv[1:])
