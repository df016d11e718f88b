"""Cross-entropy over a whole vocabulary, without storing the logits of all steps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from seqlab.losses.base import LossValue

MAX_LOGITS = 1 << 23
"""Number of logits in one chunk of steps: 32 MB. Below that, the plain computation is as fast and needs no more
memory.
"""


class ChunkedCrossEntropy(torch.autograd.Function):
    """Σ_t -Σ_v y_tv · log softmax(W x_t + b)_v, with the gradients written out.

        y_t   = (1 - ε) e_target + ε / vocab          ε: label smoothing
        p_t   = softmax(W x_t + b)
        d x_t = Wᵀ (p_t - y_t),    d W = Σ_t (p_t - y_t) x_tᵀ,    d b = Σ_t (p_t - y_t)

    The gradients are computed together with the loss, chunk by chunk: the logits of a chunk are turned into p
    - y in place. Besides the gradients only one chunk of logits is ever in memory, whereas the plain
    computation stores the logits of all steps several times.
    """

    @staticmethod
    def forward(
        ctx: Any,
        features: Tensor,
        weight: Tensor,
        bias: Tensor,
        targets: Tensor,
        rows: int,
        label_smoothing: float,
    ) -> tuple[Tensor, Tensor]:
        features_grad, weight_grad, bias_grad = (
            torch.empty_like(features),
            torch.zeros_like(weight),
            torch.zeros_like(bias),
        )
        total, correct = features.new_zeros(()), targets.new_zeros(())
        for start in range(0, len(features), rows):
            chunk_features, chunk_targets = (
                features[start : start + rows],
                targets[start : start + rows, None],
            )  # (rows, hidden), (rows, 1)
            logits = torch.addmm(bias, chunk_features, weight.T)  # (rows, vocab)
            highest, predicted = logits.max(dim=-1, keepdim=True)  # (rows, 1)
            correct += (predicted == chunk_targets).sum()
            total -= (1 - label_smoothing) * logits.gather(-1, chunk_targets).sum()
            if label_smoothing:
                total -= label_smoothing * logits.mean(dim=-1).sum()
            errors = logits.sub_(highest).exp_()
            sums = errors.sum(dim=-1, keepdim=True)
            total += (sums.log() + highest).sum()
            errors.div_(sums)  # p
            if label_smoothing:
                errors.sub_(label_smoothing / len(weight))
            errors.scatter_add_(
                -1, chunk_targets, errors.new_full(chunk_targets.shape, label_smoothing - 1)
            )  # p - y
            torch.mm(errors, weight, out=features_grad[start : start + rows])
            weight_grad.addmm_(errors.T, chunk_features)
            bias_grad += errors.sum(dim=0)
        ctx.save_for_backward(features_grad, weight_grad, bias_grad)
        ctx.mark_non_differentiable(correct)
        return total, correct

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor, _: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None, None]:
        features_grad, weight_grad, bias_grad = ctx.saved_tensors
        return features_grad * gradient, weight_grad * gradient, bias_grad * gradient, None, None, None


def full_softmax_loss(
    features: Float[Tensor, "steps hidden"],
    weight: Float[Tensor, "vocab hidden"],
    bias: Float[Tensor, " vocab"],
    targets: Int[Tensor, " steps"],
    *,
    label_smoothing: float = 0.0,
) -> LossValue:
    """Sum over the steps of -log P(target), and the number of targets that are the model's most likely
    token.
    """
    is_large = features.shape[0] * weight.shape[0] > MAX_LOGITS
    if is_large and features.requires_grad and not torch.is_autocast_enabled(features.device.type):
        rows = max(1, MAX_LOGITS // weight.shape[0])
        # `apply` is untyped in torch
        return LossValue(*ChunkedCrossEntropy.apply(features, weight, bias, targets, rows, label_smoothing))  # type: ignore[no-untyped-call]  # see above
    logits = F.linear(features, weight, bias)  # (steps, vocab)
    total = F.cross_entropy(logits, targets, reduction="sum", label_smoothing=label_smoothing)
    return LossValue(total, (logits.detach().argmax(dim=-1) == targets).sum())


@torch.no_grad()
def target_log_probs(
    features: Float[Tensor, "steps hidden"],
    weight: Float[Tensor, "vocab hidden"],
    bias: Float[Tensor, " vocab"],
    targets: Int[Tensor, " steps"],
) -> Float[Tensor, " steps"]:
    """log softmax(W x_t + b)[target_t] of every step, in chunks."""
    return torch.cat(
        [
            _log_probs(logits, chunk_targets)
            for logits, chunk_targets in _logit_chunks(features, weight, bias, targets)
        ]
    )


@torch.no_grad()
def target_log_probs_and_hits(
    features: Float[Tensor, "steps hidden"],
    weight: Float[Tensor, "vocab hidden"],
    bias: Float[Tensor, " vocab"],
    targets: Int[Tensor, " steps"],
) -> tuple[Float[Tensor, " steps"], int]:
    """Like `target_log_probs`, with the number of targets that are the model's most likely token."""
    log_probs, correct = [], 0
    for logits, chunk_targets in _logit_chunks(features, weight, bias, targets):
        log_probs.append(_log_probs(logits, chunk_targets))
        correct += int((logits.argmax(dim=-1) == chunk_targets).sum())
    return torch.cat(log_probs), correct


def _logit_chunks(
    features: Tensor, weight: Tensor, bias: Tensor, targets: Tensor
) -> Iterator[tuple[Tensor, Tensor]]:
    rows = max(1, MAX_LOGITS // weight.shape[0])
    for chunk_features, chunk_targets in zip(features.split(rows), targets.split(rows), strict=True):
        yield F.linear(chunk_features, weight, bias).float(), chunk_targets  # (rows, vocab)


def _log_probs(logits: Float[Tensor, "rows vocab"], targets: Int[Tensor, " rows"]) -> Float[Tensor, " rows"]:
    return logits.gather(-1, targets[:, None]).squeeze(-1) - logits.logsumexp(dim=-1)
