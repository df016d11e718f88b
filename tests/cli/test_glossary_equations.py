"""Equations of the glossary, evaluated as they are printed and compared with the code."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
import torch
from torch import nn

from seqlab.attention.additive import AdditiveScore
from seqlab.blocks.lora import LoRALinear
from seqlab.blocks.norm import build_norm
from seqlab.blocks.residual import PostNorm, PreNorm
from seqlab.cli.glossary.terms import all_terms
from seqlab.decoding.length_normalization import GNMTLengthPenalty, PowerLengthPenalty
from seqlab.losses.regression import huber_loss
from seqlab.training.schedule import learning_rate
from seqlab.training.settings import TrainingSettings
from seqlab.training.teacher_forcing import teacher_forcing_ratio

ASCII = {"·": "*", "½": "0.5", "π s": "pi * s", "^": "**", "√": "sqrt"}


def evaluate(formula: str, **values: Any) -> Any:
    """A formula as the glossary prints it: a number before a parenthesis multiplies it."""
    for sign, replacement in ASCII.items():
        formula = formula.replace(sign, replacement)
    formula = re.sub(r"(\d) \(", r"\1 * (", formula)
    return eval(formula, {"pi": math.pi, "cos": math.cos, "sqrt": math.sqrt, "min": min, **values})


def line(term: str, *, begins: str = "") -> str:
    """The right side of the line of a term's equation that begins like this."""
    found = next(line for line in all_terms()[term].equations if line.startswith(begins))
    return found.partition(" = ")[2].partition("      ")[0]


@pytest.mark.parametrize("schedule", ["cosine", "constant"])
@pytest.mark.parametrize("step", [1, 40, 80, 500, 999])
def test_schedules(schedule: str, step: int) -> None:
    settings = TrainingSettings(schedule=schedule, warmup_steps=80, decay_steps=1000, learning_rate=3e-3)
    values = {"s": step, "learning_rate": 3e-3, "warmup_steps": 80, "decay_steps": 1000}
    wanted = pytest.approx(learning_rate(step, settings, total_steps=1000))
    assert evaluate(line(f"{schedule} schedule"), **values) == wanted
    assert evaluate(line("learning-rate schedule", begins=schedule), **values) == wanted


@pytest.mark.parametrize(
    ("name", "penalty"), [("power", PowerLengthPenalty(0.6)), ("gnmt", GNMTLengthPenalty(0.6))]
)
def test_length_penalties(name: str, penalty: PowerLengthPenalty | GNMTLengthPenalty) -> None:
    formula = line("length penalty", begins=name)
    assert evaluate(formula, log_prob=-7.5, length=11, length_penalty=0.6) == pytest.approx(
        penalty.score(-7.5, 11)
    )


@pytest.mark.parametrize("decay", ["linear", "exponential"])
def test_teacher_forcing_ratios(decay: str) -> None:
    printed = next(line for line in all_terms()["scheduled sampling"].equations if line.startswith(decay))
    ratio = evaluate(printed.removeprefix(decay).strip(), step=300, half_life=1000)
    assert ratio == pytest.approx(teacher_forcing_ratio(300, decay=decay, half=1000))  # type: ignore[arg-type]


@pytest.mark.parametrize("error", [-3.0, -1.0, 0.4, 2.5])
def test_the_huber_loss(error: float) -> None:
    formula = line("Huber loss").replace("½ e²", "0.5 * e ** 2").replace("|e|", "abs(e)").replace("≤", "<=")
    loss = huber_loss(torch.tensor([error]), torch.tensor([0.0]))
    assert evaluate(formula.rstrip(","), e=error) == pytest.approx(float(loss))


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_norms(kind: Any) -> None:
    x = torch.randn(3, 7)
    name = {"layer": "layer norm", "rms": "RMS norm"}[kind]
    formula = line(name).replace(") ⊙ weight + bias", ")").replace(" ⊙ weight", "").replace("x²", "x**2")
    values = {
        "x": x,
        "mean": lambda values: values.mean(dim=-1, keepdim=True),
        "var": lambda values: values.var(dim=-1, keepdim=True, correction=0),
        "sqrt": torch.sqrt,
        "norm_eps": 1e-5,
    }
    torch.testing.assert_close(evaluate(formula, **values), build_norm(kind, 7, eps=1e-5)(x))


@pytest.mark.parametrize(("term", "residual"), [("pre-norm", PreNorm), ("post-norm", PostNorm)])
def test_residual_connections(term: str, residual: type[PreNorm] | type[PostNorm]) -> None:
    x, norm, sublayer = torch.randn(2, 3, 5), nn.LayerNorm(5), nn.Linear(5, 5)
    path = residual(norm, dropout=0.0)
    entered = path.before_sublayer(x)
    computed = path.after_sublayer(x, entered, sublayer(entered))
    torch.testing.assert_close(evaluate(line(term), x=x, norm=norm, sublayer=sublayer), computed)


def test_lora() -> None:
    layer = LoRALinear(nn.Linear(5, 4), rank=2, alpha=16.0)
    nn.init.normal_(layer.up)
    x = torch.randn(5)
    formula = line("LoRA").rstrip(",").replace("W x", "W @ x").replace("B A x", "(B @ A @ x)")
    values = {"W": layer.base.weight, "b": layer.base.bias, "A": layer.down, "B": layer.up, "x": x}
    torch.testing.assert_close(evaluate(formula, lora_alpha=16.0, lora_rank=2, **values), layer(x))


def test_the_additive_score() -> None:
    score = AdditiveScore(3, 5)
    q, k = torch.randn(3), torch.randn(5)
    v, w, u = score.energy.weight[0], score.project_query.weight, score.project_key.weight
    formula = (
        line("additive attention").replace("v · ", "v @ ").replace("W q", "W @ q").replace("U k", "U @ k")
    )
    computed = score(q[None, None], k[None, None])[0, 0, 0]
    torch.testing.assert_close(evaluate(formula, v=v, W=w, U=u, q=q, k=k, tanh=torch.tanh), computed)
