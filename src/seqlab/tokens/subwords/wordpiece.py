"""WordPiece, as in BERT: the longest known prefix of a word, then ##pieces that continue it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tokenizers import Tokenizer as Engine
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from seqlab.tokens.base import tokenizers
from seqlab.tokens.counting import frequent_characters
from seqlab.tokens.subwords.engine import Subwords, count_words, pieces_by_id
from seqlab.tokens.vocabulary import UNK


@tokenizers.register("wordpiece")
class WordPiece(Subwords):
    """Words and punctuation are separated first, then every word is split from the left into its longest known
    pieces.

    A word with an unknown character is a single `<unk>`, and so is one of more than 100
    characters. Whitespace is not kept, so `decode` returns readable text, not the exact original. Control characters
    are dropped.

    Papers: Wu et al. 2016, arXiv:1609.08144, section 4.1; Devlin et al. 2019 (BERT), arXiv:1810.04805,
    section 3.
    """

    kind = "wordpiece"
    engine_type = "WordPiece"
    training_characters = 20_000_000

    @staticmethod
    def pipeline(*, lowercase: bool) -> Engine:
        engine = Engine(models.WordPiece(unk_token=UNK))
        engine.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=False)
        engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        engine.decoder = decoders.WordPiece(prefix="##")
        return engine

    @classmethod
    def learn(
        cls, engine: Engine, parts: Iterator[str], *, size: int, min_count: int, specials: list[str]
    ) -> None:
        """The engine's trainer numbers characters inside words in random order and breaks ties by number.

        So they are counted first and passed to it in order, as if they were special tokens.
        """
        words = count_words(engine, parts)
        characters = frequent_characters(words, most=max(1, size // 3))
        inside = sorted({character for word in words for character in word[1:]} & characters)
        trainer = trainers.WordPieceTrainer(
            vocab_size=size + len(specials),
            min_frequency=max(min_count, 2),  # a pair seen only once is not a pattern
            special_tokens=[*specials, *sorted(characters), *(f"##{character}" for character in inside)],
            show_progress=False,
        )
        trained = cls.pipeline(lowercase=False)
        trained.train_from_iterator(_repeated(words, characters), trainer)
        engine.model = models.WordPiece(trained.get_vocab(), unk_token=UNK)

    @staticmethod
    def model_from(saved: dict[str, Any]) -> tuple[Any, list[str]]:
        pieces = pieces_by_id(saved["vocab"])
        if UNK not in pieces:
            raise ValueError("the unknown piece is missing")
        return models.WordPiece(saved["vocab"], unk_token=UNK), pieces


def _repeated(words: Mapping[str, int], characters: set[str]) -> Iterator[str]:
    """Every word of known characters, repeated by its count."""
    for word, count in words.items():
        if characters.issuperset(word):
            for start in range(0, count, 1_000):
                yield " ".join([word] * min(1_000, count - start))
