"""Tries an untrusted tokenizer.json in a separate process, with limits on time and memory.

Static limits cannot predict what a pattern or a chain of rules does with a hostile text, and a panic of the engine prints
its backtrace before Python sees it. Here both are harmless. This file is also the program of that
process, so it imports no slow part of seqlab.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys

CPU_SECONDS = 10
"""CPU time limit; published tokenizers need one or two seconds."""
WALL_SECONDS = 120
"""Wall-clock limit, for systems without a CPU time limit, and for busy machines."""
MEMORY = 3 << 30
"""Maximum address space in bytes, if the system can limit it."""
SIZE = 1_000_000
"""Size of each text in UTF-8 bytes."""
MIXED = "\u00e4\u00df e\u0301\u4e2d\u6587\u0639\u0631\u0628 \U0001f600\u200d\u2640 \u0e01\u0e34\u0000\ufdfa\t"
"""Letters of several scripts, combining marks, a multi-part emoji, NUL, and a ligature of 18 letters."""
FAILED = 3
_OUTCOMES: dict[str, str] = {}


def try_engine(tokenizer: str) -> str:
    """What is wrong with the JSON text of a tokenizer; empty if it encodes every text within the limits.

    One text is tried once in a process.
    """
    digest = hashlib.sha256(tokenizer.encode("utf-8", "replace")).hexdigest()
    if digest not in _OUTCOMES:
        _OUTCOMES[digest] = _run_probe(tokenizer)
    return _OUTCOMES[digest]


def _run_probe(tokenizer: str) -> str:
    environment = {
        **os.environ,
        "TOKENIZERS_PARALLELISM": "false",
        "RAYON_NUM_THREADS": "1",
        "RUST_BACKTRACE": "0",
    }
    try:
        probe = subprocess.run(  # noqa: S603 - this very file, with nothing of the tokenizer among the arguments
            [sys.executable, "-I", __file__, str(MEMORY), str(CPU_SECONDS)],
            input=tokenizer.encode("utf-8", "replace"),
            capture_output=True,
            timeout=WALL_SECONDS,
            check=False,
            env=environment,
        )
    except subprocess.TimeoutExpired:
        return f"it takes more than {WALL_SECONDS} seconds for texts of 1 MB"
    if probe.returncode in (0, FAILED):
        return probe.stdout.decode("utf-8", "replace").strip()[:200]
    return (
        f"the engine crashes on a text of 1 MB, or needs more than {CPU_SECONDS} s or"
        f" {MEMORY >> 30} GB for it"
    )


def _limit_resources(memory: int, cpu_seconds: int) -> None:
    try:
        import resource
    except ImportError:  # Windows: the timeout of the parent remains
        return
    for name, most in (("RLIMIT_AS", memory), ("RLIMIT_CPU", cpu_seconds), ("RLIMIT_CORE", 0)):
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (allowed, hard))
        except (OSError, ValueError):  # macOS does not limit address space
            continue


def _cut_texts() -> None:
    """The work of the process: read the tokenizer from standard input, and encode texts with it."""
    from tokenizers import Tokenizer as Engine

    engine = Engine.from_str(sys.stdin.buffer.read().decode())
    for text in ("a", ">", "\n", MIXED):
        engine.encode_batch_fast([text * (SIZE // len(text.encode()))])
    ids = engine.encode("a>\n" + MIXED).ids
    engine.decode(ids)


if __name__ == "__main__":
    _limit_resources(*map(int, sys.argv[1:]))
    try:
        _cut_texts()
    except BaseException as error:  # noqa: BLE001 - a panic of the engine is no Exception
        sys.stdout.buffer.write(f"{type(error).__name__}: {error}"[:200].encode("utf-8", "replace"))
        sys.exit(FAILED)
