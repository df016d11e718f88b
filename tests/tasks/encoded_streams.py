"""Language models around an encoded text, as tests use them."""

from __future__ import annotations

from typing import Any

import torch

from seqlab.batches.stored_column import StoredColumn
from seqlab.recipes.read import check
from seqlab.runs.data import open_data
from seqlab.tasks.language_model.context_policy import ContextPolicy
from seqlab.tasks.language_model.log_likelihood import stream_log_probs
from seqlab.tasks.spec import find_spec
from tests.tasks.encoded_task import EncodedTask, encode_task


def encode_recipe(raw: dict[str, Any]) -> EncodedTask:
    """The data and the defaults of a recipe, encoded."""
    opened = open_data(check(raw, where="test"))
    recipe, _ = find_spec(opened.recipe.task).fill_defaults(opened.recipe, opened.parts["train"])
    return encode_task(recipe, opened.parts)


def tokens_of(task: EncodedTask, split: str) -> StoredColumn:
    """The stream of a split."""
    column: StoredColumn = task.splits[split].store["tokens"]
    return column


def split_log_probs(
    task: EncodedTask, model: torch.nn.Module, split: str, *, max_tokens: int = 10_000
) -> Any:
    """The log-probabilities that the evaluation of a split is made of."""
    policy = ContextPolicy.from_recipe(task.recipe)
    return stream_log_probs(
        model,
        tokens_of(task, split),
        window=policy.window,
        carries_state=policy.carries_state,
        max_tokens=max_tokens,
    )
