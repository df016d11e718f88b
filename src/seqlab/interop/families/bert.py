"""BERT and its relatives: encoders with learned positions and a norm after each sub-layer.

Papers: Devlin et al. 2019, "BERT", arXiv:1810.04805; Liu et al. 2019, "RoBERTa", arXiv:1907.11692 (positions
start after the padding id); Sanh et al. 2019, "DistilBERT", arXiv:1910.01108 (no segment types); Wang et al.
2020, "MiniLM", arXiv:2002.10957.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from seqlab.interop.families.published_model import ACTIVATIONS, PublishedModel
from seqlab.interop.formats.config import ConfigReader
from seqlab.interop.tensor_map import Shape, TensorSpec, as_is, concatenated, zero_filled
from seqlab.interop.unused_tensors import UnusedTensor, resolve_tied
from seqlab.models.settings.transformer import TransformerSettings


@dataclass(frozen=True)
class TensorNames:
    """The tensor names of a BERT variant; `head` are transform, norm and bias of the masked-language-model
    head.
    """

    prefix: str
    layers: str
    attention: tuple[str, str, str]
    products: Mapping[str, str]
    norms: Mapping[str, str]
    head: tuple[str, str, str]
    decoder: str


BERT = TensorNames(
    prefix="bert.",
    layers="encoder.layer",
    attention=("attention.self.query", "attention.self.key", "attention.self.value"),
    products={
        "attention.output": "attention.output.dense",
        "feed_forward.expand": "intermediate.dense",
        "feed_forward.contract": "output.dense",
    },
    norms={"attention_residual": "attention.output.LayerNorm", "feed_forward_residual": "output.LayerNorm"},
    head=("cls.predictions.transform.dense", "cls.predictions.transform.LayerNorm", "cls.predictions.bias"),
    decoder="cls.predictions.decoder",
)
ROBERTA = TensorNames(
    prefix="roberta.",
    layers=BERT.layers,
    attention=BERT.attention,
    products=BERT.products,
    norms=BERT.norms,
    head=("lm_head.dense", "lm_head.layer_norm", "lm_head.bias"),
    decoder="lm_head.decoder",
)
DISTILBERT = TensorNames(
    prefix="distilbert.",
    layers="transformer.layer",
    attention=("attention.q_lin", "attention.k_lin", "attention.v_lin"),
    products={
        "attention.output": "attention.out_lin",
        "feed_forward.expand": "ffn.lin1",
        "feed_forward.contract": "ffn.lin2",
    },
    norms={"attention_residual": "sa_layer_norm", "feed_forward_residual": "output_layer_norm"},
    head=("vocab_transform", "vocab_layer_norm", "vocab_projector.bias"),
    decoder="vocab_projector",
)


def read_bert(config: ConfigReader, shapes: Mapping[str, Shape]) -> PublishedModel:
    return _read(config, shapes, BERT, family="BERT", first_position=0)


def read_roberta(config: ConfigReader, shapes: Mapping[str, Shape]) -> PublishedModel:
    """Positions start at the padding id plus one, and the rows before are never used."""
    return _read(
        config,
        shapes,
        ROBERTA,
        family="RoBERTa",
        first_position=config.integer("pad_token_id", default=1, minimum=0) + 1,
    )


def read_distilbert(config: ConfigReader, shapes: Mapping[str, Shape]) -> PublishedModel:
    config.skip(
        "sinusoidal_pos_embds", "qa_dropout", "seq_classif_dropout"
    )  # the sinusoids are stored in the table like learned rows
    return _read(config, shapes, DISTILBERT, family="DistilBERT", first_position=0)


def _read(
    config: ConfigReader, shapes: Mapping[str, Shape], names: TensorNames, *, family: str, first_position: int
) -> PublishedModel:
    model = _settings(config, first_position=first_position)
    num_tokens, size = config.integer("vocab_size"), model.hidden_size
    num_types = 0 if names is DISTILBERT else config.integer("type_vocab_size", default=2, minimum=0)
    prefix = names.prefix if any(name.startswith(names.prefix) for name in shapes) else ""
    table = f"{prefix}embeddings.word_embeddings.weight"
    head, copies, notes = _head(config, shapes, names, num_tokens=num_tokens, size=size, is_tied=model.tied)
    headless = not any(spec.parts for spec in head.values())
    if model.tied and not headless:
        table, more = resolve_tied(shapes, table, f"{names.decoder}.weight")
        copies += more
    weights = {
        "embed.weight": as_is(table, num_tokens, size),
        "backbone.positions.table": _positions(
            f"{prefix}embeddings",
            model.max_positions + first_position,
            size,
            first=first_position,
            num_types=num_types,
        ),
        **_pair("backbone.first_norm", f"{prefix}embeddings.LayerNorm", size),
    }
    for depth in range(model.layers):
        weights |= _layer(f"{prefix}{names.layers}.{depth}", f"backbone.layers.{depth}", model, names)
    heads = _other_heads(prefix)
    notes += [
        f"{other.reason} is not imported" for other in heads if any(other.covers(name) for name in shapes)
    ]
    if num_types > 1:
        notes.insert(
            0,
            f"the model has {num_types} segment types; every text uses the first, whose vector is"
            " added to the positions",
        )
    unused = (
        *copies,
        *heads,
        UnusedTensor(f"{prefix}embeddings.position_ids", "the position indices 0, 1, 2, …", holds=_counts_up),
    )
    return PublishedModel(
        family,
        "masked_language_model",
        model,
        weights | head,
        num_tokens,
        model.max_positions,
        unused,
        notes,
        headless=headless,
    )


def _other_heads(prefix: str) -> tuple[UnusedTensor, ...]:
    """Heads on top of the encoder for other tasks."""
    return (
        UnusedTensor(f"{prefix}pooler.dense.*", "the pooler"),
        UnusedTensor("cls.seq_relationship.*", "the next-sentence head"),
        UnusedTensor("classifier.*", "the classifier"),
        UnusedTensor("pre_classifier.*", "the layer before the classifier"),
        UnusedTensor("qa_outputs.*", "the answer head"),
    )


def _counts_up(tensor: Tensor) -> bool:
    return torch.equal(tensor.flatten().double(), torch.arange(tensor.numel(), dtype=torch.float64))


def _settings(config: ConfigReader, *, first_position: int) -> TransformerSettings:
    config.require("position_embedding_type", "absolute", why="only learned absolute positions are supported")
    config.require("is_decoder", False, why="encoders are bidirectional")
    config.require("add_cross_attention", False, why="an encoder has no cross-attention")
    config.skip("attention_probs_dropout_prob", "attention_dropout")
    eps = config.number("layer_norm_eps", default=1e-12)
    return TransformerSettings(
        layers=config.integer("num_hidden_layers", "n_layers"),
        hidden_size=config.integer("hidden_size", "dim"),
        heads=config.integer("num_attention_heads", "n_heads"),
        feedforward_size=config.integer("intermediate_size", "hidden_dim"),
        norm="post",
        norm_eps=eps,
        positions="learned",
        max_positions=max(1, config.integer("max_position_embeddings", default=512) - first_position),
        activation=config.choice("hidden_act", "activation", choices=ACTIVATIONS, default="gelu"),
        dropout=config.number("hidden_dropout_prob", "dropout", default=0.1),
        embedding_norm=True,
        embedding_norm_eps=eps,
        pooling="mean",
        tied=config.flag("tie_word_embeddings", default=True),
    )


def _positions(prefix: str, rows: int, size: int, *, first: int, num_types: int) -> TensorSpec:
    """The learned row of each position plus the vector of the first segment type, which is the same at
    every step.
    """
    positions = (f"{prefix}.position_embeddings.weight", (rows, size))
    if not num_types:
        return TensorSpec((positions,), lambda table: table[first:])
    types = (f"{prefix}.token_type_embeddings.weight", (num_types, size))

    def added(table: Tensor, types: Tensor) -> Tensor:
        return table[first:] + types[0]

    return TensorSpec((positions, types), added)


def _layer(old: str, new: str, model: TransformerSettings, names: TensorNames) -> dict[str, TensorSpec]:
    size, inner = model.hidden_size, model.feedforward_size
    widths = {
        "attention.output": (size, size),
        "feed_forward.expand": (inner, size),
        "feed_forward.contract": (size, inner),
    }
    weights = {
        f"{new}.attention.qkv.weight": concatenated(
            *(as_is(f"{old}.{name}.weight", size, size) for name in names.attention)
        ),
        f"{new}.attention.qkv.bias": concatenated(
            *(as_is(f"{old}.{name}.bias", size) for name in names.attention)
        ),
    }
    for name, published in names.products.items():
        weights[f"{new}.{name}.weight"] = as_is(f"{old}.{published}.weight", *widths[name])
        weights[f"{new}.{name}.bias"] = as_is(f"{old}.{published}.bias", widths[name][0])
    for name, published in names.norms.items():
        weights |= _pair(f"{new}.{name}.norm", f"{old}.{published}", size)
    return weights


Head = tuple[dict[str, TensorSpec], tuple[UnusedTensor, ...], list[str]]
"""Its weights, its unused tensors, and notes."""


def _head(
    config: ConfigReader,
    shapes: Mapping[str, Shape],
    names: TensorNames,
    *,
    num_tokens: int,
    size: int,
    is_tied: bool,
) -> Head:
    """The masked-language-model head.

    If none was published, it is all zeros, which the task treats as missing.
    """
    transform, norm, bias = names.head
    if f"{transform}.weight" not in shapes:
        missing_head = {
            "transform.weight": (size, size),
            "transform.bias": (size,),
            "norm.weight": (size,),
            "norm.bias": (size,),
            "bias": (num_tokens,),
        }
        untied = {} if is_tied else {"weight": (num_tokens, size)}
        note = "the model has no masked-token head; computing vectors does not need one"
        return {name: zero_filled(*shape) for name, shape in {**missing_head, **untied}.items()}, (), [note]
    if names is not ROBERTA:
        config.require(
            "hidden_act" if names is BERT else "activation",
            "gelu",
            why="the masked-token head uses the exact GELU",
        )
    own_bias, copies = _output_bias(shapes, bias, f"{names.decoder}.bias", is_tied=is_tied)
    weights = {
        "transform.weight": as_is(f"{transform}.weight", size, size),
        "transform.bias": as_is(f"{transform}.bias", size),
        **_pair("norm", norm, size),
        "bias": as_is(own_bias, num_tokens),
    }
    return (
        (weights if is_tied else weights | {"weight": as_is(f"{names.decoder}.weight", num_tokens, size)}),
        copies,
        [],
    )


def _output_bias(
    shapes: Mapping[str, Shape], of_head: str, of_decoder: str, *, is_tied: bool
) -> tuple[str, tuple[UnusedTensor, ...]]:
    """Some files contain the output bias twice.

    If untied, the two may differ, and that of the output layer counts.
    """
    if is_tied or of_decoder not in shapes:
        return resolve_tied(shapes, of_head, of_decoder)
    return of_decoder, (UnusedTensor(of_head, "a bias that an untied output layer does not add"),)


def _pair(new: str, old: str, size: int) -> dict[str, TensorSpec]:
    return {f"{new}.weight": as_is(f"{old}.weight", size), f"{new}.bias": as_is(f"{old}.bias", size)}
