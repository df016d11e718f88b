"""Model presets: published networks by name, so that `--model bert-base` sets all sizes. Does not import
torch.

The sizes are those of the papers and of the published weights. Attention dropout is 0, because it disables
the fast path; `model.attention_dropout=0.1` is the value of the papers.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelPreset:
    """One published network.

    vocabulary_size: of its original tokenizer; a run has a tokenizer of its own. causal: whether it was
    trained to predict the next token, or masked tokens. parameters: of the model that seqlab builds for that
    purpose, with that vocabulary.
    """

    about: str
    vocabulary_size: int
    causal: bool
    parameters: int
    settings: dict[str, object]

    @property
    def summary(self) -> str:
        """One line for lists: name and size.

        >>> MODEL_PRESETS["bert-base"].summary
        'BERT base (2019): 12 layers × 768, 109.5M parameters.'
        """
        sizes = f"{self.settings['layers']} layers × {self.settings['hidden_size']}"
        return f"{self.about}: {sizes}, {self.parameters / 1e6:,.1f}M parameters."


def _bert(layers: int, hidden_size: int, heads: int, *, norm_eps: float = 1e-12) -> dict[str, object]:
    """Post-norm, exact GELU, learned positions, a norm after the embedding.

    Paper: Devlin et al. 2019, arXiv:1810.04805.
    """
    return {
        "kind": "transformer",
        "layers": layers,
        "hidden_size": hidden_size,
        "heads": heads,
        "norm": "post",
        "norm_eps": norm_eps,
        "positions": "learned",
        "max_positions": 512,
        "activation": "gelu",
        "dropout": 0.1,
        "embedding_norm": True,
        "embedding_norm_eps": norm_eps,
        "pooling": "first",
    }


def _gpt2(layers: int, hidden_size: int, heads: int) -> dict[str, object]:
    """Pre-norm, GELU by tanh, learned positions.

    Paper: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners".
    """
    return {
        "kind": "transformer",
        "layers": layers,
        "hidden_size": hidden_size,
        "heads": heads,
        "norm": "pre",
        "norm_eps": 1e-5,
        "positions": "learned",
        "max_positions": 1024,
        "activation": "gelu_tanh",
        "dropout": 0.1,
        "embedding_norm": False,
        "pooling": "last",
    }


MODEL_PRESETS: dict[str, ModelPreset] = {
    "bert-base": ModelPreset("BERT base (2019)", 30_522, False, 109_512_762, _bert(12, 768, 12)),
    "bert-large": ModelPreset("BERT large (2019)", 30_522, False, 335_172_410, _bert(24, 1024, 16)),
    "distilbert": ModelPreset("DistilBERT (2019)", 30_522, False, 66_985_530, _bert(6, 768, 12)),
    "roberta-base": ModelPreset(
        "RoBERTa base (2019)", 50_265, False, 124_695_129, _bert(12, 768, 12, norm_eps=1e-5)
    ),
    "gpt2": ModelPreset("GPT-2 (2019)", 50_257, True, 124_490_065, _gpt2(12, 768, 12)),
    "gpt2-medium": ModelPreset("GPT-2 medium (2019)", 50_257, True, 354_873_425, _gpt2(24, 1024, 16)),
    "gpt2-large": ModelPreset("GPT-2 large (2019)", 50_257, True, 774_080_337, _gpt2(36, 1280, 20)),
    "gpt2-xl": ModelPreset("GPT-2 XL (2019)", 50_257, True, 1_557_661_457, _gpt2(48, 1600, 25)),
}
