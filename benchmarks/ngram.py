"""The n-gram baseline on a text: nats per character and seconds, by order.

    python -m benchmarks.ngram [PATH]

The first 90 % of the characters train, the last 10 % test. Without a path: tinyshakespeare from the data
folder beside the project.
"""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.timing import verdict
from seqlab.baselines.ngram import ORDER, NGram

QUICK = True
NATS_TARGET = 1.69
SECONDS_TARGET = 15.0
DEFAULT_PATH = Path(__file__).parents[2] / "shared" / "data" / "tinyshakespeare" / "input.txt"


@dataclass(frozen=True)
class Result:
    """One order: what it cost and how well it foresees the test part."""

    order: int
    nats: float
    fit_seconds: float
    score_seconds: float
    num_grams: int


def measure(path: Path, *, orders: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8)) -> list[Result]:
    characters = np.frombuffer(path.read_text(encoding="utf-8").encode("utf-32-le"), dtype=np.uint32)
    alphabet, tokens = np.unique(characters, return_inverse=True)
    split = len(tokens) * 9 // 10
    results = []
    for order in orders:
        start = time.process_time()
        model = NGram.fit(tokens[:split], len(alphabet), order=order)
        fitted = time.process_time()
        nats = -float(model.log_probs(tokens[split:]).mean())
        num_grams = sum(len(level.codes) for level in model.levels)
        results.append(Result(order, nats, fitted - start, time.process_time() - fitted, num_grams))
    return results


def main(arguments: list[str]) -> None:
    path = Path(arguments[0]) if arguments else DEFAULT_PATH
    if not path.is_file():
        print(f"{path}: there is no such file; give the path of a text.")
        return
    results = measure(path)
    print("order  nats/char  bits/char  perplexity    n-grams  fit (cpu s)  score (cpu s)")
    for r in results:
        print(
            f"{r.order:5}  {r.nats:9.4f}  {r.nats / math.log(2):9.4f}  {math.exp(r.nats):10.3f} "
            f" {r.num_grams:9,}  {r.fit_seconds:11.2f}  {r.score_seconds:13.2f}"
        )
    used = next(r for r in results if r.order == ORDER)
    print(f"order {ORDER}:", verdict(used.nats, NATS_TARGET, unit="nats per character"))
    print(
        f"order {ORDER}:",
        verdict(used.fit_seconds + used.score_seconds, SECONDS_TARGET, unit="s on one core"),
    )


if __name__ == "__main__":
    main(sys.argv[1:])
