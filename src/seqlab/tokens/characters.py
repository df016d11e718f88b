"""One token per character."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from seqlab.tokens.base import Ids, Tokenizer, tokenizers
from seqlab.tokens.chunks import even_parts
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.tokenizer_folder import read_tokenizer_header, write_header
from seqlab.tokens.untrusted_json import damaged
from seqlab.tokens.vocabulary import UNK, Vocabulary

VOCABULARY = "vocabulary.json"
NUM_CODEPOINTS = 0x110000
SURROGATES = slice(0xD800, 0xE000)
PART = 1 << 16


@tokenizers.register("characters")
class Characters(Tokenizer):
    """Every character of the training split has an id; others are `<unk>`. Text of known characters round-trips
    exactly.

    The whole text is looked up at once: its code points index a table of ids.
    Half a surrogate pair is not a character and is always unknown.

    >>> letters = Characters.fit(["abba"], TokenSettings(), specials=["<unk>", "<pad>"])
    >>> letters.encode("bad").tolist(), letters.decode([3, 2, 2])
    ([3, 2, 0], 'baa')
    """

    kind = "characters"

    def __init__(self, vocabulary: Vocabulary, *, lowercase: bool = False) -> None:
        self.vocabulary = vocabulary
        self.lowercase = lowercase
        num_specials = len(vocabulary.specials)
        self._characters = np.array(
            [0] * num_specials + [ord(piece) for piece in vocabulary.pieces[num_specials:]], dtype="<u4"
        )
        self._table = np.full(int(self._characters.max(initial=127)) + 2, vocabulary.unk_id, dtype=np.int32)
        self._table[self._characters[num_specials:]] = np.arange(
            num_specials, len(vocabulary), dtype=np.int32
        )

    @classmethod
    def fit(cls, texts: Iterable[str], settings: TokenSettings, *, specials: Sequence[str]) -> Self:
        counts = np.zeros(NUM_CODEPOINTS, dtype=np.int64)
        for part in even_parts(text.lower() if settings.lowercase else text for text in texts):
            part_counts = np.bincount(_codepoints(part))  # as long as the highest code point
            counts[: part_counts.size] += part_counts
        counts[SURROGATES] = 0
        known = {chr(place): int(counts[place]) for place in np.flatnonzero(counts).tolist()}
        vocabulary = Vocabulary.from_counts(
            known, specials=specials, size=settings.size, min_count=settings.min_count
        )
        return cls(vocabulary, lowercase=settings.lowercase)

    def split(self, text: str) -> list[str]:
        return list(text.lower() if self.lowercase else text)

    def join(self, pieces: Sequence[str]) -> str:
        return "".join(pieces)

    def encode(self, text: str) -> Ids:
        text = text.lower() if self.lowercase else text
        ids = np.empty(len(text), dtype=np.int32)
        for start in range(0, len(text), PART):  # chunks that fit into the CPU cache: three times as fast
            codepoints = _codepoints(text[start : start + PART])
            # Clipped to the last entry of the table, which represents everything beyond it.
            self._table.take(codepoints, out=ids[start : start + PART], mode="clip")
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        return self._characters.take(self.vocabulary.without_specials(ids)).tobytes().decode("utf-32-le")

    def decode_filled(self, ids: Iterable[int], words: Iterable[str]) -> str:
        return self.join(self.vocabulary.filled(ids, words))

    def save(self, folder: Path) -> None:
        self.vocabulary.save(folder / VOCABULARY)
        write_header(folder, kind=self.kind, lowercase=self.lowercase)

    @classmethod
    def load(cls, folder: Path) -> Self:
        header = read_tokenizer_header(folder)
        vocabulary = Vocabulary.load(folder / VOCABULARY)
        if UNK not in vocabulary.specials or any(
            len(piece) != 1 for piece in vocabulary.pieces[len(vocabulary.specials) :]
        ):
            raise damaged(folder / VOCABULARY, "is not a list of single characters")
        return cls(vocabulary, lowercase=bool(header["lowercase"]))


def _codepoints(text: str) -> NDArray[np.uint8] | NDArray[np.uint32]:
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
