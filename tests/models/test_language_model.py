"""Whole language models: the next token from all before it, one by one or all at once."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.language_model import LanguageModel
from tests.models.settings_to_try import CAUSAL, AnySettings, assert_every_parameter_has_a_gradient, build

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

VOCAB = 9
every_causal_body = pytest.mark.parametrize("settings", CAUSAL.values(), ids=CAUSAL)


def language_model(settings: AnySettings, *, dropout: float = 0.0) -> LanguageModel:
    backbone = build(settings, causal=True)
    tied = backbone.input_size == backbone.output_size
    model = (
        LanguageModel(
            TokenEmbedding(VOCAB, backbone.input_size, pad_id=None), backbone, dropout=dropout, tied=tied
        )
        .double()
        .eval()
    )
    torch.nn.init.normal_(model.bias)
    return model


def tokens(batch: int, time: int) -> torch.Tensor:
    return torch.randint(0, VOCAB, (batch, time), generator=torch.Generator().manual_seed(time))


@pytest.mark.spec(20)
@every_causal_body
def test_reading_token_by_token_gives_the_same_next_token_guesses(settings: AnySettings) -> None:
    model = language_model(settings)
    sentence = tokens(2, 8)
    whole, _ = model(sentence, torch.ones_like(sentence, dtype=torch.bool))
    state = None
    for t in range(8):
        logits, state = model(sentence[:, t : t + 1], torch.ones(2, 1, dtype=torch.bool), state)
        torch.testing.assert_close(logits[:, 0], whole[:, t], rtol=0, atol=1e-10)
    assert torch.equal(logits[:, 0].argmax(dim=-1), whole[:, -1].argmax(dim=-1))


@every_causal_body
def test_a_guess_depends_on_earlier_tokens_of_the_own_sequence_only(settings: AnySettings) -> None:
    model = language_model(settings)
    rows = tokens(3, 8)
    real = torch.ones_like(rows, dtype=torch.bool)
    before, _ = model(rows, real)
    changed = rows.clone()
    changed[1, 5] = (changed[1, 5] + 1) % VOCAB
    after, _ = model(changed, real)
    differs = (after - before).abs().amax(dim=-1) > 1e-9
    assert not differs[[0, 2]].any()
    assert not differs[1, :5].any()
    assert differs[1, 5]


@every_causal_body
def test_gradients_reach_every_parameter(settings: AnySettings) -> None:
    model = language_model(settings, dropout=0.3).train()
    rows = tokens(3, 30)
    logits, _ = model(rows, torch.ones_like(rows, dtype=torch.bool))
    F.cross_entropy(logits.flatten(0, 1), rows.roll(-1).flatten()).backward()
    assert_every_parameter_has_a_gradient(model)


def test_a_tied_output_layer_is_the_embedding_itself() -> None:
    model = language_model(CAUSAL["rnn"])
    rows = tokens(2, 4)
    real = torch.ones_like(rows, dtype=torch.bool)
    assert model.weight is None
    features, _ = model.backbone(model.embed(rows), real)
    torch.testing.assert_close(
        model(rows, real)[0], features @ model.embed.weight.T + model.bias, rtol=0, atol=1e-12
    )


def test_an_output_layer_of_its_own_maps_from_the_bodys_width() -> None:
    model = language_model(CAUSAL["three lstm layers"])
    rows = tokens(2, 4)
    real = torch.ones_like(rows, dtype=torch.bool)
    assert model.weight is not None
    features, _ = model.backbone(model.embed(rows), real)
    torch.testing.assert_close(
        model(rows, real)[0], features @ model.weight.T + model.bias, rtol=0, atol=1e-12
    )
