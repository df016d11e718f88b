"""The config.json of a published model: read value by value, with every mistake collected."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from seqlab.core.errors import DataError, shortened

LARGEST_SIZE = 1 << 24
MOST_MISTAKES = 8
HARMLESS = frozenset({
    "_name_or_path", "architectures", "attn_implementation", "_attn_implementation", "_num_labels", "bos_token_id", "chunk_size_feed_forward",
    "classifier_dropout", "cls_token_id", "decoder_start_token_id", "dtype", "embd_pdrop", "eos_token_id", "finetuning_task", "forced_bos_token_id",
    "forced_eos_token_id", "gradient_checkpointing", "id2label", "initializer_range", "init_std", "label2id", "language", "mask_token_id",
    "model_type", "name_or_path", "num_labels", "output_attentions", "output_hidden_states", "output_past", "pad_token_id", "problem_type",
    "quantization_config_original", "return_dict", "sep_token_id", "task_specific_params", "tokenizer_class", "torch_dtype", "torchscript",
    "transformers_version", "unk_token_id", "use_bfloat16", "use_cache", "pruned_heads", "prefix", "bad_words_ids", "num_beams", "max_length",
    "early_stopping", "no_repeat_ngram_size", "length_penalty", "min_length", "repetition_penalty", "temperature", "top_k", "top_p", "do_sample",
})  # fmt: skip
"""Names that say nothing about what the network computes."""


class Config:
    """Values by name. Whoever reads says what it needs; what is missing or cannot be followed is told by `finish`, all at once."""

    def __init__(self, values: Mapping[str, Any], *, where: str) -> None:
        self.where = where
        self._values = values
        self._seen: set[str] = set()
        self._mistakes: list[str] = []

    def integer(self, *names: str, default: int | None = None, least: int = 1) -> int:
        """A whole number, under the first of the names that is there."""
        name, value = self._first(names, default)
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= LARGEST_SIZE:
            self._mistake(f"{name}: expected a whole number of at least {least}, found {_shown(value)}")
            return max(least, 1)
        return value

    def number(self, *names: str, default: float | None = None) -> float:
        """A finite number of at least 0."""
        name, value = self._first(names, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
            self._mistake(f"{name}: expected a number, found {_shown(value)}")
            return 1.0
        return float(value)

    def flag(self, name: str, *, default: bool) -> bool:
        value = self._first((name,), default)[1]
        if not isinstance(value, bool):
            self._mistake(f"{name}: expected true or false, found {_shown(value)}")
            return default
        return value

    def choice(self, *names: str, among: Mapping[str, str], default: str | None = None) -> str:
        """A word that seqlab has a word of its own for."""
        name, value = self._first(names, default)
        if not isinstance(value, str) or value not in among:
            self._mistake(f"{name}: {_shown(value)} is not among {', '.join(among)}")
            return next(iter(among.values()))
        return among[value]

    def only(self, name: str, *allowed: Any, why: str) -> None:
        """Refuse a value that no block of seqlab can follow; left out is the first allowed one."""
        value = self._first((name,), allowed[0] if allowed else None)[1]
        if not any(value is each or (type(value) is type(each) and value == each) for each in allowed):
            self._mistake(f"{name}: {_shown(value)} cannot be followed ({why})")

    def raw(self, name: str) -> Any:
        """A value as it stands, or None."""
        return self._first((name,), None)[1]

    def refuse(self, mistake: str) -> None:
        self._mistakes.append(mistake)

    def skip(self, *names: str) -> None:
        """Names that a family knows and need not follow."""
        self._seen.update(names)

    def unread(self) -> list[str]:
        """What the config says beyond what anybody asked for."""
        return sorted(name for name in self._values if name not in self._seen and name not in HARMLESS)

    def finish(self) -> None:
        """All mistakes in one message."""
        if self._mistakes:
            shown = self._mistakes[:MOST_MISTAKES]
            more = [f"and {len(self._mistakes) - MOST_MISTAKES} more"] if len(self._mistakes) > MOST_MISTAKES else []
            raise DataError(
                "this model cannot be built from seqlab's blocks.\n" + "\n".join(f"  - {mistake}" for mistake in [*shown, *more]),
                where=self.where,
                cure="Choose a model of the family without these settings.",
            )

    def _first(self, names: tuple[str, ...], default: Any) -> tuple[str, Any]:
        self._seen.update(names)
        for name in names:
            if self._values.get(name) is not None:
                return name, self._values[name]
        return names[0], default

    def _mistake(self, text: str) -> None:
        self._mistakes.append(text)


def _shown(value: Any) -> str:
    return "nothing" if value is None else shortened(repr(value), 80)
