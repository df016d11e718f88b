"""One sentence through `run.predict`, compared with the search alone.

A translation run is trained for a few updates on the built-in dates, then loaded. The search alone gets the
encoded source and the prepared decoder; `predict` adds tokenizing, padding, and the answer as text. One thread,
CPU time, interleaved; the best of the repeats counts.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch

import seqlab
from benchmarks.timing import interleaved, verdict
from seqlab.decoding.batched_decoding import decode_batched
from seqlab.tasks.translation.predictor import TranslationPredictor

TARGET = 1.1
"""`predict` may take at most this multiple of the search alone."""
SENTENCE = "Thursday, the 5th of May 1966"


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.single_prediction")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--calls", type=int, default=20)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    for model in ("gru", "transformer"):
        with tempfile.TemporaryDirectory() as folder:
            out = Path(folder) / "run"
            seqlab.train("dates", model=model, steps=300, threads=1, out=out, verbose=False)
            for beam in (1, 5):
                _compare(seqlab.load(out).with_decoding(beam=beam), f"{model}, beam {beam}", options)


def _compare(run: seqlab.Run, name: str, options: argparse.Namespace) -> None:
    predictor = run.predictor
    assert isinstance(predictor, TranslationPredictor)
    (source,) = predictor.codec.encode_texts([SENTENCE], [])
    search = predictor.target_search.search

    @torch.inference_mode()
    def search_alone() -> None:
        for _ in range(options.calls):
            list(decode_batched(predictor.decoder, [source], search, batch_size=1))

    def predict() -> None:
        for _ in range(options.calls):
            run.predict([SENTENCE], top=1)

    times = interleaved({"search alone": search_alone, "run.predict": predict}, repeats=options.repeats)
    for timing in times.values():
        print(f"{name}: {timing.line()}")
    alone, whole = times.values()
    print(f"{name}: {verdict(whole.best_cpu / alone.best_cpu, TARGET, unit='of the search alone')}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
