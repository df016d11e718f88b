"""The search that settings describe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seqlab.core.errors import RecipeError
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.constraints import AtLeast, Constraint, NoRepeat, Prefix
from seqlab.decoding.coverage import CoveragePenalty
from seqlab.decoding.diversity import Diversity
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.length_normalization import GNMT, Power, ScoreRule
from seqlab.decoding.minimum_bayes_risk import Utility, least_risk, n_gram_overlap, probabilities
from seqlab.decoding.search import Search, Symbols
from seqlab.decoding.settings import SearchSettings
from seqlab.decoding.stepwise import SinglePath
from seqlab.decoding.token_choice import Likeliest, Roulette

RULES: Mapping[str, type[Power | GNMT]] = {"power": Power, "gnmt": GNMT}


def build_search(
    settings: SearchSettings,
    symbols: Symbols,
    *,
    vocabulary_size: int,
    prefix: Sequence[int] = (),
    prefixes: Mapping[int, Sequence[int]] | None = None,
    longest: int | None = None,
) -> Search:
    """prefix: the tokens of settings.prefix; prefixes: those of single sentences by their numbers; longest: tokens that the model can write."""
    if settings.beam > vocabulary_size:
        raise RecipeError(
            f"a beam of {settings.beam} is wider than the vocabulary of {vocabulary_size} tokens.",
            where="search.beam",
            cure=f"Use at most {vocabulary_size}; more than 10 rarely helps.",
        )
    max_tokens = settings.max_tokens if longest is None else min(settings.max_tokens, longest)
    constraints: list[Constraint] = []
    if settings.min_tokens:
        constraints.append(AtLeast(settings.min_tokens, end_id=symbols.end_id))
    if settings.no_repeat:
        constraints.append(NoRepeat(settings.no_repeat))
    if prefix or prefixes:
        constraints.append(Prefix(prefix, prefixes))
    if settings.beam == 1:
        return SinglePath(symbols, _chooser(settings), max_tokens=max_tokens, constraints=constraints)
    return BeamSearch(
        symbols,
        width=settings.beam,
        max_tokens=max_tokens,
        n_best=settings.beam if settings.choose_by == "risk" else settings.n_best,
        rule=rule_of(settings),
        coverage=CoveragePenalty(settings.coverage) if settings.coverage else None,
        diversity=Diversity(settings.groups, settings.diversity),
        constraints=constraints,
    )


def rule_of(settings: SearchSettings) -> ScoreRule:
    return RULES[settings.length_rule](settings.length_alpha)


def answer_of(settings: SearchSettings, hypotheses: Sequence[Hypothesis], utility: Utility[list[int]] = n_gram_overlap) -> list[Hypothesis]:
    """The `n_best` of what was found for one source; with choose_by=risk the one of all with the least expected loss comes first."""
    found = list(hypotheses)
    if settings.choose_by == "risk" and len(found) > 1:
        weights = None if settings.temperature else probabilities(found)
        found.insert(0, found.pop(least_risk([one.tokens for one in found], utility, weights=weights)))
    return found[: settings.n_best]


def _chooser(settings: SearchSettings) -> Likeliest | Roulette:
    if not settings.temperature:
        return Likeliest()
    return Roulette(
        temperature=settings.temperature,
        top_k=settings.top_k,
        top_p=settings.top_p,
        min_p=settings.min_p,
        seed=settings.seed,
        num_draws=settings.samples,
    )
