"""Subwords as BERT has them: the longest known beginning of a word, then ##pieces that continue it."""

from __future__ import annotations

from typing import Any

from tokenizers import Tokenizer as Engine
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from seqlab.tokens.base import tokenizers
from seqlab.tokens.subwords import Subwords, pieces_by_id
from seqlab.tokens.vocabulary import UNK


@tokenizers.register("wordpiece")
class WordPiece(Subwords):
    """Words and punctuation are separated first, then every word is cut from the left into its longest known pieces.

    A word with a character that is not known is `<unk>` as a whole, and so is one of more than 100 characters. Blanks
    are forgotten, so `decode` gives readable text, not the exact one. Control characters are dropped.

    Papers: Wu et al. 2016, arXiv:1609.08144, section 4.1; Devlin et al. 2019 (BERT), arXiv:1810.04805, section 3.
    """

    kind = "wordpiece"

    @staticmethod
    def pipeline(*, lowercase: bool) -> Engine:
        engine = Engine(models.WordPiece(unk_token=UNK))
        engine.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=False)
        engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        engine.decoder = decoders.WordPiece(prefix="##")
        return engine

    @staticmethod
    def trainer(*, size: int, min_count: int, specials: list[str]) -> Any:
        return trainers.WordPieceTrainer(
            vocab_size=size + len(specials),
            min_frequency=max(min_count, 2),  # a pair seen once is no pattern
            limit_alphabet=max(1, size // 3),  # a character is one piece at the beginning of a word and another inside
            special_tokens=specials,
            show_progress=False,
        )

    @staticmethod
    def model_from(saved: dict[str, Any]) -> tuple[Any, list[str]]:
        pieces = pieces_by_id(saved["vocab"])
        if UNK not in pieces:
            raise ValueError("the unknown piece is missing")
        return models.WordPiece(saved["vocab"], unk_token=UNK), pieces
