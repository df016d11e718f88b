"""Perplexities of a language model that adapts to the text it reads: separate scores, never the usual one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from seqlab.core.errors import UsageError
from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.likelihood import perplexity
from seqlab.metrics.score import Score
from seqlab.metrics.token_stream import TokenStream
from seqlab.models.language_model import LanguageModel
from seqlab.tasks.language_model.dynamic_evaluation import (
    PULLS,
    RATES,
    SEGMENT,
    DynamicNumbers,
    dynamic_log_probs,
)
from seqlab.tasks.language_model.neural_cache import SIZE, read_with_cache
from seqlab.tasks.language_model.task import SCORED, LanguageModelling

CHOSEN_ON, LEARNED_ON = 20_000, 8_000
"""Tokens of the validation text on which the numbers of a cache, and those of dynamic evaluation (ten times
the work), are chosen.
"""


def adapted_scores(
    task: LanguageModelling, model: torch.nn.Module, split: str, *, cache: bool, dynamic: bool
) -> Iterator[Score]:
    """One perplexity for each kind of adaptation that is asked for."""
    assert isinstance(model, LanguageModel)
    if not task.carries_state:
        raise UsageError(
            "a cache and dynamic evaluation read a text from its first word to its last; a"
            f" {task.recipe.model.kind} network carries no state.",
            cure="Evaluate a recurrent language model this way, or leave out --cache and --dynamic.",
        )
    if cache:
        yield _with_cache(model, *_texts(task, split, at_most=CHOSEN_ON))
    if dynamic:
        yield _dynamic(model, *_texts(task, split, at_most=LEARNED_ON))


def _texts(task: LanguageModelling, split: str, *, at_most: int) -> tuple[NDArray[Any], NDArray[Any], str]:
    """The beginning of the validation text to choose on, the text to score, and both in words.

    Nothing is scored that was chosen on.
    """
    valid, tokens = task.tokens("valid"), task.tokens(split)
    chosen_on = valid.window(0, min(at_most, valid.num_steps // 2 if split == "valid" else valid.num_steps))
    told = f"chosen on the first {len(chosen_on):,} tokens of the validation text"
    if split != "valid":
        return chosen_on, tokens.window(0, SCORED), told
    if len(chosen_on) < 2:
        raise UsageError(
            f"the {valid.num_steps} tokens of the validation text cannot be cut into some to choose on and"
            " some to score.",
            cure="Name a test text (data.test=FILE), or leave out --cache and --dynamic.",
        )
    return (
        chosen_on,
        tokens.window(len(chosen_on), len(chosen_on) + SCORED),
        f"{told}, scored on those behind them",
    )


def _with_cache(model: LanguageModel, chosen_on: NDArray[Any], text: NDArray[Any], told: str) -> Score:
    best = read_with_cache(model, chosen_on).best()
    read = read_with_cache(model, text, thetas=(best.theta,))
    how = (
        f"neural cache of the last {SIZE:,} tokens (Grave et al. 2017), θ = {best.theta:g}, λ ="
        f" {best.share:g}"
    )
    score = _score("perplexity_with_cache", read.mixed(best), f"{how}; {told}")
    return replace(
        score, baseline=perplexity(-float(read.model.sum()), len(read.model)), baseline_name="without it"
    )


def _dynamic(model: LanguageModel, chosen_on: NDArray[Any], text: NDArray[Any], told: str) -> Score:
    choices = [DynamicNumbers(rate, pull) for rate, pull in product(RATES, PULLS)]
    best = max(choices, key=lambda numbers: float(dynamic_log_probs(model, chosen_on, numbers).mean()))
    how = (
        f"dynamic evaluation (Krause et al. 2018): after every {SEGMENT} tokens a step of {best.rate:g}, pull"
        f" back {best.pull:g}"
    )
    log_probs = dynamic_log_probs(model, text, best)
    return _score("perplexity_dynamic", log_probs, f"{how}; {told}")


def _score(name: str, log_probs: NDArray[np.float64], how: str) -> Score:
    count = len(log_probs)
    stream = TokenStream.from_log_probs(log_probs, np.ones(count), characters=count)
    return score_with_interval(
        name,
        stream.items()["perplexity"],
        higher_is_better=False,
        method=f"{how}; {count:,} tokens, read in one go",
    )
