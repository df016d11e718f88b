"""How far a stack of convolutions sees, by formula and by measurement."""

from __future__ import annotations

import pytest
import torch

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import ArgumentError
from seqlab.models.convolutional import ConvolutionalBackbone
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings.convolutional import ConvolutionalSettings
from tests.models.settings_to_try import build


def steps_seen(*, layers: int, kernel_size: int, causal: bool, time: int = 130) -> list[int]:
    """The distances from which the middle output gets a gradient."""
    backbone = build(
        ConvolutionalSettings(hidden_size=4, layers=layers, kernel_size=kernel_size), causal=causal
    )
    steps = torch.randn(1, time, 4, dtype=torch.float64, requires_grad=True)
    outputs, _ = backbone(steps, torch.ones(1, time, dtype=torch.bool))
    middle = time - 1 if causal else time // 2
    (reach,) = torch.autograd.grad(outputs[0, middle].square().sum(), steps)
    return [place - middle for place in range(time) if reach[0, place].any()]


@pytest.mark.spec(48)
@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("layers", "kernel_size"), [(1, 3), (2, 3), (3, 3), (5, 3), (1, 5), (3, 5), (4, 1)])
def test_the_receptive_field_is_what_the_formula_says(layers: int, kernel_size: int, causal: bool) -> None:
    formula = 1 + (kernel_size - 1) * (2**layers - 1)
    seen = steps_seen(layers=layers, kernel_size=kernel_size, causal=causal)
    assert seen == (
        list(range(-formula + 1, 1)) if causal else list(range(-(formula // 2), formula // 2 + 1))
    )
    settings = ConvolutionalSettings(hidden_size=4, layers=layers, kernel_size=kernel_size)
    assert ConvolutionalBackbone.from_settings(settings, causal=causal).receptive_field == formula


@pytest.mark.spec(48)
def test_the_whole_input_is_seen_only_after_enough_layers() -> None:
    time = 31
    sees_all = [
        len(steps_seen(layers=layers, kernel_size=3, causal=False, time=time)) == time
        for layers in (1, 2, 3, 4, 5)
    ]
    assert sees_all == [False, False, False, True, True]


@pytest.mark.spec(47)
def test_a_language_model_of_convolutions_knows_a_fixed_window_and_no_more() -> None:
    settings = ConvolutionalSettings(hidden_size=6, layers=2, kernel_size=3)
    backbone = build(settings, causal=True)
    model = (
        LanguageModel(TokenEmbedding(9, 6, pad_id=None).double(), backbone, dropout=0.0, tied=True)
        .double()
        .eval()
    )
    tokens = torch.randint(0, 9, (1, 20), generator=torch.Generator().manual_seed(1))
    logits, _ = model(tokens, torch.ones_like(tokens, dtype=torch.bool))
    for distance, matters in ((6, True), (7, False), (15, False)):
        changed = tokens.clone()
        changed[0, -1 - distance] = (changed[0, -1 - distance] + 1) % 9
        others, _ = model(changed, torch.ones_like(tokens, dtype=torch.bool))
        assert torch.allclose(others[0, -1], logits[0, -1], rtol=0, atol=1e-13) != matters


def test_a_kernel_without_a_middle_is_refused_where_both_sides_are_seen() -> None:
    with pytest.raises(ArgumentError) as caught:
        ConvolutionalBackbone.from_settings(ConvolutionalSettings(kernel_size=4), causal=False)
    assert (caught.value.argument, caught.value.value) == ("kernel_size", 4)
    assert "3 or 5" in caught.value.cure
