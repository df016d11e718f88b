"""Choose the next token: the most likely one, or a sample."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Float, Int
from torch import Tensor

from seqlab.core.seeds import derive
from seqlab.decoding.top_candidates import top_candidates
from seqlab.decoding.truncation import warp_logits


class TokenChooser(ABC):
    """Chooses the next token of every hypothesis."""

    num_samples: int
    """Targets that are written for each sentence."""

    @abstractmethod
    def random_numbers(self, source_ids: Sequence[int], steps: int) -> Float[Tensor, "hypotheses steps"]:
        """Random numbers in [0, 1) for every step of these sentences; samples of a sentence are
        consecutive rows.
        """

    @abstractmethod
    def choose(
        self, log_probs: Float[Tensor, "hypotheses vocab"], random_numbers: Float[Tensor, " hypotheses"]
    ) -> Int[Tensor, " hypotheses"]: ...


class Greedy(TokenChooser):
    """Greedy decoding: the argmax; ties go to the first."""

    num_samples = 1

    def random_numbers(self, source_ids: Sequence[int], steps: int) -> Float[Tensor, "hypotheses steps"]:
        return torch.zeros(len(source_ids), steps, dtype=torch.float64)

    def choose(
        self, log_probs: Float[Tensor, "hypotheses vocab"], random_numbers: Float[Tensor, " hypotheses"]
    ) -> Int[Tensor, " hypotheses"]:
        return top_candidates(log_probs, 1).tokens[:, 0]


class MultinomialSampler(TokenChooser):
    """Samples from the distribution after temperature and truncation, by inverting its cumulative
    distribution at a random number in [0, 1).

    Every sample of every sentence has its own random numbers, keyed by the seed, the sentence number and the
    sample number, so results do not depend on the rest of the batch.
    """

    def __init__(
        self,
        *,
        temperature: float = 1.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 1,
        num_samples: int = 1,
    ) -> None:
        assert temperature > 0
        self.temperature = temperature
        self.top_k, self.top_p, self.min_p = top_k, top_p, min_p
        self.seed = seed
        self.num_samples = num_samples

    def random_numbers(self, source_ids: Sequence[int], steps: int) -> Float[Tensor, "hypotheses steps"]:
        seeds = [
            derive(self.seed, "draw", source_id, sample)
            for source_id in source_ids
            for sample in range(self.num_samples)
        ]
        rows = [
            torch.rand(steps, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
            for seed in seeds
        ]
        return torch.stack(rows) if rows else torch.zeros(0, steps, dtype=torch.float64)

    def choose(
        self, log_probs: Float[Tensor, "hypotheses vocab"], random_numbers: Float[Tensor, " hypotheses"]
    ) -> Int[Tensor, " hypotheses"]:
        warped = warp_logits(
            log_probs, temperature=self.temperature, top_k=self.top_k, top_p=self.top_p, min_p=self.min_p
        )
        cumulative = warped.softmax(dim=-1).cumsum(dim=-1)  # (hypotheses, vocab)
        thresholds = (random_numbers * cumulative[:, -1]).unsqueeze(1)
        return torch.searchsorted(cumulative, thresholds, right=True).squeeze(1)
