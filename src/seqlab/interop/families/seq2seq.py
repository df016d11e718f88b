"""Marian and BART: encoder-decoders with a norm after each sub-layer, and one to three tables of embeddings.

Papers: Junczys-Dowmunt et al. 2018, "Marian", arXiv:1804.00344; Lewis et al. 2020, "BART", arXiv:1910.13461.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

import torch
from torch import Tensor

from seqlab.interop.families.published_model import ACTIVATIONS, PublishedModel
from seqlab.interop.formats.config import ConfigReader
from seqlab.interop.tensor_map import Shape, TensorSpec, as_is, concatenated
from seqlab.interop.unused_tensors import UnusedTensor, is_one_number, resolve_tied
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.settings.transformer import TransformerSettings

SHARED, OUTPUT = "model.shared.weight", "lm_head.weight"
SOURCE, TARGET = "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"
EPS = 1e-5
FIRST_POSITION = 2
"""BART's positions start after two rows that were once reserved for padding."""
DECODING = (
    "max_length",
    "num_beams",
    "early_stopping",
    "no_repeat_ngram_size",
    "length_penalty",
    "min_length",
)
PARTS = {"encoder": ("self_attn",), "decoder": ("self_attn", "encoder_attn")}
BUFFERS = tuple(
    UnusedTensor(f"model.{side}.{name}", reason, holds=is_one_number)
    for side in PARTS
    for name, reason in (
        ("version", "a version number"),
        ("embed_positions._float_tensor", "a single number that encodes a data type"),
    )
)


def read_marian(config: ConfigReader, shapes: Mapping[str, Shape]) -> PublishedModel:
    """Sinusoidal positions with sines in the first half and cosines in the second; the table is often not
    published, as it can be computed.
    """
    config.require("static_position_embeddings", True, why="only sinusoidal positions are supported")
    shared = config.flag("share_encoder_decoder_embeddings", default=True)
    settings = _settings(config, embedding_norm=False)
    rows, size = settings.max_positions, settings.hidden_size
    positions = {
        f"{side}.positions.table": (
            as_is(name, rows, size)
            if (name := f"model.{side}.embed_positions.weight") in shapes
            else _sinusoidal_table(rows, size)
        )
        for side in PARTS
    }
    return _read(
        config,
        "Marian",
        settings,
        positions,
        read_embedding_tables(shapes, is_tied=settings.tied, shared=shared),
    )


def read_bart(config: ConfigReader, shapes: Mapping[str, Shape]) -> PublishedModel:
    config.require("static_position_embeddings", False, why="only learned positions are supported")
    settings = _settings(config, embedding_norm=True)
    rows, size = settings.max_positions, settings.hidden_size
    positions: dict[str, TensorSpec] = {}
    for side in PARTS:
        positions[f"{side}.positions.table"] = TensorSpec(
            ((f"model.{side}.embed_positions.weight", (rows + FIRST_POSITION, size)),), _drop_first_positions
        )
        positions |= _pair(f"{side}.first_norm", f"model.{side}.layernorm_embedding", size)
    return _read(
        config, "BART", settings, positions, read_embedding_tables(shapes, is_tied=settings.tied, shared=True)
    )


class EmbeddingTables(NamedTuple):
    """The names of the embedding tables of the source, the target and, if separate, the output; and the
    tensors that are not read.
    """

    source: str
    target: str
    output: str
    unused: tuple[UnusedTensor, ...]
    may_differ: bool = False
    """Whether source and target may have vocabularies of different sizes."""


def read_embedding_tables(shapes: Collection[str], *, is_tied: bool, shared: bool) -> EmbeddingTables:
    """Which tables a file has.

    is_tied: the output shares the table of the target. shared: the source shares it, too.

    If untied, transformers 5 gives source and target a table each, whatever `shared` says, and saves a table
    `model.shared` that nothing reads. Earlier versions shared it between source and target, and saved it
    alone.
    """
    if is_tied and shared:
        table, copies = resolve_tied(shapes, SHARED, SOURCE, TARGET, OUTPUT)
        return EmbeddingTables(table, table, "", copies)
    if is_tied:
        table, copies = resolve_tied(shapes, TARGET, OUTPUT)
        return EmbeddingTables(SOURCE, table, "", copies, may_differ=True)
    if not shared:
        return EmbeddingTables(SOURCE, TARGET, OUTPUT, (), may_differ=True)
    source, target = (name if name in shapes or SHARED not in shapes else SHARED for name in (SOURCE, TARGET))
    return EmbeddingTables(
        source,
        target,
        OUTPUT,
        (UnusedTensor(SHARED, "an embedding table that no layer reads when all tables are separate"),),
    )


def _settings(config: ConfigReader, *, embedding_norm: bool) -> TransformerSettings:
    for name, why in (
        ("normalize_before", "only post-norm layers are supported"),
        ("add_final_layer_norm", "a norm after the last layer is not supported"),
        ("is_decoder", "the model must have an encoder"),
    ):
        config.require(name, False, why=why)
    config.require("normalize_embedding", embedding_norm, why="as in the original family")
    config.skip(
        "attention_dropout",
        "activation_dropout",
        "encoder_layerdrop",
        "decoder_layerdrop",
        "classif_dropout",
        "is_encoder_decoder",
        "add_bias_logits",
        "extra_pos_embeddings",
        "num_hidden_layers",
        "save_step",
        "decoder_vocab_size",
        *DECODING,
    )
    for name in ("attention_heads", "ffn_dim"):
        sides = [config.integer(f"{side}_{name}") for side in PARTS]
        if sides[0] != sides[1]:
            config.add_problem(
                f"decoder_{name}: {sides[1]}, but encoder_{name}: {sides[0]}; both sides must have the"
                " same value"
            )
    return TransformerSettings(
        layers=config.integer("encoder_layers"),
        hidden_size=config.integer("d_model"),
        heads=config.integer("encoder_attention_heads"),
        feedforward_size=config.integer("encoder_ffn_dim"),
        norm="post",
        norm_eps=EPS,
        positions="learned",
        max_positions=config.integer("max_position_embeddings"),
        activation=config.choice("activation_function", choices=ACTIVATIONS, default="gelu"),
        dropout=config.number("dropout", default=0.1),
        embedding_norm=embedding_norm,
        embedding_norm_eps=EPS,
        embedding_scale=config.flag("scale_embedding", default=False),
        tied=config.flag("tie_word_embeddings", default=True),
    )


def _read(
    config: ConfigReader,
    family: str,
    model: TransformerSettings,
    positions: Mapping[str, TensorSpec],
    tables: EmbeddingTables,
) -> PublishedModel:
    num_source, size = config.integer("vocab_size"), model.hidden_size
    num_target = config.integer("decoder_vocab_size", default=num_source)
    if num_target != num_source and not tables.may_differ:
        config.add_problem(
            f"decoder_vocab_size: {num_target}, but vocab_size: {num_source}; sides that share"
            " embeddings need vocabularies of the same size"
        )
    weights = {
        "embed_source.weight": as_is(tables.source, num_source, size),
        "embed_target.weight": as_is(tables.target, num_target, size),
        "bias": TensorSpec((("final_logits_bias", (1, num_target)),), lambda bias: bias[0]),
        **positions,
    }
    if tables.output:
        weights["weight"] = as_is(tables.output, num_target, size)
    for depth in range(model.layers):
        weights |= _layer(f"model.encoder.layers.{depth}", f"encoder.layers.{depth}", model, PARTS["encoder"])
    decoder = DecoderSettings(
        layers=config.integer("decoder_layers"), shared_embedding=tables.source == tables.target
    )
    for depth in range(decoder.layers):
        weights |= _layer(f"model.decoder.layers.{depth}", f"decoder.layers.{depth}", model, PARTS["decoder"])
    notes = [f"plus {decoder.layers} decoder layers", *_decoding_notes(config)]
    return PublishedModel(
        family,
        "translation",
        model,
        weights,
        num_target,
        model.max_positions,
        (*tables.unused, *BUFFERS),
        notes,
        decoder,
        source_vocabulary_size=num_source,
    )


def _decoding_notes(config: ConfigReader) -> list[str]:
    beams = config.raw("num_beams")
    return (
        [f"published with a beam size of {beams}; the default here is greedy decoding"]
        if isinstance(beams, int) and beams > 1
        else []
    )


def _layer(
    old: str, new: str, model: TransformerSettings, attentions: tuple[str, ...]
) -> dict[str, TensorSpec]:
    size, inner = model.hidden_size, model.feedforward_size
    self_attention = f"{old}.self_attn"
    weights = {
        f"{new}.attention.qkv.weight": concatenated(
            *(as_is(f"{self_attention}.{name}_proj.weight", size, size) for name in "qkv")
        ),
        f"{new}.attention.qkv.bias": concatenated(
            *(as_is(f"{self_attention}.{name}_proj.bias", size) for name in "qkv")
        ),
        **_product(f"{new}.attention.output", f"{self_attention}.out_proj", size, size),
        **_product(f"{new}.feed_forward.expand", f"{old}.fc1", inner, size),
        **_product(f"{new}.feed_forward.contract", f"{old}.fc2", size, inner),
        **_pair(f"{new}.attention_residual.norm", f"{self_attention}_layer_norm", size),
        **_pair(f"{new}.feed_forward_residual.norm", f"{old}.final_layer_norm", size),
    }
    if len(attentions) == 1:
        return weights
    cross = f"{old}.encoder_attn"
    for name, published in (
        ("query", "q_proj"),
        ("key", "k_proj"),
        ("value", "v_proj"),
        ("output", "out_proj"),
    ):
        weights |= _product(f"{new}.cross_attention.{name}", f"{cross}.{published}", size, size)
    return weights | _pair(f"{new}.cross_residual.norm", f"{cross}_layer_norm", size)


def _product(new: str, old: str, rows: int, columns: int) -> dict[str, TensorSpec]:
    return {f"{new}.weight": as_is(f"{old}.weight", rows, columns), f"{new}.bias": as_is(f"{old}.bias", rows)}


def _pair(new: str, old: str, size: int) -> dict[str, TensorSpec]:
    return {f"{new}.weight": as_is(f"{old}.weight", size), f"{new}.bias": as_is(f"{old}.bias", size)}


def _drop_first_positions(table: Tensor) -> Tensor:
    return table[FIRST_POSITION:]


def _sinusoidal_table(rows: int, size: int) -> TensorSpec:
    """P[i, j] = sin(i / 10000^(2j/d)) in the first half, P[i, d/2 + j] = cos(i / 10000^(2j/d)) in the
    second.
    """

    def table() -> Tensor:
        rates = 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size)
        angles = torch.arange(rows, dtype=torch.float64)[:, None] * rates  # (rows, size / 2)
        return torch.cat([angles.sin(), angles.cos()[:, : size // 2]], dim=1).float()

    return TensorSpec((), table)
