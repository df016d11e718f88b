"""The attention of learned queries over a few examples, as plain data for the report.

Papers: Lin et al. 2017, "A Structured Self-attentive Sentence Embedding", arXiv:1703.03130, figure 2.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from seqlab.attention.recording import record_alignments
from seqlab.blocks.pooling import AttentionPool
from seqlab.pages.sections.attention import QueryExample
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tasks.labeled.whole_sequence_codec import WholeSequenceCodec

MAX_EXAMPLES, MAX_TOKENS = 6, 120


@torch.inference_mode()
def query_examples(
    codec: WholeSequenceCodec, model: nn.Module, split: LabeledSplit, answers: Sequence[str]
) -> list[QueryExample]:
    """Return the weight of every token in every query, for the first examples of a split, one per answer.

    Empty if the network has no queries.
    """
    pool = getattr(model, "pool", None)
    if not isinstance(pool, AttentionPool):
        return []
    lines, device = split.store["line"], next(model.parameters()).device
    examples = []
    for number, answer in enumerate(answers):
        steps = split.steps[number]
        inputs = torch.from_numpy(steps.astype("int64") if steps.dtype.kind in "iu" else steps)
        with record_alignments(pool) as recorded:
            model(inputs[None].to(device), torch.ones(1, len(steps), dtype=torch.bool, device=device))
        (alignment,) = (weights for calls in recorded.values() for weights in calls)
        by_query = alignment[0].mean(dim=0)[:, :MAX_TOKENS].tolist()  # (queries, time), mean over the heads
        examples.append(
            QueryExample(
                title=f"line {int(lines[number])}: {answer}",
                tokens=codec.pieces(steps[:MAX_TOKENS]),
                strips=[
                    {"name": f"query {query}", "weights": weights}
                    for query, weights in enumerate(by_query, start=1)
                ],
            )
        )
    return examples
