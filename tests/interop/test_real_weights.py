"""Real pretrained weights: the same sentences give the same vectors, the same prompts the same text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from seqlab.interop.import_model import import_details, import_published_model
from tests.interop.folders import load_gguf_checkpoint, transformers
from tests.interop.real_weights import minilm_folder, smollm_file

SENTENCES = [
    "A man is playing the guitar.",
    "Someone plays an instrument.",
    "The stock market fell sharply on Monday, wiping out the gains of the whole week before.",
    "Hi",
    "Café naïve — 東京 🦁, don't you think? antidisestablishmentarianism",
    "",
]
PROMPTS = [
    "The capital of France is",
    "<|im_start|>user\nName three colours.<|im_end|>\n<|im_start|>assistant\n",
    "def fibonacci(n):\n",
]
NEW_TOKENS = 30


@pytest.mark.spec(173)
@pytest.mark.slow
def test_minilm_gives_the_vectors_that_transformers_gives(tmp_path: Path) -> None:
    folder = minilm_folder()
    run = import_published_model(folder, out=tmp_path / "minilm")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    theirs = transformers.BertModel.from_pretrained(folder).eval()
    batch = tokenizer(SENTENCES, padding=True, return_tensors="pt")
    ours = run.codec.encode(SENTENCES)
    assert [ids.tolist() for ids in ours] == [
        row[mask.bool()].tolist()
        for row, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True)
    ]
    with torch.inference_mode():
        features = theirs(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    expected = normalised(((features * mask).sum(1) / mask.sum(1)).numpy())
    found = normalised(run.vectors(SENTENCES))
    np.testing.assert_allclose(found, expected, atol=1e-6)
    alike, unlike = found[0] @ found[1], found[0] @ found[2]
    assert alike > 0.6 > 0.2 > unlike


@pytest.mark.long
@pytest.mark.timeout(900)  # thirty layers, twice, on whatever else the machine does
def test_smollm_writes_what_its_dequantised_weights_write_in_transformers(tmp_path: Path) -> None:
    path = smollm_file()
    run = import_published_model(path, out=tmp_path / "smollm")
    assert import_details(run)["parameters"] > 130_000_000
    theirs = dequantised(path)
    tokenizer = run.codec.tokenizer
    for prompt in PROMPTS:
        ids = tokenizer.encode(prompt).tolist()
        tokens = torch.tensor([ids])
        with torch.inference_mode():
            logits = theirs(input_ids=tokens).logits
            found, _ = run.model(tokens, torch.ones_like(tokens, dtype=torch.bool))
            written = theirs.generate(
                tokens, do_sample=False, max_new_tokens=NEW_TOKENS, eos_token_id=2, pad_token_id=2
            )[0, len(ids) :].tolist()
        assert_close(found, logits, rtol=1e-3, atol=1e-3)
        written = written[: written.index(2)] if 2 in written else written
        assert run.generate(prompt, temperature=0.0, max_tokens=NEW_TOKENS) == tokenizer.decode(written)


def dequantised(path: Path) -> torch.nn.Module:
    """The same file, read and brought to float32 by the other side; the sizes are those that its makers
    state.
    """
    config = transformers.LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        intermediate_size=1536,
        max_position_embeddings=8192,
        rms_norm_eps=1e-5,
        rope_parameters={"rope_type": "default", "rope_theta": 100000.0},
        tie_word_embeddings=True,
    )
    with torch.device("meta"):
        empty = transformers.LlamaForCausalLM(config)
    weights = load_gguf_checkpoint(str(path), return_tensors=True, model_to_load=empty)["tensors"]
    with torch.device("meta"):
        model: torch.nn.Module = transformers.LlamaForCausalLM(config)
    missing = model.load_state_dict(
        {**weights, "lm_head.weight": weights["model.embed_tokens.weight"]}, strict=True, assign=True
    )
    assert not missing.missing_keys
    model.model.rotary_emb = type(model.model.rotary_emb)(config)  # its rates are in no file
    return model.eval()


def normalised(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
