"""How many files of seqlab run code for one example, from a table to an answer.

Trains a classifier of reviews and a translator of pairs for three updates, then loads each and predicts once, and
counts the files in which a function was called. Everything counts: guessing columns, the survey of the data, the
forecast, checkpoints, scores, the report.
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import seqlab

PACKAGE = str(Path(seqlab.__file__).parent)


def files_called(work: Callable[[], object]) -> set[str]:
    """The files in which at least one function is called."""
    files: set[str] = set()

    def on_event(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        is_function = code.co_flags & inspect.CO_OPTIMIZED  # bodies of modules and classes run on import
        if event == "call" and is_function and code.co_filename.startswith(PACKAGE):
            files.add(code.co_filename)

    sys.setprofile(on_event)
    try:
        work()
    finally:
        sys.setprofile(None)
    return files


def main(arguments: list[str]) -> None:
    argparse.ArgumentParser(prog="benchmarks.files_walked").parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SEQLAB_CACHE"] = str(Path(folder) / "cache")
        reviews, pairs = Path(folder) / "reviews.csv", Path(folder) / "pairs.tsv"
        rows = [f"a {'good' if number % 2 else 'bad'} film {number},{number % 2}" for number in range(200)]
        reviews.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
        rows = [f"a dog runs {number}\tein Hund {number} läuft" for number in range(300)]
        pairs.write_text("source\ttarget\n" + "\n".join(rows) + "\n", encoding="utf-8")
        for data, options in ((reviews, {"model": "lstm"}), (pairs, {"model": "gru", "task": "translation"})):
            out = data.with_suffix("")
            trained = files_called(
                lambda data=data, out=out, options=options: seqlab.train(
                    str(data), "training.steps=3", "training.threads=1", out=out, **options
                )
            )
            predicted = files_called(lambda out=out: seqlab.load(out).predict(["a good dog runs"]))
            print(
                f"{data.name}: {len(trained)} files to train and score, {len(predicted)} to load and predict"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
