"""Convert the tokenizer inside a GGUF file to a byte-pair engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenizers import AddedToken, Regex, decoders, models, pre_tokenizers, processors
from tokenizers import Tokenizer as Engine

from seqlab.core.errors import DataError, listed
from seqlab.tokens.hugging_face import HuggingFace, check_merges

CONTROL, USER_DEFINED = 3, 4
"""Kinds of tokens: those that never occur in text, and those that are matched whole."""
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN2 = LLAMA3.replace("{1,3}", "")
SPLITS = {"gpt-2": "", "smollm": "digits", "llama-bpe": LLAMA3, "llama3": LLAMA3, "qwen2": QWEN2}
"""Pre-tokenization patterns by their names in the file."""
ROLES = {"eos": "eos_token_id", "bos": "bos_token_id", "pad": "padding_token_id"}


def build_gguf_tokenizer(settings: Mapping[str, Any], *, size: int, where: str) -> HuggingFace:
    """A tokenizer with the file's pieces, merges, pre-tokenization and special tokens."""
    pattern = _find_pattern(settings, where=where)
    pieces = _read_strings(settings, "tokens", where=where)
    engine = _build_engine(pieces, _read_strings(settings, "merges", where=where), where=where)
    engine.pre_tokenizer = _build_pre_tokenizer(
        pattern, prefix_space=settings.get("tokenizer.ggml.add_space_prefix") is True
    )
    engine.decoder = decoders.ByteLevel()
    _add_special_tokens(engine, pieces, settings.get("tokenizer.ggml.token_type", []))
    roles = _read_roles(settings, len(pieces), where=where)
    if settings.get("tokenizer.ggml.add_bos_token") is True and "bos" in roles:
        engine.post_processor = processors.TemplateProcessing(
            single=f"{pieces[roles['bos']]} $A", special_tokens=[(pieces[roles["bos"]], roles["bos"])]
        )
    if len(pieces) > size:
        raise DataError(
            f"the tokenizer has {len(pieces):,} tokens, but the weights have {size:,}.",
            where=where,
            cure="Download the file again.",
        )
    return HuggingFace(engine, size=size, roles=roles)


def _find_pattern(settings: Mapping[str, Any], *, where: str) -> str:
    """The pre-tokenization pattern; an error for any tokenizer but byte-pair encoding."""
    kind, split_kind = settings.get("tokenizer.ggml.model"), settings.get("tokenizer.ggml.pre", "gpt-2")
    if kind == "gpt2" and split_kind in SPLITS:
        return SPLITS[split_kind]
    raise DataError(
        f"the tokenizer {str(kind)[:30]!r} with the pre-tokenizer {str(split_kind)[:30]!r} is not supported.",
        where=where,
        cure=(
            f"Supported: byte-pair encoding ('gpt2') with the pre-tokenizers {listed(list(SPLITS))}."
            " Try to import the folder of the same model instead."
        ),
    )


def _build_engine(pieces: list[str], merges: list[str], *, where: str) -> Engine:
    ids = {piece: token_id for token_id, piece in enumerate(pieces)}
    try:
        pairs = [merge.split(" ") for merge in merges]
        check_merges(ids, pairs)
        return Engine(models.BPE(ids, [(left, right) for left, right in pairs]))
    except Exception as error:  # the engine's own errors are plain Exceptions
        raise DataError(
            "the tokens and merges of the tokenizer do not match.",
            where=where,
            cure="Download the file again.",
        ) from error


def _add_special_tokens(engine: Engine, pieces: list[str], kinds: list[int]) -> None:
    added = [
        (piece, kind) for piece, kind in zip(pieces, kinds, strict=False) if kind in (CONTROL, USER_DEFINED)
    ]
    engine.add_special_tokens(
        [AddedToken(piece, special=True, normalized=False) for piece, kind in added if kind == CONTROL]
    )
    engine.add_tokens(
        [AddedToken(piece, special=False, normalized=False) for piece, kind in added if kind == USER_DEFINED]
    )


def _read_roles(settings: Mapping[str, Any], num_pieces: int, *, where: str) -> dict[str, int]:
    """The id of each special token by its role, of which only the end token is required."""
    roles = {
        role: token_id
        for role, name in ROLES.items()
        if (token_id := _token_id(settings.get(f"tokenizer.ggml.{name}"), num_pieces)) is not None
    }
    if "eos" not in roles:
        raise DataError(
            "the file does not say which token ends a text.",
            where=where,
            cure="The file must have tokenizer.ggml.eos_token_id.",
        )
    return roles


def _build_pre_tokenizer(pattern: str, *, prefix_space: bool) -> Any:
    bytes_of_words = pre_tokenizers.ByteLevel(
        add_prefix_space=prefix_space, use_regex=pattern in ("", "digits")
    )
    if not pattern:
        return bytes_of_words
    first = (
        pre_tokenizers.Digits(individual_digits=True)
        if pattern == "digits"
        else pre_tokenizers.Split(Regex(pattern), behavior="isolated")
    )
    return pre_tokenizers.Sequence([first, bytes_of_words])


def _read_strings(settings: Mapping[str, Any], name: str, *, where: str) -> list[str]:
    values = settings.get(f"tokenizer.ggml.{name}")
    if not isinstance(values, list) or not values or not all(isinstance(text, str) for text in values):
        raise DataError(f"the tokenizer has no {name}.", where=where, cure="Download the file again.")
    return values


def _token_id(value: Any, limit: int) -> int | None:
    return value if isinstance(value, int) and 0 <= value < limit else None
