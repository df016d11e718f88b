"""Subwords by likelihood: of all ways to cut a word, the most probable one, as SentencePiece does."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, trainers
from tokenizers import Tokenizer as Engine

from seqlab.tokens.base import tokenizers
from seqlab.tokens.subwords import Subwords
from seqlab.tokens.vocabulary import UNK

# A word or a run of marks with the blank before it, a run of blanks but for that last one, any other white space alone.
WORD = Regex(r" ?[\p{L}\p{M}\p{N}]+| ?[^\s\p{L}\p{M}\p{N}]+| +(?!\S)|\s")


@tokenizers.register("unigram")
class Unigram(Subwords):
    """Every piece has a probability; a text is cut so that the product over its pieces is largest.

    A blank belongs to the word after it and is written ▁, so text of known characters comes back exactly, blanks and
    line ends included (a ▁ in the text comes back as a blank). Characters that training never saw are `<unk>`.
    `min_count` has no meaning here.

    Papers: Kudo 2018, "Subword Regularization", arXiv:1804.10959; Kudo and Richardson 2018, arXiv:1808.06226.
    """

    kind = "unigram"

    @staticmethod
    def pipeline(*, lowercase: bool) -> Engine:
        engine = Engine(models.Unigram())
        if lowercase:
            engine.normalizer = normalizers.Lowercase()
        engine.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(WORD, "isolated"), pre_tokenizers.Metaspace(prepend_scheme="never", split=False)]
        )
        engine.decoder = decoders.Metaspace(prepend_scheme="never")
        return engine

    @staticmethod
    def trainer(*, size: int, min_count: int, specials: list[str]) -> Any:  # noqa: ARG004
        return trainers.UnigramTrainer(vocab_size=size + len(specials), special_tokens=specials, unk_token=UNK, show_progress=False)

    @classmethod
    def training_parts(cls, parts: Iterator[str], *, size: int) -> Iterator[str]:
        """Text with at most size / 2 different characters, the first to appear: each is a piece, and words need room too."""
        known: set[str] = set()
        for part in parts:
            new = sorted(set(part) - known)
            known.update(new[: max(0, max(1, size // 2) - len(known))])
            surplus = [character for character in new if character not in known]
            yield part.translate(dict.fromkeys(map(ord, surplus), " ")) if surplus else part

    @staticmethod
    def model_from(saved: dict[str, Any]) -> tuple[Any, list[str]]:
        scored = [(piece, float(score)) for piece, score in saved["vocab"]]
        if not all(isinstance(piece, str) and isfinite(score) for piece, score in scored):
            raise ValueError("a piece without a probability")
        pieces = [piece for piece, _ in scored]
        return models.Unigram(scored, pieces.index(UNK)), pieces
