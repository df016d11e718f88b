"""Tunes in ABC notation: bars are counted as a musician counts them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from seqlab.metrics.abc_notation import check_tune, split_tunes, valid_tune_fraction


def tune(notes: str, *, metre: str = "4/4", unit: str = "1/8") -> str:
    return f"X:7\nT:A test\nM:{metre}\nL:{unit}\nK:G Major\n{notes}"


@pytest.mark.spec(9)
@pytest.mark.parametrize(
    ("notes", "metre"),
    [
        ("|GABc dedB|dedB dedB|", "4/4"),
        ("|G2 B3/2 c/ d4|z8|", "C"),
        ("|G>A B<c d2 e2|G>>A B2 c2 d2|", "C|"),
        ("|(3GAB c2 (3def g2|^G=A_B c D,E' f g|", "4/4"),
        ("|(6GABcde G2 B2 d2|[GBd]2 {ab}c2 \"G7\"d2 ~e2|", "4/4"),
        ("D|GAB cde|G3 d2D:|!\nd|gfe dcB|A3 G2|]", "6/8"),
        ("|G/A/ d|c// d// e/ c|", "2/8"),
    ],
)  # fmt: skip
def test_bars_that_fill_the_metre_are_sound(notes: str, metre: str) -> None:
    assert check_tune(tune(notes, metre=metre)).is_valid


@pytest.mark.parametrize(
    ("notes", "full"),
    [
        ("|GABc dedB|GABc ded|dedB dedB|", 2),
        ("|GABc dedB|GABc dedB c|GABc dedB|", 2),
        ("|GABc|GABc d2|GABc|", 0),
    ],
)
def test_a_bar_too_short_or_too_long_is_counted(notes: str, full: int) -> None:
    found = check_tune(tune(notes, metre="4/4" if full else "3/8"))
    assert (found.num_bars, found.num_full_bars, found.is_valid) == (3, full, False)


def test_what_is_missing_is_said_in_words() -> None:
    assert check_tune("T:No number\nX:1\nM:4/4\nL:1/8\nK:D\nABcd ABcd|").problems == (
        "the header X is not first",
    )
    assert check_tune("X:1\nT:Ends early\nM:4/4\nL:1/8\n").problems == ("the header K is missing", "no notes")
    assert check_tune(tune("GABc qedB|")).problems == ("'q' is not a note",)
    assert check_tune(tune("GABc|", metre="four")).problems == ("unknown meter",)


@pytest.mark.spec(9)
def test_real_tunes_are_sound_and_shuffled_ones_are_not(shared_data: Path) -> None:
    text = (shared_data / "irish_abc" / "irish.abc").read_text(encoding="utf-8")
    tunes = split_tunes(text)[::8]
    assert valid_tune_fraction(tunes) > 0.97
    rng = random.Random(1)

    def shuffled(tune: str) -> str:
        head, key, notes = tune.partition("\nK:")
        return head + key + notes[:8] + "".join(rng.sample(notes[8:], len(notes) - 8))

    assert valid_tune_fraction(map(shuffled, tunes)) < 0.05
