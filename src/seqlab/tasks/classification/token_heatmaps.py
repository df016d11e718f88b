"""Where learned queries look in a few examples: plain data for the report.

Papers: Lin et al. 2017, "A Structured Self-attentive Sentence Embedding", arXiv:1703.03130, figure 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import nn

from seqlab.attention.recording import record_alignments
from seqlab.blocks.query_pool import AttentionPool
from seqlab.pages.sections.attention import QueryExample

if TYPE_CHECKING:
    from seqlab.tasks.labeled.whole_sequences import WholeSequences

MOST_STRIPS, MOST_TOKENS = 6, 120
"""At most so many examples, and so many tokens of each."""


@torch.inference_mode()
def token_strips(
    task: WholeSequences, model: nn.Module, split: str, answers: Sequence[str]
) -> list[QueryExample]:
    """For the first examples of a split the weight of every token in every query; nothing where a network has
    no queries.
    """
    pool = getattr(model, "pool", None)
    if not isinstance(pool, AttentionPool):
        return []
    column, lines, device = task.steps(split), task.stores[split]["line"], next(model.parameters()).device
    found = []
    for number, answer in enumerate(answers):
        steps = column[number]
        inputs = torch.from_numpy(steps.astype("int64") if steps.dtype.kind in "iu" else steps)[None].to(
            device
        )
        with record_alignments(pool) as seen:
            model(inputs, torch.ones(1, len(steps), dtype=torch.bool, device=device))
        (alignment,) = (one for several in seen.values() for one in several)  # (1, heads, queries, time)
        weights = alignment[0].mean(dim=0)[:, :MOST_TOKENS].tolist()
        found.append(
            QueryExample(
                title=f"line {int(lines[number])}: {answer}",
                tokens=task.inputs.pieces(steps[:MOST_TOKENS]),
                strips=[
                    {"name": f"query {place}", "weights": each} for place, each in enumerate(weights, start=1)
                ],
            )
        )
    return found
