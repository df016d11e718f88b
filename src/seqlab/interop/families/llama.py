"""Llama and its relatives: rotary positions, RMSNorm, SwiGLU, shared heads of keys and values.

Papers: Touvron et al. 2023, "LLaMA: Open and Efficient Foundation Language Models", arXiv:2302.13971, section
2.2; Jiang et al. 2023, "Mistral 7B", arXiv:2310.06825 (a window); Yang et al. 2024, "Qwen2 Technical Report",
arXiv:2407.10671 (biases).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from seqlab.interop.families.published_model import ACTIVATIONS, PublishedModel
from seqlab.interop.formats.config import ConfigReader
from seqlab.interop.tensor_map import Shape, TensorSpec, as_is, concatenated, zero_filled
from seqlab.interop.unused_tensors import UnusedTensor, resolve_tied
from seqlab.models.settings.transformer import TransformerSettings

FAMILIES = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2"}


def read_llama(config: ConfigReader, shapes: Mapping[str, Shape]) -> PublishedModel:
    kind = str(config.raw("model_type"))
    num_tokens, context = config.integer("vocab_size"), config.integer("max_position_embeddings")
    is_tied = config.flag("tie_word_embeddings", default=False)
    model = _settings(config, kind=kind, tied=is_tied)
    size = model.hidden_size
    config.skip("attention_dropout", "pretraining_tp", "layer_types", "embd_pdrop", "resid_pdrop")
    prefix = "model." if any(name.startswith("model.") for name in shapes) else ""
    table, copies = (
        resolve_tied(shapes, f"{prefix}embed_tokens.weight", "lm_head.weight")
        if is_tied
        else (f"{prefix}embed_tokens.weight", ())
    )
    weights = {
        "embed.weight": as_is(table, num_tokens, size),
        "bias": zero_filled(num_tokens),
        "backbone.last_norm.weight": as_is(f"{prefix}norm.weight", size),
    }
    if not is_tied:
        weights["weight"] = as_is("lm_head.weight", num_tokens, size)
    has_output_bias, has_inner_bias = (
        config.flag("attention_bias", default=False),
        config.flag("mlp_bias", default=False),
    )
    for depth in range(model.layers):
        weights |= _layer(
            f"{prefix}layers.{depth}",
            f"backbone.layers.{depth}",
            model,
            attention_bias=has_output_bias,
            inner_bias=has_inner_bias,
        )
    unused = (*copies, *_rotary_rates(prefix, model))
    return PublishedModel(FAMILIES[kind], "language_model", model, weights, num_tokens, context, unused)


def _rotary_rates(prefix: str, model: TransformerSettings) -> tuple[UnusedTensor, ...]:
    """Older versions saved the frequencies base^(-2i/d) of the rotary embedding with the weights, some of them in
    half precision.
    """

    def holds(tensor: Tensor) -> bool:
        rates = model.rotary_base ** (-torch.arange(0, model.head_size, 2) / model.head_size)
        return tensor.shape == rates.shape and torch.allclose(tensor.float(), rates, rtol=1e-2, atol=1e-6)

    owners = (prefix, *(f"{prefix}layers.{depth}.self_attn." for depth in range(model.layers)))
    return tuple(
        UnusedTensor(
            f"{owner}rotary_emb.inv_freq",
            f"the rotary frequencies of base {model.rotary_base:g}",
            holds=holds,
        )
        for owner in owners
    )


def _settings(config: ConfigReader, *, kind: str, tied: bool) -> TransformerSettings:
    heads = config.integer("num_attention_heads")
    size = config.integer("hidden_size")
    biases = [config.flag(name, default=False) for name in ("attention_bias", "mlp_bias")]
    return TransformerSettings(
        layers=config.integer("num_hidden_layers"),
        hidden_size=size,
        heads=heads,
        head_size=config.integer("head_dim", default=max(1, size // heads)),
        kv_heads=config.integer("num_key_value_heads", default=heads),
        feedforward_size=config.integer("intermediate_size"),
        norm="pre",
        norm_kind="rms",
        norm_eps=config.number("rms_norm_eps", default=1e-6),
        positions="rotary",
        rotary_base=_rotary_base(config),
        activation=config.choice("hidden_act", choices=ACTIVATIONS, default="silu"),
        gated=True,
        window=_window(config, kind=kind),
        dropout=0.0,
        qkv_bias=biases[0] or kind == "qwen2",
        bias=any(biases),
        tied=tied,
    )


def _rotary_base(config: ConfigReader) -> float:
    """The base is a separate value in older configs, and among the rotary parameters in newer ones."""
    parameters: dict[str, Any] = {}
    for name in ("rope_parameters", "rope_scaling"):
        value = config.raw(name) or {}
        if not isinstance(value, dict):
            config.add_problem(f"{name}: expected an object, found {str(value)[:40]!r}")
            continue
        kind = value.get("rope_type", value.get("type", "default"))
        if kind != "default":
            config.add_problem(
                f"{name}: {str(kind)[:40]!r} is not supported (only unscaled rotary embeddings are)"
            )
        parameters |= value
    config.require("partial_rotary_factor", None, 1.0, 1, why="rotary embeddings cover the whole head")
    if parameters.get("partial_rotary_factor", 1) != 1:
        config.add_problem("rope_parameters.partial_rotary_factor: rotary embeddings cover the whole head")
    base = config.number("rope_theta", default=10000.0)
    theta = parameters.get("rope_theta", base)
    if isinstance(theta, bool) or not isinstance(theta, int | float) or not 1 < theta < 1e12:
        config.add_problem(f"rope_theta: expected a number above 1, found {str(theta)[:40]!r}")
        return 10000.0
    return float(theta)


def _window(config: ConfigReader, *, kind: str) -> int:
    """The window; supported only if every layer has the same one."""
    window = config.raw("sliding_window")
    is_used = config.raw("use_sliding_window")
    config.skip("max_window_layers")
    kinds = config.raw("layer_types")
    if isinstance(kinds, list) and len(set(map(str, kinds))) > 1:
        config.add_problem(
            f"layer_types: mixing layer types ({', '.join(sorted(set(map(str, kinds))))[:80]}) is not"
            " supported"
        )
    if window is None or is_used is False or (kind == "qwen2" and not is_used) or kind == "llama":
        return 0
    if kind == "qwen2":
        config.add_problem("use_sliding_window: a sliding window in only some layers is not supported")
        return 0
    return config.integer("sliding_window")


def _layer(
    old: str, new: str, model: TransformerSettings, *, attention_bias: bool, inner_bias: bool
) -> dict[str, TensorSpec]:
    """q, k and v become one product, and so do gate and up.

    A bias that is needed but not published is zero.
    """
    size, inner = model.hidden_size, model.feedforward_size
    wide, narrow = model.heads * model.head_size, model.kv_heads * model.head_size
    attention, mlp = f"{old}.self_attn", f"{old}.mlp"
    weights = {
        f"{new}.attention.qkv.weight": concatenated(
            as_is(f"{attention}.q_proj.weight", wide, size),
            as_is(f"{attention}.k_proj.weight", narrow, size),
            as_is(f"{attention}.v_proj.weight", narrow, size),
        ),
        f"{new}.attention.output.weight": as_is(f"{attention}.o_proj.weight", size, wide),
        f"{new}.feed_forward.expand.weight": concatenated(
            as_is(f"{mlp}.gate_proj.weight", inner, size), as_is(f"{mlp}.up_proj.weight", inner, size)
        ),
        f"{new}.feed_forward.contract.weight": as_is(f"{mlp}.down_proj.weight", size, inner),
        f"{new}.attention_residual.norm.weight": as_is(f"{old}.input_layernorm.weight", size),
        f"{new}.feed_forward_residual.norm.weight": as_is(f"{old}.post_attention_layernorm.weight", size),
    }
    if model.qkv_bias:
        biases = (
            (f"{attention}.q_proj.bias", wide),
            (f"{attention}.k_proj.bias", narrow),
            (f"{attention}.v_proj.bias", narrow),
        )
        weights[f"{new}.attention.qkv.bias"] = concatenated(*(as_is(*bias) for bias in biases))
    if model.bias:
        weights[f"{new}.attention.output.bias"] = (
            as_is(f"{attention}.o_proj.bias", size) if attention_bias else zero_filled(size)
        )
        up, down = (
            (as_is(f"{mlp}.up_proj.bias", inner), as_is(f"{mlp}.down_proj.bias", size))
            if inner_bias
            else (zero_filled(inner), zero_filled(size))
        )
        gate = as_is(f"{mlp}.gate_proj.bias", inner) if inner_bias else zero_filled(inner)
        weights[f"{new}.feed_forward.expand.bias"] = concatenated(gate, up)
        weights[f"{new}.feed_forward.contract.bias"] = down
    return weights
