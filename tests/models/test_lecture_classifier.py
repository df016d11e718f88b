"""The lecture's review classifier: its size, and its forward pass against its equations written out."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.blocks.head import linear_head
from seqlab.blocks.pooling import MaxPool
from seqlab.models.classifier import Classifier
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.transformer import TransformerBackbone

PAD = 1
LECTURE = TransformerSettings(
    layers=1,
    hidden_size=32,
    heads=2,
    feedforward_size=128,
    norm="post",
    norm_eps=1e-6,
    positions="sinusoidal",
    activation="relu",
    dropout=0.1,
    sublayer_dropout=False,
    qkv_bias=False,
    embedding_norm=True,
    pooling="max",
)


def build(vocab_size: int, *, sees_padding: bool = False) -> Classifier:
    torch.manual_seed(5)
    backbone = TransformerBackbone.from_settings(LECTURE, causal=False)
    embed = TokenEmbedding(vocab_size, backbone.input_size, pad_id=PAD)
    return Classifier(
        embed,
        backbone,
        MaxPool(),
        linear_head(backbone.output_size, 2),
        dropout=LECTURE.dropout,
        ignore_padding_mask=sees_padding,
    )


@pytest.mark.spec(158)
def test_it_has_exactly_the_lectures_number_of_parameters() -> None:
    sizes = {name: parameter.numel() for name, parameter in build(50_002).named_parameters()}
    assert sum(sizes.values()) == 1_612_802
    assert sum(size for name, size in sizes.items() if not name.startswith("embed.")) == 12_738


def normalise(x: Tensor, gain: Tensor, shift: Tensor, eps: float) -> Tensor:
    mean = x.sum(dim=-1, keepdim=True) / x.shape[-1]
    variance = ((x - mean) ** 2).sum(dim=-1, keepdim=True) / x.shape[-1]
    return (x - mean) / (variance + eps).sqrt() * gain + shift


def lecture_logits(w: dict[str, Tensor], tokens: list[int]) -> Tensor:
    """The lecture's equations for one review: no batch, no padding, no layer of torch."""
    time, size, heads = len(tokens), 32, 2
    x = w["embed.weight"][torch.tensor(tokens)].clone()
    for i in range(time):
        for j in range(size // 2):
            x[i, 2 * j] += math.sin(i / 10000 ** (2 * j / size))
            x[i, 2 * j + 1] += math.cos(i / 10000 ** (2 * j / size))
    x = normalise(x, w["backbone.first_norm.weight"], w["backbone.first_norm.bias"], 1e-12)

    layer = "backbone.layers.0"
    w_q, w_k, w_v = w[f"{layer}.attention.qkv.weight"].chunk(3)
    columns = []
    for part in range(heads):
        rows = slice(part * size // heads, (part + 1) * size // heads)
        q, k, v = x @ w_q[rows].T, x @ w_k[rows].T, x @ w_v[rows].T
        scores = (q / math.sqrt(size // heads)) @ k.T
        weights = scores.exp() / scores.exp().sum(dim=1, keepdim=True)
        columns.append(weights @ v)
    attended = (
        torch.cat(columns, dim=1) @ w[f"{layer}.attention.output.weight"].T
        + w[f"{layer}.attention.output.bias"]
    )
    x = normalise(
        x + attended,
        w[f"{layer}.attention_residual.norm.weight"],
        w[f"{layer}.attention_residual.norm.bias"],
        1e-6,
    )
    inner = (x @ w[f"{layer}.feed_forward.expand.weight"].T + w[f"{layer}.feed_forward.expand.bias"]).clamp(
        min=0
    )
    x = x + inner @ w[f"{layer}.feed_forward.contract.weight"].T + w[f"{layer}.feed_forward.contract.bias"]
    x = normalise(
        x,
        w[f"{layer}.feed_forward_residual.norm.weight"],
        w[f"{layer}.feed_forward_residual.norm.bias"],
        1e-6,
    )
    return w["head.weight"] @ x.max(dim=0).values + w["head.bias"]


def reviews(lengths: list[int]) -> tuple[list[list[int]], Tensor, Tensor]:
    random = torch.Generator().manual_seed(3)
    rows = [torch.randint(2, 40, (length,), generator=random).tolist() for length in lengths]
    tokens = torch.tensor([row + [PAD] * (max(lengths) - len(row)) for row in rows])
    return rows, tokens, torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]


@pytest.mark.spec(154, 156, 158)
def test_its_forward_pass_is_the_lectures_equations() -> None:
    model = build(40).double().eval()
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.4)
    rows, tokens, is_token = reviews([11, 3, 7])
    expected = torch.stack([lecture_logits(dict(model.state_dict()), row) for row in rows])
    torch.testing.assert_close(model(tokens, is_token), expected, rtol=0, atol=1e-10)


def test_without_a_padding_mask_the_padding_is_read_like_text() -> None:
    model = build(40, sees_padding=True).double().eval()
    _, tokens, is_token = reviews([11, 3, 7])
    as_text = torch.stack([lecture_logits(dict(model.state_dict()), row) for row in tokens.tolist()])
    torch.testing.assert_close(model(tokens, is_token), as_text, rtol=0, atol=1e-10)
    masked = build(40).double().eval()
    assert (masked(tokens, is_token) - as_text)[1:].abs().max() > 1e-3
    torch.testing.assert_close(masked(tokens, is_token)[0], as_text[0], rtol=0, atol=1e-10)


@pytest.mark.spec(154, 156)
def test_dropout_stands_after_the_embedding_and_never_on_the_output_of_a_sub_layer() -> None:
    """After the sum of embedding and position, inside the feed-forward network and before the head; never on
    a sub-layer's output.
    """
    model = build(40)
    rates = {name: module.p for name, module in model.named_modules() if isinstance(module, Dropout)}
    assert {name: rate for name, rate in rates.items() if rate} == {
        "backbone.dropout": 0.1,
        "backbone.layers.0.feed_forward.dropout": 0.1,
        "dropout": 0.1,
    }
    assert {name for name, rate in rates.items() if not rate} == {
        f"backbone.layers.0.{part}_residual.dropout" for part in ("attention", "feed_forward")
    }
    assert model.backbone.layers[0].attention.dropout == 0.0


@pytest.mark.spec(154)
def test_what_enters_the_first_layer_is_normalized_after_dropout() -> None:
    """Dropout makes zeros of some entries of embedding + position; the norm then moves and scales the rest,
    so every vector has mean 0 and variance 1 again, and no zero is left.
    """
    model = build(40).double().train()
    embedded, entered = [], []
    model.backbone.dropout.register_forward_hook(
        lambda _, inputs, output: embedded.append((inputs[0], output))
    )
    model.backbone.layers[0].register_forward_pre_hook(lambda _, inputs: entered.append(inputs[0]))
    rows, tokens, is_token = reviews([11, 11, 11])
    model(tokens, is_token)
    ((before, after),) = embedded
    expected = model.embed.weight[torch.tensor(rows)].detach().clone()
    for i in range(11):
        for j in range(16):
            expected[:, i, 2 * j] += math.sin(i / 10000 ** (2 * j / 32))
            expected[:, i, 2 * j + 1] += math.cos(i / 10000 ** (2 * j / 32))
    torch.testing.assert_close(before, expected, rtol=0, atol=1e-6)
    assert 0.02 < (after == 0).double().mean() < 0.25
    assert not (entered[0] == 0).any()
    torch.testing.assert_close(entered[0].mean(dim=-1), torch.zeros(3, 11).double(), rtol=0, atol=1e-12)
    torch.testing.assert_close(
        entered[0].var(dim=-1, correction=0), torch.ones(3, 11).double(), rtol=0, atol=1e-6
    )
