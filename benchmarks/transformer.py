"""A training step of a small GPT compared with Hugging Face's GPT-2 and torch's encoder of the same shape.

A step is forward, loss, backward, clipping and AdamW on the same tokens, without dropout; with `--dropout
0.1` each side drops where its own defaults do (seqlab does not drop attention weights). Each side uses its
own layers and the optimizer that its users would take. With one thread CPU time is compared, with more
wall time; the best of interleaved repeats counts.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.peak_memory import growth, peak_of
from benchmarks.timing import Timing, interleaved, verdict
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.losses.cross_entropy import token_cross_entropy
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer import TransformerBackbone
from seqlab.training.gradients import clip_by_norm
from seqlab.training.optimizers.parameter_groups import build_optimizer
from seqlab.training.settings import TrainingSettings

VOCABULARY = 65
SHAPES = {"small": (4, 128, 4, 64, 12), "medium": (6, 384, 6, 256, 8)}
"""Layers, width, heads, time, batch."""
OF_HUGGING_FACE, OF_TORCH = {"small": 0.72, "medium": 0.88}, 1.03
LINEAR = 2.2


class TorchModel(nn.Module):
    """The same network out of torch.nn's own parts."""

    def __init__(self, layers: int, size: int, heads: int, time: int, dropout: float) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, size)
        self.positions = nn.Parameter(torch.randn(time, size) * 0.02)
        layer = nn.TransformerEncoderLayer(
            size,
            heads,
            4 * size,
            dropout=dropout,
            activation=lambda x: F.gelu(x, approximate="tanh"),
            batch_first=True,
            norm_first=True,
        )
        self.encoder = nn.TransformerEncoder(
            layer, layers, norm=nn.LayerNorm(size), enable_nested_tensor=False
        )
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(time))

    def forward(self, tokens: Tensor) -> Tensor:
        features = self.encoder(self.embed(tokens) + self.positions, mask=self.mask, is_causal=True)
        return F.linear(features, self.embed.weight)


def language_model(layers: int, size: int, heads: int, time: int, dropout: float = 0.0) -> LanguageModel:
    settings = TransformerSettings(
        layers=layers, hidden_size=size, heads=heads, positions="learned", max_positions=time, dropout=dropout
    )
    backbone = TransformerBackbone.from_settings(settings, causal=True)
    return LanguageModel(
        TokenEmbedding(VOCABULARY, size, pad_id=None, std=size**-0.5), backbone, dropout=dropout, tied=True
    )


def torch_step(
    model: nn.Module, logits: Callable[[Tensor], Tensor], inputs: Tensor, targets: Tensor
) -> Callable[[], object]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)

    def once() -> None:
        optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(logits(inputs).flatten(0, 1), targets.flatten()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return once


def own_step(model: LanguageModel, inputs: Tensor, targets: Tensor) -> Callable[[], object]:
    optimizer = build_optimizer(model, TrainingSettings())
    is_token = torch.ones_like(inputs, dtype=torch.bool)

    def once() -> None:
        model.zero_grad(set_to_none=True)
        logits, _ = model(inputs, is_token)
        (token_cross_entropy(logits, targets, is_token) / targets.numel()).backward()
        clip_by_norm(model.parameters(), 1.0)
        optimizer.step()

    return once


def candidates(
    layers: int, size: int, heads: int, time: int, batch: int, *, dropout: float
) -> dict[str, Callable[[], object]]:
    from transformers import GPT2Config, GPT2LMHeadModel

    torch.manual_seed(1)
    tokens = torch.randint(VOCABULARY, (batch, time + 1))
    inputs, targets = tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()
    config = GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=time,
        n_embd=size,
        n_layer=layers,
        n_head=heads,
        embd_pdrop=dropout,
        attn_pdrop=dropout,
        resid_pdrop=dropout,
        bos_token_id=None,
        eos_token_id=None,
        attn_implementation="sdpa",
    )
    theirs, plain = GPT2LMHeadModel(config), TorchModel(layers, size, heads, time, dropout)
    return {
        "Hugging Face GPT-2": torch_step(theirs, lambda inputs: theirs(inputs).logits, inputs, targets),
        "nn.TransformerEncoder": torch_step(plain, plain, inputs, targets),
        "seqlab": own_step(language_model(layers, size, heads, time, dropout), inputs, targets),
    }


def best(timing: Timing, threads: int) -> float:
    return timing.best_cpu if threads == 1 else timing.best_wall


def compare(shape: str, *, threads: int, repeats: int, dropout: float) -> None:
    layers, size, heads, time, batch = SHAPES[shape]
    timings = interleaved(candidates(*SHAPES[shape], dropout=dropout), repeats=repeats, warm_up=2)
    seconds = {name: best(timing, threads) for name, timing in timings.items()}
    print(
        f"\n{shape}: {layers} layers, width {size}, {heads} heads, {time} tokens, batch {batch}, dropout"
        f" {dropout:g}; {threads} thread(s)"
    )
    for name, value in seconds.items():
        print(
            f"{name:<22} {value * 1000:8.1f} ms   {batch * time / value:8,.0f} tokens/s   spread"
            f" {timings[name].spread:.0%}"
        )
    print(
        "of Hugging Face:"
        f" {verdict(seconds['seqlab'] / seconds['Hugging Face GPT-2'], OF_HUGGING_FACE[shape], unit='')}"
    )
    print(
        f"of torch.nn:     {verdict(seconds['seqlab'] / seconds['nn.TransformerEncoder'], OF_TORCH, unit='')}"
    )


def print_forward_peak(time: int) -> None:
    """Megabytes that one causal forward pass over so many tokens adds."""
    torch.set_num_threads(1)
    model = language_model(4, 256, 4, time).eval()

    @torch.inference_mode()
    def forward(length: int) -> None:
        tokens = torch.zeros(1, length, dtype=torch.long)
        model(tokens, torch.ones_like(tokens, dtype=torch.bool))

    print(growth(lambda: forward(64), lambda: forward(time)))


def memory() -> None:
    peaks = {
        time: peak_of("benchmarks.transformer", "print_forward_peak", time) for time in (1024, 2048, 4096)
    }
    print(
        "\nmemory of one causal forward pass, 4 layers, width 256: "
        + ", ".join(f"{time} tokens {peak:.1f} MB" for time, peak in peaks.items())
    )
    print(f"4,096 tokens: {verdict(peaks[4096] / peaks[2048], LINEAR, unit='of 2,048')}")


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--only", choices=["small", "medium", "memory"])
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    for shape in SHAPES:
        if chosen.only in (None, shape):
            compare(shape, threads=chosen.threads, repeats=chosen.repeats, dropout=chosen.dropout)
    if chosen.only in (None, "memory"):
        memory()


if __name__ == "__main__":
    main(sys.argv[1:])
