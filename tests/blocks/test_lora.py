from __future__ import annotations

import pytest
import torch
from torch import nn

from seqlab.attention.multi_head import MultiHeadSelfAttention
from seqlab.blocks.lora import LoRALinear, add_lora, merge_lora
from seqlab.core.errors import UsageError
from seqlab.models.base import backbones
from seqlab.models.settings.transformer import TransformerSettings


def trained(layer: LoRALinear) -> LoRALinear:
    """As after some updates: B is not zero any more."""
    nn.init.normal_(layer.up)
    return layer


@pytest.mark.parametrize("rank", [1, 2, 4])
def test_the_output_follows_the_equation(rank: int) -> None:
    base = nn.Linear(2, 1)
    base.weight.data = torch.tensor([[0.5, -2.0]])
    base.bias.data = torch.tensor([0.25])
    layer = LoRALinear(base, rank=rank, alpha=3.0)
    down, up = [[2.0, -1.0], [0.5, 4.0], [-3.0, 1.0], [1.0, 1.5]][:rank], [0.1, -0.2, 0.3, 0.7][:rank]
    layer.down.data, layer.up.data = torch.tensor(down), torch.tensor([up])
    x, y = 1.5, -0.5
    added = sum(b * (a[0] * x + a[1] * y) for a, b in zip(down, up, strict=True))
    expected = 0.5 * x - 2.0 * y + 0.25 + 3.0 / rank * added
    assert layer(torch.tensor([[x, y]])).item() == pytest.approx(expected)
    assert layer.merge()(torch.tensor([[x, y]])).item() == pytest.approx(expected)


@pytest.mark.parametrize("bias", [True, False])
def test_nothing_changes_before_the_first_update_and_a_merged_layer_gives_the_same(bias: bool) -> None:
    torch.manual_seed(3)
    base, steps = nn.Linear(5, 7, bias=bias), torch.randn(2, 3, 5)
    layer = LoRALinear(base, rank=2, alpha=8.0)
    assert torch.equal(layer(steps), base(steps))
    trained(layer)
    assert not torch.allclose(layer(steps), base(steps), atol=0.1)
    merged = layer.merge()
    assert type(merged) is nn.Linear
    assert torch.allclose(merged(steps), layer(steps), atol=1e-6)
    assert torch.equal(layer.base.weight, base.weight)


def test_only_the_adapters_get_a_gradient() -> None:
    layer = trained(LoRALinear(nn.Linear(5, 3), rank=2))
    layer(torch.randn(4, 5)).sum().backward()
    assert {name for name, parameter in layer.named_parameters() if parameter.grad is not None} == {
        "down",
        "up",
    }
    assert layer.up.grad is not None
    assert layer.up.grad.abs().min() > 0


def test_the_gradients_are_right_in_double_precision() -> None:
    torch.manual_seed(3)
    layer = trained(LoRALinear(nn.Linear(3, 5).double(), rank=2))
    assert layer.down.dtype == torch.float64
    assert torch.autograd.gradcheck(layer, torch.randn(4, 3, dtype=torch.float64, requires_grad=True))


def transformer() -> nn.Module:
    torch.manual_seed(5)
    return backbones.get("transformer").from_settings(
        TransformerSettings(layers=2, hidden_size=6, heads=2, dropout=0), causal=False
    )


def test_adapters_of_a_whole_transformer_start_as_nothing_and_merge_away() -> None:
    plain, adapted = transformer().double(), transformer().double()
    assert add_lora(adapted, rank=2) == 4  # qkv and output of two layers
    steps, is_token = torch.randn(2, 5, 6, dtype=torch.float64), torch.ones(2, 5, dtype=torch.bool)
    assert torch.equal(adapted(steps, is_token)[0], plain(steps, is_token)[0])
    for layer in adapted.modules():
        if isinstance(layer, LoRALinear):
            trained(layer)
    after = adapted(steps, is_token)[0]
    assert not torch.allclose(after, plain(steps, is_token)[0], atol=1e-2)
    assert merge_lora(adapted) == 4
    assert torch.allclose(adapted(steps, is_token)[0], after, atol=1e-12)
    assert adapted.state_dict().keys() == plain.state_dict().keys()


def test_the_layers_are_chosen_by_name_and_an_adapter_gets_none_of_its_own() -> None:
    body = transformer()
    assert add_lora(body, rank=2, target_modules=["expand", "contract"]) == 4
    assert {name for name, _ in body.named_parameters() if name.endswith(".up")} == {
        f"layers.{number}.feed_forward.{layer}.up" for number in (0, 1) for layer in ("expand", "contract")
    }
    assert add_lora(body, rank=2) == 4
    assert not any("base.base" in name for name in body.state_dict())


def test_the_state_of_an_adapted_module_loads_into_another_one() -> None:
    one, other = (MultiHeadSelfAttention(6, num_heads=2) for _ in range(2))
    for module in (one, other):
        add_lora(module, rank=3)
    for layer in one.modules():
        if isinstance(layer, LoRALinear):
            trained(layer)
    other.load_state_dict(one.state_dict())
    steps = torch.randn(2, 4, 6)
    assert torch.equal(one(steps)[0], other(steps)[0])


def test_a_module_without_such_a_layer_and_a_rank_of_nothing_are_refused() -> None:
    with pytest.raises(
        UsageError,
        match=r"(?s)qkv\..*Linear layers of this module: mix\..*target_modules=",
    ):
        add_lora(nn.ModuleDict({"mix": nn.Linear(3, 3)}), rank=2, target_modules=["qkv"])
    with pytest.raises(UsageError, match="rank 0"):
        LoRALinear(nn.Linear(3, 3), rank=0)
