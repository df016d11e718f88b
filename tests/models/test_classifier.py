"""Whole classifiers: whatever the body and the pool, a batch is only a way to compute faster."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from seqlab.baselines.naive_bayes import NaiveBayes
from seqlab.blocks.embedding import InputProjection, TokenEmbedding
from seqlab.blocks.head import linear_head
from seqlab.blocks.pooling import LastPool, pooled_size
from seqlab.core.errors import ArgumentError
from seqlab.models.classifier import Classifier, build_pool
from tests.models.settings_to_try import (
    ALL_STEPS,
    AnySettings,
    assert_every_parameter_has_a_gradient,
    build,
    ragged,
    recurrent,
)

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

LENGTHS = [5, 2, 8, 1]
PAD = 1
GOOD = [4, 5, 6, 7, 4, 8]  # the same tokens in another order
BAD = [4, 8, 6, 7, 4, 5]


def classifier(settings: AnySettings, *, pool: str = "", width: int = 0) -> Classifier:
    backbone = build(settings, causal=False)
    embed: nn.Module = (
        InputProjection(width, backbone.input_size)
        if width
        else TokenEmbedding(12, backbone.input_size, pad_id=PAD)
    )
    pooled = build_pool(
        settings.model_copy(update={"pooling": pool or settings.pooling}), backbone.output_size
    )
    return (
        Classifier(
            embed, backbone, pooled, linear_head(pooled_size(pooled, backbone.output_size), 3), dropout=0.4
        )
        .double()
        .eval()
    )


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["last", "first", "max", "mean", "queries"])
@pytest.mark.parametrize("settings", ALL_STEPS.values(), ids=ALL_STEPS)
def test_logits_depend_on_the_own_tokens_only(settings: AnySettings, pool: str) -> None:
    if pool == "last" and getattr(settings, "merge", "concat") != "concat":
        pytest.skip("refused: see below")
    model = classifier(settings, pool=pool)
    tokens = torch.randint(2, 12, (4, 8), generator=torch.Generator().manual_seed(1))
    is_token = torch.arange(8) < torch.tensor(LENGTHS)[:, None]
    logits = model(tokens, is_token)  # what stands in the padding is not even the id of padding
    for row, length in enumerate(LENGTHS):
        alone = model(tokens[row : row + 1, :length], torch.ones(1, length, dtype=torch.bool))
        torch.testing.assert_close(logits[row], alone[0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("merge", ["mean", "sum", "learned"])
def test_the_last_step_of_merged_directions_is_refused(merge: str) -> None:
    """The backward half has read one step there, and which half is which cannot be told any more."""
    with pytest.raises(ArgumentError) as caught:
        build_pool(recurrent("gru", bidirectional=True, merge=merge), 5)
    assert (caught.value.argument, caught.value.value) == ("pooling", "last")
    for cure in ("pooling=max", "pooling=mean", "merge=concat"):
        assert cure in caught.value.cure
    assert isinstance(
        build_pool(recurrent("gru", merge=merge), 5), LastPool
    )  # one direction has nothing to merge


@pytest.mark.parametrize("settings", ALL_STEPS.values(), ids=ALL_STEPS)
def test_steps_of_numbers_enter_the_same_way(settings: AnySettings) -> None:
    model = classifier(settings, width=3)
    steps, is_token = ragged(LENGTHS, 3)
    logits = model(steps, is_token)
    for row, length in enumerate(LENGTHS):
        alone = model(steps[row : row + 1, :length], torch.ones(1, length, dtype=torch.bool))
        torch.testing.assert_close(logits[row], alone[0], rtol=0, atol=1e-10)


@pytest.mark.parametrize("settings", ALL_STEPS.values(), ids=ALL_STEPS)
def test_gradients_reach_every_parameter(settings: AnySettings) -> None:
    model = classifier(settings).train()
    tokens = torch.randint(2, 12, (4, 8), generator=torch.Generator().manual_seed(1))
    logits = model(tokens, torch.arange(8) < torch.tensor(LENGTHS)[:, None])
    (logits * torch.randn_like(logits)).sum().backward()
    assert_every_parameter_has_a_gradient(model)


@pytest.mark.spec(18)
@pytest.mark.parametrize("settings", ALL_STEPS.values(), ids=ALL_STEPS)
def test_sentences_of_the_same_words_differ_for_every_network_that_sees_order(settings: AnySettings) -> None:
    sees_order = getattr(settings, "positions", "") != "none" and getattr(settings, "kernel_size", 3) > 1
    model = classifier(settings, pool="mean")
    logits = model(torch.tensor([GOOD, BAD]), torch.ones(2, 6, dtype=torch.bool))
    assert bool((logits[0] - logits[1]).abs().max() > 1e-6) == sees_order


@pytest.mark.spec(18)
@pytest.mark.parametrize("presence", [True, False])
def test_sentences_of_the_same_words_are_the_same_to_a_bag_of_words(presence: bool) -> None:
    examples = [(np.array(GOOD), 0), (np.array([9, 8, 8]), 1)]
    bag = NaiveBayes.fit(examples, vocabulary_size=12, num_classes=2, binary=presence)
    good, bad = bag.log_probs([np.array(GOOD), np.array(BAD)])
    assert good.tolist() == pytest.approx(bad.tolist(), abs=1e-12)
