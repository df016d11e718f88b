"""SentencePiece models -> an engine: the pieces of a unigram model with their scores, under the ids of a vocabulary.

A model file is a protocol buffer: fields, each with a number and one of four ways to be written. Only five of them are needed:

    1  piece       1 text   2 score   3 kind (1 normal, 2 unknown, 3 control, 4 a user's own, 5 unused, 6 byte)
    2  training    3 kind of model (1 unigram)
    3  normaliser  2 its table   3 whether a blank is put before a text
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
from seqlab.interop.formats.json_files import AGAIN
from seqlab.tokens.hugging_face import FILLER, HuggingFace
from seqlab.tokens.vocabulary import UNK

LARGEST_MODEL = 100_000_000
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
NORMAL, OWN, UNIGRAM = 1, 4, 1
BLANK = "▁"
SPECIALS = ("</s>", UNK, "<pad>")
LANGUAGE = re.compile(r">>[^<>]{1,40}<<")
"""How a model for several languages is told which one to write."""


@dataclass(frozen=True)
class PieceModel:
    """The pieces that a text can be cut into with the logarithms of their probabilities, and how a text is prepared."""

    scores: dict[str, float]
    table: bytes
    blank_first: bool


def read_pair_of_pieces(
    path: Path, vocabulary: Mapping[str, object], *, size: int, target: Path | None = None, ids_file: str = "vocab.json"
) -> HuggingFace:
    """The tokenizer of a Marian model: each side is cut by a model of its own, and both have the ids of one vocabulary.

    target: the file of the model that cuts what is written; without it translations are put together, but none is cut.
    ids_file: the name of the file of the vocabulary, for an error.
    """
    ids = {piece: place for piece, place in vocabulary.items() if isinstance(place, int) and not isinstance(place, bool) and 0 <= place < size}
    if len(ids) != len(vocabulary) or len(set(ids.values())) != len(ids) or not {"</s>", UNK} <= ids.keys():
        raise DataError("the vocabulary does not give every piece an id of its own.", where=str(path.parent / ids_file), cure=AGAIN)
    cuts = _engine(read_pieces(path), ids, size=size)
    joins = _engine(read_pieces(target), ids, size=size) if target is not None else _list_of_pieces(ids)
    return HuggingFace(cuts, size=size, roles={"unk": ids[UNK]}, target=joins)


def read_pieces(path: Path) -> PieceModel:
    """A unigram model out of its file."""
    try:
        if path.stat().st_size > LARGEST_MODEL:
            raise ValueError("it is larger than any such model")
        return _model(path.read_bytes())
    except (ValueError, struct.error, IndexError, UnicodeDecodeError) as error:
        raise DataError(f"this is no SentencePiece model that can be read here ({str(error)[:80]}).", where=str(path), cure=AGAIN) from error


def _engine(model: PieceModel, ids: Mapping[str, int], *, size: int) -> Engine:
    """Places of pieces that this side never has are filled with names that no text has; pieces without an id stand behind all ids."""
    lowest = min(model.scores.values())
    specials = [piece for piece in ids if piece in SPECIALS or LANGUAGE.fullmatch(piece)]
    known = {place: piece for piece, place in ids.items() if piece in model.scores or piece in specials}
    pieces = [known.get(place, f"{FILLER}{place}") for place in range(size)] + [piece for piece in model.scores if piece not in ids]
    engine = Engine(models.Unigram([(piece, model.scores.get(piece, lowest)) for piece in pieces], unk_id=ids[UNK], byte_fallback=False))
    prepared = [normalizers.Precompiled(model.table)] if model.table else []
    engine.normalizer = normalizers.Sequence([*prepared, normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()])
    engine.pre_tokenizer = pre_tokenizers.Metaspace(replacement=BLANK, prepend_scheme="always" if model.blank_first else "never")
    engine.decoder = decoders.Metaspace(replacement=BLANK)
    engine.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", ids["</s>"])])
    engine.add_special_tokens([AddedToken(piece, special=True, normalized=False) for piece in specials])
    return engine


def _list_of_pieces(ids: Mapping[str, int]) -> Engine:
    engine = Engine(models.WordLevel(dict(ids), unk_token=UNK))
    engine.decoder = decoders.Metaspace(replacement=BLANK)
    return engine


def _model(data: bytes) -> PieceModel:
    scores: dict[str, float] = {}
    table, blank_first, kind = b"", True, UNIGRAM
    for number, value in _fields(data):
        if number == 1 and isinstance(value, bytes):
            piece, score, piece_kind = _piece(value)
            if piece_kind in (NORMAL, OWN):
                scores[piece] = score
        elif number == 2 and isinstance(value, bytes):
            kind = next((int(inner) for field, inner in _fields(value) if field == 3 and isinstance(inner, int)), UNIGRAM)
        elif number == 3 and isinstance(value, bytes):
            inner_fields = dict(_fields(value))
            found = inner_fields.get(2, b"")
            table, blank_first = found if isinstance(found, bytes) else b"", inner_fields.get(3, 1) != 0
    if kind != UNIGRAM or not scores:
        raise ValueError("only unigram models can be read")
    return PieceModel(scores, table, blank_first)


def _piece(data: bytes) -> tuple[str, float, int]:
    fields = dict(_fields(data))
    text, score, kind = fields.get(1, b""), fields.get(2, b"\0\0\0\0"), fields.get(3, NORMAL)
    if not isinstance(text, bytes) or not isinstance(score, bytes) or not isinstance(kind, int):
        raise ValueError("a piece of the wrong form")
    return text.decode("utf-8"), float(struct.unpack("<f", score)[0]), kind


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message, one after the other: a number, or bytes."""
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        way = key & 7
        if way == VARINT:
            value, place = _varint(data, place)
            yield key >> 3, value
            continue
        length, place = (_varint(data, place)) if way == BYTES else ({FIXED64: 8, FIXED32: 4}.get(way, -1), place)
        if length < 0 or place + length > len(data):
            raise ValueError("a field of it leads past the end")
        yield key >> 3, data[place : place + length]
        place += length


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first."""
    value = 0
    for shift in range(0, 70, 7):
        byte = data[place]
        place += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, place
    raise ValueError("a number without end")
