"""What the subword tokenizers share: training, encoding and saving with the engine of Hugging Face `tokenizers`.

A kind adds its own parts: how text is prepared (`pipeline`), how tokens are learned (`learn`), and how a saved
model is read (`model_from`). Tokens are learned from the beginning of a corpus, `training_characters` long:
that contains every frequent word many times, and a stream cannot be sampled evenly without knowing its length.
"""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from tokenizers import AddedToken, Encoding
from tokenizers import Tokenizer as Engine

from seqlab.core.files import write_whole
from seqlab.tokens.base import Ids, Tokenizer
from seqlab.tokens.chunks import cut
from seqlab.tokens.counting import LONGEST_PIECE, count_pieces
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.tokenizer_folder import read_tokenizer_header, write_header
from seqlab.tokens.untrusted_json import damaged, read_json_object
from seqlab.tokens.vocabulary import Vocabulary

DEFAULT_SIZE = 8_000
FILE = "tokenizer.json"
LARGEST_FILE = 200_000_000

# Texts are cut where every tokenizer splits anyway: before a space or line break that follows a word.
BORDER = re.compile(r"(?<=\S)[ \n]")
PART, LONGEST_PART = 8_000, 100_000
BATCH = 2_000_000

# The engine uses all cores. Its threads do not survive a fork, so a forked process works alone, and without a
# warning.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
os.register_at_fork(after_in_child=lambda: os.environ.__setitem__("TOKENIZERS_PARALLELISM", "false"))


class Subwords(Tokenizer):
    """Frequent words are one token, rare words several.

    `size` counts tokens without the special ones; 0 means 8,000.
    """

    engine_type: ClassVar[str]  # the engine's name for the tokenizer type
    training_characters: ClassVar[int]  # maximum number of characters, from the beginning of a corpus

    def __init__(self, engine: Engine, *, specials: Sequence[str], lowercase: bool = False) -> None:
        self.lowercase = lowercase
        self._engine = engine
        pieces = sorted(engine.get_vocab().items(), key=lambda entry: entry[1])
        self.vocabulary = Vocabulary([piece for piece, _ in pieces[len(specials) :]], specials=specials)
        inner = [
            f"(?<={re.escape(special[0])})(?={re.escape(special[1:])})"
            for special in specials
            if len(special) > 1
        ]
        self._inside_specials = re.compile("|".join(inner) or r"(?!)")

    @staticmethod
    @abstractmethod
    def pipeline(*, lowercase: bool) -> Engine:
        """The engine without its learned vocabulary."""

    @classmethod
    @abstractmethod
    def learn(
        cls, engine: Engine, parts: Iterator[str], *, size: int, min_count: int, specials: list[str]
    ) -> None:
        """Train the engine's vocabulary, special tokens first.

        The same text gives the same vocabulary in every process.
        """

    @staticmethod
    @abstractmethod
    def model_from(saved: dict[str, Any]) -> tuple[Any, list[str]]:
        """The engine's model, and its pieces in the order of their ids, out of the part `model` of a
        tokenizer.json.
        """

    @classmethod
    def fit(cls, texts: Iterable[str], settings: TokenSettings, *, specials: Sequence[str]) -> Self:
        preparing = cls(
            _with_specials(cls.pipeline(lowercase=settings.lowercase), specials),
            specials=specials,
            lowercase=settings.lowercase,
        )
        engine = cls.pipeline(lowercase=settings.lowercase)
        parts = preparing._beginning(texts)
        cls.learn(
            engine,
            parts,
            size=settings.size or DEFAULT_SIZE,
            min_count=settings.min_count,
            specials=list(specials),
        )
        return cls(_with_specials(engine, specials), specials=specials, lowercase=settings.lowercase)

    def split(self, text: str) -> list[str]:
        return [
            piece
            for part in self._parts(text)
            for piece in self._engine.encode(part, add_special_tokens=False).tokens
        ]

    def words_at(self, text: str) -> list[str]:
        return [
            word
            for part in self._parts(text)
            for word in words_in(part, self._engine.encode(part, add_special_tokens=False))
        ]

    def join(self, pieces: Sequence[str]) -> str:
        return str(self._engine.decoder.decode(list(pieces)))

    def encode(self, text: str) -> Ids:
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[Ids]:
        """Texts -> ids on all cores: the parts of all texts are one queue of work."""
        encoded: list[list[Ids]] = [[] for _ in texts]
        numbered = ((number, part) for number, text in enumerate(texts) for part in self._parts(text))
        for batch in _batches(numbered):
            encodings = self._engine.encode_batch_fast([part for _, part in batch], add_special_tokens=False)
            for (number, _), encoding in zip(batch, encodings, strict=True):
                encoded[number].append(np.array(encoding.ids, dtype=np.int32))
        return [
            parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int32), *parts])
            for parts in encoded
        ]

    def decode(self, ids: Iterable[int]) -> str:
        return str(
            self._engine.decode(self.vocabulary.without_specials(ids).tolist(), skip_special_tokens=False)
        )

    def save(self, folder: Path) -> None:
        write_whole(folder / FILE, self._engine.to_str())
        write_header(folder, kind=self.kind, lowercase=self.lowercase)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Takes only the learned vocabulary from the file and preprocesses text itself, so that a hostile file cannot
        add its own patterns.
        """
        lowercase = bool(read_tokenizer_header(folder)["lowercase"])
        path = folder / FILE
        saved = read_json_object(path, largest=LARGEST_FILE)
        try:
            if _object(saved["model"])["type"] != cls.engine_type:
                raise ValueError("another kind")
            model, pieces = cls.model_from(_object(saved["model"]))
            specials = [_object(token)["content"] for token in saved["added_tokens"]]  # type: ignore[attr-defined]  # a wrong kind is caught below
            if not specials or specials != pieces[: len(specials)] or len(set(pieces)) != len(pieces):
                raise ValueError("ids are not in order")
            engine = cls.pipeline(lowercase=lowercase)
            engine.model = model
            return cls(_with_specials(engine, specials), specials=specials, lowercase=lowercase)
        except Exception as error:  # the engine's own errors are plain Exceptions
            raise damaged(path, f"does not hold a {cls.kind} tokenizer ({type(error).__name__})") from error

    def _beginning(self, texts: Iterable[str]) -> Iterator[str]:
        left = self.training_characters
        for text in texts:
            for part in self._parts(text):
                yield part
                left -= len(part)
                if left <= 0:
                    return

    def _parts(self, text: str) -> Iterator[str]:
        """A text in parts for the engine, also cut inside the name of every special token: in text it is
        nothing special.
        """
        text = whole_characters(text.lower() if self.lowercase else text)
        named = any(special in text for special in self.vocabulary.specials)
        for outer in self._inside_specials.split(text) if named else [text]:
            yield from cut(outer, BORDER, size=PART, longest=LONGEST_PART)


def count_words(engine: Engine, parts: Iterable[str]) -> Counter[str]:
    """How often each word occurs, as the engine normalizes and splits words."""
    normalizer = engine.normalizer
    prepared = (normalizer.normalize_str(part) if normalizer else part for part in parts)
    words = ([word for word, _ in engine.pre_tokenizer.pre_tokenize_str(part)] for part in prepared)
    return count_pieces([part for word in part_words for part in _split_long(word)] for part_words in words)


def _split_long(word: str) -> list[str]:
    """A language written without spaces has very long words; they are counted in parts."""
    return (
        [word]
        if len(word) <= LONGEST_PIECE
        else [word[start : start + LONGEST_PIECE] for start in range(0, len(word), LONGEST_PIECE)]
    )


def _with_specials(engine: Engine, specials: Sequence[str]) -> Engine:
    engine.add_special_tokens([AddedToken(special, special=True, normalized=False) for special in specials])
    return engine


def words_in(text: str, encoding: Encoding) -> list[str]:
    """For each token the word of the text that it is a piece of, as the engine splits words; empty for
    tokens added by a template.
    """
    places = [None if word is None else encoding.word_to_chars(word) for word in encoding.word_ids]
    return ["" if place is None else text[slice(*place)].strip() for place in places]


def whole_characters(text: str) -> str:
    """Text with every half of a surrogate pair replaced by the replacement character U+FFFD.

    >>> whole_characters("a\\ud800b")
    'a\\ufffdb'
    """
    if text.isascii():
        return text
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def pieces_by_id(saved: object) -> list[str]:
    """The pieces of a saved {piece: id}, whose ids must be 0, 1, 2 and so on."""
    vocabulary = _object(saved)
    pieces = sorted(vocabulary, key=lambda piece: int(vocabulary[piece]))
    if [vocabulary[piece] for piece in pieces] != list(range(len(pieces))):
        raise ValueError("ids with gaps")
    return pieces


def _object(saved: object) -> dict[str, Any]:
    if not isinstance(saved, dict):
        raise TypeError("not an object")
    return saved


def _batches(numbered: Iterable[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    """Batches large enough for all cores, without holding all results in memory."""
    batch: list[tuple[int, str]] = []
    length = 0
    for number, part in numbered:
        batch.append((number, part))
        length += len(part)
        if length >= BATCH:
            yield batch
            batch, length = [], 0
    if batch:
        yield batch
