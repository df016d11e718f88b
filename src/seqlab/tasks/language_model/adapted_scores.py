"""Perplexities of a language model that adapts to the text it reads, reported separately from the usual
scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqlab.batches.stored_column import StoredColumn
from seqlab.core.errors import UsageError
from seqlab.metrics.items import SumItems
from seqlab.metrics.score import Score
from seqlab.metrics.score_with_interval import score_with_interval
from seqlab.metrics.token_stream import TokenStream
from seqlab.models.language_model import LanguageModel
from seqlab.tasks.language_model.dynamic_evaluation import (
    PULLS,
    RATES,
    SEGMENT,
    DynamicSettings,
    dynamic_log_probs,
)
from seqlab.tasks.language_model.neural_cache import SIZE, read_with_cache
from seqlab.tasks.language_model.scores import MAX_TOKENS

CACHE_TUNING, DYNAMIC_TUNING = 20_000, 8_000
"""Validation tokens for tuning a cache, and dynamic evaluation (ten times slower)."""


@dataclass(frozen=True)
class AdaptationTexts:
    """The tokens for tuning an adaptation and those for scoring it, which never overlap."""

    tuning: NDArray[Any]
    scored: NDArray[Any]
    description: str


def adapted_scores(
    model: LanguageModel, valid: StoredColumn, tokens: StoredColumn | None, *, cache: bool, dynamic: bool
) -> Iterator[Score]:
    """Yield one perplexity for each requested kind of adaptation.

    tokens: the text to score; None for the part of the validation text that is not used for tuning.
    """
    if cache:
        yield score_with_cache(model, divide_texts(valid, tokens, max_tuning=CACHE_TUNING))
    if dynamic:
        yield score_dynamically(model, divide_texts(valid, tokens, max_tuning=DYNAMIC_TUNING))


def divide_texts(valid: StoredColumn, tokens: StoredColumn | None, *, max_tuning: int) -> AdaptationTexts:
    """Return the beginning of the validation text for tuning, and the text to score."""
    available = valid.num_steps // 2 if tokens is None else valid.num_steps
    tuning = valid.window(0, min(max_tuning, available))
    description = f"tuned on the first {len(tuning):,} tokens of the validation text"
    if tokens is not None:
        return AdaptationTexts(tuning, tokens.window(0, MAX_TOKENS), description)
    if len(tuning) < 2:
        raise UsageError(
            f"the validation text has only {valid.num_steps} tokens, too few to tune on one part and score the"
            " other.",
            cure="Set a test text (data.test=FILE), or remove --cache and --dynamic.",
        )
    scored = valid.window(len(tuning), len(tuning) + MAX_TOKENS)
    return AdaptationTexts(tuning, scored, f"{description}, scored on the tokens after them")


def score_with_cache(model: LanguageModel, texts: AdaptationTexts) -> Score:
    """Score with a neural cache, compared with the model without it."""
    best = read_with_cache(model, texts.tuning).best()
    log_probs = read_with_cache(model, texts.scored, thetas=(best.theta,))
    method = (
        f"neural cache of the last {SIZE:,} tokens (Grave et al. 2017), θ = {best.theta:g}, λ ="
        f" {best.share:g}"
    )
    return _score(
        "perplexity_with_cache",
        log_probs.mixed(best),
        f"{method}; {texts.description}",
        baseline=_perplexity_items(log_probs.model),
        baseline_name="without the cache",
    )


def score_dynamically(model: LanguageModel, texts: AdaptationTexts) -> Score:
    """Score with dynamic evaluation."""
    choices = [DynamicSettings(rate, pull) for rate, pull in product(RATES, PULLS)]
    best = max(choices, key=lambda settings: float(dynamic_log_probs(model, texts.tuning, settings).mean()))
    method = (
        f"dynamic evaluation (Krause et al. 2018): an update every {SEGMENT} tokens, learning rate {best.rate:g},"
        f" decay toward the trained weights {best.pull:g}"
    )
    log_probs = dynamic_log_probs(model, texts.scored, best)
    return _score("perplexity_dynamic", log_probs, f"{method}; {texts.description}")


def _score(
    name: str,
    log_probs: NDArray[np.float64],
    method: str,
    *,
    baseline: SumItems | None = None,
    baseline_name: str = "",
) -> Score:
    return score_with_interval(
        name,
        _perplexity_items(log_probs),
        baseline=baseline,
        baseline_name=baseline_name,
        higher_is_better=False,
        method=f"{method}; {len(log_probs):,} tokens, read in one pass",
        unit="blocks of tokens",
    )


def _perplexity_items(log_probs: NDArray[np.float64]) -> SumItems:
    count = len(log_probs)
    return TokenStream.from_log_probs(log_probs, np.ones(count), characters=count).items()["perplexity"]
