"""Build a search from its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seqlab.core.errors import ArgumentError
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.beam_policy import OpenBeam, SharedBeam, ThoroughBeam
from seqlab.decoding.constraints import Constraint, ForcedPrefix, MinTokens, NoRepeatNGram
from seqlab.decoding.coverage import CoveragePenalty
from seqlab.decoding.diversity import Diversity
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.length_normalization import GNMTLengthPenalty, LengthPenalty, PowerLengthPenalty
from seqlab.decoding.minimum_bayes_risk import (
    Utility,
    hypothesis_probabilities,
    minimum_risk_index,
    ngram_overlap,
)
from seqlab.decoding.search import Search, SpecialTokens
from seqlab.decoding.settings import DecodingSettings
from seqlab.decoding.stepwise import StepwiseSearch
from seqlab.decoding.token_choice import Greedy, MultinomialSampler

BEAM_POLICIES: Mapping[str, type[OpenBeam | ThoroughBeam | SharedBeam]] = {
    "open": OpenBeam,
    "thorough": ThoroughBeam,
    "shared": SharedBeam,
}
LENGTH_PENALTIES: Mapping[str, type[PowerLengthPenalty | GNMTLengthPenalty]] = {
    "power": PowerLengthPenalty,
    "gnmt": GNMTLengthPenalty,
}


def build_search(
    settings: DecodingSettings,
    special_tokens: SpecialTokens,
    *,
    vocabulary_size: int,
    prefix: Sequence[int] = (),
    prefixes: Mapping[int, Sequence[int]] | None = None,
    max_target_tokens: int | None = None,
) -> Search:
    """prefix: the tokens of settings.prefix; prefixes: those of individual sentences by number;
    max_target_tokens: maximum number of tokens that the model supports.
    """
    if settings.beam > vocabulary_size:
        raise ArgumentError(
            "beam_size",
            settings.beam,
            f"the beam is larger than the vocabulary ({vocabulary_size} tokens).",
            allowed=f"at most {vocabulary_size}",
            cure="Beam sizes above 10 rarely help.",
        )
    max_tokens = (
        settings.max_tokens if max_target_tokens is None else min(settings.max_tokens, max_target_tokens)
    )
    constraints: list[Constraint] = []
    if settings.min_tokens:
        constraints.append(MinTokens(settings.min_tokens, end_id=special_tokens.end_id))
    if settings.no_repeat_ngram:
        constraints.append(NoRepeatNGram(settings.no_repeat_ngram))
    if prefix or prefixes:
        constraints.append(ForcedPrefix(prefix, prefixes))
    if settings.beam == 1:
        return StepwiseSearch(
            special_tokens, _build_chooser(settings), max_tokens=max_tokens, constraints=constraints
        )
    return BeamSearch(
        special_tokens,
        beam_size=settings.beam,
        max_tokens=max_tokens,
        n_best=settings.beam if settings.choose_by == "risk" else settings.n_best,
        length_penalty=build_length_penalty(settings),
        coverage_penalty=CoveragePenalty(settings.coverage_penalty) if settings.coverage_penalty else None,
        diversity=Diversity(settings.beam_groups, settings.diversity_penalty),
        constraints=constraints,
        policy=BEAM_POLICIES[settings.beam_kind](),
    )


def build_length_penalty(settings: DecodingSettings) -> LengthPenalty:
    return LENGTH_PENALTIES[settings.length_penalty_kind](settings.length_penalty)


def select_n_best(
    settings: DecodingSettings, hypotheses: Sequence[Hypothesis], utility: Utility[list[int]] = ngram_overlap
) -> list[Hypothesis]:
    """The `n_best` hypotheses of one source; with choose_by=risk the one with the lowest expected loss
    comes first.
    """
    candidates = list(hypotheses)
    if settings.choose_by == "risk" and len(candidates) > 1:
        weights = None if settings.temperature else hypothesis_probabilities(candidates)
        candidates.insert(
            0,
            candidates.pop(
                minimum_risk_index([hypothesis.tokens for hypothesis in candidates], utility, weights=weights)
            ),
        )
    return candidates[: settings.n_best]


def _build_chooser(settings: DecodingSettings) -> Greedy | MultinomialSampler:
    if not settings.temperature:
        return Greedy()
    return MultinomialSampler(
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        min_p=settings.min_p,
        seed=settings.seed,
        num_samples=settings.samples,
    )
