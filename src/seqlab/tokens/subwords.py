"""What the subword kinds share: training, encoding and saving with the engine of Hugging Face `tokenizers`.

A kind adds its own pieces of the engine: how text is prepared (`pipeline`), how pieces are learnt (`trainer`), and
how a saved model is read (`model_from`).
"""

from __future__ import annotations

import os
import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from tokenizers import AddedToken
from tokenizers import Tokenizer as Engine

from seqlab.core.files import write_whole
from seqlab.tokens.base import Ids, Tokenizer
from seqlab.tokens.parts import cut
from seqlab.tokens.saving import read_header, write_header
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.untrusted_json import damaged, read_json_object
from seqlab.tokens.vocabulary import Vocabulary

DEFAULT_SIZE = 8_000
FILE = "tokenizer.json"
LARGEST_FILE = 200_000_000

# Pieces are learnt from the first part of a corpus. A hundred million characters hold every frequent word many times
# over, and a stream cannot be sampled evenly without knowing its end.
TRAINING_CHARACTERS = 100_000_000

# Texts are cut where every kind parts them anyway: before a blank or line end that follows a word.
BORDER = re.compile(r"(?<=\S)[ \n]")
PART, LONGEST_PART = 8_000, 100_000
BATCH = 2_000_000

# The engine uses all cores. Its threads do not survive a fork, so a forked process works alone, and without a warning.
os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")
os.register_at_fork(after_in_child=lambda: os.environ.__setitem__("TOKENIZERS_PARALLELISM", "false"))


class Subwords(Tokenizer):
    """Frequent words are one piece, rare ones several. `size` counts the pieces besides the special ones; 0 means 8,000."""

    def __init__(self, engine: Engine, *, specials: Sequence[str], lowercase: bool = False) -> None:
        self.lowercase = lowercase
        self._engine = engine
        pieces = sorted(engine.get_vocab().items(), key=lambda entry: entry[1])
        self.vocabulary = Vocabulary([piece for piece, _ in pieces[len(specials) :]], specials=specials)
        inner = [f"(?<={re.escape(special[0])})(?={re.escape(special[1:])})" for special in specials if len(special) > 1]
        self._inside_specials = re.compile("|".join(inner) or r"(?!)")

    @staticmethod
    @abstractmethod
    def pipeline(*, lowercase: bool) -> Engine:
        """The engine with everything but its learnt pieces."""

    @staticmethod
    @abstractmethod
    def trainer(*, size: int, min_count: int, specials: list[str]) -> Any:
        """The engine's trainer; the special pieces get the first ids, in their order."""

    @staticmethod
    @abstractmethod
    def model_from(saved: dict[str, Any]) -> tuple[Any, list[str]]:
        """The engine's model, and its pieces in the order of their ids, out of the part `model` of a tokenizer.json."""

    @classmethod
    def fit(cls, texts: Iterable[str], settings: TokenSettings, *, specials: Sequence[str]) -> Self:
        size = settings.size or DEFAULT_SIZE
        blank = cls(cls.pipeline(lowercase=settings.lowercase), specials=specials, lowercase=settings.lowercase)
        trainer = cls.trainer(size=size, min_count=settings.min_count, specials=list(specials))
        engine = cls.pipeline(lowercase=settings.lowercase)
        engine.train_from_iterator(cls.training_parts(blank._beginning(texts), size=size), trainer)
        return cls(engine, specials=specials, lowercase=settings.lowercase)

    @classmethod
    def training_parts(cls, parts: Iterator[str], *, size: int) -> Iterator[str]:  # noqa: ARG003 (a kind may need it)
        """The texts as the trainer sees them; a kind that cannot bear all of them changes them here."""
        return parts

    def split(self, text: str) -> list[str]:
        return [piece for part in self._parts(text) for piece in self._engine.encode(part, add_special_tokens=False).tokens]

    def join(self, pieces: Sequence[str]) -> str:
        return str(self._engine.decoder.decode(list(pieces)))

    def encode(self, text: str) -> Ids:
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str]) -> list[Ids]:
        """Texts -> ids on all cores: the parts of all texts are one queue of work."""
        encoded: list[list[Ids]] = [[] for _ in texts]
        numbered = ((number, part) for number, text in enumerate(texts) for part in self._parts(text))
        for batch in _batches(numbered):
            found = self._engine.encode_batch_fast([part for _, part in batch], add_special_tokens=False)
            for (number, _), encoding in zip(batch, found, strict=True):
                encoded[number].append(np.array(encoding.ids, dtype=np.int32))
        return [parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, dtype=np.int32), *parts]) for parts in encoded]

    def decode(self, ids: Iterable[int]) -> str:
        return str(self._engine.decode(self.vocabulary.without_specials(ids).tolist(), skip_special_tokens=False))

    def save(self, folder: Path) -> None:
        write_whole(folder / FILE, self._engine.to_str())
        write_header(folder, kind=self.kind, lowercase=self.lowercase)

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Takes only the learnt pieces from the file and prepares text itself, so that a hostile file cannot bring its own patterns."""
        lowercase = bool(read_header(folder)["lowercase"])
        path = folder / FILE
        saved = read_json_object(path, largest=LARGEST_FILE)
        try:
            model, pieces = cls.model_from(_object(saved["model"]))
            specials = [_object(token)["content"] for token in saved["added_tokens"]]  # type: ignore[attr-defined]
            if not specials or specials != pieces[: len(specials)] or len(set(pieces)) != len(pieces):
                raise ValueError("ids are not in order")
            engine = cls.pipeline(lowercase=lowercase)
            engine.model = model
            engine.add_special_tokens([AddedToken(special, special=True, normalized=False) for special in specials])
            return cls(engine, specials=specials, lowercase=lowercase)
        except Exception as error:  # the engine's own errors are plain Exceptions
            raise damaged(path, f"does not hold a {cls.kind} tokenizer ({type(error).__name__})") from error

    def _beginning(self, texts: Iterable[str]) -> Iterator[str]:
        left = TRAINING_CHARACTERS
        for text in texts:
            for part in self._parts(text):
                yield part
                left -= len(part)
                if left <= 0:
                    return

    def _parts(self, text: str) -> Iterator[str]:
        """A text in parts for the engine, cut also inside every name of a special piece: in text it is nothing special."""
        text = whole_characters(text.lower() if self.lowercase else text)
        named = any(special in text for special in self.vocabulary.specials)
        for outer in self._inside_specials.split(text) if named else [text]:
            yield from cut(outer, BORDER, size=PART, longest=LONGEST_PART)


def whole_characters(text: str) -> str:
    """Text with every half of a surrogate pair replaced by the sign for unreadable characters.

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
    """Enough work for all cores at a time, and not all results in memory at once."""
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
