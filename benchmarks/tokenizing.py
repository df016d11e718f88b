"""How fast each kind of tokenizer trains, encodes and decodes.

    python -m benchmarks.tokenizing --megabytes 8

The text is the standard library's own source, so nothing is downloaded. Kinds take turns (one repeat of each,
then the next round), so that a busy moment of the machine does not fall on a single kind. Targets on two
cores: 10 MB/s for characters and bytes, 2 MB/s for bpe.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.timing import Timing, cpu_seconds, interleaved
from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.settings import TokenSettings

SPECIALS = ["<unk>", "<pad>"]
TARGETS = {"characters": 10.0, "bytes": 10.0, "bpe": 2.0}
LINES_PER_TEXT = 40


def stdlib_text(num_bytes: int) -> str:
    """Source files of the standard library in the order of their names, again from the start when they run
    out.
    """
    parts: list[str] = []
    length = 0
    while length < num_bytes:
        for path in sorted(Path(os.__file__).parent.rglob("*.py")):
            if "site-packages" in path.parts or length >= num_bytes:
                continue
            parts.append(path.read_text(encoding="utf-8", errors="replace")[: num_bytes - length])
            length += len(parts[-1])
    return "".join(parts)


def show(timing: Timing, megabytes: float, *, target: float | None = None) -> None:
    wall, cpu = megabytes / timing.best_wall, megabytes / max(timing.best_cpu, 1e-9)
    verdict = "" if target is None else f"   target {target:g}: {'met' if wall >= target else 'MISSED'}"
    slowest = megabytes / max(timing.wall)
    print(
        f"  {timing.name:<12} best {wall:8.1f} MB/s   slowest {slowest:8.1f}   per second of one core"
        f" {cpu:8.1f} MB{verdict}"
    )


def fit_all(texts: list[str], megabytes: float, *, size: int) -> dict[str, Tokenizer]:
    known: dict[str, Tokenizer] = {}
    print("fit (once)")
    for kind in tokenizers.names():
        start, start_cpu = time.perf_counter(), cpu_seconds()
        known[kind] = tokenizers.get(kind).fit(iter(texts), TokenSettings(size=size), specials=SPECIALS)
        seconds, cpu = time.perf_counter() - start, cpu_seconds() - start_cpu
        print(
            f"  {kind:<12} {megabytes / seconds:8.1f} MB/s   {seconds:6.1f} s, {cpu:6.1f} s of one core  "
            f" {len(known[kind].vocabulary)} entries"
        )
    return known


def main(arguments: list[str]) -> None:
    options = argparse.ArgumentParser(
        prog="python -m benchmarks.tokenizing", description="How fast each kind of tokenizer is."
    )
    options.add_argument("--megabytes", type=float, default=8.0)
    options.add_argument("--repeats", type=int, default=5)
    options.add_argument("--size", type=int, default=8_000)
    chosen = options.parse_args(arguments)

    text = stdlib_text(int(chosen.megabytes * 1_000_000))
    megabytes = len(text.encode("utf-8")) / 1e6
    lines = text.splitlines(keepends=True)
    texts = ["".join(lines[start : start + LINES_PER_TEXT]) for start in range(0, len(lines), LINES_PER_TEXT)]
    print(
        f"{megabytes:.1f} MB in {len(texts)} texts, {os.cpu_count()} cores, {chosen.repeats} repeats, load"
        f" {os.getloadavg()[0]:.1f}"
    )

    known = fit_all(texts, megabytes, size=chosen.size)
    ids = {kind: tokenizer.encode(text) for kind, tokenizer in known.items()}
    jobs: dict[str, dict[str, Callable[[], object]]] = {
        "encode one long text": {kind: partial(tokenizer.encode, text) for kind, tokenizer in known.items()},
        "encode many texts": {
            kind: partial(tokenizer.encode_many, texts) for kind, tokenizer in known.items()
        },
        "decode": {kind: partial(tokenizer.decode, ids[kind]) for kind, tokenizer in known.items()},
    }
    for job, by_kind in jobs.items():
        print(job)
        for timing in interleaved(by_kind, repeats=chosen.repeats).values():
            show(timing, megabytes, target=TARGETS.get(timing.name) if job.startswith("encode") else None)


if __name__ == "__main__":
    main(sys.argv[1:])
