"""The section `decoding` of a recipe: how sequences are generated. No torch here.

One word means the same for every task. What has no effect on a task is rejected by the class that its spec
names.
"""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from seqlab.core.settings import Settings


class DecodingSettings(Settings):
    """How sequences are generated: greedily, by beam search, or by sampling."""

    beam: int = Field(
        1, ge=1, description="Hypotheses that beam search keeps at every step; 1 is greedy or samples."
    )
    beam_kind: Literal["open", "thorough", "shared"] = Field(
        "open",
        description=(
            "Whether finished hypotheses leave the beam (open), also with a later stop (thorough), or take a"
            " place in it (shared)."
        ),
    )
    n_best: int = Field(1, ge=1, description="Answers for each source, the best first.")
    length_penalty: float = Field(
        1.0,
        ge=0,
        le=10,
        description=(
            "Exponent by which beam search normalizes for length: 0 ranks by the sum of log-probabilities, 1"
            " by about their mean."
        ),
    )
    length_penalty_kind: Literal["power", "gnmt"] = Field(
        "power",
        description=(
            "What beam search divides log-probabilities by: length^p, or ((5 + length) / 6)^p, with"
            " p = length_penalty."
        ),
    )
    coverage_penalty: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Weight of the penalty of beam search for parts of the source without attention.",
    )
    beam_groups: int = Field(1, ge=1, description="Groups of diverse beam search; 1 is plain beam search.")
    diversity_penalty: float = Field(
        0.5,
        ge=0,
        le=100,
        description="What a token costs a group for each earlier group that has chosen it at this step.",
    )
    temperature: float = Field(
        0.0,
        ge=0,
        le=100,
        description=(
            "Above 0, tokens are sampled: below 1 is safer, above 1 more random. 0 takes the most likely"
            " token. A language model defaults to 0.8."
        ),
    )
    top_k: int = Field(0, ge=0, description="Sample from this many most likely tokens; 0 disables.")
    top_p: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Sample from the most likely tokens with this total probability (nucleus); 1 disables.",
    )
    min_p: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Sample from tokens at least this many times as likely as the best one; 0 disables.",
    )
    samples: int = Field(1, ge=1, description="Targets that are sampled for each source.")
    choose_by: Literal["score", "risk"] = Field(
        "score",
        description=(
            "Answer with the hypothesis that scores best, or with the one most like all others (minimum Bayes"
            " risk)."
        ),
    )
    min_tokens: int = Field(0, ge=0, description="Generate at least this many tokens.")
    max_tokens: int = Field(200, ge=1, description="Generate at most this many tokens.")
    no_repeat_ngram: int = Field(0, ge=0, description="Forbid repeated n-grams of this size; 0 disables.")
    unknown: Literal["never", "copy"] = Field(
        "never",
        description=(
            "Never generate the unknown token, or replace it by the source word with the most attention."
        ),
    )
    prefix: str = Field("", description="Text that every target begins with.")
    context: int = Field(
        0,
        ge=0,
        description=(
            "Tokens that a language model without a state looks back on; 0 takes language_model.window."
        ),
    )
    batch_size: int = Field(32, ge=1, description="Sources that are decoded in one batch.")
    seed: int = Field(1, ge=0, description="Fixes the samples; those of a source do not depend on its batch.")


class TaskDecoding(DecodingSettings):
    """The section as one group of tasks understands it."""

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
    """Of a task that generates nothing."""

    used = ()
    why = "the task generates no sequences. Leave it out."


class SamplingSettings(TaskDecoding):
    """How a language model continues a text."""

    temperature: float = Field(
        0.8, ge=0, le=100, description=DecodingSettings.model_fields["temperature"].description
    )
    used = ("temperature", "top_k", "top_p", "min_p", "max_tokens", "context", "seed")
    why = f"a language model samples one token after another. Settings with an effect: {', '.join(used)}."


class SearchSettings(TaskDecoding):
    """How a target for a source is found: greedily, by beam search, or by sampling."""

    used = tuple(name for name in DecodingSettings.model_fields if name != "context")
    why = "a decoder sees all of its target. Leave it out."

    @model_validator(mode="after")
    def _check_conflicts(self) -> Self:
        if conflicts := find_conflicts(self):
            raise ValueError(" ".join(conflicts))
        return self


def find_conflicts(settings: SearchSettings) -> list[str]:
    """Settings that exclude each other, one sentence each."""
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
            f"beam_groups={settings.beam_groups} does not divide beam={settings.beam}; these do: {divisors}."
        )
    if settings.beam > 1 and settings.temperature:
        conflicts.append(
            f"beam={settings.beam} searches and temperature={settings.temperature:g} samples; use one of them."
        )
    if settings.coverage_penalty and settings.beam == 1:
        conflicts.append(
            f"coverage_penalty={settings.coverage_penalty:g} ranks the hypotheses of a beam, and beam=1 keeps"
            " one; use a larger beam."
        )
    if settings.choose_by == "risk" and settings.samples == settings.beam == 1:
        conflicts.append(
            "choose_by=risk compares hypotheses, and there is one; use temperature=1 with samples=32, or a"
            " beam."
        )
    return conflicts + _sampling_conflicts(settings) + _n_best_conflicts(settings)


def _sampling_conflicts(settings: SearchSettings) -> list[str]:
    """What has no effect where nothing is sampled."""
    if settings.temperature:
        return []
    truncation = [("top_k", settings.top_k, 0), ("top_p", settings.top_p, 1), ("min_p", settings.min_p, 0)]
    narrowed = [f"{name}={value:g}" for name, value, neutral in truncation if value != neutral]
    conflicts = []
    if settings.samples > 1:
        conflicts.append(
            f"samples={settings.samples} would all be the same at temperature=0; raise the temperature, for"
            " instance to 1."
        )
    if narrowed:
        conflicts.append(
            f"{' and '.join(narrowed)} narrow what is sampled, and temperature=0 samples nothing; raise it,"
            " for instance to 1."
        )
    return conflicts


def _n_best_conflicts(settings: SearchSettings) -> list[str]:
    name = "samples" if settings.temperature else "beam"
    most = getattr(settings, name)
    if settings.n_best <= most:
        return []
    return [f"n_best={settings.n_best} is larger than {name}={most}; raise {name}, or lower n_best."]
