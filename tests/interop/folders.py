"""Folders of tiny published models, written by transformers: the other side of every comparison."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from torch import nn

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # what another package says about itself is not our mistake
    import transformers
    from transformers.modeling_gguf_pytorch_utils import load_gguf_checkpoint

__all__ = ["load_gguf_checkpoint", "transformers"]

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    "the",
    "cat",
    "sat",
    "on",
    "mat",
    "a",
    "dog",
    "##s",
    "##ting",
    "ran",
    ",",
    ".",
    "to",
    "be",
    "or",
]
TEXTS = ["the cat sat on the mat.", "a dog", "the dogs ran, the cats sat", "to be or the cat", "cat"]
BYTES = sorted(pre_tokenizers.ByteLevel.alphabet())
BYTE_PIECES = ["<s>", "<pad>", "</s>", "<unk>", *BYTES, "th", "Ġth", "Ġthe", "at", "<mask>"]
MERGES = [("t", "h"), ("Ġ", "th"), ("Ġth", "e"), ("a", "t")]
NUM_WORDS, NUM_BYTE_PIECES = len(WORDS), len(BYTE_PIECES)


def write_model(folder: Path, kind: type[Any], config: Any, *, seed: int = 3) -> nn.Module:
    """A model with every weight random, so that none hides behind a zero or a one, saved as its makers
    would.
    """
    torch.manual_seed(seed)
    model: nn.Module = kind(config).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.2)
    folder.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(folder)  # a method of the other side
    return model


def write_words(folder: Path) -> Tokenizer:
    """A WordPiece tokenizer with [CLS] and [SEP] around every text."""
    engine = Tokenizer(models.WordPiece({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    engine.normalizer = normalizers.BertNormalizer(lowercase=True)
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    engine.decoder = decoders.WordPiece(prefix="##")
    engine.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    engine.add_special_tokens(WORDS[:5])
    engine.enable_truncation(4)  # as some are published; nothing may be cut
    engine.save(str(folder / "tokenizer.json"))
    names = {"unk": "[UNK]", "pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"}
    _write_names(folder, names)
    return engine


def write_bytes(folder: Path, *, template: str = "", **names: str) -> Tokenizer:
    """A byte-level tokenizer; template: what stands around a text, such as <s> $A </s>."""
    engine = Tokenizer(models.BPE({piece: place for place, piece in enumerate(BYTE_PIECES)}, MERGES))
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    engine.decoder = decoders.ByteLevel()
    if template:
        engine.post_processor = processors.TemplateProcessing(
            single=template, special_tokens=[("<s>", 0), ("</s>", 2)]
        )
    engine.add_special_tokens([*BYTE_PIECES[:4], "<mask>"])
    engine.save(str(folder / "tokenizer.json"))
    _write_names(folder, {"eos": "</s>", **names})
    return engine


def _write_names(folder: Path, names: dict[str, str]) -> None:
    import json

    (folder / "tokenizer_config.json").write_text(
        json.dumps({f"{role}_token": piece for role, piece in names.items()})
    )


def bert_config(**changes: Any) -> Any:
    return transformers.BertConfig(
        **{
            "vocab_size": NUM_WORDS,
            "hidden_size": 12,
            "num_hidden_layers": 3,
            "num_attention_heads": 2,
            "intermediate_size": 20,
            "max_position_embeddings": 17,
            "pad_token_id": 0,
            **changes,
        }
    )


def roberta_config(**changes: Any) -> Any:
    return transformers.RobertaConfig(
        **{
            "vocab_size": NUM_BYTE_PIECES,
            "hidden_size": 12,
            "num_hidden_layers": 2,
            "num_attention_heads": 3,
            "intermediate_size": 20,
            "max_position_embeddings": 66,
            "pad_token_id": 1,
            "bos_token_id": 0,
            "eos_token_id": 2,
            "type_vocab_size": 1,
            **changes,
        }
    )


def distilbert_config(**changes: Any) -> Any:
    return transformers.DistilBertConfig(
        **{
            "vocab_size": NUM_WORDS,
            "dim": 12,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 20,
            "max_position_embeddings": 17,
            "pad_token_id": 0,
            **changes,
        }
    )


def gpt2_config(**changes: Any) -> Any:
    return transformers.GPT2Config(
        **{
            "vocab_size": NUM_BYTE_PIECES + 3,
            "n_embd": 12,
            "n_layer": 3,
            "n_head": 2,
            "n_positions": 64,
            "bos_token_id": 2,
            "eos_token_id": 2,
            **changes,
        }
    )


def llama_config(**changes: Any) -> Any:
    return transformers.LlamaConfig(
        **{
            "vocab_size": NUM_BYTE_PIECES,
            "hidden_size": 24,
            "num_hidden_layers": 3,
            "num_attention_heads": 6,
            "num_key_value_heads": 2,
            "intermediate_size": 20,
            "max_position_embeddings": 64,
            "eos_token_id": 2,
            "bos_token_id": 0,
            "pad_token_id": 1,
            "rms_norm_eps": 1e-5,
            **changes,
        }
    )


def mistral_config(**changes: Any) -> Any:
    return transformers.MistralConfig(
        **{
            "vocab_size": NUM_BYTE_PIECES,
            "hidden_size": 24,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 8,
            "intermediate_size": 20,
            "max_position_embeddings": 64,
            "eos_token_id": 2,
            "bos_token_id": 0,
            "pad_token_id": 1,
            "sliding_window": 5,
            **changes,
        }
    )


def qwen2_config(**changes: Any) -> Any:
    return transformers.Qwen2Config(
        **{
            "vocab_size": NUM_BYTE_PIECES,
            "hidden_size": 24,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "intermediate_size": 20,
            "max_position_embeddings": 64,
            "eos_token_id": 2,
            "bos_token_id": 0,
            "pad_token_id": 1,
            **changes,
        }
    )
