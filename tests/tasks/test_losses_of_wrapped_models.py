"""Losses of models wrapped by torch: data-parallel in two processes, sharded over two processes, and
compiled.

Two processes with half of every batch each must both get the mean of the gradients of both halves.
"""

from __future__ import annotations

import copy
import json
import traceback
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, distributed, multiprocessing, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from seqlab.batches.batch import Batch
from seqlab.tasks.objective import Objective
from seqlab.training.base import Carry
from tests.tasks.loss_cases import LOSSES, batches, build, chunks

pytestmark = pytest.mark.slow

PROCESSES, UPDATES = 2, 2
"""The second update shows whether the first one reached every parameter, and that a carried state is
continued.
"""
PATIENCE = timedelta(seconds=60)
ONE_PER_TASK = list({name.partition(",")[0]: name for name in reversed(LOSSES)}.values())
COMPILED = ("tagging, crf", "language_model, lstm", "translation, transformer")
Gradients = list[list[Tensor]]
"""Of every parameter, after every update."""


def half_of(batch: Batch, rank: int) -> Batch:
    """Every other row."""
    inputs, is_token, rows = (part[rank::PROCESSES] for part in (batch.inputs, batch.is_token, batch.rows))
    targets = {name: target[rank::PROCESSES] for name, target in batch.targets.items()}
    return Batch(inputs, is_token, targets, rows, continues=batch.continues)


def gradients(
    name: str, objective: Objective[Any, Any], model: nn.Module, taken: Iterable[Batch], *, seed: int
) -> Gradients:
    """Of the mean loss of batches. The weights stay as they are."""
    found: Gradients = []
    carry: Carry = ()
    for number, batch in enumerate(taken):
        model.zero_grad()
        torch.manual_seed(100 * number + seed)  # dropout and whatever else is drawn
        with chunks(name):
            loss = objective.loss(model, batch, step=LOSSES[name].step + number, carry=carry)
        (loss.total / loss.count).backward()
        carry = loss.carry
        found.append([whole(parameter.grad) for parameter in model.parameters()])
    return found


def whole(gradient: Tensor | None) -> Tensor:
    if gradient is None:
        return torch.zeros(0)
    return gradient.full_tensor() if isinstance(gradient, DTensor) else gradient.clone()


def data_parallel(name: str, model: nn.Module) -> nn.Module:
    return DistributedDataParallel(model, find_unused_parameters=LOSSES[name].may_leave_out)


def sharded(name: str, model: nn.Module) -> nn.Module:
    return fully_shard(model, mesh=init_device_mesh("cpu", (PROCESSES,)))


def problems_of(name: str, folder: Path, rank: int) -> Iterable[str]:
    """What is wrong with the gradients of a case."""
    objective, model = build(name, folder)
    names = [parameter for parameter, _ in model.named_parameters()]
    halves = [[half_of(batch, half) for batch in batches(objective, UPDATES)] for half in range(PROCESSES)]
    alone = [
        gradients(name, objective, copy.deepcopy(model), halves[half], seed=half) for half in range(PROCESSES)
    ]
    if all(torch.equal(one, other) for one, other in zip(alone[0][0], alone[1][0], strict=True)):
        yield "both halves have the same gradients, so nothing is shown"
    means = [
        [(one + other) / 2 for one, other in zip(*both, strict=True)] for both in zip(*alone, strict=True)
    ]
    for wrap in (data_parallel, sharded):
        found = gradients(name, objective, wrap(name, copy.deepcopy(model)), halves[rank], seed=rank)
        yield from (f"{wrap.__name__}: {difference}" for difference in differences(names, found, means))


def differences(names: list[str], found: Gradients, means: Gradients) -> Iterable[str]:
    """Between the gradients here, in the other process, and the mean of both halves."""
    for number, (here, expected) in enumerate(zip(found, means, strict=True)):
        for name, gradient, mean in zip(names, here, expected, strict=True):
            everywhere = [torch.empty_like(gradient) for _ in range(PROCESSES)]
            distributed.all_gather(everywhere, gradient)
            if not torch.equal(*everywhere):
                yield f"update {number}: the processes have different gradients of {name}"
            if not torch.allclose(gradient, mean, rtol=1e-6, atol=1e-9 * float(mean.abs().sum())):
                yield (
                    f"update {number}: the gradient of {name} is {gradient}, the mean of both halves is"
                    f" {mean}"
                )


def reported(check: Callable[..., Iterable[str]], names: Iterable[str], folder: Path, rank: int) -> None:
    """Write down what is wrong with every case; one that breaks off leaves the others to be checked."""
    problems: dict[str, list[str]] = {}
    for number, name in enumerate(names):
        try:
            problems[name] = list(check(name, folder / f"{rank}-{number}", rank))
        except Exception:  # noqa: BLE001 - whatever it is, it is reported
            problems[name] = [traceback.format_exc()]
    (folder / f"problems-{rank}.json").write_text(json.dumps(problems))


def train_half(rank: int, folder: Path, names: Iterable[str]) -> None:
    """What each of two processes does: the cases one after the other."""
    torch.set_num_threads(1)
    distributed.init_process_group(
        "gloo", init_method=f"file://{folder / 'meeting'}", rank=rank, world_size=PROCESSES, timeout=PATIENCE
    )
    reported(problems_of, names, folder, rank)
    distributed.destroy_process_group()


def compile_all(rank: int, folder: Path, names: Iterable[str]) -> None:
    """What one process does, since the shape checks of this one cannot be compiled."""
    torch.set_num_threads(1)
    reported(problems_of_compiled, names, folder, rank)


def problems_of_compiled(name: str, folder: Path, rank: int) -> Iterable[str]:
    objective, model = build(name, folder)
    taken = batches(objective, UPDATES)
    graphs = []

    def keep(graph: torch.fx.GraphModule, _: Any) -> Any:
        graphs.append(graph)
        return graph.forward

    expected = gradients(name, objective, copy.deepcopy(model), taken, seed=rank)
    found = gradients(name, objective, torch.compile(model, backend=keep), taken, seed=rank)  # type: ignore[arg-type] # a module stays one
    if not graphs:
        yield "nothing was compiled"
    for number, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
        if not all(
            torch.allclose(one, other, rtol=1e-6, atol=1e-9) for one, other in zip(ours, theirs, strict=True)
        ):
            yield f"update {number}: other gradients than those of the model as it is"


def spawned(
    function: Callable[[int, Path, Iterable[str]], None],
    names: Iterable[str],
    folder: Path,
    *,
    processes: int,
) -> list[str]:
    multiprocessing.spawn(function, (folder, names), nprocs=processes)
    problems = [json.loads((folder / f"problems-{rank}.json").read_text()) for rank in range(processes)]
    assert all(found.keys() == set(names) for found in problems)
    return [
        f"{name}, process {rank}: {line}"
        for rank, found in enumerate(problems)
        for name, lines in found.items()
        for line in lines
    ]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(ONE_PER_TASK, id="one per task"),
        pytest.param(list(LOSSES), id="all", marks=pytest.mark.long),
    ],
)
def test_both_processes_get_the_mean_gradient_of_every_loss(names: list[str], tmp_path: Path) -> None:
    assert spawned(train_half, names, tmp_path, processes=PROCESSES) == []


@pytest.mark.long
def test_compiled_models_have_the_same_gradients(tmp_path: Path) -> None:
    assert spawned(compile_all, COMPILED, tmp_path, processes=1) == []
