"""Unigram language model over subwords: the most probable segmentation of a word, as in SentencePiece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import isfinite
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers
from tokenizers import Tokenizer as Engine

from seqlab.tokens.base import tokenizers
from seqlab.tokens.subwords.engine import Subwords, count_words
from seqlab.tokens.subwords.unigram_training import learn_unigram
from seqlab.tokens.vocabulary import UNK

# A word or a run of marks with the space before it, a run of spaces but for that last one, any other white
# space alone.
WORD = Regex(r" ?[\p{L}\p{M}\p{N}]+| ?[^\s\p{L}\p{M}\p{N}]+| +(?!\S)|\s")


BLANK = "▁"
ESCAPES = {"\ufdd0": "\ufdd0\ufdd1", BLANK: "\ufdd0\ufdd2", "\0": "\ufdd0\ufdd3"}
"""Escapes that distinguish a ▁ in the text from a space, and U+0000 from the word separator in training. U+FDD0 to U+FDD3 are
noncharacters, and the first of them is escaped too, so any text round-trips.
"""


@tokenizers.register("unigram")
class Unigram(Subwords):
    """Every piece has a probability; a text is segmented to maximize the product over its tokens.

    A space belongs to the word after it and is written ▁, so text of known characters round-trips exactly,
    including spaces, line breaks and ▁. Characters that did not occur in training are `<unk>`. `min_count`
    has no effect.

    Papers: Kudo 2018, "Subword Regularization", arXiv:1804.10959; Kudo and Richardson 2018, arXiv:1808.06226.
    """

    kind = "unigram"
    engine_type = "Unigram"
    training_characters = 20_000_000

    @staticmethod
    def pipeline(*, lowercase: bool) -> Engine:
        engine = Engine(models.Unigram())
        escapes = [normalizers.Replace(character, escaped) for character, escaped in ESCAPES.items()]
        engine.normalizer = normalizers.Sequence(
            [*([normalizers.Lowercase()] if lowercase else []), *escapes]
        )
        engine.pre_tokenizer = pre_tokenizers.Sequence(
            [
                pre_tokenizers.Split(WORD, "isolated"),
                pre_tokenizers.Metaspace(prepend_scheme="never", split=False),
            ]
        )
        engine.decoder = decoders.Metaspace(prepend_scheme="never")
        return engine

    def join(self, pieces: Sequence[str]) -> str:
        text = "".join(pieces).replace(BLANK, " ")
        for character, escaped in reversed(ESCAPES.items()):
            text = text.replace(escaped, character)
        return text

    def decode(self, ids: Iterable[int]) -> str:
        return self.join(
            [self.vocabulary.pieces[token] for token in self.vocabulary.without_specials(ids).tolist()]
        )

    @classmethod
    def learn(
        cls, engine: Engine, parts: Iterator[str], *, size: int, min_count: int, specials: list[str]
    ) -> None:
        pieces = learn_unigram(count_words(engine, parts), size=size)
        taken = set(specials)
        scored = [(special, 0.0) for special in specials] + [
            entry for entry in pieces if entry[0] not in taken
        ]
        engine.model = models.Unigram(scored, specials.index(UNK))

    @staticmethod
    def model_from(saved: dict[str, Any]) -> tuple[Any, list[str]]:
        scored = [(piece, float(score)) for piece, score in saved["vocab"]]
        if not all(isinstance(piece, str) and isfinite(score) for piece, score in scored):
            raise ValueError("a piece without a probability")
        pieces = [piece for piece, _ in scored]
        return models.Unigram(scored, pieces.index(UNK)), pieces
