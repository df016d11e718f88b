"""Which of 18 languages is this name from? Names of languages, countries, scripts and currencies in Latin
letters.

The names come from the CLDR data in Babel (extra `datasets`). A name that is spelled the same in two
of the languages, ignoring case and punctuation, has no single label and is left out; of several spellings of a
name in one language the first is used, so that no name occurs in two splits.
"""

from __future__ import annotations

from functools import cache

from seqlab.core.extras import require
from seqlab.datasets.base import SEED, BuiltInDataset, datasets, to_sources
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.splitting import hold_out
from seqlab.sources.survey.row_equality import plain_text_of

# All in Latin letters, most with close relatives: letters alone do not give away the label.
LOCALES = (
    "cs",
    "da",
    "de",
    "en",
    "es",
    "et",
    "fi",
    "fr",
    "hr",
    "hu",
    "it",
    "nl",
    "pl",
    "pt",
    "ro",
    "sk",
    "sv",
    "tr",
)
NAME_KINDS = ("languages", "territories", "scripts", "currencies")
AMBIGUOUS = ""


@datasets.register("languages")
class Languages(BuiltInDataset):
    """Classification of short texts by characters."""

    name = "languages"
    description = "Which of 18 languages is this name from?"
    task = "classification"
    settings = {"data.text": "name", "data.label": "language"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        rows = [{"name": name, "language": language} for name, language in read_language_names().items()]
        source = InMemoryRows("languages", ["name", "language"], rows)
        return to_sources(
            hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["name"])
        )


@cache
def read_language_names() -> dict[str, str]:
    """Name -> the English name of its only language, in alphabetical order."""
    babel = require("babel", extra="datasets", purpose="The dataset 'languages'", package="Babel")
    language_by_text: dict[bytes, tuple[str, str]] = {}
    for code in LOCALES:
        locale = babel.Locale.parse(code)
        names = {name for kind in NAME_KINDS for name in getattr(locale, kind).values()}
        for text, name in {plain_text_of(name): name for name in sorted(names, reverse=True)}.items():
            language_by_text[text] = (name, AMBIGUOUS if text in language_by_text else locale.english_name)
    return {
        name: language
        for name, language in sorted(language_by_text.values())
        if language != AMBIGUOUS and _is_name(name)
    }


def _is_name(name: str) -> bool:
    """Historical currencies have years in parentheses, which are the same in every language."""
    return len(name) > 1 and not any(character.isdigit() or character == "(" for character in name)
