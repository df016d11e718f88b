"""Subwords by byte-pair encoding: the most frequent pair of adjacent tokens is merged, repeatedly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tokenizers import Tokenizer as Engine
from tokenizers import decoders, models, normalizers, pre_tokenizers, trainers

from seqlab.tokens.base import tokenizers
from seqlab.tokens.subwords.engine import Subwords, pieces_by_id


@tokenizers.register("bpe")
class BPE(Subwords):
    """Byte-pair encoding over UTF-8 bytes: nothing is out-of-vocabulary, and any text round-trips exactly, including spaces and
    line breaks.

    Inside tokens a space is written Ġ and a line break Ċ, since every byte has a visible character. All 256
    bytes are in the vocabulary, so that is the smallest size.

    Papers: Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units",
    arXiv:1508.07909; over bytes: Radford et al. 2019, "Language Models are Unsupervised Multitask Learners",
    section 2.2.
    """

    kind = "bpe"
    engine_type = "BPE"
    training_characters = 100_000_000

    @staticmethod
    def pipeline(*, lowercase: bool) -> Engine:
        engine = Engine(models.BPE())
        if lowercase:
            engine.normalizer = normalizers.Lowercase()
        engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
        engine.decoder = decoders.ByteLevel()
        return engine

    @classmethod
    def learn(
        cls, engine: Engine, parts: Iterator[str], *, size: int, min_count: int, specials: list[str]
    ) -> None:
        trainer = trainers.BpeTrainer(
            vocab_size=size + len(specials),
            min_frequency=max(min_count, 2),  # a pair seen only once is not a pattern
            special_tokens=specials,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
        engine.train_from_iterator(parts, trainer)

    @staticmethod
    def model_from(saved: dict[str, Any]) -> tuple[Any, list[str]]:
        pieces = pieces_by_id(saved["vocab"])
        if not set(pre_tokenizers.ByteLevel.alphabet()) <= set(pieces):
            raise ValueError("not all bytes are known")
        return models.BPE(saved["vocab"], [(left, right) for left, right in saved["merges"]]), pieces
