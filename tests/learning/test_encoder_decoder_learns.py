"""An encoder-decoder learns to write six symbols backwards, whatever its residual paths are."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from seqlab.decoding.search import SourceBatch, SpecialTokens
from seqlab.decoding.stepwise import StepwiseSearch
from seqlab.decoding.token_choice import Greedy
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.encoder_decoder import EncoderDecoder, build_encoder_decoder
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.training.optimizers.parameter_groups import build_optimizer, set_learning_rate
from seqlab.training.settings import TrainingSettings

PAD, START, END, SYMBOLS, LENGTH, BATCH = 0, 1, 2, 8, 6, 48
RATES = {"pre": 4e-3, "post": 4e-3, "lecture": 4e-3, "rezero": 1e-2, "shared_rezero": 1e-2}


def draw(count: int, chance: torch.Generator) -> Tensor:
    return torch.randint(3, 3 + SYMBOLS, (count, LENGTH), generator=chance)


def with_ends(symbols: Tensor) -> Tensor:
    return F.pad(F.pad(symbols, (1, 0), value=START), (0, 1), value=END)


def train(model: EncoderDecoder, *, steps: int, rate: float, warmup: int) -> None:
    """A rate that rises over the warm-up and falls to zero over the last third."""
    optimizer = build_optimizer(model, TrainingSettings(weight_decay=0))
    chance = torch.Generator().manual_seed(1)
    every = torch.ones(BATCH, LENGTH + 1, dtype=torch.bool)
    for step in range(steps):
        source = draw(BATCH, chance)
        targets = with_ends(source.flip(1))
        logits = model(source, every[:, :LENGTH], targets[:, :-1], every)
        model.zero_grad()
        F.cross_entropy(logits.flatten(0, 1), targets[:, 1:].flatten()).backward()
        set_learning_rate(optimizer, rate * min(1, (step + 1) / warmup, 3 * (steps - step) / steps))
        optimizer.step()


def trained(norm: str, *, layers: int, rate: float, warmup: int, seed: int = 0) -> EncoderDecoder:
    """After 250 updates; not training any more."""
    torch.manual_seed(seed)
    settings = TransformerSettings(
        layers=layers,
        hidden_size=32,
        heads=4,
        feedforward_size=64,
        dropout=0,
        norm=norm,
        embedding_scale=True,
    )
    size = 3 + SYMBOLS
    model = build_encoder_decoder(
        settings,
        DecoderSettings(),
        num_source_tokens=size,
        num_target_tokens=size,
        source_pad_id=PAD,
        target_pad_id=PAD,
    )
    train(model, steps=250, rate=rate, warmup=warmup)
    return model.eval()


def share_without_a_mistake(model: EncoderDecoder) -> float:
    source = draw(500, torch.Generator().manual_seed(99))
    greedy = StepwiseSearch(SpecialTokens(START, END), Greedy(), max_tokens=10)
    found = greedy.run(model, SourceBatch.from_tokens(source, torch.ones_like(source, dtype=torch.bool)))
    return sum(
        target.tokens == row[::-1] for (target,), row in zip(found, source.tolist(), strict=True)
    ) / len(found)


@torch.no_grad()
def loss_on_new_sequences(model: EncoderDecoder) -> float:
    source = draw(2000, torch.Generator().manual_seed(99))
    targets = with_ends(source.flip(1))
    is_token = torch.ones_like(targets[:, 1:], dtype=torch.bool)
    return F.cross_entropy(
        model(source, is_token[:, 1:], targets[:, :-1], is_token).flatten(0, 1), targets[:, 1:].flatten()
    ).item()


@pytest.mark.parametrize(
    "norm",
    [pytest.param(norm, marks=pytest.mark.slow if norm == "pre" else pytest.mark.long) for norm in RATES],
)
def test_it_writes_unseen_sequences_backwards_without_a_mistake(norm: str) -> None:
    assert share_without_a_mistake(trained(norm, layers=2, rate=RATES[norm], warmup=60)) >= 0.99


@pytest.mark.long
@pytest.mark.spec(168)
@pytest.mark.parametrize(
    ("norm", "warmup", "learns"),
    [
        ("pre", 1, True),
        ("pre", 100, True),
        ("post", 1, False),
        ("post", 100, True),
        ("lecture", 1, False),
        ("lecture", 100, True),
    ],
)
def test_six_layers_need_a_warm_up_unless_the_path_around_them_has_no_norm(
    norm: str, warmup: int, learns: bool
) -> None:
    share = share_without_a_mistake(trained(norm, layers=6, rate=4e-3, warmup=warmup))
    assert share > 0.9 if learns else share < 0.2


@pytest.mark.long
@pytest.mark.spec(168)
def test_two_layers_of_pre_norm_end_worse_than_post_norm_more_often_than_not() -> None:
    losses = {
        norm: [
            loss_on_new_sequences(trained(norm, layers=2, rate=4e-3, warmup=60, seed=seed))
            for seed in range(8)
        ]
        for norm in ("pre", "post")
    }
    worse = [pre > post for pre, post in zip(losses["pre"], losses["post"], strict=True)]
    assert sum(worse) >= 5
    assert sum(losses["pre"]) > sum(losses["post"])
    assert max(losses["pre"]) < 0.02  # both have learned
    assert max(losses["post"]) < 0.02
