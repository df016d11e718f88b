"""Convert SentencePiece models to an engine: the pieces of a unigram model with their scores, under the ids
of a vocabulary.

A model file is a protocol buffer: fields, each with a number and one of four wire types. Only five of them
are needed:

    1  piece       1 text   2 score   3 kind (1 normal, 2 unknown, 3 control, 4 a user's own, 5 unused, 6 byte)
    2  training    3 kind of model (1 unigram)
    3  normalizer  2 its table   3 whether a space is added before a text
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Engine

from seqlab.core.errors import DataError
from seqlab.interop.formats.json_files import REDOWNLOAD_HINT
from seqlab.tokens.hugging_face import FILLER, HuggingFace
from seqlab.tokens.vocabulary import UNK

MAX_MODEL_BYTES = 100_000_000
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
NORMAL, USER_DEFINED, UNIGRAM = 1, 4, 1
SPACE_SYMBOL = "▁"
SPECIALS = ("</s>", UNK, "<pad>")
LANGUAGE = re.compile(r">>[^<>]{1,40}<<")
"""The token that selects the target language of a multilingual model."""


@dataclass(frozen=True)
class SentencePieceModel:
    """The pieces with their log-probabilities, and the normalization of texts."""

    scores: dict[str, float]
    precompiled_charsmap: bytes
    add_dummy_prefix: bool


def read_marian_tokenizer(
    path: Path,
    vocabulary: Mapping[str, object],
    *,
    size: int,
    target: Path | None = None,
    ids_file: str = "vocab.json",
) -> HuggingFace:
    """The tokenizer of a Marian model: each side has its own SentencePiece model, and both share the ids of
    one vocabulary.

    target: the file of the model for the target side; without it translations are decoded but cannot be
    tokenized. ids_file: the name of the vocabulary file, for errors.
    """
    ids = {
        piece: piece_id
        for piece, piece_id in vocabulary.items()
        if isinstance(piece_id, int) and not isinstance(piece_id, bool) and 0 <= piece_id < size
    }
    if len(ids) != len(vocabulary) or len(set(ids.values())) != len(ids) or not {"</s>", UNK} <= ids.keys():
        raise DataError(
            "the vocabulary does not give every token a unique id.",
            where=str(path.parent / ids_file),
            cure=REDOWNLOAD_HINT,
        )
    source_engine = _engine(read_sentencepiece_model(path), ids, size=size)
    target_engine = (
        _engine(read_sentencepiece_model(target), ids, size=size)
        if target is not None
        else _piece_list_engine(ids)
    )
    return HuggingFace(source_engine, size=size, roles={"unk": ids[UNK]}, target=target_engine)


def read_sentencepiece_model(path: Path) -> SentencePieceModel:
    """Read a unigram model from its file."""
    try:
        if path.stat().st_size > MAX_MODEL_BYTES:
            raise ValueError("it is larger than any SentencePiece model")
        return _model(path.read_bytes())
    except (ValueError, struct.error, IndexError, UnicodeDecodeError) as error:
        raise DataError(
            f"this is not a supported SentencePiece model ({str(error)[:80]}).",
            where=str(path),
            cure=REDOWNLOAD_HINT,
        ) from error


def _engine(model: SentencePieceModel, ids: Mapping[str, int], *, size: int) -> Engine:
    """Ids of pieces that this side lacks are filled with names that occur in no text; pieces without an id
    come after all ids.
    """
    lowest = min(model.scores.values())
    specials = [piece for piece in ids if piece in SPECIALS or LANGUAGE.fullmatch(piece)]
    known = {piece_id: piece for piece, piece_id in ids.items() if piece in model.scores or piece in specials}
    pieces = [known.get(piece_id, f"{FILLER}{piece_id}") for piece_id in range(size)] + [
        piece for piece in model.scores if piece not in ids
    ]
    engine = Engine(
        models.Unigram(
            [(piece, model.scores.get(piece, lowest)) for piece in pieces],
            unk_id=ids[UNK],
            byte_fallback=False,
        )
    )
    prepared = [normalizers.Precompiled(model.precompiled_charsmap)] if model.precompiled_charsmap else []
    engine.normalizer = normalizers.Sequence(
        [*prepared, normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()]
    )
    engine.pre_tokenizer = pre_tokenizers.Metaspace(
        replacement=SPACE_SYMBOL, prepend_scheme="always" if model.add_dummy_prefix else "never"
    )
    engine.decoder = decoders.Metaspace(replacement=SPACE_SYMBOL)
    engine.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", ids["</s>"])]
    )
    engine.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in specials])
    return engine


def _piece_list_engine(ids: Mapping[str, int]) -> Engine:
    engine = Engine(models.WordLevel(dict(ids), unk_token=UNK))
    engine.decoder = decoders.Metaspace(replacement=SPACE_SYMBOL)
    return engine


def _model(data: bytes) -> SentencePieceModel:
    scores: dict[str, float] = {}
    precompiled_charsmap, add_dummy_prefix, kind = b"", True, UNIGRAM
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            piece, score, piece_kind = _piece(value)
            if piece_kind in (NORMAL, USER_DEFINED):
                scores[piece] = score
        elif number == 2 and isinstance(value, bytes):
            kind = next(
                (int(inner) for field, inner in _fields(value) if field == 3 and isinstance(inner, int)),
                UNIGRAM,
            )
        elif number == 3 and isinstance(value, bytes):
            inner_fields = dict(_fields(value))
            charsmap = inner_fields.get(2, b"")
            precompiled_charsmap, add_dummy_prefix = (
                charsmap if isinstance(charsmap, bytes) else b"",
                inner_fields.get(3, 1) != 0,
            )
    if kind != UNIGRAM or not scores:
        raise ValueError("only unigram models are supported")
    return SentencePieceModel(scores, precompiled_charsmap, add_dummy_prefix)


def _piece(data: bytes) -> tuple[str, float, int]:
    fields = dict(_fields(data))
    text, score, kind = fields.get(1, b""), fields.get(2, b"\0\0\0\0"), fields.get(3, NORMAL)
    if not isinstance(text, bytes) or not isinstance(score, bytes) or not isinstance(kind, int):
        raise ValueError("a malformed piece")
    return text.decode("utf-8"), float(struct.unpack("<f", score)[0]), kind


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message, one after the other: a number, or bytes."""
    offset = 0
    while offset < len(data):
        key, offset = _varint(data, offset)
        wire_type = key & 7
        if wire_type == VARINT:
            value, offset = _varint(data, offset)
            yield key >> 3, value
            continue
        length, offset = (
            (_varint(data, offset))
            if wire_type == BYTES
            else ({FIXED64: 8, FIXED32: 4}.get(wire_type, -1), offset)
        )
        if length < 0 or offset + length > len(data):
            raise ValueError("a field extends past the end")
        yield key >> 3, data[offset : offset + length]
        offset += length


def _varint(data: bytes, offset: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[offset]
        offset += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, offset
    raise ValueError("an unterminated number")
