"""The parts of the task tagging that need torch, and how its network is built."""

from __future__ import annotations

from torch import nn

from seqlab.models.tagger import build_tagger
from seqlab.tasks.parts import TaskParts
from seqlab.tasks.tagging.codec import TaggingCodec
from seqlab.tasks.tagging.evaluator import TaggingEvaluator
from seqlab.tasks.tagging.objective import TaggingObjective
from seqlab.tasks.tagging.predictor import TaggingPredictor
from seqlab.tasks.tagging.settings import TaggingSettings


def build_model(codec: TaggingCodec) -> nn.Module:
    """Build a network with one logit per tag at every step, with a CRF on top if `tagging.crf` is set."""
    return build_tagger(
        codec.recipe.model,
        embedding=codec.inputs.embedding,
        num_tags=len(codec.labels),
        crf=codec.recipe.section(TaggingSettings).crf,
    )


PARTS = TaskParts(
    codec=TaggingCodec,
    build_model=build_model,
    objective=TaggingObjective,
    evaluator=TaggingEvaluator,
    predictor=TaggingPredictor,
)
