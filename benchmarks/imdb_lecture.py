"""An epoch of the recipe `imdb-lecture` compared with a direct rewrite of the lecture's training loop.

    python -m benchmarks.imdb_lecture [--threads 1] [--repeats 3] [--rows 22500] [FOLDER]

FOLDER holds train.jsonl.xz; by default the data folder beside the project. Both train the same model on the
same ids, batch 128, and score the held-out tenth at the end of the epoch. The rewrite pads everything to 200
tokens, multiplies, masks nothing, takes a softmax, drops attention weights and calls AdamW as it comes.
Epochs are interleaved.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from benchmarks.timing import interleaved, verdict
from seqlab.recipes.read import check, override, read_raw
from seqlab.runs.data import open_data
from seqlab.tasks.classification.codec import ClassificationCodec
from seqlab.tasks.classification.objective import ClassificationObjective
from seqlab.tasks.classification.parts import build_model
from seqlab.training.budget import Budget
from seqlab.training.loop import TrainingLoop
from seqlab.training.stop_signals import StopRequest

DEFAULT_FOLDER = Path(__file__).parents[2] / "shared" / "data" / "imdb"
TARGET = 1 / 3
LENGTH, BATCH, HIDDEN, HEADS, INNER, DROPOUT = 200, 128, 32, 2, 128, 0.1


class StraightAttention(nn.Module):
    """Attention as one writes it on a blackboard."""

    def __init__(self) -> None:
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(HIDDEN, HIDDEN, bias=False) for _ in range(3))
        self.out = nn.Linear(HIDDEN, HIDDEN)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x: Tensor) -> Tensor:
        def heads(y: Tensor) -> Tensor:
            return y.view(len(y), -1, HEADS, HIDDEN // HEADS).transpose(1, 2)

        q, k, v = heads(self.q(x)) / math.sqrt(HIDDEN // HEADS), heads(self.k(x)), heads(self.v(x))
        weights = self.dropout(torch.softmax(q @ k.transpose(2, 3), dim=-1))
        return self.out((weights @ v).transpose(1, 2).reshape(len(x), -1, HIDDEN))


class StraightClassifier(nn.Module):
    """Embedding and sinusoids, one post-norm layer, the maximum over time, a linear layer."""

    def __init__(self, num_tokens: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(num_tokens, HIDDEN, padding_idx=1)
        angles = torch.arange(1000.0)[:, None] / 10000 ** (torch.arange(0, HIDDEN, 2) / HIDDEN)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1))
        self.dropout = nn.Dropout(DROPOUT)
        self.norm = nn.LayerNorm(HIDDEN, eps=1e-12)
        self.attention = StraightAttention()
        self.norm1, self.norm2 = nn.LayerNorm(HIDDEN, eps=1e-6), nn.LayerNorm(HIDDEN, eps=1e-6)
        self.inner, self.outer = nn.Linear(HIDDEN, INNER), nn.Linear(INNER, HIDDEN)
        self.head = nn.Linear(HIDDEN, 2)

    def forward(self, ids: Tensor) -> Tensor:
        x = self.norm(self.dropout(self.embed(ids) + self.positions[: ids.shape[1]]))
        x = self.norm1(x + self.attention(x))
        x = self.norm2(x + self.outer(self.dropout(torch.relu(self.inner(x)))))
        return self.head(x.max(dim=1).values)


def straight_epoch(objective: ClassificationObjective) -> Callable[[], float]:
    """One epoch of the plain loop over lists of ids; returns its validation accuracy."""
    parts = {}
    for name in ("train", "valid"):
        split = objective.splits[name]
        labels = split.store["label"].values.tolist()
        parts[name] = [
            (tokens.astype(np.int64), label) for tokens, label in zip(split.steps, labels, strict=True)
        ]
    model = StraightClassifier(len(objective.codec.vocabulary))
    assert sum(parameter.numel() for parameter in model.parameters()) == sum(
        parameter.numel() for parameter in build_model(objective.codec).parameters()
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def batches(name: str, *, shuffle: bool) -> list[tuple[Tensor, Tensor]]:
        def collate(rows: list[tuple[np.ndarray, int]]) -> tuple[Tensor, Tensor]:
            ids = torch.ones(len(rows), LENGTH, dtype=torch.long)
            for place, (row, _) in enumerate(rows):
                ids[place, : len(row)] = torch.from_numpy(row)
            return ids, torch.tensor([label for _, label in rows])

        return torch.utils.data.DataLoader(parts[name], batch_size=BATCH, shuffle=shuffle, collate_fn=collate)

    def epoch() -> float:
        model.train()
        total = correct = 0.0
        for ids, labels in batches("train", shuffle=True):
            optimizer.zero_grad()
            logits = model(ids)
            loss = nn.functional.cross_entropy(logits, labels)
            loss.backward()
            optimizer.step()
            total += loss.item()
            correct += (logits.argmax(dim=1) == labels).float().mean().item()
        model.eval()
        with torch.no_grad():
            means = [
                (model(ids).argmax(dim=1) == labels).float().mean().item()
                for ids, labels in batches("valid", shuffle=False)
            ]
        return sum(means) / len(means)

    return epoch


def recipe_epoch(objective: ClassificationObjective, folder: Path) -> Callable[[], float]:
    """One epoch of seqlab's own trainer, with its journal, validation and checkpoints."""
    per_epoch = -(-len(objective.splits["train"]) // BATCH)
    trainer = TrainingLoop(
        build_model(objective.codec),
        objective,
        objective.recipe.training,
        Budget(total_steps=per_epoch, evaluate_every=per_epoch),
        folder=folder,
        device=torch.device("cpu"),
    )

    def epoch() -> float:
        trainer.budget = Budget(total_steps=trainer.step + per_epoch, evaluate_every=per_epoch)
        trainer.run(StopRequest())
        return float(trainer.progress.best_value or 0)

    return epoch


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.imdb_lecture")
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=0)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    words = [
        f"data.train={options.folder / 'train.jsonl.xz'}",
        "data.test_share=0",
        f"data.max_rows={options.rows}",
        f"training.threads={options.threads}",
    ]
    opened = open_data(check(override(read_raw("imdb-lecture"), words), where="imdb-lecture"))
    codec = ClassificationCodec.fit(opened.recipe, opened.parts["train"])
    splits = {name: codec.encode_split(name, source) for name, source in opened.parts.items()}
    objective = ClassificationObjective(codec, splits)
    with tempfile.TemporaryDirectory() as folder:
        epochs = {
            "straight rewrite of the lecture": straight_epoch(objective),
            "seqlab imdb-lecture": recipe_epoch(objective, Path(folder)),
        }
        times = interleaved(epochs, repeats=options.repeats, warm_up=0)
    for timing in times.values():
        print(timing.line())
    straight, ours = times.values()
    print(
        f"one epoch of {len(splits['train']):,} reviews, {options.threads} thread(s), {options.repeats}"
        " repeats"
    )
    if options.threads == 1:  # with more, the threads' waiting counts as work
        print(
            "CPU time:",
            verdict(ours.best_cpu / straight.best_cpu, TARGET, unit="of the straight rewrite"),
        )
    print(
        "wall time, best:",
        verdict(ours.best_wall / straight.best_wall, TARGET, unit="of the straight rewrite"),
    )


if __name__ == "__main__":
    import sys

    main(sys.argv[1:])
