"""The section `decoding` of a recipe: how sequences are generated. No torch here.

A setting means the same for every task. Settings that have no effect on a task are rejected by the class
that its spec names.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from seqlab.core.settings import Settings


class DecodingSettings(Settings):
    """How sequences are generated: greedily, by beam search, or by sampling."""

    beam: int = Field(1, ge=1, description="Beam size of beam search; 1 decodes greedily or samples.")
    beam_kind: Literal["open", "thorough", "shared"] = Field(
        "open",
        description=(
            "What finished hypotheses do: leave the beam (open), leave it and let the search run longer"
            " (thorough), or keep their place in it (shared)."
        ),
    )
    n_best: int = Field(1, ge=1, description="Number of hypotheses to return for each source, best first.")
    length_penalty: float = Field(
        1.0,
        ge=0,
        le=10,
        description=(
            "Exponent of the length penalty: 0 ranks by the sum of log-probabilities, 1 by roughly their"
            " mean."
        ),
    )
    length_penalty_kind: Literal["power", "gnmt"] = Field(
        "power",
        description=(
            "Formula of the length penalty that divides the log-probability: length^p, or ((5 + length)"
            " / 6)^p, with p = length_penalty."
        ),
    )
    coverage_penalty: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Weight of the coverage penalty for source positions that got too little attention.",
    )
    beam_groups: int = Field(
        1, ge=1, description=("Number of groups in diverse beam search; 1 is plain beam search.")
    )
    diversity_penalty: float = Field(
        0.5,
        ge=0,
        le=100,
        description="Penalty for a token, per earlier group that chose it at the same step.",
    )
    temperature: float = Field(
        0.0,
        ge=0,
        le=100,
        description=(
            "Sampling temperature: lower is more conservative, higher more random; 0 is greedy. Language"
            " models default to 0.8."
        ),
    )
    top_k: int = Field(0, ge=0, description="Sample from only the k most likely tokens (top-k); 0 disables.")
    top_p: float = Field(
        1.0,
        gt=0,
        le=1,
        description=(
            "Sample from the smallest set of tokens with this total probability (nucleus or"
            " top-p sampling); 1 disables."
        ),
    )
    min_p: float = Field(
        0.0,
        ge=0,
        le=1,
        description=(
            "Sample only tokens whose probability is at least this fraction of the best token's"
            " (min-p); 0 disables."
        ),
    )
    samples: int = Field(1, ge=1, description="Number of samples to draw for each source.")
    choose_by: Literal["score", "risk"] = Field(
        "score",
        description=(
            "Return the hypothesis with the best score, or the one most similar to all others (minimum"
            " Bayes risk)."
        ),
    )
    min_tokens: int = Field(0, ge=0, description="Generate at least this many tokens.")
    max_tokens: int = Field(200, ge=1, description="Generate at most this many tokens.")
    no_repeat_ngram: int = Field(0, ge=0, description="Forbid repeated n-grams of this size; 0 disables.")
    unknown: Literal["never", "copy"] = Field(
        "never",
        description=(
            "How to handle unknown tokens: never generate them, or replace each with the source word"
            " that got the most attention."
        ),
    )
    prefix: str = Field("", description="Text that every target starts with.")
    context: int = Field(
        0,
        ge=0,
        description=(
            "Context window, in tokens, of a language model without a recurrent state; 0 uses"
            " language_model.window."
        ),
    )
    batch_size: int = Field(32, ge=1, description="Number of sources to decode per batch.")
    seed: int = Field(
        1, ge=0, description=("Random seed for sampling; a source's samples do not depend on its batch.")
    )


class TaskDecoding(DecodingSettings):
    """The section for one group of tasks."""

    used: ClassVar[tuple[str, ...]]
    """Settings that have an effect."""
    why: ClassVar[str]
    """Why the others have none."""

    @model_validator(mode="after")
    def _reject_unused(self) -> Self:
        fields = type(self).model_fields
        idle = [
            name for name in fields if name not in self.used and getattr(self, name) != fields[name].default
        ]
        if idle:
            raise ValueError(
                f"{' and '.join(idle)} {'has' if len(idle) == 1 else 'have'} no effect: {self.why}"
            )
        return self


class NoDecoding(TaskDecoding):
    """For tasks that do not generate sequences."""

    used = ()
    why = "the task does not generate sequences. Remove it."


class SamplingSettings(TaskDecoding):
    """How a language model continues a text."""

    temperature: float = Field(
        0.8, ge=0, le=100, description=DecodingSettings.model_fields["temperature"].description
    )
    used = ("temperature", "top_k", "top_p", "min_p", "max_tokens", "context", "seed")
    why = f"a language model samples token by token. Supported settings: {', '.join(used)}."


class SearchSettings(TaskDecoding):
    """How a source is decoded into a target: greedily, by beam search, or by sampling."""

    used = tuple(name for name in DecodingSettings.model_fields if name != "context")
    why = "a decoder sees its whole target. Remove it."

    @model_validator(mode="after")
    def _check_conflicts(self) -> Self:
        if conflicts := find_conflicts(self):
            raise ValueError(" ".join(conflicts))
        return self


def find_conflicts(settings: SearchSettings) -> list[str]:
    """Conflicting settings, one sentence each."""
    conflicts = []
    if settings.min_tokens > settings.max_tokens:
        conflicts.append(
            f"min_tokens={settings.min_tokens} is larger than max_tokens={settings.max_tokens}; lower the first"
            " or raise the second."
        )
    if settings.beam % settings.beam_groups:
        divisors = ", ".join(
            str(groups) for groups in range(1, settings.beam + 1) if settings.beam % groups == 0
        )
        conflicts.append(
            f"beam_groups={settings.beam_groups} does not divide beam={settings.beam}; values that do:"
            f" {divisors}."
        )
    if settings.beam > 1 and settings.temperature:
        conflicts.append(
            f"beam={settings.beam} requests beam search and temperature={settings.temperature:g} requests"
            " sampling; use only one."
        )
    if settings.coverage_penalty and settings.beam == 1:
        conflicts.append(
            f"coverage_penalty={settings.coverage_penalty:g} has no effect with beam=1; use a larger beam."
        )
    if settings.choose_by == "risk" and settings.samples == settings.beam == 1:
        conflicts.append(
            "choose_by=risk compares hypotheses, but there is only one; use temperature=1 with"
            " samples=32, or a beam."
        )
    return conflicts + _sampling_conflicts(settings) + _n_best_conflicts(settings)


def _sampling_conflicts(settings: SearchSettings) -> list[str]:
    """Settings that have no effect without sampling."""
    if settings.temperature:
        return []
    truncation = [("top_k", settings.top_k, 0), ("top_p", settings.top_p, 1), ("min_p", settings.min_p, 0)]
    narrowed = [f"{name}={value:g}" for name, value, neutral in truncation if value != neutral]
    conflicts = []
    if settings.samples > 1:
        conflicts.append(
            f"samples={settings.samples} would all be identical at temperature=0; raise the temperature,"
            " for example to 1."
        )
    if narrowed:
        conflicts.append(
            f"{' and '.join(narrowed)} restrict sampling, but temperature=0 does not sample; raise it,"
            " for example to 1."
        )
    return conflicts


def _n_best_conflicts(settings: SearchSettings) -> list[str]:
    name = "samples" if settings.temperature else "beam"
    most = getattr(settings, name)
    if settings.n_best <= most:
        return []
    return [f"n_best={settings.n_best} is larger than {name}={most}; raise {name} or lower n_best."]
