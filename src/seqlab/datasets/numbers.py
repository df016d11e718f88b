"""English number words -> digits: `three hundred and five thousand and twelve` -> `305012`."""

from __future__ import annotations

import random
from functools import cache

from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltIn, as_parts, datasets
from seqlab.sources.base import Source
from seqlab.sources.in_memory import MemoryRows
from seqlab.sources.splitting import hold_out

ONES = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen",
    "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
SCALES = {1_000_000: "million", 1_000: "thousand"}
MOST_DIGITS = 9
ROWS = 8_000


@datasets.register("numbers")
class Numbers(BuiltIn):
    """Translation whose output depends on every word of the input."""

    name = "numbers"
    sentence = "English number words, to be written in digits."
    task = "translation"
    settings = {"data.source": "words", "data.target": "digits", "tokens.kind": "characters"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        source = MemoryRows("numbers", ["words", "digits"], read_numbers())
        return as_parts(hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["digits"]))


@cache
def read_numbers() -> list[dict[str, str]]:
    """Different numbers of one to nine digits, shorter ones as often as longer ones while there are enough; half of them written with `and`."""
    chance = random.Random(derive(SEED, "numbers"))  # noqa: S311 (not for secrets)
    found: dict[int, str] = {}
    while len(found) < ROWS:
        number = chance.randrange(10 ** chance.randint(1, MOST_DIGITS))
        found.setdefault(number, words_of(number, with_and=chance.random() < 0.5))
    return [{"words": words, "digits": str(number)} for number, words in found.items()]


def words_of(number: int, *, with_and: bool) -> str:
    """A number below a thousand millions.

    >>> words_of(305_012, with_and=True), words_of(42, with_and=True), words_of(1_000_100, with_and=False)
    ('three hundred and five thousand and twelve', 'forty-two', 'one million one hundred')
    """
    assert 0 <= number < 1000 * max(SCALES)
    found = []
    left = number
    for size, name in SCALES.items():
        if left >= size:
            found += [*_below_thousand(left // size, with_and=with_and), name]
            left %= size
    if left or not number:
        found += ["and"] if with_and and found and left < 100 else []
        found += _below_thousand(left, with_and=with_and)
    return " ".join(found)


def _below_thousand(number: int, *, with_and: bool) -> list[str]:
    hundreds, rest = divmod(number, 100)
    found = [ONES[hundreds], "hundred"] if hundreds else []
    if rest or not hundreds:
        found += ["and"] if with_and and hundreds else []
        found.append(ONES[rest] if rest < len(ONES) else TENS[rest // 10] + (f"-{ONES[rest % 10]}" if rest % 10 else ""))
    return found
