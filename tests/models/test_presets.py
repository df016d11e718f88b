"""BERT, GPT-2 and their kin as configured networks: as large as published, counted without memory."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
import torch
from pydantic import TypeAdapter
from torch import nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    BertModel,
    DistilBertConfig,
    DistilBertForMaskedLM,
    GPT2Config,
    GPT2LMHeadModel,
    RobertaConfig,
)
from transformers import RobertaForMaskedLM as Roberta

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.models.base import backbones
from seqlab.models.language_model import LanguageModel
from seqlab.models.masked_language_model import MaskedLanguageModel
from seqlab.models.presets import MODEL_PRESETS
from seqlab.models.settings.section import ModelSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.recipes.read import check, override

POSITIONS, TYPES = 512, 2
LARGE = BertConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096)


@cache
def build(name: str) -> MaskedLanguageModel | LanguageModel:
    """The whole network on a device without memory."""
    network = MODEL_PRESETS[name]
    settings: TransformerSettings = TypeAdapter(ModelSettings).validate_python(network.settings)
    with torch.device("meta"):
        backbone = backbones.get(settings.kind).from_settings(settings, causal=network.causal)
        embed = TokenEmbedding(network.vocabulary_size, settings.hidden_size, pad_id=None)
        kind = LanguageModel if network.causal else MaskedLanguageModel
        return kind(embed, backbone, dropout=settings.dropout, tied=True)


def count(*modules: nn.Module) -> int:
    return sum(parameter.numel() for module in modules for parameter in module.parameters())


def reference(make: Callable[[], nn.Module]) -> int:
    with torch.device("meta"):
        return count(make())


@pytest.mark.parametrize("name", MODEL_PRESETS)
def test_the_number_of_parameters_is_what_the_list_says(name: str) -> None:
    assert count(build(name)) == MODEL_PRESETS[name].parameters
    assert MODEL_ALIASES[name] == MODEL_PRESETS[name].settings


@pytest.mark.spec(170)
@pytest.mark.parametrize(
    ("name", "config", "published"),
    [("bert-base", BertConfig(), 109_482_240), ("bert-large", LARGE, 335_141_888)],
)
def test_bert_has_its_published_size_but_for_token_types_and_pooler(
    name: str, config: BertConfig, published: int
) -> None:
    """Ours has one kind of text and no second layer over the first token; the papers round to 110 and 340
    million.
    """
    width = config.hidden_size
    types, pooler = TYPES * width, width * width + width
    model = build(name)
    assert reference(lambda: BertModel(config)) == published
    assert count(model.embed, model.backbone) == published - types - pooler
    assert count(model) == reference(lambda: BertForMaskedLM(config)) - types
    assert published == pytest.approx({"bert-base": 110e6, "bert-large": 340e6}[name], rel=0.015)


def test_distilbert_has_no_token_types_and_is_the_same_to_the_last_parameter() -> None:
    assert (
        count(build("distilbert"))
        == reference(lambda: DistilBertForMaskedLM(DistilBertConfig()))
        == 66_985_530
    )


def test_roberta_has_two_more_places_that_nothing_stands_at_and_one_token_type() -> None:
    theirs = reference(
        lambda: Roberta(
            RobertaConfig(vocab_size=50_265, max_position_embeddings=POSITIONS + 2, type_vocab_size=1)
        )
    )
    assert count(build("roberta-base")) == theirs - (2 + 1) * 768 == 124_697_433 - 3 * 768


@pytest.mark.spec(171)
@pytest.mark.parametrize(
    ("name", "published"),
    [
        ("gpt2", 124_439_808),
        ("gpt2-medium", 354_823_168),
        ("gpt2-large", 774_030_080),
        ("gpt2-xl", 1_557_611_200),
    ],
)
def test_gpt2_has_its_published_size_but_for_the_bias_of_the_output(name: str, published: int) -> None:
    settings = MODEL_PRESETS[name].settings
    config = GPT2Config(n_layer=settings["layers"], n_embd=settings["hidden_size"], n_head=settings["heads"])
    model = build(name)
    assert reference(lambda: GPT2LMHeadModel(config)) == published
    assert count(model.embed, model.backbone) == published
    assert count(model) == published + MODEL_PRESETS[name].vocabulary_size


@pytest.mark.parametrize("name", MODEL_PRESETS)
def test_a_name_takes_all_of_its_sizes_and_words_after_it_change_them(name: str) -> None:
    raw = {"model": {"kind": "transformer", "hidden_size": 24, "gated": True}}
    taken = check(override(raw, [], model=name), where="test").model
    assert taken.model_dump(exclude_unset=True) == MODEL_PRESETS[name].settings
    smaller = check(override(raw, ["model.layers=2"], model=name), where="test").model
    assert smaller == taken.model_copy(update={"layers": 2})


def test_other_short_names_keep_the_sizes_that_were_chosen() -> None:
    assert (
        check(
            override({"model": {"kind": "transformer", "hidden_size": 24}}, [], model="transformer"),
            where="test",
        ).model.hidden_size
        == 24
    )


@pytest.mark.parametrize("name", MODEL_PRESETS)
def test_a_published_network_says_its_size_in_a_line(name: str) -> None:
    sentence = MODEL_PRESETS[name].summary
    assert f"{MODEL_PRESETS[name].parameters / 1e6:,.1f}M parameters" in sentence
    assert len(sentence) < 150
