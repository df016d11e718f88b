"""Dates as 30 languages write them -> ISO 8601: `5. listopadu 2005` -> `2005-11-05`.

The names of months and days and the order of the parts come from the CLDR data in Babel (extra
`datasets`), so rows differ a little between its versions. Each written form means one date: a style in which
`05/11/2005` could be two is left out. Month names alone are not always unambiguous (listopada is October in
Croatian and November in Polish), but the punctuation is.
"""

from __future__ import annotations

import random
import re
from datetime import date, timedelta
from functools import cache
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

from seqlab.core.extras import require
from seqlab.core.seeds import derive
from seqlab.datasets.base import SEED, BuiltInDataset, datasets, to_sources
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryRows
from seqlab.sources.splitting import hold_out

LOCALES = (
    "ca",
    "cs",
    "da",
    "de",
    "el",
    "en",
    "es",
    "et",
    "fi",
    "fr",
    "hr",
    "hu",
    "id",
    "is",
    "it",
    "ja",
    "ko",
    "lt",
    "lv",
    "nb",
    "nl",
    "pl",
    "pt",
    "ro",
    "ru",
    "sk",
    "sl",
    "sv",
    "tr",
    "uk",
)
STYLES = ("medium", "long", "full")
"""Short dates have two-digit years, which are ambiguous."""
FIRST, LAST = date(1900, 1, 1), date(2099, 12, 31)
NUM_DATES, FORMATS_PER_DATE = 4_000, 4
"""Number of dates, and of written forms of each."""


class DateFormat(NamedTuple):
    """One way to write a date."""

    locale: str
    style: str


@datasets.register("dates")
class Dates(BuiltInDataset):
    """Translation of short texts by characters; the alignment shows which letters determine the month."""

    name = "dates"
    description = "Dates in 30 languages and several formats, to be rewritten as ISO 8601."
    task = "translation"
    settings: ClassVar[dict[str, Any]] = {
        "data.source": "written",
        "data.target": "iso",
        "tokens.kind": "characters",
    }

    def splits(self) -> dict[str, Source]:
        rows = [{"written": written, "iso": iso} for written, iso in read_dates().items()]
        source = InMemoryRows("dates", ["written", "iso"], rows)
        return to_sources(
            hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=SEED, key_columns=["iso"])
        )


@cache
def read_dates() -> dict[str, str]:
    """Written form -> ISO 8601, several forms for each of the drawn dates."""
    rng = random.Random(derive(SEED, "dates"))  # noqa: S311 (not for secrets)
    days = rng.sample(range((LAST - FIRST).days + 1), k=NUM_DATES)
    formats = unambiguous_formats()
    iso_by_text = {}
    for day in days:
        drawn = FIRST + timedelta(day)
        for date_format in rng.sample(formats, k=FORMATS_PER_DATE):
            iso_by_text[format_date(drawn, date_format)] = drawn.isoformat()
    return iso_by_text


def unambiguous_formats() -> list[DateFormat]:
    """Every language in every style in which day and month are unambiguous."""
    return [
        DateFormat(locale, style)
        for locale in LOCALES
        for style in STYLES
        if is_unambiguous(_babel_dates().get_date_format(style, locale).pattern)
    ]


def is_unambiguous(pattern: str) -> bool:
    """Whether day and month are unambiguous: a month name, the year first, or periods
    between numbers, which imply that the day comes first.

    >>> is_unambiguous("dd/MM/y"), is_unambiguous("d. MMMM y"), is_unambiguous("y/MM/dd"), is_unambiguous("dd.MM.y")
    (False, True, True, True)
    """
    return (
        "MMM" in pattern or pattern.startswith("y") or re.fullmatch(r"d+\. ?M+\. ?y\.?", pattern) is not None
    )


def format_date(day: date, date_format: DateFormat) -> str:
    """A date in one form, with plain spaces."""
    return " ".join(_babel_dates().format_date(day, date_format.style, locale=date_format.locale).split())


def _babel_dates() -> ModuleType:
    return require("babel.dates", extra="datasets", purpose="The dataset 'dates'", package="Babel")
