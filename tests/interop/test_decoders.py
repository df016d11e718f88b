"""Decoders of the GPT-2 and Llama families: the same logits, at once and step by step, and the same text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from seqlab.interop.import_model import import_published_model
from seqlab.runs.run import Run
from tests.interop import folders
from tests.interop.folders import transformers

DECODERS: dict[str, tuple[type[Any], Any]] = {
    "gpt2": (transformers.GPT2LMHeadModel, folders.gpt2_config()),
    "gpt2, relu and an inner size": (
        transformers.GPT2LMHeadModel,
        folders.gpt2_config(activation_function="relu", n_inner=7, layer_norm_epsilon=0.01),
    ),
    "gpt2 with an output table of its own": (
        transformers.GPT2LMHeadModel,
        folders.gpt2_config(tie_word_embeddings=False),
    ),
    "llama with shared heads": (transformers.LlamaForCausalLM, folders.llama_config()),
    "llama, tied": (
        transformers.LlamaForCausalLM,
        folders.llama_config(tie_word_embeddings=True, num_key_value_heads=6),
    ),
    "llama with biases in attention": (
        transformers.LlamaForCausalLM,
        folders.llama_config(attention_bias=True),
    ),
    "llama with all biases, turning slowly": (
        transformers.LlamaForCausalLM,
        folders.llama_config(
            attention_bias=True,
            mlp_bias=True,
            rope_parameters={"rope_type": "default", "rope_theta": 500.0},
            head_dim=10,
        ),
    ),
    "mistral with a window": (transformers.MistralForCausalLM, folders.mistral_config()),
    "mistral without a window": (
        transformers.MistralForCausalLM,
        folders.mistral_config(sliding_window=None),
    ),
    "mistral, tied": (transformers.MistralForCausalLM, folders.mistral_config(tie_word_embeddings=True)),
    "qwen2, tied": (transformers.Qwen2ForCausalLM, folders.qwen2_config(tie_word_embeddings=True)),
    "qwen2": (transformers.Qwen2ForCausalLM, folders.qwen2_config()),
}


@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_gives_the_same_logits_at_once_and_step_by_step(name: str, tmp_path: Path) -> None:
    theirs, run = imported(name, tmp_path)
    generator = torch.Generator().manual_seed(5)
    tokens = torch.randint(folders.NUM_BYTE_PIECES, (3, 13), generator=generator)
    is_token = torch.ones_like(tokens, dtype=torch.bool)
    expected = theirs(input_ids=tokens, attention_mask=is_token.long()).logits
    found, _ = run.model(tokens, is_token)
    assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert expected.std() > 0.1
    state, steps = None, []
    for start, end in ((0, 4), (4, 5), (5, 6), (6, 13)):
        logits, state = run.model(tokens[:, start:end], is_token[:, start:end], state)
        steps.append(logits)
    assert_close(torch.cat(steps, dim=1), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("name", ["gpt2", "llama with shared heads", "mistral with a window"])
def test_a_decoder_writes_the_same_text(name: str, tmp_path: Path) -> None:
    theirs, run = imported(name, tmp_path)
    prompt = torch.tensor([run.codec.tokenizer.encode("the cat sat at").tolist()])
    with torch.no_grad():
        expected = theirs.generate(prompt, do_sample=False, max_new_tokens=12, pad_token_id=1)[
            0, prompt.shape[1] :
        ].tolist()
    tokenizer = run.codec.tokenizer
    if folders.BYTE_PIECES.index("</s>") in expected:
        expected = expected[: expected.index(folders.BYTE_PIECES.index("</s>"))]
    assert run.generate("the cat sat at", temperature=0.0, max_tokens=12) == tokenizer.decode(expected)


def imported(name: str, folder: Path) -> tuple[nn.Module, Run]:
    kind, config = DECODERS[name]
    theirs = folders.write_model(folder / "published", kind, config)
    folders.write_bytes(folder / "published")
    return theirs, import_published_model(folder / "published", out=folder / "run")
