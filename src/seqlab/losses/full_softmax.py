"""Cross-entropy over a whole vocabulary, without ever holding the logits of all steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

LOGITS_AT_ONCE = 1 << 23
"""Logits of one chunk of steps: 32 MB. Of fewer, the plain computation is as fast and needs no more."""


class ChunkedCrossEntropy(torch.autograd.Function):
    """Σ_t -Σ_v y_tv · log softmax(W x_t + b)_v, with the gradients written out.

        y_t   = (1 - ε) e_target + ε / vocab          ε: label smoothing
        p_t   = softmax(W x_t + b)
        d x_t = Wᵀ (p_t - y_t),    d W = Σ_t (p_t - y_t) x_tᵀ,    d b = Σ_t (p_t - y_t)

    The gradients are made together with the loss, chunk by chunk: the logits of a chunk are turned into p - y where they stand. Beside the
    gradients themselves only one chunk of logits is ever in memory, where the plain computation keeps several times those of all steps.
    """

    @staticmethod
    def forward(ctx: Any, features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, rows: int, smoothing: float) -> tuple[Tensor, Tensor]:
        to_features, to_weight, to_bias = torch.empty_like(features), torch.zeros_like(weight), torch.zeros_like(bias)
        total, correct = features.new_zeros(()), targets.new_zeros(())
        for place in range(0, len(features), rows):
            given, wanted = features[place : place + rows], targets[place : place + rows, None]  # (rows, hidden), (rows, 1)
            logits = torch.addmm(bias, given, weight.T)  # (rows, vocab)
            highest, likeliest = logits.max(dim=-1, keepdim=True)  # (rows, 1)
            correct += (likeliest == wanted).sum()
            total -= (1 - smoothing) * logits.gather(-1, wanted).sum()
            if smoothing:
                total -= smoothing * logits.mean(dim=-1).sum()
            errors = logits.sub_(highest).exp_()
            sums = errors.sum(dim=-1, keepdim=True)
            total += (sums.log() + highest).sum()
            errors.div_(sums)  # p
            if smoothing:
                errors.sub_(smoothing / len(weight))
            errors.scatter_add_(-1, wanted, errors.new_full(wanted.shape, smoothing - 1))  # p - y
            torch.mm(errors, weight, out=to_features[place : place + rows])
            to_weight.addmm_(errors.T, given)
            to_bias += errors.sum(dim=0)
        ctx.save_for_backward(to_features, to_weight, to_bias)
        ctx.mark_non_differentiable(correct)
        return total, correct

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
        to_features, to_weight, to_bias = ctx.saved_tensors
        return to_features * gradient, to_weight * gradient, to_bias * gradient, None, None, None


def full_softmax(
    features: Float[Tensor, "steps hidden"],
    weight: Float[Tensor, "vocab hidden"],
    bias: Float[Tensor, " vocab"],
    targets: Int[Tensor, " steps"],
    *,
    smoothing: float = 0.0,
) -> tuple[Float[Tensor, ""], int]:
    """Sum over the steps of -log P(target), and how many targets are what the model thinks most likely."""
    is_large = features.shape[0] * weight.shape[0] > LOGITS_AT_ONCE
    if is_large and features.requires_grad and not torch.is_autocast_enabled(features.device.type):
        rows = max(1, LOGITS_AT_ONCE // weight.shape[0])
        # torch gives `apply` no types
        total, correct = ChunkedCrossEntropy.apply(features, weight, bias, targets, rows, smoothing)  # type: ignore[no-untyped-call]  # see above
        return total, int(correct)
    logits = F.linear(features, weight, bias)  # (steps, vocab)
    total = F.cross_entropy(logits, targets, reduction="sum", label_smoothing=smoothing)
    return total, int((logits.detach().argmax(dim=-1) == targets).sum())


@torch.no_grad()
def log_probs_of_targets(
    features: Float[Tensor, "steps hidden"], weight: Float[Tensor, "vocab hidden"], bias: Float[Tensor, " vocab"], targets: Int[Tensor, " steps"]
) -> Float[Tensor, " steps"]:
    """log softmax(W x_t + b)[target_t] of every step, in chunks."""
    return torch.cat([_log_probs(logits, wanted) for logits, wanted in _in_chunks(features, weight, bias, targets)])


@torch.no_grad()
def look_at_targets(
    features: Float[Tensor, "steps hidden"], weight: Float[Tensor, "vocab hidden"], bias: Float[Tensor, " vocab"], targets: Int[Tensor, " steps"]
) -> tuple[Float[Tensor, " steps"], int]:
    """The same, and how many targets are what the model thinks most likely."""
    found, correct = [], 0
    for logits, wanted in _in_chunks(features, weight, bias, targets):
        found.append(_log_probs(logits, wanted))
        correct += int((logits.argmax(dim=-1) == wanted).sum())
    return torch.cat(found), correct


def _in_chunks(features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    rows = max(1, LOGITS_AT_ONCE // weight.shape[0])
    for given, wanted in zip(features.split(rows), targets.split(rows), strict=True):
        yield F.linear(given, weight, bias).float(), wanted  # (rows, vocab)


def _log_probs(logits: Float[Tensor, "rows vocab"], targets: Int[Tensor, " rows"]) -> Float[Tensor, " rows"]:
    return logits.gather(-1, targets[:, None]).squeeze(-1) - logits.logsumexp(dim=-1)
