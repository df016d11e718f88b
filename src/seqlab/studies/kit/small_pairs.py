"""A small translation task: German number words to English ones, or any sentence pairs."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import torch
from jaxtyping import Int
from torch import Tensor

from seqlab.core.seeds import derive
from seqlab.datasets.numbers import number_to_words

ONES = (
    "null",
    "eins",
    "zwei",
    "drei",
    "vier",
    "fünf",
    "sechs",
    "sieben",
    "acht",
    "neun",
    "zehn",
    "elf",
    "zwölf",
    "dreizehn",
    "vierzehn",
    "fünfzehn",
    "sechzehn",
    "siebzehn",
    "achtzehn",
    "neunzehn",
)
TENS = ("", "", "zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig")
PAD, START, END, UNKNOWN = range(4)
NUM_PAIRS = 4_000
NUM_VALID = 200
MAX_WORDS = 2_000
"""Words of one side that have an id of their own; the others share one."""
MAX_SENTENCE_WORDS = 40

SentencePair = tuple[str, str]
SourceIds = Int[Tensor, "batch source"]
TargetIds = Int[Tensor, "batch target"]


@dataclass(frozen=True)
class SmallPairs:
    """Sentence pairs as ids; the last ones are held out."""

    sources: list[list[int]]
    targets: list[list[int]]
    num_source_words: int
    num_target_words: int

    @classmethod
    def from_pairs(cls, pairs: Sequence[SentencePair]) -> SmallPairs:
        """Words are separated by spaces and lowercased."""
        sources, targets = (
            [sentence.lower().split()[:MAX_SENTENCE_WORDS] for sentence in side]
            for side in zip(*pairs, strict=True)
        )
        source_ids, target_ids = _vocabulary(sources[:-NUM_VALID]), _vocabulary(targets[:-NUM_VALID])
        return cls(
            [[source_ids.get(word, UNKNOWN) for word in words] for words in sources],
            [[target_ids.get(word, UNKNOWN) for word in words] for words in targets],
            len(source_ids) + UNKNOWN + 1,
            len(target_ids) + UNKNOWN + 1,
        )

    def draw(self, batch_size: int, generator: torch.Generator) -> tuple[SourceIds, TargetIds]:
        """Random pairs to train on."""
        return self._batch(
            torch.randint(len(self.sources) - NUM_VALID, (batch_size,), generator=generator).tolist()
        )

    def validation_batch(self) -> tuple[SourceIds, TargetIds]:
        return self._batch(range(len(self.sources) - NUM_VALID, len(self.sources)))

    def _batch(self, rows: Sequence[int]) -> tuple[SourceIds, TargetIds]:
        """Padded batches; targets have a start and an end token."""
        return _padded([self.sources[row] for row in rows]), _padded(
            [[START, *self.targets[row], END] for row in rows]
        )


@cache
def german_numbers() -> list[SentencePair]:
    """Distinct numbers below a million in random order, short ones as often as long ones."""
    rng = random.Random(derive(0, "german numbers"))  # noqa: S311 (not for secrets)
    pair_by_number: dict[int, SentencePair] = {}
    while len(pair_by_number) < NUM_PAIRS:
        number = rng.randrange(10 ** rng.randint(1, 6))
        pair_by_number.setdefault(
            number, (german_words(number), number_to_words(number, with_and=False).replace("-", " "))
        )
    pairs = list(pair_by_number.values())
    rng.shuffle(pairs)
    return pairs


def german_words(number: int) -> str:
    """The German words of a number below a million. Ones come before tens, so the word order differs from
    English.

    >>> german_words(21), german_words(305_012), german_words(101_201)
    ('ein und zwanzig', 'drei hundert fünf tausend zwölf', 'ein hundert ein tausend zwei hundert eins')
    """
    thousands, rest = divmod(number, 1000)
    words = [*_below_thousand(thousands, last="ein"), "tausend"] if thousands else []
    return " ".join([*words, *_below_thousand(rest, last="eins")] if rest or not thousands else words)


def _below_thousand(number: int, *, last: str) -> list[str]:
    """last: the word for a final one."""
    hundreds, rest = divmod(number, 100)
    words = ["ein" if hundreds == 1 else ONES[hundreds], "hundert"] if hundreds else []
    if rest == 1:
        return [*words, last]
    if rest < len(ONES):
        return [*words, ONES[rest]] if rest or not hundreds else words
    tens, ones = divmod(rest, 10)
    return [*words, *(["ein" if ones == 1 else ONES[ones], "und"] if ones else []), TENS[tens]]


def _vocabulary(sentences: Sequence[Sequence[str]]) -> dict[str, int]:
    counts = Counter(word for words in sentences for word in words)
    return {
        word: word_id for word_id, (word, _) in enumerate(counts.most_common(MAX_WORDS), start=UNKNOWN + 1)
    }


def _padded(rows: Sequence[Sequence[int]]) -> Int[Tensor, "batch longest"]:
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows])  # (batch, longest)
