"""A folder as `save_pretrained` writes it, with a BERT of one narrow layer, in place of published weights."""

from __future__ import annotations

import json
import string
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = [
    *SPECIAL,
    *string.ascii_lowercase,
    *(f"##{letter}" for letter in string.ascii_lowercase),
    ".",
    ",",
]
WIDTH, INNER, POSITIONS = 12, 20, 128
CONFIG = {
    "model_type": "bert",
    "architectures": ["BertModel"],
    "vocab_size": len(VOCABULARY),
    "hidden_size": WIDTH,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": INNER,
    "max_position_embeddings": POSITIONS,
    "type_vocab_size": 2,
    "hidden_act": "gelu",
    "pad_token_id": 0,
}
LAYER = "encoder.layer.0"
LINEAR = {
    f"{LAYER}.attention.self.query": (WIDTH, WIDTH),
    f"{LAYER}.attention.self.key": (WIDTH, WIDTH),
    f"{LAYER}.attention.self.value": (WIDTH, WIDTH),
    f"{LAYER}.attention.output.dense": (WIDTH, WIDTH),
    f"{LAYER}.intermediate.dense": (INNER, WIDTH),
    f"{LAYER}.output.dense": (WIDTH, INNER),
}
NORMS = ("embeddings.LayerNorm", f"{LAYER}.attention.output.LayerNorm", f"{LAYER}.output.LayerNorm")
TABLES = {"word_embeddings": len(VOCABULARY), "position_embeddings": POSITIONS, "token_type_embeddings": 2}


def write_small_bert(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    save_file(_tensors(), folder / "model.safetensors", metadata={"format": "pt"})


def _tensors() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(3)
    tensors = {
        f"embeddings.{name}.weight": torch.randn(rows, WIDTH, generator=generator)
        for name, rows in TABLES.items()
    }
    for name, shape in LINEAR.items():
        tensors[f"{name}.weight"] = torch.randn(*shape, generator=generator)
        tensors[f"{name}.bias"] = torch.zeros(shape[0])
    for name in NORMS:
        tensors |= {f"{name}.weight": torch.ones(WIDTH), f"{name}.bias": torch.zeros(WIDTH)}
    return tensors
