"""A published tokenizer, unmodified: the tokenizer.json of an imported model, with the ids that its weights
use.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from tokenizers import Tokenizer as Engine
from tokenizers.models import WordLevel

from seqlab.core.errors import UsageError
from seqlab.core.files import write_whole
from seqlab.tokens.base import Ids, Tokenizer, tokenizers
from seqlab.tokens.engine_bounds import LARGEST_FILE, MOST_PIECES, check_bounds, explain_engine_failure
from seqlab.tokens.engine_probe import try_engine
from seqlab.tokens.published_vocabulary import PublishedVocabulary
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.subwords.engine import whole_characters, words_in
from seqlab.tokens.tokenizer_folder import read_tokenizer_header, write_header
from seqlab.tokens.untrusted_json import damaged, read_json_object

FILE, TARGET, ROLES = "tokenizer.json", "target.json", "roles.json"
FILLER = "\0"
"""Prefix of the names of ids for which an engine has no token."""
LARGEST_ROLES = 100_000
LONGEST_PATTERN = 2_000
REPEATED_GROUP = re.compile(r"\)[*+{]")


@tokenizers.register("hugging_face")
class HuggingFace(Tokenizer):
    """Normalizer, pre-tokenizer, vocabulary and template are those that were published, so the ids are those of the
    model's own tokenizer.

    `encode` adds what the template adds ([CLS] … [SEP] for an encoder, nothing for most decoders). The name
    of a special piece inside a text is that piece, as chat templates and masks ([MASK]) need it. `decode`
    drops special tokens.

    size: the number of rows of the embedding. There may be more rows than tokens; a token beyond them is unknown.
    roles: see PublishedVocabulary.  target: if source and target have separate tokenizers, the
    one of the target. `encode_targets` uses it; if only its vocabulary was published, it
    cannot encode (`cuts_targets`), only decode.
    """

    kind = "hugging_face"

    def __init__(
        self, engine: Engine, *, size: int, roles: Mapping[str, int], target: Engine | None = None
    ) -> None:
        engine.no_truncation()
        engine.no_padding()
        self._engine = engine
        self._target = target
        self._size = size
        engines = [engine] if target is None else [engine, target]
        self._vocabulary = PublishedVocabulary(
            _pieces(engines, size), special_ids=_special_ids(engine, size), roles=roles
        )
        self.vocabulary = self._vocabulary
        self.largest_id = max(engine.get_vocab(with_added_tokens=True).values(), default=-1)

    @classmethod
    def read(
        cls,
        path: Path,
        *,
        size: int,
        roles: Mapping[str, int],
        target: Path | None = None,
        is_foreign: bool = False,
    ) -> Self:
        """The tokenizer in a tokenizer.json, within bounds.

        is_foreign: it is untrusted, so it is tried in a separate process first.
        """
        return cls(
            _read_engine(path, is_foreign=is_foreign),
            size=size,
            roles=roles,
            target=None if target is None else _read_engine(target),
        )

    def with_roles(self, roles: Mapping[str, int]) -> Self:
        """The same tokenizer with the given special tokens."""
        return type(self)(self._engine, size=self._size, roles=roles, target=self._target)

    @classmethod
    def fit(cls, texts: Iterable[str], settings: TokenSettings, *, specials: Sequence[str]) -> Self:
        raise UsageError(
            "a published tokenizer comes with its weights; it is not trained on your text.",
            where="tokens.kind",
            cure=(
                "To train your own tokenizer, set tokens.kind to bpe, wordpiece or unigram. To import"
                " pretrained weights, run seqlab import PATH"
            ),
        )

    def split(self, text: str) -> list[str]:
        return [self.vocabulary.pieces[token] for token in self.encode(text).tolist()]

    def join(self, pieces: Sequence[str]) -> str:
        return self.decode([self.vocabulary.ids[piece] for piece in pieces])

    def words_at(self, text: str) -> list[str]:
        text = whole_characters(text)
        with explain_engine_failure():
            encoding = self._engine.encode(text)
        special = self.vocabulary.special_ids - {self.vocabulary.unk_id}
        return [
            "" if token in special else word
            for token, word in zip(encoding.ids, words_in(text, encoding), strict=True)
        ]

    def encode(self, text: str) -> Ids:
        with explain_engine_failure():
            return self._known(self._engine.encode(whole_characters(text)).ids)

    def encode_many(self, texts: Sequence[str]) -> list[Ids]:
        return self._encode_many(self._engine, texts)

    @property
    def cuts_targets(self) -> bool:
        return self._target is None or not isinstance(self._target.model, WordLevel)

    def encode_targets(self, texts: Sequence[str]) -> list[Ids]:
        """Encode target texts; if no target tokenizer was published, returns about as many ids as
        they would have.
        """
        return self._encode_many(
            self._target if self._target is not None and self.cuts_targets else self._engine, texts
        )

    def _encode_many(self, engine: Engine, texts: Sequence[str]) -> list[Ids]:
        with explain_engine_failure():
            encodings = engine.encode_batch_fast([whole_characters(text) for text in texts])
        return [self._known(encoding.ids) for encoding in encodings]

    def _known(self, ids: list[int]) -> Ids:
        known = np.array(ids, dtype=np.int32)
        return np.where(known < self._size, known, np.int32(self.vocabulary.unk_id))

    def decode(self, ids: Iterable[int]) -> str:
        known = self.vocabulary.without_specials(ids).tolist()
        if self._target is not None:  # which need not know the pieces that only the source has
            pieces, decoder = [self.vocabulary.pieces[token] for token in known], self._target.decoder
            with explain_engine_failure():
                return " ".join(pieces) if decoder is None else str(decoder.decode(pieces))
        with explain_engine_failure():
            return str(self._engine.decode(known, skip_special_tokens=False))

    def save(self, folder: Path) -> None:
        write_whole(folder / FILE, self._engine.to_str())
        if self._target is not None:
            write_whole(folder / TARGET, self._target.to_str())
        write_whole(folder / ROLES, json.dumps({"size": self._size, "roles": self._vocabulary.roles}) + "\n")
        write_header(folder, kind=self.kind, lowercase=False)

    @classmethod
    def load(cls, folder: Path) -> Self:
        read_tokenizer_header(folder)
        path = folder / ROLES
        saved = read_json_object(path, largest=LARGEST_ROLES)
        size, roles = saved.get("size"), saved.get("roles")
        if (
            not _is_id(size, MOST_PIECES)
            or not isinstance(roles, dict)
            or not all(_is_id(place, size) for place in roles.values())
        ):
            raise damaged(path, "does not say how many tokens there are or which ids the special tokens have")
        target = folder / TARGET
        return cls.read(
            folder / FILE, size=int(str(size)), roles=roles, target=target if target.is_file() else None
        )


def _read_engine(path: Path, *, is_foreign: bool = False) -> Engine:
    saved = read_json_object(path, largest=LARGEST_FILE)
    pattern = next((pattern for pattern in _patterns(saved) if _is_risky(pattern)), None)
    if pattern is not None:
        raise damaged(path, f"has a regular expression that could run forever ({pattern[:60]!r})")
    try:
        check_bounds(saved)
        _check_model(saved.get("model"))
        tokenizer = json.dumps(saved)
        if is_foreign and (failure := try_engine(tokenizer)):
            raise ValueError(failure)
        return Engine.from_str(tokenizer)
    except (
        BaseException
    ) as error:  # the engine's own errors are plain Exceptions, and its panics not even that
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise damaged(path, f"does not contain a supported tokenizer ({str(error)[:100]})") from error


def _check_model(model: Any) -> None:
    if (
        isinstance(model, dict)
        and isinstance(model.get("vocab"), dict)
        and isinstance(model.get("merges"), list)
    ):
        merges = [merge.split(" ") if isinstance(merge, str) else merge for merge in model["merges"]]
        check_merges(model["vocab"], merges, prefix=str(model.get("continuing_subword_prefix") or ""))


def check_merges(pieces: Mapping[str, Any], merges: Sequence[Any], *, prefix: str = "") -> None:
    """Every merge must join two known pieces into a known one, else ValueError: the engine would not
    survive any other.
    """
    for merge in merges:
        if len(merge) != 2 or not all(isinstance(part, str) and part in pieces for part in merge):
            raise ValueError(f"the merge {str(merge)[:40]} does not join two known tokens")
        if merge[0] + merge[1].removeprefix(prefix) not in pieces:
            raise ValueError(f"the merge {str(merge)[:40]} does not produce a known token")


def _pieces(engines: Sequence[Engine], size: int) -> list[str]:
    """The pieces by id, with priority to the last engine; rows of the embedding that no piece uses
    get placeholder names.
    """
    by_id = {
        place: piece
        for engine in engines
        for piece, place in engine.get_vocab(with_added_tokens=True).items()
        if not piece.startswith(FILLER)
    }
    return [by_id.get(place, f"<unused {place}>") for place in range(size)]


def _special_ids(engine: Engine, size: int) -> list[int]:
    return [
        place for place, token in engine.get_added_tokens_decoder().items() if token.special and place < size
    ]


def _is_id(value: Any, limit: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < limit


def _patterns(saved: Any) -> Iterator[str]:
    """Every regular expression in a tokenizer.json, at any depth, except in the vocabulary."""
    if isinstance(saved, dict):
        for name, value in saved.items():
            if name == "Regex" and isinstance(value, str):
                yield value
            elif name not in ("vocab", "merges"):
                yield from _patterns(value)
    elif isinstance(saved, list):
        for value in saved:
            yield from _patterns(value)


def _is_risky(pattern: str) -> bool:
    """A repeated group inside a repeated pattern can make an expression try exponentially many splits;
    no tokenizer needs one.

    >>> _is_risky("(a|a)*$"), _is_risky(r" ?\\p{L}+| ?\\p{N}+"), _is_risky(r"(?i:'s|'t)|\\s+(?!\\S)")
    (True, False, False)
    """
    return len(pattern) > LONGEST_PATTERN or REPEATED_GROUP.search(pattern) is not None
