"""The sections `decoding` and `search` of a recipe: how sequences are generated, and how targets of a source
are searched. No torch here.
"""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from seqlab.core.settings import Settings


class DecodingSettings(Settings):
    """How the next token is chosen and when to stop."""

    temperature: float = Field(
        0.8,
        ge=0,
        le=100,
        description=(
            "Divides the logits: below 1 is safer, above 1 more random, 0 always takes the likeliest."
        ),
    )
    top_k: int = Field(0, ge=0, description="Choose among this many likeliest tokens; 0 considers all.")
    top_p: float = Field(
        1.0, gt=0, le=1, description="Choose among the likeliest tokens that together have this probability."
    )
    min_p: float = Field(
        0.0,
        ge=0,
        le=1,
        description=(
            "Choose among tokens at least this many times as probable as the likeliest; 0 considers all."
        ),
    )
    max_tokens: int = Field(200, ge=1, description="Stop after this many new tokens.")
    context: int = Field(
        0,
        ge=0,
        description=(
            "Tokens on which a model without a state looks back while writing; 0 takes training.window."
        ),
    )
    seed: int = Field(1, ge=0, description="Fixes the random choices.")


class SearchSettings(Settings):
    """How the targets of a source are searched: greedily, by a beam, or by draws."""

    beam: int = Field(
        1, ge=1, description="Hypotheses that are kept at every step; 1 takes the likeliest token each time."
    )
    n_best: int = Field(1, ge=1, description="Targets that are given for each source, the best first.")
    length_rule: Literal["power", "gnmt"] = Field(
        "power",
        description="What a beam divides log-probabilities by: length^alpha, or ((5 + length) / 6)^alpha.",
    )
    length_alpha: float = Field(
        1.0,
        ge=0,
        le=10,
        description="How much a beam makes up for length: 0 ranks by the plain sum, 1 by about the mean.",
    )
    coverage: float = Field(
        0.0,
        ge=0,
        le=100,
        description="Weight of a beam's penalty for parts of the source that were not looked at.",
    )
    groups: int = Field(1, ge=1, description="Groups of a beam that are told to differ; 1 is a plain beam.")
    diversity: float = Field(
        0.5,
        ge=0,
        le=100,
        description="What a token costs a group for each time an earlier group has just chosen it.",
    )
    min_tokens: int = Field(0, ge=0, description="A target has at least this many tokens.")
    max_tokens: int = Field(200, ge=1, description="A target has at most this many tokens.")
    no_repeat: int = Field(
        0, ge=0, description="No so many tokens in a row come twice in a target; 0 allows it."
    )
    unknown: Literal["never", "copy"] = Field(
        "never",
        description=(
            "Never write an unknown word, or put in its place the word of the source that was looked at most."
        ),
    )
    prefix: str = Field("", description="Words with which every target begins.")
    temperature: float = Field(
        0.0, ge=0, le=100, description="Above 0 targets are drawn: below 1 is safer, above 1 more random."
    )
    top_k: int = Field(0, ge=0, description="Draw among this many likeliest tokens; 0 considers all.")
    top_p: float = Field(
        1.0, gt=0, le=1, description="Draw among the likeliest tokens that together have this probability."
    )
    min_p: float = Field(
        0.0,
        ge=0,
        le=1,
        description=(
            "Draw among tokens at least this many times as probable as the likeliest; 0 considers all."
        ),
    )
    samples: int = Field(1, ge=1, description="Targets that are drawn for each source.")
    seed: int = Field(1, ge=0, description="Fixes the draws; those of a source do not depend on its batch.")
    choose_by: Literal["score", "risk"] = Field(
        "score",
        description=(
            "Which target is answered: that with the best score, or that most like all the others (minimum"
            " Bayes risk)."
        ),
    )
    batch_size: int = Field(32, ge=1, description="Sources that are searched side by side.")

    @model_validator(mode="after")
    def _check_conflicts(self) -> Self:
        if conflicts := find_conflicts(self):
            raise ValueError(" ".join(conflicts))
        return self


def find_conflicts(settings: SearchSettings) -> list[str]:
    """What cannot be together, one sentence each."""
    conflicts = []
    if settings.min_tokens > settings.max_tokens:
        conflicts.append(
            f"a target of at least min_tokens={settings.min_tokens} and at most"
            f" max_tokens={settings.max_tokens} tokens cannot be; lower the first, or raise the second."
        )
    if settings.n_best > settings.beam and not settings.temperature:
        conflicts.append(
            f"n_best={settings.n_best} targets cannot come from beam={settings.beam}; widen the beam, or ask"
            " for fewer."
        )
    if settings.beam % settings.groups:
        divisors = ", ".join(
            str(groups) for groups in range(1, settings.beam + 1) if settings.beam % groups == 0
        )
        conflicts.append(
            f"groups={settings.groups} do not divide beam={settings.beam} evenly; these do: {divisors}."
        )
    if settings.beam > 1 and settings.temperature:
        conflicts.append(
            f"beam={settings.beam} searches and temperature={settings.temperature:g} draws; use one of them."
        )
    if settings.samples > 1 and not settings.temperature:
        conflicts.append(
            f"samples={settings.samples} would all be the same at temperature=0; raise the temperature, for"
            " instance to 1."
        )
    truncations = [
        f"{name}={value:g}" for name, value, neutral in _truncation_settings(settings) if value != neutral
    ]
    if truncations and not settings.temperature:
        conflicts.append(
            f"{' and '.join(truncations)} would narrow draws, and at temperature=0 nothing is drawn; raise"
            " it, for instance to 1."
        )
    if settings.coverage and settings.beam == 1:
        conflicts.append(
            f"coverage={settings.coverage:g} ranks the hypotheses of a beam, and beam=1 keeps one; widen the"
            " beam."
        )
    if settings.n_best > settings.samples and settings.temperature:
        conflicts.append(
            f"n_best={settings.n_best} targets cannot come from samples={settings.samples}; draw more, or ask"
            " for fewer."
        )
    if settings.choose_by == "risk" and settings.samples == settings.beam == 1:
        conflicts.append(
            "choose_by=risk compares candidates, and there is one; use temperature=1 with samples=32, or a"
            " beam."
        )
    return conflicts


def _truncation_settings(settings: SearchSettings) -> list[tuple[str, float, float]]:
    """Name, value, and the value that narrows nothing."""
    return [("top_k", settings.top_k, 0), ("top_p", settings.top_p, 1), ("min_p", settings.min_p, 0)]
