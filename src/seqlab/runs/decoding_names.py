"""Reject decoding settings that have no effect on a run, in the notation that the user used."""

from __future__ import annotations

from collections.abc import Iterable

from seqlab.core.errors import UsageError, listed, nearest
from seqlab.decoding.settings import DecodingSettings, TaskDecoding
from seqlab.tasks.spec import TaskSpec

IN_PREDICT = ("context",)
"""Settings that matter when a language model predicts the next token."""


def check_decoding_names(
    spec: TaskSpec, names: Iterable[str], *, written: str = "{}", arguments: Iterable[str] = ()
) -> None:
    """Reject settings that do not exist or have no effect on the task of a run.

    arguments: other arguments of the call, one of which may have been meant.
    written: how the user passes a setting: `{}` in Python, `--decoding {}` on the command line.
    """
    known = DecodingSettings.model_fields
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no decoding setting called '{name}'.",
                where=written.format(name),
                cure=nearest(name, [*known, *arguments]),
            )
    kind = spec.decoding
    if issubclass(kind, TaskDecoding):
        _reject([name for name in names if name not in kind.used], kind.why, spec, written)


def reject_sampling_settings(spec: TaskSpec, names: Iterable[str], *, written: str = "{}") -> None:
    """Reject sampling settings for a language model: `predict` does not sample the next token, only
    `generate` does.
    """
    if spec.continues_text:
        known = [name for name in names if name in DecodingSettings.model_fields and name not in IN_PREDICT]
        why = "predict returns the probabilities of the next token. Use generate to continue a text."
        _reject(known, why, spec, written)


def _reject(idle: list[str], why: str, spec: TaskSpec, written: str) -> None:
    if idle:
        raise UsageError(
            f"no effect on a run of the task {spec.name}: {why}",
            where=listed([written.format(name) for name in idle]),
        )
