"""GPT-2: learned positions, norm before each sub-layer, one table for input and output.

Paper: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners", section 2.3.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from seqlab.interop.families.published_model import ACTIVATIONS, PublishedModel
from seqlab.interop.formats.config import ConfigReader
from seqlab.interop.tensor_map import Shape, TensorSpec, as_is, transposed, zero_filled
from seqlab.interop.unused_tensors import UnusedTensor, is_one_number, resolve_tied
from seqlab.models.settings.transformer import TransformerSettings


def read_gpt2(config: ConfigReader, shapes: Mapping[str, Shape]) -> PublishedModel:
    size = config.integer("n_embd", "hidden_size")
    inner = config.integer("n_inner", default=4 * size)
    num_tokens, context = (
        config.integer("vocab_size"),
        config.integer("n_positions", "max_position_embeddings"),
    )
    config.require(
        "scale_attn_weights",
        True,
        why="attention scores are always divided by the square root of the head size",
    )
    config.require(
        "scale_attn_by_inverse_layer_idx", False, why="scaling scores by the layer index is not supported"
    )
    config.require("add_cross_attention", False, why="a language model has no cross-attention")
    config.skip(
        "n_ctx",
        "reorder_and_upcast_attn",
        "summary_activation",
        "summary_first_dropout",
        "summary_proj_to_labels",
        "summary_type",
        "summary_use_proj",
    )
    config.skip("attn_pdrop")
    is_tied = config.flag("tie_word_embeddings", default=True)
    model = TransformerSettings(
        layers=config.integer("n_layer", "num_hidden_layers"),
        hidden_size=size,
        heads=config.integer("n_head", "num_attention_heads"),
        feedforward_size=inner,
        norm="pre",
        norm_eps=config.number("layer_norm_epsilon", default=1e-5),
        positions="learned",
        max_positions=context,
        activation=config.choice("activation_function", choices=ACTIVATIONS, default="gelu_new"),
        dropout=config.number("resid_pdrop", default=0.1),
        tied=is_tied,
    )
    prefix = "transformer." if any(name.startswith("transformer.") for name in shapes) else ""
    table, copies = (
        resolve_tied(shapes, f"{prefix}wte.weight", "lm_head.weight")
        if is_tied
        else (f"{prefix}wte.weight", ())
    )
    weights = {
        "embed.weight": as_is(table, num_tokens, size),
        "bias": zero_filled(num_tokens),
        "backbone.positions.table": as_is(f"{prefix}wpe.weight", context, size),
        "backbone.last_norm.weight": as_is(f"{prefix}ln_f.weight", size),
        "backbone.last_norm.bias": as_is(f"{prefix}ln_f.bias", size),
    }
    if not is_tied:
        weights["weight"] = as_is("lm_head.weight", num_tokens, size)
    for depth in range(model.layers):
        weights |= _layer(f"{prefix}h.{depth}", f"backbone.layers.{depth}", size=size, inner=inner)
    unused = (*copies, *(mask for depth in range(model.layers) for mask in _masks(f"{prefix}h.{depth}.attn")))
    return PublishedModel("GPT-2", "language_model", model, weights, num_tokens, context, unused)


def _masks(attention: str) -> tuple[UnusedTensor, ...]:
    """Older versions saved the causal mask of each layer and its value for minus infinity with the
    weights.
    """
    return (
        UnusedTensor(f"{attention}.bias", "the causal mask", holds=_is_causal_mask),
        UnusedTensor(f"{attention}.masked_bias", "the constant used as minus infinity", holds=is_one_number),
    )


def _is_causal_mask(tensor: Tensor) -> bool:
    size = tensor.shape[-1] if tensor.ndim else 0
    return tensor.numel() == size * size and torch.equal(
        tensor.reshape(size, size).bool(), torch.ones(size, size, dtype=torch.bool).tril()
    )


def _layer(old: str, new: str, *, size: int, inner: int) -> dict[str, TensorSpec]:
    """Query, key and value are one product there, too, but every matrix is published transposed."""
    products = {
        "attention.qkv": ("attn.c_attn", size, 3 * size),
        "attention.output": ("attn.c_proj", size, size),
        "feed_forward.expand": ("mlp.c_fc", size, inner),
        "feed_forward.contract": ("mlp.c_proj", inner, size),
    }
    weights = {}
    for name, (published, rows, columns) in products.items():
        weights[f"{new}.{name}.weight"] = transposed(f"{old}.{published}.weight", rows, columns)
        weights[f"{new}.{name}.bias"] = as_is(f"{old}.{published}.bias", columns)
    for name, published in (("attention_residual.norm", "ln_1"), ("feed_forward_residual.norm", "ln_2")):
        weights[f"{new}.{name}.weight"] = as_is(f"{old}.{published}.weight", size)
        weights[f"{new}.{name}.bias"] = as_is(f"{old}.{published}.bias", size)
    return weights
