"""A neural cache: recently read tokens become more probable, the more similar their hidden states are.

    p(w)       = (1 - λ) p_model(w) + λ p_cache(w)
    p_cache(w) = Σ_{i ∈ cache, x_{i+1} = w} exp(θ h_t · h_i) / Σ_{i ∈ cache} exp(θ h_t · h_i)

h_t is the input of the output layer at step t, and the cache holds the last steps with the token that
followed each. Nothing is trained; θ and λ are tuned on held-out text.

Paper: Grave et al. 2017, "Improving Neural Language Models with a Continuous Cache", arXiv:1612.04426,
section 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Int
from numpy.typing import NDArray
from torch import Tensor

from seqlab.losses.full_softmax import target_log_probs
from seqlab.models.base import ModelState
from seqlab.models.language_model import LanguageModel

SIZE = 2000
"""Number of steps in the cache."""
STEPS = 128
"""Steps that are compared with the cache at once."""
THETAS = (0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
LAMBDAS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)


@dataclass(frozen=True)
class CacheSettings:
    """The sharpness of the similarity (θ) and the weight of the cache (λ)."""

    theta: float
    share: float


@dataclass(frozen=True)
class CachedLogProbs:
    """Log-probabilities of the tokens of a stream under the model, and under the cache for each θ (-∞ if it
    does not contain the token).
    """

    model: NDArray[np.float64]
    cache: dict[float, NDArray[np.float64]]

    def mixed(self, settings: CacheSettings) -> NDArray[np.float64]:
        """Return log p of every token; the first comes from the model alone, because the cache is still
        empty.
        """
        if settings.share == 0:
            return self.model
        both = np.logaddexp(
            np.log1p(-settings.share) + self.model[1:],
            np.log(settings.share) + self.cache[settings.theta][1:],
        )
        return np.concatenate([self.model[:1], both])

    def best(self) -> CacheSettings:
        """Return the settings that make these tokens most probable."""
        choices = [CacheSettings(theta, share) for theta, share in product(self.cache, LAMBDAS)]
        return max(choices, key=lambda settings: float(self.mixed(settings).mean()))


def cache_log_probs(
    features: Float[Tensor, "time hidden"],
    targets: Int[Tensor, " time"],
    keys: Float[Tensor, "cached hidden"],
    values: Int[Tensor, " cached"],
    *,
    theta: float,
    size: int = SIZE,
) -> Float[Tensor, " time"]:
    """Return log p_cache(target_t).

    Cached steps (`keys`, `values`) come before these; each step also sees the earlier ones in `features`,
    but at most the last `size`.
    """
    num_cached, num_steps = len(keys), len(features)
    similarity = theta * (features @ torch.cat([keys, features]).T)  # (time, cached + time)
    followed_by = torch.cat([values, targets])  # (cached + time,)
    now = torch.arange(num_steps)[:, None] + num_cached
    place = torch.arange(num_cached + num_steps)
    may_attend = (place < now) & (place >= now - size)  # (time, cached + time)
    similarity = similarity.masked_fill(~may_attend, float("-inf"))
    hits = similarity.masked_fill(followed_by != targets[:, None], float("-inf"))
    return hits.logsumexp(dim=-1) - similarity.logsumexp(dim=-1)  # NaN (-∞ - -∞) where the cache is empty


@torch.inference_mode()
def read_with_cache(
    model: LanguageModel, text: NDArray[Any], *, thetas: tuple[float, ...] = THETAS, size: int = SIZE
) -> CachedLogProbs:
    """Read a whole text with a cache."""
    num_scored = len(text) - 1
    hidden = model.output_weight.shape[1]
    keys, values = torch.empty(0, hidden), torch.empty(0, dtype=torch.long)
    model_log_probs: list[Tensor] = []
    cached: dict[float, list[Tensor]] = {theta: [] for theta in thetas}
    state: ModelState | None = None
    for start in range(0, num_scored, STEPS):
        tokens = torch.from_numpy(text[start : start + STEPS + 1].astype(np.int64))
        inputs, targets = tokens[None, :-1], tokens[1:]
        outputs, state = model.features(inputs, torch.ones_like(inputs, dtype=torch.bool), state)
        features = outputs[0]  # (time, hidden)
        model_log_probs.append(target_log_probs(features, model.output_weight, model.bias, targets))
        for theta in thetas:
            cached[theta].append(cache_log_probs(features, targets, keys, values, theta=theta, size=size))
        keys, values = torch.cat([keys, features])[-size:], torch.cat([values, targets])[-size:]
    return CachedLogProbs(
        torch.cat(model_log_probs).double().numpy(),
        {theta: torch.cat(parts).double().numpy() for theta, parts in cached.items()},
    )
