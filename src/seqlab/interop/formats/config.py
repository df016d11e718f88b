"""The config.json of a published model: read value by value, collecting all problems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from seqlab.core.errors import DataError, shortened

MAX_SIZE = 1 << 24
MAX_PROBLEMS = 8
IGNORED_KEYS = frozenset(
    {
        "_name_or_path",
        "architectures",
        "attn_implementation",
        "_attn_implementation",
        "_num_labels",
        "bos_token_id",
        "chunk_size_feed_forward",
        "classifier_dropout",
        "cls_token_id",
        "decoder_start_token_id",
        "dtype",
        "embd_pdrop",
        "eos_token_id",
        "finetuning_task",
        "forced_bos_token_id",
        "forced_eos_token_id",
        "gradient_checkpointing",
        "id2label",
        "initializer_range",
        "init_std",
        "label2id",
        "language",
        "mask_token_id",
        "model_type",
        "name_or_path",
        "num_labels",
        "output_attentions",
        "output_hidden_states",
        "output_past",
        "pad_token_id",
        "problem_type",
        "quantization_config_original",
        "return_dict",
        "sep_token_id",
        "task_specific_params",
        "tokenizer_class",
        "torch_dtype",
        "torchscript",
        "transformers_version",
        "unk_token_id",
        "use_bfloat16",
        "use_cache",
        "pruned_heads",
        "prefix",
        "bad_words_ids",
        "num_beams",
        "max_length",
        "early_stopping",
        "no_repeat_ngram_size",
        "length_penalty",
        "min_length",
        "repetition_penalty",
        "temperature",
        "top_k",
        "top_p",
        "do_sample",
    }
)
"""Names that do not affect what the network computes."""


class ConfigReader:
    """Values by name.

    Readers request the values they need; `raise_problems` reports all missing or unsupported values at once.
    """

    def __init__(self, values: Mapping[str, Any], *, where: str) -> None:
        self.where = where
        self._values = values
        self._seen: set[str] = set()
        self._problems: list[str] = []

    def integer(self, *names: str, default: int | None = None, minimum: int = 1) -> int:
        """An integer, under the first of the names that exists."""
        name, value = self._first(names, default)
        if isinstance(value, bool) or not isinstance(value, int) or not minimum <= value <= MAX_SIZE:
            self._add_problem(
                f"{name}: expected a whole number of at least {minimum}, found {_format_value(value)}"
            )
            return max(minimum, 1)
        return value

    def number(self, *names: str, default: float | None = None) -> float:
        """A finite number of at least 0."""
        name, value = self._first(names, default)
        if (
            isinstance(value, bool)
            or not isinstance(value, int | float)
            or not math.isfinite(value)
            or value < 0
        ):
            self._add_problem(f"{name}: expected a number, found {_format_value(value)}")
            return 1.0
        return float(value)

    def flag(self, name: str, *, default: bool) -> bool:
        value = self._first((name,), default)[1]
        if not isinstance(value, bool):
            self._add_problem(f"{name}: expected true or false, found {_format_value(value)}")
            return default
        return value

    def choice(self, *names: str, choices: Mapping[str, str], default: str | None = None) -> str:
        """A value that maps to one of seqlab's values."""
        name, value = self._first(names, default)
        if not isinstance(value, str) or value not in choices:
            self._add_problem(
                f"{name}: {_format_value(value)} is not supported; allowed: {', '.join(choices)}"
            )
            return next(iter(choices.values()))
        return choices[value]

    def require(self, name: str, *allowed: Any, why: str) -> None:
        """Reject a value that seqlab does not support; a missing value means the first allowed one."""
        value = self._first((name,), allowed[0] if allowed else None)[1]
        if not any(
            value is value_allowed or (type(value) is type(value_allowed) and value == value_allowed)
            for value_allowed in allowed
        ):
            self._add_problem(f"{name}: {_format_value(value)} is not supported ({why})")

    def raw(self, name: str) -> Any:
        """A raw value, or None."""
        return self._first((name,), None)[1]

    def add_problem(self, problem: str) -> None:
        self._problems.append(problem)

    def skip(self, *names: str) -> None:
        """Names that a family knows and may ignore."""
        self._seen.update(names)

    def unread_keys(self) -> list[str]:
        """The names in the config that were never requested."""
        return sorted(name for name in self._values if name not in self._seen and name not in IGNORED_KEYS)

    def raise_problems(self) -> None:
        """Raise all problems in one message."""
        if self._problems:
            listed = self._problems[:MAX_PROBLEMS]
            more = (
                [f"and {len(self._problems) - MAX_PROBLEMS} more"]
                if len(self._problems) > MAX_PROBLEMS
                else []
            )
            raise DataError(
                "seqlab does not support this model.\n"
                + "\n".join(f"  - {problem}" for problem in [*listed, *more]),
                where=self.where,
                cure="Choose a model of the same family without these settings.",
            )

    def _first(self, names: tuple[str, ...], default: Any) -> tuple[str, Any]:
        self._seen.update(names)
        for name in names:
            if self._values.get(name) is not None:
                return name, self._values[name]
        return names[0], default

    def _add_problem(self, text: str) -> None:
        self._problems.append(text)


def _format_value(value: Any) -> str:
    return "nothing" if value is None else shortened(repr(value), 80)
