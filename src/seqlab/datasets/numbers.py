"""English number words -> digits: `three hundred and five thousand and twelve` -> `305012`."""

from __future__ import annotations

import random
from functools import cache
from typing import Any, ClassVar

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltInDataset, datasets, to_sources
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.splitting import hold_out

ONES = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
)
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {1_000_000: "million", 1_000: "thousand"}
MAX_DIGITS = 9
NUM_ROWS = 8_000


@datasets.register("numbers")
class NumberWords(BuiltInDataset):
    """Translation whose output depends on every word of the input."""

    name = "numbers"
    description = "English number words, to be rewritten in digits."
    task = "translation"
    settings: ClassVar[dict[str, Any]] = {
        "data.source": "words",
        "data.target": "digits",
        "tokens.kind": "characters",
    }

    def splits(self) -> dict[str, Source]:
        source = InMemoryRows("numbers", ["words", "digits"], read_numbers())
        return to_sources(
            hold_out(
                source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["digits"]
            )
        )


@cache
def read_numbers() -> list[dict[str, str]]:
    """Distinct numbers of one to nine digits, each length equally often while there are enough;
    half of them written with `and`.
    """
    rng = random.Random(derive(SEED, "numbers"))  # noqa: S311 (not for secrets)
    words_by_number: dict[int, str] = {}
    while len(words_by_number) < NUM_ROWS:
        number = rng.randrange(10 ** rng.randint(1, MAX_DIGITS))
        words_by_number.setdefault(number, number_to_words(number, with_and=rng.random() < 0.5))
    return [{"words": words, "digits": str(number)} for number, words in words_by_number.items()]


def number_to_words(number: int, *, with_and: bool) -> str:
    """A number below one billion, in words.

    >>> number_to_words(305_012, with_and=True), number_to_words(42, with_and=True), number_to_words(1_000_100, with_and=False)
    ('three hundred and five thousand and twelve', 'forty-two', 'one million one hundred')
    """
    assert 0 <= number < 1000 * max(SCALES)
    words = []
    left = number
    for size, name in SCALES.items():
        if left >= size:
            words += [*_below_thousand(left // size, with_and=with_and), name]
            left %= size
    if left or not number:
        words += ["and"] if with_and and words and left < 100 else []
        words += _below_thousand(left, with_and=with_and)
    return " ".join(words)


def _below_thousand(number: int, *, with_and: bool) -> list[str]:
    hundreds, rest = divmod(number, 100)
    words = [ONES[hundreds], "hundred"] if hundreds else []
    if rest or not hundreds:
        words += ["and"] if with_and and hundreds else []
        words.append(
            ONES[rest]
            if rest < len(ONES)
            else TENS[rest // 10] + (f"-{ONES[rest % 10]}" if rest % 10 else "")
        )
    return words
