"""What a network for sequences must be able to do, as behaviour: five criteria, for each family."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from seqlab.blocks.pooling import MeanPool
from seqlab.models.base import Backbone, ModelState
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.transformer import TransformerSettings
from tests.models.settings_to_try import AnySettings, build, ragged, recurrent

FAMILIES: dict[str, AnySettings] = {
    "recurrent": recurrent("lstm", hidden_size=8),
    "convolutional": ConvolutionalSettings(
        hidden_size=8, layers=5, kernel_size=3
    ),  # sees 1 + 2 * 31 steps back
    "transformer": TransformerSettings(hidden_size=8, heads=2, layers=2),
}
every_family = pytest.mark.parametrize("settings", FAMILIES.values(), ids=FAMILIES)
either_way = pytest.mark.parametrize("causal", [True, False], ids=["causal", "all steps"])


def run(backbone: Backbone, steps: Tensor) -> Tensor:
    return backbone(steps, torch.ones(steps.shape[:2], dtype=torch.bool))[0]


@pytest.mark.spec(17)
@either_way
@every_family
def test_one_network_reads_sequences_of_any_length(settings: AnySettings, causal: bool) -> None:
    backbone = build(settings, causal=causal)
    for length in (1, 2, 7, 60):
        steps, _ = ragged([length], backbone.input_size)
        outputs = run(backbone, steps)
        assert outputs.shape == (1, length, backbone.output_size)
        assert outputs.isfinite().all()


@pytest.mark.spec(17)
@every_family
def test_the_first_step_is_reached_by_the_gradient_of_one_far_behind_it(settings: AnySettings) -> None:
    backbone = build(settings, causal=True)
    steps, _ = ragged([50], backbone.input_size)
    steps.requires_grad_()
    (reach,) = torch.autograd.grad(run(backbone, steps)[0, -1].square().sum(), steps)
    assert reach[0, 0].abs().sum() > 0


@pytest.mark.spec(17)
@either_way
@every_family
def test_features_stand_in_the_order_of_the_steps(settings: AnySettings, causal: bool) -> None:
    """Another step at one place changes the features there more than those of a distant place."""
    backbone = build(settings, causal=causal)
    steps, _ = ragged([40], backbone.input_size)
    before = run(backbone, steps)
    for place in (3, 20, 33):
        changed = steps.clone()
        changed[0, place] = -steps[0, place]
        moved = (run(backbone, changed) - before)[0].abs().sum(dim=-1)
        assert int(moved.argmax()) == place


@pytest.mark.spec(17)
@every_family
def test_the_same_parameters_serve_every_place(settings: AnySettings) -> None:
    """Whatever place is asked about, all of them answer; none belongs to one place."""
    backbone = build(settings, causal=True)
    steps, _ = ragged([40], backbone.input_size)
    outputs = run(backbone, steps)
    for place in (1, 5, 38):
        gradients = torch.autograd.grad(
            outputs[0, place].square().sum(),
            list(backbone.parameters()),
            retain_graph=True,
            allow_unused=True,
        )
        assert all(gradient is not None and gradient.any() for gradient in gradients)


@pytest.mark.spec(17)
@either_way
@every_family
def test_steps_in_another_order_give_other_features(settings: AnySettings, causal: bool) -> None:
    backbone = build(settings, causal=causal)
    steps, _ = ragged([6], backbone.input_size)
    swapped = steps[:, [1, 0, 2, 3, 4, 5]]
    assert (run(backbone, steps)[0, -1] - run(backbone, swapped)[0, -1]).abs().max() > 1e-6


WORDS = ["not", "good", "bad", "at", "all", "but"]
PRAISE, BLAME = "not bad at all but good", "not good at all but bad"


def sentences(size: int) -> Tensor:
    """Two sentences of the same words, embedded: (2, time, size)."""
    table = torch.randn(len(WORDS), size, dtype=torch.float64, generator=torch.Generator().manual_seed(4))
    return torch.stack(
        [table[[WORDS.index(word) for word in sentence.split()]] for sentence in (PRAISE, BLAME)]
    )


def represent(settings: AnySettings, *, causal: bool = False) -> Tensor:
    backbone = build(settings, causal=causal)
    is_token = torch.ones(2, len(PRAISE.split()), dtype=torch.bool)
    return MeanPool()(backbone(sentences(backbone.input_size), is_token)[0], is_token)


@pytest.mark.spec(18)
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_opposite_sentences_of_the_same_words_differ_for_attention_with_positions(positions: str) -> None:
    praise, blame = represent(TransformerSettings(hidden_size=8, heads=2, positions=positions))
    assert (praise - blame).abs().max() > 1e-3


@pytest.mark.spec(18)
@pytest.mark.parametrize("cell", ["rnn", "lstm", "gru", "min_gru"])
@pytest.mark.parametrize("bidirectional", [True, False])
def test_opposite_sentences_of_the_same_words_differ_for_a_recurrent_network(
    cell: str, bidirectional: bool
) -> None:
    praise, blame = represent(recurrent(cell, hidden_size=8, bidirectional=bidirectional))
    assert (praise - blame).abs().max() > 1e-3


@pytest.mark.spec(18)
def test_opposite_sentences_of_the_same_words_are_one_bag_of_words() -> None:
    """The mean of embeddings, and attention that knows no places, cannot tell them apart."""
    praise, blame = sentences(8).mean(dim=1)
    torch.testing.assert_close(praise, blame, rtol=0, atol=1e-12)
    praise, blame = represent(TransformerSettings(hidden_size=8, heads=2, layers=3, positions="none"))
    torch.testing.assert_close(praise, blame, rtol=0, atol=1e-12)


@pytest.mark.spec(183)
@every_family
def test_an_endless_stream_read_token_by_token_gives_what_one_batch_run_gives(settings: AnySettings) -> None:
    backbone = build(settings, causal=True)
    steps, is_token = ragged([70, 70], backbone.input_size)
    whole, _ = backbone(steps, is_token)
    state: ModelState | None = None
    for t in range(70):
        outputs, state = backbone(steps[:, t : t + 1], is_token[:, t : t + 1], state)
        torch.testing.assert_close(outputs[:, 0], whole[:, t], rtol=0, atol=1e-10)
