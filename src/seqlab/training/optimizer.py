"""AdamW, with its state as plain tensors."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn, optim

from seqlab.training.settings import TrainingSettings


def build_optimizer(model: nn.Module, settings: TrainingSettings) -> optim.AdamW:
    """AdamW with torch's fused update. Matrices decay; biases, norms and embeddings do not, unless asked.

    Paper: Loshchilov & Hutter 2019, "Decoupled Weight Decay Regularization", arXiv:1711.05101.
    """
    tables = {id(module.weight) for module in model.modules() if isinstance(module, nn.Embedding)}
    decayed: list[nn.Parameter] = []
    spared: list[nn.Parameter] = []
    for parameter in model.parameters():
        decays = settings.decay_all or (parameter.dim() >= 2 and id(parameter) not in tables)
        (decayed if decays else spared).append(parameter)
    groups = [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": spared, "weight_decay": 0.0}]
    return optim.AdamW([group for group in groups if group["params"]], lr=settings.learning_rate, fused=True)


def state_tensors(optimizer: optim.Optimizer) -> dict[str, Tensor]:
    """The optimizer's state by name: `3.exp_avg` is the first moment of parameter 3."""
    state = optimizer.state_dict()["state"]
    return {f"{number}.{name}": value for number, values in state.items() for name, value in values.items()}


def load_state_tensors(optimizer: optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, _, part = name.partition(".")
        state.setdefault(int(number), {})[part] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def set_learning_rate(optimizer: optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate
