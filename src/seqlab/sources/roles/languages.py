"""The language of some texts, from their most frequent short words or their script: enough to tell two columns
apart.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

FREQUENT = {
    "English": "the of and to in is that it for was on are with as be this have from not but by you we they",
    "German": "der die das und ist nicht ein eine zu den mit auf für im dem des von sie ich wir hat sich auch es",
    "French": "le la les de des et est un une du que pour dans ne pas sur qui au avec il nous vous plus ce",
    "Spanish": "el la los las de y es un una que en no por con para se del al lo su más como pero está",
    "Italian": "il la di e che è un una per non in con del della sono gli le si al ma ho questo nel dei",
    "Dutch": "de het een en van is dat niet in op te zijn met voor er aan ook maar als bij wij naar heeft",
    "Portuguese": "o a os as de e é um uma que em não por com para se do da no na mais como mas foi",
}
WORDS = {language: frozenset(words.split()) for language, words in FREQUENT.items()}
LEAST = 0.06
"""Minimum fraction of words that are frequent words of a language."""
SAMPLE = 200


def language_of(texts: Sequence[str]) -> str:
    """The language, or the script if it is not Latin; empty if neither is clear.

    >>> language_of(["the cat is on the mat"]), language_of(["die Katze ist auf der Matte"]), language_of(["кот"])
    ('English', 'German', 'CYRILLIC')
    """
    sample = texts[:SAMPLE]
    script = _script("".join(text[:200] for text in sample))
    if script not in ("LATIN", ""):
        return script
    words = [word.strip(".,;:!?\"'()").lower() for text in sample for word in text.split()]
    shares = Counter({language: sum(word in known for word in words) for language, known in WORDS.items()})
    (best, count), (_, second) = shares.most_common(2)
    return best if words and count >= LEAST * len(words) and count >= 1.3 * second else ""


def _script(text: str) -> str:
    letters = [character for character in text if character.isalpha()][:2000]
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    return scripts.most_common(1)[0][0] if scripts else ""
