"""GGUF files, the format of llama.cpp: settings, quantized tensors and tokenizer in one file.

Its names are mapped to those of the same model's folder, so that one description of the family serves both.
Two more things differ: tensors are quantized and are converted back to float32, and the rows of query and key
are in another order (rotary pairs are adjacent there, half a head apart here).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from seqlab.core.errors import DataError, listed
from seqlab.core.extras import require
from seqlab.interop.formats.config import ConfigReader
from seqlab.interop.formats.gguf_header import GgufHeader, GgufTensor, read_gguf_header
from seqlab.interop.formats.gguf_tokenizer import build_gguf_tokenizer
from seqlab.interop.formats.tensor_files import PublishedTensors, map_names
from seqlab.tokens.hugging_face import HuggingFace

INTERLEAVED_ROTARY = {"llama": True, "qwen2": False}
"""The families, and whether their files have adjacent rotary pairs."""
GLOBAL_TENSORS = {
    "token_embd.weight": "model.embed_tokens.weight",
    "output_norm.weight": "model.norm.weight",
    "output.weight": "lm_head.weight",
}
LAYER_TENSORS = {
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
}
LAYER = re.compile(r"blk\.(\d+)\.(\w+)\.(weight|bias)")
SIZES = {
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "intermediate_size": "feed_forward_length",
    "max_position_embeddings": "context_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "rope_theta": "rope.freq_base",
    "head_dim": "attention.key_length",
}
REQUIRED_VALUES = {
    "expert_count": (0,),
    "attention.sliding_window": (0,),
    "rope.scaling.type": ("none",),
    "attention.layer_norm_epsilon": (),
}
"""Settings that must be absent, or have one of these values."""


def read_gguf(path: Path) -> tuple[ConfigReader, PublishedTensors, Callable[[int], HuggingFace]]:
    """Config, tensors and, for a number of tokens, the tokenizer, each in the format of the same model's
    folder.
    """
    header = read_gguf_header(path)
    family = header.settings.get("general.architecture")
    if family not in INTERLEAVED_ROTARY:
        raise DataError(
            f"the model family {str(family)[:40]!r} is not supported.",
            where=str(path),
            cure=f"Supported families: {listed(list(INTERLEAVED_ROTARY))}.",
        )
    config = _config(header, family, where=str(path))
    tensors = GgufTensors(path, header, config)
    return config, tensors, lambda size: build_gguf_tokenizer(header.settings, size=size, where=str(path))


def _config(header: GgufHeader, family: str, *, where: str) -> ConfigReader:
    settings = header.settings
    values: dict[str, Any] = {name: settings.get(f"{family}.{key}") for name, key in SIZES.items()}
    tied = "output.weight" not in header.tensors
    table = header.tensors.get("token_embd.weight")
    values |= {
        "model_type": family,
        "tie_word_embeddings": tied,
        "vocab_size": table.shape[0] if table and table.shape else None,
    }
    values |= {
        "attention_bias": "blk.0.attn_output.bias" in header.tensors,
        "mlp_bias": "blk.0.ffn_down.bias" in header.tensors,
    }
    config = ConfigReader(values, where=where)
    for name, allowed in REQUIRED_VALUES.items():
        value = settings.get(f"{family}.{name}")
        if value is not None and value not in allowed:
            config.add_problem(f"{family}.{name}: {str(value)[:40]} is not supported")
    heads, size = config.integer("num_attention_heads"), config.integer("hidden_size")
    rotary_size = settings.get(f"{family}.rope.dimension_count", size // heads)
    if rotary_size != config.integer("head_dim", default=max(1, size // heads)):
        config.add_problem(
            f"{family}.rope.dimension_count: {str(rotary_size)[:40]} is not supported (rotary"
            " embeddings cover the whole head)"
        )
    return config


class GgufTensors(PublishedTensors):
    """The tensors of a file under the names of a folder, converted to float32 one by one."""

    def __init__(self, path: Path, header: GgufHeader, config: ConfigReader) -> None:
        self._path = path
        self.where = str(path)
        self._names = map_names(header.tensors, _new_name, where=str(path))
        self._tensors = header.tensors
        self.shapes = {new: header.tensors[old].shape for new, old in self._names.items()}
        heads = config.integer("num_attention_heads")
        self._heads = {"attn_q": heads, "attn_k": config.integer("num_key_value_heads", default=heads)}
        self._is_interleaved = INTERLEAVED_ROTARY[str(config.raw("model_type"))]

    def name_in_file(self, name: str) -> str:
        return self._names[name]

    def read(self, name: str) -> Tensor:
        old = self._names[name]
        numbers = torch.from_numpy(_dequantize(self._path, self._tensors[old], name=old))
        layer = LAYER.fullmatch(old)
        if self._is_interleaved and layer and layer[2] in self._heads:
            return deinterleave_rotary(numbers, num_heads=self._heads[layer[2]])
        return numbers


def deinterleave_rotary(rows: Tensor, *, num_heads: int) -> Tensor:
    """The rows of every head from the order a₀ b₀ a₁ b₁ … to a₀ a₁ … b₀ b₁ …

    >>> deinterleave_rotary(torch.arange(6), num_heads=1).tolist()
    [0, 2, 4, 1, 3, 5]
    """
    heads = rows.unflatten(0, (num_heads, -1, 2))  # (heads, pairs, 2, ...)
    return heads.transpose(1, 2).flatten(0, 2)


def _new_name(name: str) -> str:
    """The name of a tensor in the same model's folder; an unknown name is kept and rejected later."""
    layer = LAYER.fullmatch(name)
    if layer and layer[2] in LAYER_TENSORS:
        return f"model.layers.{layer[1]}.{LAYER_TENSORS[layer[2]]}.{layer[3]}"
    return GLOBAL_TENSORS.get(name, name)


def _dequantize(path: Path, tensor: GgufTensor, *, name: str) -> np.ndarray[Any, np.dtype[np.float32]]:
    gguf = require("gguf", extra="hf", purpose="Reading GGUF files")
    try:
        kind = gguf.GGMLQuantizationType(tensor.ggml_type)
        in_block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
        if tensor.shape and tensor.shape[-1] % in_block:
            raise ValueError("rows that are not a whole number of blocks")
        length = math.prod(tensor.shape) // in_block * block_bytes
        if tensor.offset + length > path.stat().st_size:
            raise ValueError("it extends past the end of the file")
        data = np.fromfile(path, dtype=np.uint8, count=length, offset=tensor.offset)
        width = tensor.shape[-1] // in_block * block_bytes if tensor.shape else block_bytes
        rows = data.reshape(*tensor.shape[:-1], width)
        plain = {gguf.GGMLQuantizationType.F32: np.float32, gguf.GGMLQuantizationType.F16: np.float16}
        values = (
            rows.view(plain[kind]).astype(np.float32) if kind in plain else gguf.quants.dequantize(rows, kind)
        )
    except (ValueError, KeyError, NotImplementedError, OverflowError) as error:
        raise DataError(
            f"the tensor {name[:80]} cannot be read ({str(error)[:80]}).",
            where=str(path),
            cure="Download the file again.",
        ) from error
    return np.ascontiguousarray(values, dtype=np.float32)
