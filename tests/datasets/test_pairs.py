"""The built-in pairs: every target follows from its source, by another way than the one that made it."""

from __future__ import annotations

import re
import sys
from datetime import date, timedelta

import pytest

from seqlab.core.errors import MissingExtra, RecipeError
from seqlab.datasets.base import datasets
from seqlab.datasets.numbers import number_to_words
from seqlab.runs.data import require_files
from seqlab.runs.find_recipe import find_recipe

pytestmark = pytest.mark.slow  # thousands of rows each


def rows_of(name: str, *overrides: str) -> list[dict[str, str]]:
    recipe, _ = find_recipe(name, list(overrides))
    return [
        row.values
        for part in datasets.get(name).from_settings(recipe.data).splits().values()
        for row in part.rows()
    ]


@pytest.mark.spec(7)
def test_dates_read_back_by_the_names_of_months_are_the_iso_dates() -> None:
    locales = pytest.importorskip("babel").Locale
    from seqlab.datasets.dates import LOCALES, format_date, read_dates, unambiguous_formats

    rows = read_dates()
    assert len(rows) > 15_000
    for written, iso in rows.items():
        year, month, day = map(int, iso.split("-"))
        numbers = [int(number) for number in re.findall(r"\d+", written)]
        assert {year, day} <= set(numbers), written
        assert month in numbers or any(character.isalpha() for character in written)
    shown = {form: format_date(date(2005, 11, 15), form) for form in unambiguous_formats()}
    for form, written in shown.items():
        names = [
            name
            for kind in ("wide", "abbreviated")
            for name in (locales.parse(form.locale).months["format"][kind][11],)
        ]
        assert any(name in written for name in names) or re.search(r"\b11\b|11月", written), written
    assert {form.locale for form in shown} == set(LOCALES)
    assert len({form.style for form in shown}) == 3


def test_a_written_date_has_one_meaning() -> None:
    pytest.importorskip("babel")
    from seqlab.datasets.dates import format_date, unambiguous_formats

    meanings: dict[str, set[date]] = {}
    for form in unambiguous_formats():
        for days in range(0, 366, 7):
            day = date(2011, 1, 12) + timedelta(days)  # days up to 12 could be months
            meanings.setdefault(format_date(day, form), set()).add(day)
    assert [written for written, days in meanings.items() if len(days) > 1] == []


def test_dates_say_how_to_install_what_they_need(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = datasets.get("dates")
    monkeypatch.setitem(sys.modules, "babel.dates", None)
    sys.modules["seqlab.datasets.dates"].read_dates.cache_clear()
    with pytest.raises(
        MissingExtra,
        match=r"The dataset 'dates' needs the package 'Babel'.*\n.*pip install 'seqlab\[datasets\]'",
    ):
        dataset().splits()


VALUES = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
}


def read_aloud(words: str) -> int:
    """The value of number words, added up from left to right."""
    total = part = 0
    for word in words.replace("-", " ").split():
        if word in VALUES:
            part += VALUES[word]
        elif word == "hundred":
            part *= 100
        elif word != "and":
            total, part = total + part * {"thousand": 1000, "million": 1_000_000}[word], 0
    return total + part


@pytest.mark.spec(7)
def test_number_words_mean_their_digits() -> None:
    rows = rows_of("numbers")
    assert [row for row in rows if read_aloud(row["words"]) != int(row["digits"])] == []
    assert {len(row["digits"]) for row in rows} == set(range(1, 10))
    assert sum(" and " in row["words"] for row in rows) > len(rows) / 4
    assert [read_aloud(number_to_words(number, with_and=True)) for number in range(2100)] == list(range(2100))


@pytest.mark.parametrize("length", [3, 17])
def test_letters_are_copied_and_reversed_and_as_long_as_asked(length: int) -> None:
    for name, column, turned in (
        ("copy", "copied", slice(None)),
        ("reverse", "reversed", slice(None, None, -1)),
    ):
        rows = rows_of(name, f"data.length={length}")
        assert all(row[column] == row["letters"][turned] for row in rows)
        assert {len(row["letters"]) for row in rows} == set(range((length + 1) // 2, length + 1))
        assert len({row["letters"] for row in rows}) == len(rows) == 8000


def test_a_length_is_for_these_sets_only() -> None:
    with pytest.raises(
        RecipeError,
        match=(r"data.length: .*'copy', 'reverse'\.\n.*seqlab train copy"),
    ):
        require_files(find_recipe("numbers", ["data.length=7"])[0])
