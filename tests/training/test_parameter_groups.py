from __future__ import annotations

import math
import subprocess
import sys

import pytest
import torch
from torch import nn

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.positions.learned import LearnedPositions
from seqlab.training.optimizers.adamw import AdamW
from seqlab.training.optimizers.base import Optimizer, load_named_state, named_parameters, named_state
from seqlab.training.optimizers.parameter_groups import build_optimizer, set_learning_rate
from seqlab.training.settings import TrainingSettings


class Net(nn.Module):
    """One of everything that decays or does not."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = TokenEmbedding(7, 6, pad_id=0)
        self.places = LearnedPositions(6, max_length=5)
        self.layers = nn.LSTM(6, 4, num_layers=2)
        self.norm = nn.LayerNorm(4)
        self.head = nn.Linear(4, 3)
        self.unused = nn.Linear(2, 2)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        places = torch.arange(tokens.shape[1]).unsqueeze(0)
        outputs, _ = self.layers(self.places.add(self.embed(tokens), places))
        return self.head(self.norm(outputs))


def decayed_names(optimizer: Optimizer) -> set[str]:
    return {
        name for group in optimizer.param_groups if group["weight_decay"] for name in group["param_names"]
    }


def test_some_steps_follow_the_equations() -> None:
    weight = nn.Parameter(torch.tensor([0.5, -2.0], dtype=torch.float64))
    optimizer = AdamW([weight], weight_decay=0.1)
    w, first, second = [0.5, -2.0], [0.0, 0.0], [0.0, 0.0]
    for step, (gradient, rate) in enumerate(
        [([1.0, -0.3], 0.1), ([0.2, 0.0], 0.05), ([-4.0, 1e-3], 0.2)], start=1
    ):
        weight.grad = torch.tensor(gradient, dtype=torch.float64)
        set_learning_rate(optimizer, rate)
        optimizer.step()
        for place, g in enumerate(gradient):
            first[place] = 0.9 * first[place] + 0.1 * g
            second[place] = 0.999 * second[place] + 0.001 * g * g
            moved = first[place] / (1 - 0.9**step) / (math.sqrt(second[place] / (1 - 0.999**step)) + 1e-8)
            w[place] = w[place] - rate * 0.1 * w[place] - rate * moved
        assert weight.tolist() == pytest.approx(w, rel=1e-12)


@pytest.mark.spec(99)
@pytest.mark.parametrize("decay_all", [True, False])
def test_it_is_torchs_adamw_to_the_last_bit(decay_all: bool) -> None:
    torch.manual_seed(3)
    ours, theirs = Net(), Net()
    theirs.load_state_dict(ours.state_dict())
    optimizer = build_optimizer(ours, TrainingSettings(weight_decay=0.03, decay_all=decay_all))
    spared = [
        parameter for name, parameter in theirs.named_parameters() if name not in decayed_names(optimizer)
    ]
    matrices = [
        parameter for name, parameter in theirs.named_parameters() if name in decayed_names(optimizer)
    ]
    groups = [{"params": matrices, "weight_decay": 0.03}, {"params": spared, "weight_decay": 0.0}]
    reference = torch.optim.AdamW([group for group in groups if group["params"]], fused=True)
    for _ in range(6):
        tokens = torch.randint(0, 7, (3, 5))
        for net in (ours, theirs):
            net.zero_grad()
            net(tokens).square().mean().backward()
        for group in reference.param_groups:
            group["lr"] = 0.01
        set_learning_rate(optimizer, 0.01)
        optimizer.step()
        reference.step()
    for (name, parameter), other in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        assert parameter.equal(other), name


def test_matrices_decay_and_biases_norms_and_embeddings_do_not() -> None:
    matrices = {
        "layers.weight_ih_l0",
        "layers.weight_hh_l0",
        "layers.weight_ih_l1",
        "layers.weight_hh_l1",
        "head.weight",
        "unused.weight",
    }
    assert decayed_names(build_optimizer(Net(), TrainingSettings())) == matrices


def test_everything_decays_when_asked() -> None:
    assert decayed_names(build_optimizer(Net(), TrainingSettings(decay_all=True))) == {
        name for name, _ in Net().named_parameters()
    }


def test_an_output_layer_that_shares_the_embedding_is_an_embedding() -> None:
    net = Net()
    net.head = nn.Linear(6, 7, bias=False)
    net.head.weight = net.embed.weight
    assert "embed.weight" not in decayed_names(build_optimizer(net, TrainingSettings()))


def test_state_goes_on_in_another_optimizer_and_is_a_copy() -> None:
    def advance(net: Net, optimizer: Optimizer) -> None:
        net.zero_grad()
        net(torch.tensor([[1, 2, 3]])).square().mean().backward()
        set_learning_rate(optimizer, 0.1)
        optimizer.step()

    torch.manual_seed(3)
    net, other = Net(), Net()
    optimizer = build_optimizer(net, TrainingSettings())
    advance(net, optimizer)
    other.load_state_dict(net.state_dict())
    again = build_optimizer(other, TrainingSettings())
    load_named_state(again, dict(named_state(optimizer)))
    for _ in range(2):
        advance(net, optimizer)
        advance(other, again)
    state = dict(named_state(again))
    assert all(tensor.equal(state[name]) for name, tensor in named_state(optimizer))
    assert all(tensor.equal(other.state_dict()[name]) for name, tensor in net.state_dict().items())
    assert state["step.head.weight"] == 3
    assert not any(name.endswith("unused.weight") for name in state)
    assert [name for name, _ in named_parameters(again)].count("unused.weight") == 1


@pytest.mark.slow
def test_making_one_does_not_import_torchs_compiler() -> None:
    code = (
        "import sys, torch; from seqlab.training.optimizers.parameter_groups import build_optimizer;from"
        " seqlab.training.settings import TrainingSettings;net = torch.nn.Linear(2, 2);"
        " net.weight.sum().backward();[build_optimizer(net, TrainingSettings(optimizer=name)).step() for name"
        " in ('adamw', 'radam', 'sgd', 'adam_2k')];sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
