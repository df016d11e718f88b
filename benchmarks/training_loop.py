"""Training steps of seqlab compared with a hand-written torch loop: two classifiers and a language model.

    python -m benchmarks.training_loop [--repeats 5] [lstm] [transformer] [writer]

Both sides train the same network on the same batches with AdamW in torch's fused kernel and clipping, with
one thread. seqlab's side is its training loop with everything it does in a run: data out of the store on disk,
padding, the journal, checks for numbers that are none. Its validation and checkpoints are left out, since the
plain loop has none. The plain loop holds its examples as tensors in memory, pads them with torch, and adds up
the loss. A repeat of a classifier is an epoch, so that all repeats meet the same lengths. Epochs are
interleaved; CPU time counts.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from benchmarks.timing import interleaved, verdict
from seqlab.batches.loader import Cursor
from seqlab.recipes.read import check
from seqlab.recipes.recipe import Recipe
from seqlab.runs.data import open_data
from seqlab.tasks.objective import Objective
from seqlab.tasks.spec import find_spec
from seqlab.training.base import NullCallback, StepReport, Validation
from seqlab.training.budget import Budget
from seqlab.training.loop import TrainingLoop
from seqlab.training.stop_signals import StopRequest

TARGET = 1.05
ROWS, LONGEST, WORDS, CLASSES = 2048, 120, 5000, 4
HIDDEN, HEADS, LAYERS, BATCH, WINDOW = 128, 4, 2, 32, 100
WRITER_STEPS, RUN = 40, 4000
"""Updates in a repeat of the writer, and updates of the run whose beginning is measured."""


Prepared = Objective[Any, Any]


class HandLSTM(nn.Module):
    """Embedding, nn.LSTM over the padded batch, the output at the last real step, a linear layer."""

    def __init__(self, num_tokens: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(num_tokens, HIDDEN, padding_idx=1)
        self.lstm = nn.LSTM(HIDDEN, HIDDEN, batch_first=True)
        self.head = nn.Linear(HIDDEN, CLASSES)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        outputs, _ = self.lstm(self.embed(ids))
        return self.head(outputs[torch.arange(len(ids)), lengths - 1])


class HandTransformer(nn.Module):
    """Embedding and sinusoids, nn.TransformerEncoder with the padding masked, the maximum over real steps, a
    linear layer.
    """

    def __init__(self, num_tokens: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(num_tokens, HIDDEN, padding_idx=1)
        angles = torch.arange(float(LONGEST))[:, None] / 10000 ** (torch.arange(0, HIDDEN, 2) / HIDDEN)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], dim=-1).flatten(1))
        layer = nn.TransformerEncoderLayer(
            HIDDEN, HEADS, 4 * HIDDEN, dropout=0.0, activation="gelu", batch_first=True, norm_first=True
        )
        self.encoder = nn.TransformerEncoder(
            layer, LAYERS, norm=nn.LayerNorm(HIDDEN), enable_nested_tensor=False
        )
        self.head = nn.Linear(HIDDEN, CLASSES)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        is_padding = torch.arange(ids.shape[1]) >= lengths[:, None]
        features = self.encoder(
            self.embed(ids) + self.positions[: ids.shape[1]], src_key_padding_mask=is_padding
        )
        return self.head(features.masked_fill(is_padding[:, :, None], -torch.inf).amax(dim=1))


class HandWriter(nn.Module):
    """Embedding, nn.LSTM with its state carried from window to window, a linear layer that shares the
    embedding's rows.
    """

    def __init__(self, num_tokens: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(num_tokens, 2 * HIDDEN)
        self.lstm = nn.LSTM(2 * HIDDEN, 2 * HIDDEN, batch_first=True)
        self.bias = nn.Parameter(torch.zeros(num_tokens))

    def forward(self, ids: Tensor, state: Any) -> tuple[Tensor, Any]:
        outputs, state = self.lstm(self.embed(ids), state)
        return F.linear(outputs, self.embed.weight, self.bias), state


def plain_step(model: nn.Module, optimizer: torch.optim.Optimizer, loss: Tensor) -> float:
    """What every loop does with a loss."""
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return loss.item()


def hand_classifier(objective: Prepared, model: nn.Module, *, steps: int) -> Callable[[], float]:
    """The plain loop of a classifier over the batches that seqlab takes too."""
    store, sampler = objective.splits["train"].store, objective.loader(Cursor()).sampler
    examples = [torch.from_numpy(tokens.astype(np.int64)) for tokens in store["tokens"]]
    lengths = torch.tensor([len(example) for example in examples])
    labels = torch.from_numpy(store["label"].values.astype(np.int64))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    done = 0

    def train() -> float:
        nonlocal done
        total = 0.0
        for _ in range(steps):
            rows = torch.from_numpy(sampler.batch(*divmod(done, sampler.batches_in(0))))
            ids = pad_sequence([examples[row] for row in rows.tolist()], batch_first=True, padding_value=1)
            total += plain_step(model, optimizer, F.cross_entropy(model(ids, lengths[rows]), labels[rows]))
            done += 1
        return total / steps

    return train


def hand_writer(objective: Prepared, model: nn.Module, *, steps: int) -> Callable[[], float]:
    """The plain loop of a language model over lanes of a stream."""
    tokens, sampler = objective.splits["train"].store["tokens"], objective.loader(Cursor()).sampler
    stream = torch.from_numpy(tokens.window(0, tokens.num_steps).astype(np.int64))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=True)
    done, state = 0, None

    def train() -> float:
        nonlocal done, state
        total = 0.0
        for _ in range(steps):
            epoch, number = divmod(done, sampler.batches_in(0))
            rows = torch.stack(
                [stream[start : start + WINDOW + 1] for start in sampler.batch(epoch, number).tolist()]
            )
            logits, state = model(
                rows[:, :-1], None if number == 0 else tuple(part.detach() for part in state)
            )
            total += plain_step(
                model, optimizer, F.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
            )
            done += 1
        return total / steps

    return train


class Training(TrainingLoop):
    """A trainer that writes no checkpoints."""

    def save(self) -> None: ...


class OnlyTrained:
    """An objective whose validation takes no time."""

    def __init__(self, objective: Prepared) -> None:
        self.loader, self.loss, self.describe_rows, self.sample = (
            objective.loader,
            objective.loss,
            objective.describe_rows,
            lambda _: "",
        )

    def validate(self, model: nn.Module) -> Validation:
        return Validation(0.0, higher_is_better=True)


class AskingToStop(NullCallback):
    """Watches, and asks for a stop after some updates."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.request = StopRequest()

    def on_step(self, report: StepReport) -> None:
        self.request.asked = report.step % self.steps == 0


def trained_by_seqlab(objective: Prepared, folder: Path, *, steps: int) -> Callable[[], float]:
    """As many updates of a run of a few thousand."""
    folder.mkdir()
    callback = AskingToStop(steps)
    budget = Budget(RUN, evaluate_every=RUN)
    device = torch.device("cpu")
    trainer = Training(
        new_model(objective),
        OnlyTrained(objective),
        objective.recipe.training,
        budget,
        folder=folder,
        device=device,
        callback=callback,
    )

    def train() -> float:
        trainer.run(callback.request)
        return float(trainer.step)

    return train


def reviews(path: Path) -> Path:
    """A table of random words whose label is their number modulo the classes: speed does not depend on
    sense.
    """
    random = np.random.default_rng(1)
    lines = ["text\tlabel"]
    for _ in range(ROWS):
        words = random.zipf(1.3, random.integers(10, LONGEST)) % WORDS
        lines.append(" ".join(f"w{word}" for word in words) + f"\tclass {int(words.sum()) % CLASSES}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def prepared(raw: dict[str, Any]) -> Prepared:
    """An objective with its data, as a run has it."""
    opened = open_data(check(raw, where="benchmark"))
    spec = find_spec(opened.recipe.task)
    recipe: Recipe = spec.fill_defaults(opened.recipe, opened.parts["train"])[0]
    parts = spec.load_parts()
    codec = parts.codec.fit(recipe, opened.parts["train"])
    splits = {name: codec.encode_split(name, source) for name, source in opened.parts.items()}
    return parts.objective(codec, splits)


def new_model(objective: Prepared) -> nn.Module:
    """A network as training starts with it."""
    model = find_spec(objective.recipe.task).load_parts().build_model(objective.codec)
    objective.init_weights(model)
    return model


def candidates(name: str, folder: Path) -> dict[str, Callable[[], float]]:
    """The two sides of a comparison."""
    training = {
        "batch_size": BATCH,
        "learning_rate": 1e-3,
        "schedule": "constant",
        "warmup_steps": 0,
        "decay_all": True,
    }
    if name == "writer":
        model = {"kind": "recurrent", "hidden_size": 2 * HIDDEN, "embedding_size": 2 * HIDDEN, "dropout": 0.0}
        objective = prepared(
            {
                "task": "language_model",
                "data": {"train": "pydoc"},
                "model": model,
                "language_model": {"window": WINDOW},
                "training": training,
            }
        )
        size = len(objective.codec.tokenizer.vocabulary)
        own, hand, steps = HandWriter(size), hand_writer, WRITER_STEPS
    else:
        kind = (
            {"kind": "recurrent", "pooling": "last"}
            if name == "lstm"
            else {"kind": "transformer", "layers": LAYERS, "heads": HEADS}
        )
        model = {**kind, "hidden_size": HIDDEN, "dropout": 0.0}
        data = {"train": str(reviews(folder / "reviews.tsv"))}
        tokens = {"kind": "words", "size": WORDS}
        objective = prepared(
            {
                "task": "classification",
                "data": data,
                "tokens": tokens,
                "model": model,
                "training": training,
                "bag": {"n_grams": 0},
            }
        )
        size = len(objective.codec.inputs.tokenizer.vocabulary)
        own, hand = (HandLSTM if name == "lstm" else HandTransformer)(size), hand_classifier
        steps = objective.loader(Cursor()).sampler.batches_in(0)
    counts = [
        sum(parameter.numel() for parameter in each.parameters()) for each in (own, new_model(objective))
    ]
    print(
        f"{name}: {counts[0]:,} parameters by hand, {counts[1]:,} in seqlab; {size:,} tokens, {steps} batches"
        f" of {BATCH}"
    )
    return {
        f"{name}, plain torch": hand(objective, own, steps=steps),
        f"{name}, seqlab": trained_by_seqlab(objective, folder / name, steps=steps),
    }


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.training_loop")
    parser.add_argument("names", nargs="*", default=["lstm", "transformer", "writer"])
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        for name in options.names:
            torch.manual_seed(1)
            times = interleaved(candidates(name, Path(place)), repeats=options.repeats)
            plain, ours = times.values()
            for timing in (plain, ours):
                print("  " + timing.line())
            print("  CPU time:", verdict(ours.best_cpu / plain.best_cpu, TARGET, unit="of the plain loop"))


if __name__ == "__main__":
    main(sys.argv[1:])
