"""Training a translation model on Multi30k: seqlab compared with JoeyNMT, CPU time per target token.

    python -m benchmarks.translation_training --joeynmt PYTHON [--data PREFIX] [--pairs 6000] [--rounds 5]

PYTHON is one that has JoeyNMT (`pip install torch==2.13.0 joeynmt importlib_metadata` in an environment of
its own: it wants an older protobuf). Both train a Transformer of 4 + 4 layers of 128 with one table of
embeddings, dropout 0.3 and smoothed targets, on the same pieces of words, in batches of about as many tokens,
with one thread. Rounds are interleaved; the best of each counts. Without --joeynmt only seqlab is measured.
"""

from __future__ import annotations

import argparse
import atexit
import gzip
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from benchmarks.timing import verdict
from benchmarks.training_loop import Prepared, new_model, prepared, trained_by_seqlab
from seqlab.batches.batch import Batch
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.subwords.bpe import BPE
from seqlab.training.base import BatchLoss, Carry

TARGET = 0.8
LAYERS, HIDDEN, INNER, HEADS, DROPOUT, SMOOTHING, VOCABULARY = 4, 128, 256, 4, 0.3, 0.1, 9500
BATCH_TOKENS = 4096
"""Of the longer side, padded; both sides together count twice as many."""
UPDATES = 8
"""Of one round."""
HERE = Path(__file__).parent


def pieces_of(prefix: Path, folder: Path, *, most: int) -> None:
    """Pairs as pieces of words with blanks between them, for both programs, and a list of the pieces."""
    sides = {}
    for side in ("en", "de"):
        with gzip.open(f"{prefix}.{side}.gz", "rt", encoding="utf-8") as file:
            sides[side] = [line.strip() for line in islice(file, most)]
    tokenizer = BPE.fit(
        (line for lines in sides.values() for line in lines),
        TokenSettings(kind="bpe", size=VOCABULARY),
        specials=[],
    )
    seen = dict.fromkeys(["<unk>", "<pad>", "<s>", "</s>"])
    for side, lines in sides.items():
        rows = [
            [tokenizer.vocabulary.pieces[token].replace(" ", "▁") for token in ids]
            for ids in tokenizer.encode_many(lines)
        ]
        seen |= dict.fromkeys(piece for row in rows for piece in row)
        (folder / f"train.{side}").write_text("".join(" ".join(row) + "\n" for row in rows), encoding="utf-8")
    (folder / "pieces.txt").write_text("".join(piece + "\n" for piece in seen), encoding="utf-8")


class Counting:
    """An objective that counts the targets it is asked about."""

    def __init__(self, objective: Prepared) -> None:
        self.objective, self.tokens = objective, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.objective, name)

    def loss(self, model: torch.nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        loss = self.objective.loss(model, batch, step=step, carry=carry)
        self.tokens += int(loss.count)
        return loss


def our_round(folder: Path) -> Callable[[], float]:
    """Seconds of CPU time per target token."""
    model = {
        "kind": "transformer",
        "layers": LAYERS,
        "hidden_size": HIDDEN,
        "feedforward_size": INNER,
        "heads": HEADS,
        "dropout": DROPOUT,
    }
    data = {"train": str(folder / "train"), "source": "en", "target": "de"}
    training = {"batch_tokens": 2 * BATCH_TOKENS, "label_smoothing": SMOOTHING, "threads": 1}
    tokens = {"kind": "whitespace", "shared": True}
    objective = Counting(
        prepared(
            {"task": "translation", "data": data, "tokens": tokens, "model": model, "training": training}
        )
    )
    print(f"seqlab: {sum(parameter.numel() for parameter in new_model(objective).parameters()):,} parameters")
    train = trained_by_seqlab(objective, folder / "ours", steps=UPDATES)

    def once() -> float:
        objective.tokens, began = 0, time.process_time()
        train()
        return (time.process_time() - began) / objective.tokens

    return once


def their_round(python: str, folder: Path) -> Callable[[], float]:
    """The same of JoeyNMT, in a process of its own that ends with this one."""
    side = {"level": "word", "max_length": 100, "lowercase": False, "voc_file": str(folder / "pieces.txt")}
    part = {
        "type": "transformer",
        "num_layers": LAYERS,
        "num_heads": HEADS,
        "hidden_size": HIDDEN,
        "ff_size": INNER,
        "dropout": DROPOUT,
        "embeddings": {"embedding_dim": HIDDEN, "scale": True},
        "layer_norm": "pre",
    }
    configuration = {
        "name": "rounds",
        "model_dir": str(folder / "theirs"),
        "use_cuda": False,
        "num_workers": 0,
        "random_seed": 1,
        "data": {
            "train": str(folder / "train"),
            "dev": str(folder / "train"),
            "dataset_type": "plain",
            "src": {**side, "lang": "en"},
            "trg": {**side, "lang": "de"},
        },
        "model": {
            "initializer": "xavier_uniform",
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": part,
            "decoder": part,
        },
        "training": {
            "optimizer": "adamw",
            "learning_rate": 0.001,
            "scheduling": "warmupinversesquareroot",
            "learning_rate_warmup": 1000,
            "loss": "crossentropy",
            "label_smoothing": SMOOTHING,
            "clip_grad_norm": 1.0,
            "batch_size": BATCH_TOKENS,
            "batch_type": "token",
            "normalization": "tokens",
            "epochs": 100,
            "validation_freq": 1_000_000,
            "logging_freq": 100,
            "shuffle": True,
            "early_stopping_metric": "loss",
        },
        "testing": {
            "beam_size": 1,
            "batch_size": 100,
            "batch_type": "sentence",
            "max_output_length": 30,
            "eval_metrics": ["bleu"],
        },
    }
    path = folder / "joeynmt.yaml"
    path.write_text(json.dumps(configuration), encoding="utf-8")  # JSON is YAML
    command = [python, str(HERE / "joeynmt_rounds.py"), str(path), str(UPDATES)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdin is not None
    assert child.stdout is not None
    asks, answers = child.stdin, child.stdout
    atexit.register(child.kill)  # asked politely, it would first save

    def once() -> float:
        asks.write("\n")
        asks.flush()
        while not (line := answers.readline()).startswith("{"):
            if not line:
                sys.exit(f"JoeyNMT ended by itself; run it to see why: {' '.join(command)}")
        found = json.loads(line)
        return float(found["seconds"] / found["tokens"])

    return once


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.translation_training")
    parser.add_argument("--joeynmt", default="", metavar="PYTHON")
    parser.add_argument(
        "--data",
        default="../shared/data/multi30k/train",
        metavar="PREFIX",
        help="of PREFIX.en.gz and PREFIX.de.gz",
    )
    parser.add_argument("--pairs", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        pieces_of(Path(options.data), folder, most=options.pairs)
        sides = {"seqlab": our_round(folder)} | (
            {"JoeyNMT": their_round(options.joeynmt, folder)} if options.joeynmt else {}
        )
        times: dict[str, list[float]] = {name: [] for name in sides}
        for number in range(options.rounds + 1):
            for name, once in sides.items():
                seconds = once()
                times[name] += [seconds] if number else []  # the first warms up
    for name, found in times.items():
        print(
            f"  {name:<8} {min(found) * 1e6:7.1f} µs per target token (best of {len(found)}; worst"
            f" {max(found) * 1e6:.1f})"
        )
    if options.joeynmt:
        print(
            "  CPU time:",
            verdict(min(times["seqlab"]) / min(times["JoeyNMT"]), TARGET, unit="of JoeyNMT"),
        )


if __name__ == "__main__":
    main(sys.argv[1:])
