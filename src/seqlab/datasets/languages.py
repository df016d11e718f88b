"""Which of 18 languages is this name from? Names of languages, countries, scripts and currencies in Latin letters.

The names come from the CLDR data that Babel carries (extra `datasets`). A name that is written alike in two of the
languages, capitals and punctuation aside, has no single answer and is left out; of the ways to write a name in one
language the first is taken, so that no name stands in two parts.
"""

from __future__ import annotations

from functools import cache

from seqlab.core.extras import require
from seqlab.datasets.base import SEED, BuiltIn, as_parts, datasets
from seqlab.sources.base import Source
from seqlab.sources.in_memory import MemoryRows
from seqlab.sources.splitting import hold_out
from seqlab.sources.survey.row_equality import plain_text_of

# All in Latin letters, most with close relatives: letters alone do not give the answer away.
LOCALES = ("cs", "da", "de", "en", "es", "et", "fi", "fr", "hr", "hu", "it", "nl", "pl", "pt", "ro", "sk", "sv", "tr")
KINDS = ("languages", "territories", "scripts", "currencies")
NO_ANSWER = ""


@datasets.register("languages")
class Languages(BuiltIn):
    """Classification of short texts by characters."""

    name = "languages"
    sentence = "Which of 18 languages is this name from?"
    task = "classification"
    settings = {"data.text": "name", "data.label": "language"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        rows = [{"name": name, "language": language} for name, language in read_names().items()]
        source = MemoryRows("languages", ["name", "language"], rows)
        return as_parts(hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["name"]))


@cache
def read_names() -> dict[str, str]:
    """Name -> the English name of its only language, in alphabetical order."""
    babel = require("babel", extra="datasets", purpose="The dataset 'languages'", package="Babel")
    found: dict[bytes, tuple[str, str]] = {}
    for code in LOCALES:
        locale = babel.Locale.parse(code)
        names = {name for kind in KINDS for name in getattr(locale, kind).values()}
        for letters, name in {plain_text_of(name): name for name in sorted(names, reverse=True)}.items():
            found[letters] = (name, NO_ANSWER if letters in found else locale.english_name)
    return {name: language for name, language in sorted(found.values()) if language != NO_ANSWER and _is_name(name)}


def _is_name(name: str) -> bool:
    """Currencies of the past carry years in brackets, which say nothing about a language."""
    return len(name) > 1 and not any(character.isdigit() or character == "(" for character in name)
