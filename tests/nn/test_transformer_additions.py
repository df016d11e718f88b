"""What the layers of a Transformer have beyond torch's: residual paths, norms, gates, heads, positions; and
what they refuse.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F
from torch.testing import assert_close

from seqlab import nn
from seqlab.core.errors import UsageError

TYPO: Any = "rmsnorm"
MODEL, HEADS, INNER = 8, 2, 5
SIZES: Any = {"d_model": MODEL, "nhead": HEADS, "dim_feedforward": INNER, "dropout": 0.0, "batch_first": True}


def rms(steps: Tensor, gain: Tensor) -> Tensor:
    return steps / (steps.square().mean(-1, keepdim=True) + 1e-5).sqrt() * gain


def randomised(module: Any) -> Any:
    torch.manual_seed(0)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return module


@pytest.mark.parametrize("residual", ["pre", "post", "rezero", "shared_rezero"])
@pytest.mark.parametrize("norm", ["layer", "rms"])
@pytest.mark.parametrize("gated", [False, True], ids=["plain", "gated"])
def test_an_encoder_layer_follows_the_equations(residual: Any, norm: Any, gated: bool) -> None:
    layer = randomised(
        nn.TransformerEncoderLayer(**SIZES, residual=residual, norm=norm, gated=gated, activation="silu")
    )

    def normed(number: int, steps: Tensor) -> Tensor:
        part = getattr(layer, f"norm{number}")
        return (
            rms(steps, part.weight)
            if norm == "rms"
            else F.layer_norm(steps, (MODEL,), part.weight, part.bias)
        )

    def sublayer(number: int, steps: Tensor) -> Tensor:
        if number == 1:
            return layer.self_attn(steps, steps, steps)[0]
        inner = steps @ layer.linear1.weight.T + layer.linear1.bias
        inner = F.silu(inner[..., :INNER]) * inner[..., INNER:] if gated else F.silu(inner)
        return inner @ layer.linear2.weight.T + layer.linear2.bias

    expected = steps = torch.randn(3, 7, MODEL)
    for number in (1, 2):
        if residual == "pre":
            expected = expected + sublayer(number, normed(number, expected))
        elif residual == "post":
            expected = normed(number, expected + sublayer(number, expected))
        else:
            scale = layer.scale if residual == "shared_rezero" else getattr(layer, f"scale{number}")
            expected = expected + scale * sublayer(number, expected)
    assert_close(layer(steps), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("residual", ["rezero", "shared_rezero"])
def test_with_rezero_a_layer_does_nothing_at_first(residual: Any) -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(**SIZES, residual=residual), 3)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(**SIZES, residual=residual), 3)
    source, target = torch.randn(3, 7, MODEL), torch.randn(3, 5, MODEL)
    assert torch.equal(encoder(source), source)
    assert torch.equal(decoder(target, source), target)
    names = [name for name in decoder.layers[0].state_dict() if "scale" in name or "norm" in name]
    assert names == (["scale"] if residual == "shared_rezero" else ["scale1", "scale2", "scale3"])
    encoder(source).sum().backward()
    assert all(value.grad.abs() > 0 for name, value in encoder.named_parameters() if "scale" in name)


@pytest.mark.parametrize(("residual", "norm_first"), [("pre", True), ("post", False)])
def test_torchs_two_residual_paths_have_two_names(residual: Any, norm_first: bool) -> None:
    named = randomised(nn.TransformerDecoderLayer(**SIZES, residual=residual))
    flagged = torch.nn.TransformerDecoderLayer(**SIZES, norm_first=norm_first)
    flagged.load_state_dict(named.state_dict())
    assert named.norm_first == norm_first
    steps, source = torch.randn(3, 5, MODEL), torch.randn(3, 7, MODEL)
    assert_close(named(steps, source), flagged(steps, source), rtol=0, atol=2e-6)


def test_attention_may_keep_its_weights_while_all_else_is_dropped() -> None:
    layer = nn.TransformerEncoderLayer(MODEL, HEADS, INNER, 0.3, attention_dropout=0.0)
    assert layer.self_attn.dropout == 0
    assert (layer.dropout.p, layer.dropout1.p, layer.dropout2.p) == (0.3, 0.3, 0.3)
    assert nn.TransformerEncoderLayer(MODEL, HEADS, INNER, 0.3).self_attn.dropout == 0.3
    torch.nn.TransformerEncoderLayer(MODEL, HEADS, INNER).load_state_dict(layer.state_dict())


def test_heads_go_to_both_attentions_and_positions_to_the_targets_alone() -> None:
    layer = nn.TransformerDecoderLayer(**SIZES, num_kv_heads=1, head_dim=6, positions="rotary")
    for attention in (layer.self_attn, layer.multihead_attn):
        assert (attention.num_kv_heads, attention.head_dim) == (1, 6)
        assert attention.in_proj_weight.shape == (12 + 6 + 6, MODEL)
    assert layer.self_attn.positions is not None
    assert layer.multihead_attn.positions is None
    steps, source = torch.randn(3, 5, MODEL), torch.randn(3, 7, MODEL)
    order = torch.tensor([4, 0, 6, 2, 1, 3, 5])
    assert_close(layer(steps, source[:, order]), layer(steps, source))  # the source remains a set


@pytest.mark.parametrize(
    "additions",
    [
        {},
        {"residual": "rezero"},
        {"norm": "rms", "gated": True, "activation": "silu", "positions": "rotary"},
        {"positions": "relative", "num_kv_heads": 1},
    ],
    ids=["torch's", "rezero", "modern", "relative"],
)
def test_a_transformer_takes_all_of_it_and_every_parameter_learns(additions: dict[str, Any]) -> None:
    model = randomised(nn.Transformer(MODEL, HEADS, 2, 2, INNER, 0.1, batch_first=True, **additions))
    model(torch.randn(3, 7, MODEL), torch.randn(3, 5, MODEL), tgt_is_causal=True).square().sum().backward()
    assert [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ] == []


@pytest.mark.slow
def test_a_modern_encoder_learns_where_a_cue_stood() -> None:
    """The answer is the token two places before: rotary positions are all that tells it."""
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(
        16, 2, 32, 0.0, "silu", batch_first=True, residual="pre", norm="rms", gated=True, positions="rotary"
    )
    encoder, embed, head = (
        nn.TransformerEncoder(layer, 2, torch.nn.RMSNorm(16)),
        torch.nn.Embedding(5, 16),
        torch.nn.Linear(16, 5),
    )
    tokens = torch.randint(5, (64, 8))
    parameters = [*encoder.parameters(), *embed.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=0.01)
    for _ in range(120):
        logits = head(encoder(embed(tokens), is_causal=True))[:, 2:]
        loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, :-2].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert (logits.argmax(-1) == tokens[:, :-2]).float().mean() > 0.98


def test_an_activation_that_is_a_module_survives_the_copies_of_a_stack() -> None:
    """torch's decoder silently goes on with relu."""
    stack = nn.TransformerDecoder(nn.TransformerDecoderLayer(**SIZES, activation=torch.nn.Tanh()), 2)
    plain = nn.TransformerDecoder(nn.TransformerDecoderLayer(**SIZES, activation=torch.tanh), 2)
    plain.load_state_dict(stack.state_dict())
    steps, source = torch.randn(3, 5, MODEL), torch.randn(3, 7, MODEL)
    assert torch.equal(stack(steps, source), plain(steps, source))


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_nested_tensors_are_for_torchs_own_layers() -> None:
    layer = nn.TransformerEncoderLayer(**SIZES, residual="rezero").eval()
    nested = torch.nested.nested_tensor([torch.randn(3, MODEL), torch.randn(5, MODEL)])
    with pytest.raises(UsageError, match="nested tensor"):
        layer(nested)
    with pytest.warns(UserWarning, match="enable_nested_tensor is True"):
        torch.nn.TransformerEncoder(layer, 2)  # and torch's own stack knows that it must not make them


@pytest.mark.parametrize(
    ("build", "words"),
    [
        (lambda: nn.TransformerEncoderLayer(10, 3), "MultiheadAttention: embed_dim must be divisible by num_heads"),
        (lambda: nn.TransformerEncoderLayer(8, 2, activation="rely"), "there is no activation called 'rely'.\n  Did you mean 'relu'?"),
        (lambda: nn.TransformerEncoderLayer(8, 2, norm=TYPO), "there is no norm called 'rmsnorm'.\n"),
        (lambda: nn.TransformerDecoderLayer(8, 2, residual=TYPO), "TransformerDecoderLayer: there is no residual called 'rmsnorm'.\n"),
        (lambda: nn.TransformerDecoderLayer(8, 2, norm_first=True, residual="post"), "norm_first is True and residual 'post'."),
        (lambda: nn.Transformer(8, 2, positions="learned"), "positions 'learned'"),
        (lambda: nn.TransformerEncoderLayer(8, 2)(torch.zeros(5, 3, 8), torch.zeros(5, 4).bool()), "attn_mask has shape (5, 4)"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_a_cure(build: Callable[[], Any], words: str) -> None:
    with pytest.raises(UsageError) as caught:
        build()
    assert words in str(caught.value)
