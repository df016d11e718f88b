"""One token per byte of the text in UTF-8: 256 tokens, and nothing is out-of-vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np

from seqlab.tokens.base import Ids, Tokenizer, tokenizers
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.tokenizer_folder import read_tokenizer_header, write_header
from seqlab.tokens.untrusted_json import damaged
from seqlab.tokens.vocabulary import Vocabulary

VOCABULARY = "vocabulary.json"

# Readable bytes are written as themselves, the others by their number; "<" is escaped too, so "<0x0A>"
# cannot be mistaken.
PIECES = [chr(byte) if 0x20 <= byte < 0x7F else f"<0x{byte:02X}>" for byte in range(256)]


@tokenizers.register("bytes")
class Bytes(Tokenizer):
    """id = number of special pieces + byte. Any text round-trips exactly; `size` and `min_count` have no
    effect.

    >>> tokenizer = Bytes(["<unk>", "<pad>"])
    >>> tokenizer.encode("Aé").tolist(), tokenizer.split("Aé"), tokenizer.decode([67, 197, 171])
    ([67, 197, 171], ['A', '<0xC3>', '<0xA9>'], 'Aé')
    """

    kind = "bytes"

    def __init__(self, specials: Sequence[str], *, lowercase: bool = False) -> None:
        self.vocabulary = Vocabulary(PIECES, specials=specials)
        self.lowercase = lowercase

    @classmethod
    def fit(cls, texts: Iterable[str], settings: TokenSettings, *, specials: Sequence[str]) -> Self:
        return cls(specials, lowercase=settings.lowercase)

    def split(self, text: str) -> list[str]:
        return [PIECES[byte] for byte in self._bytes(text)]

    def words_at(self, text: str) -> list[str]:
        """A byte belongs to its character."""
        return [
            character
            for character in (text.lower() if self.lowercase else text)
            for _ in self._bytes(character)
        ]

    def join(self, pieces: Sequence[str]) -> str:
        return self.decode([self.vocabulary.ids[piece] for piece in pieces])

    def encode(self, text: str) -> Ids:
        ids: Ids = np.frombuffer(self._bytes(text), dtype=np.uint8).astype(np.int32)
        ids += len(self.vocabulary.specials)
        return ids

    def decode(self, ids: Iterable[int]) -> str:
        values = self.vocabulary.without_specials(ids) - len(self.vocabulary.specials)
        data = values.astype(np.uint8).tobytes()
        try:
            return data.decode("utf-8", "surrogatepass")
        except UnicodeDecodeError:  # a model generated half a character
            return data.decode("utf-8", "replace")

    def save(self, folder: Path) -> None:
        self.vocabulary.save(folder / VOCABULARY)
        write_header(folder, kind=self.kind, lowercase=self.lowercase)

    @classmethod
    def load(cls, folder: Path) -> Self:
        header = read_tokenizer_header(folder)
        vocabulary = Vocabulary.load(folder / VOCABULARY)
        if vocabulary.pieces[len(vocabulary.specials) :] != PIECES:
            raise damaged(folder / VOCABULARY, "does not list the 256 bytes")
        return cls(vocabulary.specials, lowercase=bool(header["lowercase"]))

    def _bytes(self, text: str) -> bytes:
        return (text.lower() if self.lowercase else text).encode("utf-8", "surrogatepass")
