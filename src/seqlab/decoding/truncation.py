"""Temperature and truncation (top-k, top-p, min-p) of next-token distributions."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor

from seqlab.decoding.settings import DecodingSettings


def sample_token(
    logits: Float[Tensor, "batch vocab"], settings: DecodingSettings, generator: torch.Generator
) -> Int[Tensor, " batch"]:
    """The most likely token at temperature 0, otherwise a sample from the truncated distribution with
    temperature.
    """
    if settings.temperature == 0:
        return logits.argmax(dim=-1)
    warped = warp_logits(
        logits,
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        min_p=settings.min_p,
    )
    return torch.multinomial(warped.softmax(dim=-1), 1, generator=generator).squeeze(-1)


def warp_logits(
    logits: Float[Tensor, "batch vocab"], *, temperature: float, top_k: int, top_p: float, min_p: float
) -> Float[Tensor, "batch vocab"]:
    """Logits in float64, divided by the temperature, then set to -inf by top-k, top-p and min-p, in this
    order.
    """
    highest = logits.amax(dim=-1, keepdim=True)
    shifted = logits.double() - highest.masked_fill(
        highest == -torch.inf, 0.0
    )  # a tiny temperature then gives -inf, never inf
    return keep_min_p(keep_top_p(keep_top_k(shifted / temperature, top_k), top_p), min_p)


def keep_top_k(logits: Float[Tensor, "batch vocab"], k: int) -> Float[Tensor, "batch vocab"]:
    """Keep only the k highest logits (more in case of ties); 0 keeps all.

    >>> keep_top_k(torch.tensor([[1.0, 3.0, 2.0]]), 2).tolist()
    [[-inf, 3.0, 2.0]]
    """
    if not 0 < k < logits.shape[-1]:
        return logits
    lowest = logits.topk(k, dim=-1).values[:, -1:]
    return logits.masked_fill(logits < lowest, float("-inf"))


def keep_top_p(logits: Float[Tensor, "batch vocab"], p: float) -> Float[Tensor, "batch vocab"]:
    """Keep only the smallest set of most likely tokens whose total probability reaches p.

    Paper: Holtzman et al. 2020, "The Curious Case of Neural Text Degeneration", arXiv:1904.09751.
    """
    if p >= 1:
        return logits
    ordered, order = logits.sort(dim=-1, descending=True)
    probabilities = ordered.softmax(dim=-1)
    before = probabilities.cumsum(dim=-1) - probabilities  # probability mass of the more likely tokens
    is_dropped = torch.zeros_like(logits, dtype=torch.bool).scatter(-1, order, before >= p)
    return logits.masked_fill(is_dropped, float("-inf"))


def keep_min_p(logits: Float[Tensor, "batch vocab"], p: float) -> Float[Tensor, "batch vocab"]:
    """Keep only tokens that are at least p times as probable as the most likely one; 0 keeps all.

    Paper: Nguyen et al. 2024, "Turning Up the Heat: Min-p Sampling for Creative and Coherent LLM Outputs",
    arXiv:2407.01082.

    >>> keep_min_p(torch.tensor([[0.5, 0.3, 0.2]]).log(), 0.5).exp().tolist()[0][2]
    0.0
    """
    if p <= 0:
        return logits
    shares = (logits - logits.amax(dim=-1, keepdim=True)).exp()  # relative to the most likely token
    return logits.masked_fill(shares < p, float("-inf"))
