"""Limits on what an untrusted tokenizer.json may do to a text, checked before the engine reads it.

A short file can describe a tokenizer that fills memory: replacement rules that double a text thirty times, a
template that adds a million tokens. Every such part is far below these bounds in published tokenizers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from seqlab.core.errors import DataError

LARGEST_FILE = 100_000_000
MOST_PIECES = 1_000_000
"""The largest published vocabularies have about 260,000."""
LARGEST_GROWTH = 100
"""Maximum factor by which normalizers or decoders together may lengthen a text."""
MOST_TEMPLATE_TOKENS = 100
LONGEST_WORD = 1_000
"""Maximum length of a word for WordPiece, whose time is quadratic in it."""


def check_bounds(saved: Mapping[str, Any]) -> None:
    """Raise ValueError if a limit is exceeded."""
    _check_vocabulary(saved)
    for part in ("normalizer", "pre_tokenizer", "decoder"):
        growth = _growth(saved.get(part))
        if growth > LARGEST_GROWTH:
            raise ValueError(
                f"its {part} can make a text {growth:,.0f} times longer, above the limit of {LARGEST_GROWTH}"
            )
    added = _template_tokens(saved.get("post_processor"))
    if added > MOST_TEMPLATE_TOKENS:
        raise ValueError(
            f"its template adds {added:,} tokens to every text, above the limit of {MOST_TEMPLATE_TOKENS}"
        )


def _check_vocabulary(saved: Mapping[str, Any]) -> None:
    model = saved.get("model")
    model = model if isinstance(model, dict) else {}
    pieces = model.get("vocab", [])
    added = saved.get("added_tokens") or []
    if len(pieces) + len(added) > MOST_PIECES:
        raise ValueError(f"it has {len(pieces) + len(added):,} tokens, above the limit of {MOST_PIECES:,}")
    if model.get("max_input_chars_per_word", 0) > LONGEST_WORD:
        raise ValueError(
            f"max_input_chars_per_word is {model['max_input_chars_per_word']}, above the limit of"
            f" {LONGEST_WORD}"
        )
    unknown = model.get("unk_token")
    if model.get("type") == "WordPiece" and unknown not in pieces:
        raise ValueError(f"its unknown token {str(unknown)[:40]!r} is not in the vocabulary")


def _growth(part: Any) -> float:
    """The factor by which a part, or a sequence of parts, can lengthen a text of one character."""
    if isinstance(part, list):
        growth = 1.0
        for element in part:
            growth *= _growth(element)
        return growth
    if not isinstance(part, dict):
        return 1.0
    own = 1.0
    if isinstance(content := part.get("content"), str) and "pattern" in part:  # Replace
        own = max(1.0, len(content) / _shortest_match(part["pattern"]))
    for name in ("prepend", "replacement"):
        if isinstance(text := part.get(name), str):
            own = max(own, float(len(text)))
    nested = [value for value in part.values() if isinstance(value, list | dict)]
    return own * _growth(nested)


def _shortest_match(pattern: Any) -> float:
    """Minimum number of characters that a rule replaces; an empty match occurs before every character and at the end."""
    text = pattern.get("String") if isinstance(pattern, dict) else pattern
    if isinstance(text, str):
        return len(text) or 0.5
    return 0.5


def _template_tokens(processor: Any) -> int:
    if isinstance(processor, list):
        return sum(map(_template_tokens, processor))
    if not isinstance(processor, dict):
        return 0
    added = _template_tokens(processor.get("processors"))
    specials = processor.get("special_tokens")
    sizes = {
        name: len(entry.get("ids") or [])
        for name, entry in (specials if isinstance(specials, dict) else {}).items()
        if isinstance(entry, dict)
    }
    templates = [processor.get("single") or [], processor.get("pair") or []]
    return added + max(sum(_piece_size(piece, sizes) for piece in template) for template in templates)


def _piece_size(piece: Any, sizes: Mapping[str, int]) -> int:
    """A piece of a template is a text of the input, or a special token that may expand to several ids."""
    special = piece.get("SpecialToken") if isinstance(piece, dict) else None
    return sizes.get(str(special.get("id")), 1) if isinstance(special, dict) else 1


@contextmanager
def explain_engine_failure() -> Iterator[None]:
    """Turn the engine's panics and its bare Exceptions into a DataError: a text that this tokenizer cannot encode."""
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise DataError(
            f"the tokenizer of this model fails on a text ({str(error)[:100]}).",
            cure="Import the model again with a complete tokenizer.json, or remove the text.",
        ) from error
