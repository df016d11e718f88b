"""Runs that write one target together, token by token: all must have the same tokens."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

from torch import nn

from seqlab.core.errors import UsageError
from seqlab.decoding.ensemble import Ensemble
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.tasks.base import Task
from seqlab.tasks.inputs import digest_of
from seqlab.tasks.seq2seq.task import PairTask
from seqlab.tasks.translation.tokens import PairTokens
from seqlab.tokens.base import Tokenizer

CURE = (
    "Runs write together that were trained with the same tokens, such as those of: seqlab train WHAT"
    " --seeds 3"
)


def written_together(parts: Sequence[tuple[Task, nn.Module, str]]) -> tuple[PairTask, Ensemble]:
    """Of each run its task, its model and its name: an ensemble, and a task with the recipe of the first that
    reads no more than all of them can.
    """
    first, tasks, models = parts[0], [], []
    device = next(first[1].parameters()).device
    for task, model, name in parts:
        refuse_other_tokens(first[0], task, where=name)
        assert isinstance(task, PairTask)
        assert isinstance(model, EncoderDecoder | Ensemble)
        tasks.append(task)
        models.append(model.to(device))
    shared = copy(min(tasks, key=lambda task: task.longest_known))
    shared.recipe = first[0].recipe
    return shared, Ensemble(models)


def refuse_other_tokens(first: Task, other: Task, *, where: str) -> None:
    """`other` has the task, the languages and the tokens of `first`, or words say what is different. where:
    the run of `other`.
    """
    for task in (first, other):
        if not isinstance(task, PairTask):
            raise UsageError(
                f"a run of the task {task.recipe.task} writes nothing together with others.",
                where=where,
                cure="Leave it out.",
            )
    if first.recipe.task != other.recipe.task or bool(first.recipe.data.language) != bool(
        other.recipe.data.language
    ):
        raise UsageError(
            "the run has another task, or does not write the same languages.", where=where, cure=CURE
        )
    if digest_of(first.save) != digest_of(other.save):
        raise UsageError(
            f"the run has other tokens than the first: {_difference(first, other)}.", where=where, cure=CURE
        )


def _difference(first: Task, other: Task) -> str:
    """Where tokens differ, the first difference that can be told."""
    for side, ours, theirs in zip(("source", "target"), _sides(first), _sides(other), strict=True):
        if ours.kind != theirs.kind:
            return f"on its {side} side {theirs.kind} in place of {ours.kind}"
        pieces, others = ours.vocabulary.pieces, theirs.vocabulary.pieces
        if len(pieces) != len(others):
            return f"{len(others):,} on its {side} side in place of {len(pieces):,}"
        place = next(
            (place for place, pair in enumerate(zip(pieces, others, strict=True)) if pair[0] != pair[1]), None
        )
        if place is not None:
            return (
                f"number {place:,} of its {side} side is {others[place][:40]!r} in place of"
                f" {pieces[place][:40]!r}"
            )
    return "the same pieces, but another way to cut a text into them"


def _sides(task: Task) -> list[Tokenizer]:
    assert isinstance(task, PairTask)
    tokens = task.tokens
    return (
        [tokens.source, tokens.target] if isinstance(tokens, PairTokens) else [tokens.target, tokens.target]
    )
