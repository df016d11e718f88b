"""Rates that fall layer by layer, and parameters that stay: both against torch's own optimizer and the plain
rule.
"""

from __future__ import annotations

import pytest
import torch
from torch import nn

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import RecipeError
from seqlab.models.base import backbones
from seqlab.models.classifier import build_classifier
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import ModelSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.training.freezing import count_parameters, freeze
from seqlab.training.layer_depth import depth_of, rate_factors
from seqlab.training.optimizers.base import named_parameters
from seqlab.training.optimizers.parameter_groups import build_optimizer, set_learning_rate
from seqlab.training.settings import StartSettings, TrainingSettings

NETWORKS: dict[str, ModelSettings] = {
    "recurrent": RecurrentSettings(layers=3, hidden_size=5, bidirectional=True, dropout=0),
    "convolutional": ConvolutionalSettings(layers=3, hidden_size=6, dropout=0),
    "transformer": TransformerSettings(
        layers=3, hidden_size=6, heads=2, positions="learned", max_positions=9, embedding_norm=True, dropout=0
    ),
}


def classifier(kind: str) -> nn.Module:
    torch.manual_seed(3)
    return build_classifier(
        NETWORKS[kind], embedding=lambda size: TokenEmbedding(7, size, pad_id=1), num_classes=3
    )


def train_a_little(model: nn.Module, step: object) -> None:
    """Three updates with gradients of all parameters that may have one."""
    torch.manual_seed(5)
    tokens, is_token = torch.randint(2, 7, (4, 8)), torch.ones(4, 8, dtype=torch.bool)
    for _ in range(3):
        model.zero_grad(set_to_none=True)
        model(tokens, is_token).square().sum().backward()
        step()


@pytest.mark.parametrize("kind", NETWORKS)
def test_every_parameter_stands_where_its_layer_does(kind: str) -> None:
    depths = {name: depth_of(name, num_layers=3) for name, _ in classifier(kind).named_parameters()}
    assert set(depths.values()) == {0, 1, 2, 3, 4}
    for name, depth in depths.items():
        if name.startswith(("embed.", "backbone.positions", "backbone.first_norm")):
            assert depth == 0
        elif ".layers." in name and name.startswith("backbone."):
            assert depth == int(name.partition("layers.")[2].partition(".")[0]) + 1
        else:
            assert depth == 4, name


@pytest.mark.parametrize("kind", NETWORKS)
def test_layer_wise_rates_are_those_of_torchs_adamw_with_a_group_for_each_layer(kind: str) -> None:
    ours, theirs = classifier(kind), classifier(kind)
    optimizer = build_optimizer(ours, TrainingSettings(weight_decay=0.03, decay_all=True), layer_decay=0.7)
    groups = []
    for name, parameter in theirs.named_parameters():
        layer = (
            int(name.partition("layers.")[2].partition(".")[0]) + 1
            if ".layers." in name and name.startswith("backbone.")
            else None
        )
        if layer is None:
            layer = 0 if name.startswith(("embed", "backbone.positions", "backbone.first_norm")) else 4
        groups.append({"params": [parameter], "lr": 0.01 * 0.7 ** (4 - layer)})
    reference = torch.optim.AdamW(groups, fused=True, weight_decay=0.03)
    set_learning_rate(optimizer, 0.01)
    train_a_little(ours, optimizer.step)
    train_a_little(theirs, reference.step)
    for (name, one), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert torch.equal(one, other), name


def test_without_layer_decay_every_rate_is_the_same() -> None:
    factors = rate_factors((name for name, _ in classifier("recurrent").named_parameters()), layer_decay=1.0)
    assert set(factors.values()) == {1.0}


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        (StartSettings(freeze="embedding"), {0}),
        (StartSettings(freeze_layers=2), {0, 1, 2}),
        (StartSettings(freeze="backbone"), {0, 1, 2, 3}),
    ],
    ids=["embedding", "two layers", "backbone"],
)
def test_frozen_parameters_keep_every_bit_and_the_optimizer_knows_nothing_of_them(
    kind: str, settings: StartSettings, kept: set[int]
) -> None:
    model = classifier(kind)
    freeze(model, settings)
    before = {name: tensor.clone() for name, tensor in model.named_parameters()}
    optimizer = build_optimizer(model, TrainingSettings(weight_decay=0.3, decay_all=True))
    set_learning_rate(optimizer, 0.1)
    train_a_little(model, optimizer.step)
    for name, parameter in model.named_parameters():
        frozen = depth_of(name, num_layers=3) in kept or (
            settings.freeze == "backbone" and name.startswith("backbone.")
        )
        assert torch.equal(parameter, before[name]) == frozen, name
        assert (parameter.grad is None) == frozen, name
        assert (name in dict(named_parameters(optimizer))) == (not frozen)
    assert count_parameters(model, trained=True) == sum(
        parameter.numel() for parameter in model.parameters() if parameter.grad is not None
    )
    assert count_parameters(model) == sum(tensor.numel() for tensor in before.values())


def test_a_tied_language_model_with_a_frozen_embedding_still_learns_its_body() -> None:
    settings = TransformerSettings(layers=2, hidden_size=6, heads=2)
    model = LanguageModel(
        TokenEmbedding(7, 6, pad_id=None),
        backbones.get("transformer").from_settings(settings, causal=True),
        dropout=0,
        tied=True,
    )
    freeze(model, StartSettings(freeze="embedding"))
    assert not model.embed.weight.requires_grad
    assert {name for name, parameter in model.named_parameters() if not parameter.requires_grad} == {
        "embed.weight"
    }


def test_more_frozen_layers_than_there_are_is_refused() -> None:
    with pytest.raises(
        RecipeError,
        match=(r"(?s)start\.freeze_layers: .*4 layers.* 3\..*start\.freeze=backbone"),
    ):
        freeze(classifier("recurrent"), StartSettings(freeze_layers=4))
