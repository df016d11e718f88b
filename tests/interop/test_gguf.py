"""GGUF files: read as the package `gguf` reads them, and refused where it would believe anything."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest
import torch
from torch.testing import assert_close

from seqlab.core.errors import DataError
from seqlab.interop.formats.gguf import deinterleave_rotary, read_gguf
from seqlab.interop.formats.gguf_header import read_gguf_header
from seqlab.interop.import_model import import_published_model
from tests.interop import folders
from tests.interop.folders import BYTE_PIECES, MERGES, NUM_BYTE_PIECES, transformers

CONFIG = folders.llama_config(
    tie_word_embeddings=True,
    hidden_size=64,
    intermediate_size=96,
    num_attention_heads=4,
    num_key_value_heads=2,
)
NAMES = {
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "ffn_norm",
}


@pytest.mark.parametrize("kind", ["F32", "F16", "Q8_0", "Q4_1"])
def test_a_file_gives_the_logits_of_its_dequantised_weights(kind: str, tmp_path: Path) -> None:
    theirs = write_file(tmp_path / "tiny.gguf", kind=kind)
    run = import_published_model(tmp_path / "tiny.gguf", out=tmp_path / "run")
    tokens = torch.randint(NUM_BYTE_PIECES, (3, 11), generator=torch.Generator().manual_seed(4))
    found, _ = run.model(tokens, torch.ones_like(tokens, dtype=torch.bool))
    assert_close(found, theirs(input_ids=tokens).logits, rtol=1e-4, atol=1e-4)


def test_the_header_is_the_one_that_the_package_reads(tmp_path: Path) -> None:
    write_file(tmp_path / "tiny.gguf", kind="Q8_0")
    ours, theirs = read_gguf_header(tmp_path / "tiny.gguf"), gguf.GGUFReader(tmp_path / "tiny.gguf")
    fields = {name: field.contents() for name, field in theirs.fields.items() if not name.startswith("GGUF.")}
    assert {
        name: pytest.approx(value) if isinstance(value, float) else value for name, value in fields.items()
    } == ours.settings
    assert {tensor.name: tuple(tensor.shape.tolist()[::-1]) for tensor in theirs.tensors} == {
        name: t.shape for name, t in ours.tensors.items()
    }
    assert {tensor.name: int(tensor.data_offset) for tensor in theirs.tensors} == {
        name: t.offset for name, t in ours.tensors.items()
    }


def test_neighbours_become_halves_for_every_head() -> None:
    rows = torch.arange(2 * 6)[:, None] * torch.ones(1, 3, dtype=torch.long)
    assert deinterleave_rotary(rows, num_heads=2)[:, 0].tolist() == [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11]


def test_the_tokenizer_cuts_digits_apart_and_knows_its_special_pieces(tmp_path: Path) -> None:
    write_file(tmp_path / "tiny.gguf", kind="F32", pre="smollm")
    tokenizer = read_gguf(tmp_path / "tiny.gguf")[2](NUM_BYTE_PIECES)
    assert tokenizer.split("that 12</s>") == ["th", "at", "Ġ", "1", "2", "</s>"]
    assert tokenizer.decode(tokenizer.encode("that 12 hät 🦁</s>")) == "that 12 hät 🦁"
    assert tokenizer.vocabulary.ids["<eos>"] == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda data: b"GGML" + data[4:], "does not start with the letters GGUF"),
        (lambda data: data[:4] + struct.pack("<I", 9) + data[8:], "version is 9; .* 2 and 3"),
        (
            lambda data: data[:8] + struct.pack("<Q", 1 << 60) + data[16:],
            "it declares 1,152,921,504,606,846,976 tensors",
        ),
        (
            lambda data: data[:16] + struct.pack("<Q", 1 << 60) + data[24:],
            "and 1,152,921,504,606,846,976 settings",
        ),
        (
            lambda data: data[:24] + struct.pack("<Q", 1 << 60) + data[32:],
            "a string in it is longer than the file",
        ),
        (lambda data: data[:100], "valid GGUF file"),
        (lambda data: data[:3], "valid GGUF file"),
        (lambda data: data[:0], "valid GGUF file"),
        (lambda data: data[: len(data) // 2], "cannot be read"),
    ],
)
def test_a_damaged_file_is_refused_with_words(change: Any, words: str, tmp_path: Path) -> None:
    write_file(tmp_path / "tiny.gguf", kind="F32")
    (tmp_path / "tiny.gguf").write_bytes(change((tmp_path / "tiny.gguf").read_bytes()))
    with pytest.raises(DataError, match=words):
        import_published_model(tmp_path / "tiny.gguf", out=tmp_path / "run")


def test_two_tensors_of_one_name_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    write_file(path, kind="F32")
    path.write_bytes(path.read_bytes().replace(b"blk.1.ffn_up.weight", b"blk.0.ffn_up.weight"))
    with pytest.raises(DataError, match=r"2 tensors named blk\.0\.ffn_up\.weight"):
        import_published_model(path, out=tmp_path / "run")


def test_a_list_that_claims_more_than_the_file_holds_is_refused_at_once(tmp_path: Path) -> None:
    path = tmp_path / "huge.gguf"
    path.write_bytes(
        b"GGUF"
        + struct.pack("<IQQ", 3, 0, 1)
        + struct.pack("<Q", 1)
        + b"a"
        + struct.pack("<IIQ", 9, 0, 1 << 50)
    )
    with pytest.raises(DataError, match="a list in it is longer than the file"):
        read_gguf_header(path)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"architecture": "gemma"}, r"family 'gemma' .*\n.*llama, qwen2"),
        (
            {"rope.scaling.type": "yarn", "expert_count": 8},
            r"expert_count: 8 is not supported\n  - llama.rope.scaling.type: yarn",
        ),
        ({"rope.dimension_count": 8}, "rope.dimension_count: 8 is not supported"),
        ({"pre": "unheard-of"}, "pre-tokenizer 'unheard-of'"),
        ({"tokenizer": "llama"}, "the tokenizer 'llama'"),
    ],
)
def test_what_cannot_be_followed_is_refused_with_words(
    settings: dict[str, Any], words: str, tmp_path: Path
) -> None:
    write_file(tmp_path / "tiny.gguf", kind="F32", **settings)
    with pytest.raises(DataError, match=words):
        import_published_model(tmp_path / "tiny.gguf", out=tmp_path / "run")


def test_without_the_package_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from seqlab.core.errors import MissingExtra

    write_file(tmp_path / "tiny.gguf", kind="F32")
    monkeypatch.setitem(sys.modules, "gguf", None)
    with pytest.raises(MissingExtra, match=r"pip install 'seqlab\[hf\]'"):
        import_published_model(tmp_path / "tiny.gguf", out=tmp_path / "run")


def write_file(
    path: Path,
    *,
    kind: str,
    architecture: str = "llama",
    pre: str = "gpt-2",
    tokenizer: str = "gpt2",
    tied: bool = True,
    tensors: Mapping[str, np.ndarray] | None = None,
    **more: Any,
) -> torch.nn.Module:
    """A tiny Llama as llama.cpp would have it; returned is the model with the numbers that the file really
    holds.

    tensors: what else the file holds.
    """
    torch.manual_seed(3)
    model = transformers.LlamaForCausalLM(
        transformers.LlamaConfig(**CONFIG.to_dict() | {"tie_word_embeddings": tied})
    ).eval()
    writer = gguf.GGUFWriter(path, architecture)
    head_size = CONFIG.hidden_size // CONFIG.num_attention_heads
    for name, value in {
        "block_count": CONFIG.num_hidden_layers,
        "context_length": 64,
        "embedding_length": 64,
        "feed_forward_length": 96,
        "attention.head_count": 4,
        "attention.head_count_kv": 2,
        "rope.dimension_count": head_size,
        **more,
    }.items():
        writer.add_string(f"{architecture}.{name}", value) if isinstance(value, str) else writer.add_uint32(
            f"{architecture}.{name}", value
        )
    writer.add_layer_norm_rms_eps(CONFIG.rms_norm_eps)
    writer.add_tokenizer_model(tokenizer)
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(BYTE_PIECES)
    writer.add_token_types([3 if piece.startswith("<") and len(piece) > 1 else 1 for piece in BYTE_PIECES])
    writer.add_token_merges([" ".join(merge) for merge in MERGES])
    writer.add_eos_token_id(2)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
            new, numbers = renamed(name), parameter.numpy()
            heads = {"attn_q": 4, "attn_k": 2}.get(new.split(".")[-2], 0)
            if heads:  # as the converter of llama.cpp does
                numbers = numbers.reshape(heads, 2, head_size // 2, -1).swapaxes(1, 2).reshape(numbers.shape)
            quantised = gguf.GGMLQuantizationType[kind if numbers.ndim == 2 else "F32"]
            data = gguf.quants.quantize(np.ascontiguousarray(numbers), quantised)
            writer.add_tensor(new, data, raw_dtype=quantised)
            back = gguf.quants.dequantize(data, quantised)
            if heads:
                back = back.reshape(heads, head_size // 2, 2, -1).swapaxes(1, 2).reshape(numbers.shape)
            parameter.copy_(torch.from_numpy(np.ascontiguousarray(back, dtype=np.float32)))
    for name, numbers in (tensors or {}).items():
        writer.add_tensor(name, numbers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return model


def renamed(name: str) -> str:
    whole = {
        "model.embed_tokens.weight": "token_embd.weight",
        "model.norm.weight": "output_norm.weight",
        "lm_head.weight": "output.weight",
    }
    if name in whole:
        return whole[name]
    _, _, depth, rest = name.split(".", 3)
    return f"blk.{depth}.{NAMES[rest.removesuffix('.weight')]}.weight"
