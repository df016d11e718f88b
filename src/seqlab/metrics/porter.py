"""Porter's stemmer: the stem of an English word, so that `translating` matches `translated`.

A word is read as [C](VC)^m[V] in runs of consonants C and vowels V; m is its measure. Five steps remove
suffixes, most of them only if the measure of the remaining stem is large enough.

Paper: Porter 1980, "An Algorithm for Suffix Stripping", Program 14(3), in its published form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache

SHORTEST = 3
"""Shorter words are not stemmed, as in the author's program."""
TWO = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "abli": "able",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
}
THREE = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
FOUR = dict.fromkeys(
    [
        "al",
        "ance",
        "ence",
        "er",
        "ic",
        "able",
        "ible",
        "ant",
        "ement",
        "ment",
        "ent",
        "ion",
        "ou",
        "ism",
        "ate",
        "iti",
        "ous",
        "ive",
        "ize",
    ],
    "",
)


@lru_cache(maxsize=1 << 16)
def porter_stem(word: str) -> str:
    """
    >>> [porter_stem(word) for word in ("relational", "conditional", "hopping", "falling", "happy", "sky", "caresses", "controll")]
    ['relat', 'condit', 'hop', 'fall', 'happi', 'sky', 'caress', 'control']
    """
    if len(word) < SHORTEST:
        return word
    stem = _plural(word)
    stem = _past(stem)
    if stem.endswith("y") and _has_vowel(stem[:-1]):
        stem = stem[:-1] + "i"
    stem = _replaced(stem, TWO, lambda left, _: _measure(left) > 0)
    stem = _replaced(stem, THREE, lambda left, _: _measure(left) > 0)
    stem = _replaced(
        stem, FOUR, lambda left, ending: _measure(left) > 1 and (ending != "ion" or left.endswith(("s", "t")))
    )
    if stem.endswith("e") and (
        _measure(stem[:-1]) > 1 or (_measure(stem[:-1]) == 1 and not _is_closed(stem[:-1]))
    ):
        stem = stem[:-1]
    return stem[:-1] if stem.endswith("ll") and _measure(stem) > 1 else stem


def _plural(word: str) -> str:
    """Step 1a: the longest of -sses, -ies, -ss, -s."""
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    """Step 1b: -eed, -ed, -ing, and the repairs that their removal requires."""
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    ending = next((ending for ending in ("ed", "ing") if word.endswith(ending)), "")
    if not ending or not _has_vowel(word[: -len(ending)]):
        return word
    left = word[: -len(ending)]
    if left.endswith(("at", "bl", "iz")) or (_measure(left) == 1 and _is_closed(left)):
        return left + "e"
    return left[:-1] if _ends_double(left) and left[-1] not in "lsz" else left


def _replaced(word: str, endings: Mapping[str, str], fits: Callable[[str, str], bool]) -> str:
    """Replace the longest matching suffix if the remaining stem meets the condition."""
    ending = max((ending for ending in endings if word.endswith(ending)), key=len, default="")
    left = word[: len(word) - len(ending)]
    return left + endings[ending] if ending and fits(left, ending) else word


def _kinds(word: str) -> str:
    """The kind of each character of a word: v for a vowel, c for a consonant; y is a vowel after a consonant.

    >>> _kinds("toy"), _kinds("syzygy")
    ('cvc', 'cvcvcv')
    """
    kinds = ""
    for letter in word:
        kinds += "v" if letter in "aeiou" or (letter == "y" and kinds.endswith("c")) else "c"
    return kinds


def _measure(word: str) -> int:
    """
    >>> [_measure(word) for word in ("tree", "trouble", "troubles")]
    [0, 1, 2]
    """
    return len(re.findall("v+c+", _kinds(word)))


def _has_vowel(word: str) -> bool:
    return "v" in _kinds(word)


def _ends_double(word: str) -> bool:
    return word[-1:] == word[-2:-1] != "" and _kinds(word).endswith("c")


def _is_closed(word: str) -> bool:
    """Whether a word ends with consonant, vowel, consonant, and the last is not w, x or y: -hop, -fil."""
    return _kinds(word).endswith("cvc") and word[-1] not in "wxy"
