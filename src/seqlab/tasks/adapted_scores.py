"""Perplexities of a language model that adapts to the text it reads: separate scores, never the usual one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import torch
from numpy.typing import NDArray

from seqlab.batches.store import Store
from seqlab.core.errors import UsageError
from seqlab.metrics.bootstrap import ratio_interval
from seqlab.metrics.likelihood import perplexity
from seqlab.metrics.score import Score
from seqlab.metrics.stream import BLOCK
from seqlab.models.language_model import LanguageModel
from seqlab.tasks.dynamic_evaluation import PULLS, RATES, SEGMENT, DynamicNumbers, dynamic_log_probs
from seqlab.tasks.language_model import SCORED, LanguageModelling
from seqlab.tasks.neural_cache import SIZE, read_with_cache

CHOSEN_ON, LEARNED_ON = 20_000, 8_000
"""Tokens of the validation text on which the numbers of a cache, and those of dynamic evaluation (ten times the work), are chosen."""


def adapted_scores(task: LanguageModelling, model: torch.nn.Module, split: str, *, cache: bool, dynamic: bool) -> Iterator[Score]:
    """One perplexity for each kind of adaptation that is asked for."""
    assert isinstance(model, LanguageModel)
    if not task.carries_state:
        raise UsageError(
            f"a cache and dynamic evaluation read a text from its first word to its last; a {task.recipe.model.kind} network carries no state.",
            cure="Evaluate a recurrent language model this way, or leave out --cache and --dynamic.",
        )
    held_out, store = task.stores["valid"], task.stores[split]
    if cache:
        yield _with_cache(model, held_out, store)
    if dynamic:
        yield _dynamic(model, held_out, store)


def _with_cache(model: LanguageModel, held_out: Store, store: Store) -> Score:
    best = read_with_cache(model, held_out, at_most=CHOSEN_ON).best()
    read = read_with_cache(model, store, at_most=SCORED, thetas=(best.theta,))
    how = f"neural cache of the last {SIZE:,} tokens (Grave et al. 2017), θ = {best.theta:g}, λ = {best.share:g}"
    score = _score("perplexity_with_cache", read.mixed(best), f"{how}; chosen on {CHOSEN_ON:,} tokens of the validation text")
    return replace(score, baseline=perplexity(-float(read.model.sum()), len(read.model)), baseline_name="without it")


def _dynamic(model: LanguageModel, held_out: Store, store: Store) -> Score:
    choices = [DynamicNumbers(rate, pull) for rate, pull in product(RATES, PULLS)]
    best = max(choices, key=lambda numbers: float(dynamic_log_probs(model, held_out, numbers, at_most=LEARNED_ON).mean()))
    how = f"dynamic evaluation (Krause et al. 2018): after every {SEGMENT} tokens a step of {best.rate:g}, pull back {best.pull:g}"
    log_probs = dynamic_log_probs(model, store, best, at_most=SCORED)
    return _score("perplexity_dynamic", log_probs, f"{how}; chosen on {LEARNED_ON:,} tokens of the validation text")


def _score(name: str, log_probs: NDArray[np.float64], how: str) -> Score:
    count = len(log_probs)
    starts = np.arange(0, count, BLOCK)
    sizes = np.diff(np.append(starts, count)).astype(np.float64)
    interval = ratio_interval(-np.add.reduceat(log_probs, starts), sizes)
    return Score(
        name,
        perplexity(-float(log_probs.sum()), count),
        perplexity(interval.low * count, count),
        perplexity(interval.high * count, count),
        higher_is_better=False,
        how=f"{how}; {count:,} tokens, read in one go",
    )
