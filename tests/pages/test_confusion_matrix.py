from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from seqlab.pages.charts.confusion_matrix import (
    CONTRAST,
    MAX_CLASSES,
    MatrixLayout,
    abbreviate,
    display_width,
    draw_confusion_matrix,
    most_confused_classes,
)
from seqlab.pages.report_data import ConfusionTable
from seqlab.pages.sections.classes import confused_pairs, confusion_section

SMALL = ConfusionTable(["cat", "dog", "eel"], [[8, 2, 0], [5, 15, 0], [0, 0, 0]])


def square(size: int, *, hits: int = 50, misses: int = 1) -> ConfusionTable:
    return ConfusionTable(
        [f"label {i}" for i in range(size)],
        [[hits if i == j else misses * (abs(i - j) < 5) for j in range(size)] for i in range(size)],
    )


def boxes(confusion: ConfusionTable) -> dict[str, ET.Element]:
    """The coloured cells by their hints."""
    picture = ET.fromstring(draw_confusion_matrix(confusion, ident="h"))
    return {box.findtext("title", ""): box for box in picture.iter("rect") if box.find("title") is not None}


def test_a_cell_stands_in_its_row_and_column_with_the_colour_of_its_share() -> None:
    box = boxes(SMALL)["truth dog, predicted cat: 5 (25% of dog)"]
    layout = MatrixLayout.for_matrix(SMALL)
    assert (float(box.get("x") or ""), float(box.get("y") or "")) == pytest.approx(
        (layout.margin + 0.5, layout.margin + layout.cell + 0.5), abs=0.01
    )
    assert float(box.get("fill-opacity") or "") == pytest.approx(0.25**CONTRAST, abs=0.005)
    assert box.get("class") == "miss"


def test_hits_and_mistakes_have_different_hues_and_empty_cells_none() -> None:
    kinds = {hint: box.get("class") for hint, box in boxes(SMALL).items()}
    assert kinds == {
        "truth cat, predicted cat: 8 (80% of cat)": "hit",
        "truth cat, predicted dog: 2 (20% of cat)": "miss",
        "truth dog, predicted cat: 5 (25% of dog)": "miss",
        "truth dog, predicted dog: 15 (75% of dog)": "hit",
    }


@pytest.mark.parametrize("size", [2, 7, 17, 20, 21, 41, 60])
def test_the_picture_stays_readable_from_two_to_sixty_classes(size: int) -> None:
    picture = ET.fromstring(draw_confusion_matrix(square(size), ident="h"))
    layout = MatrixLayout.for_matrix(square(size))
    assert float(picture.get("width") or "") <= 1000
    assert layout.cell >= layout.font, "labels of neighbouring rows would touch"
    counts = [text for text in picture.iter("text") if "count" in (text.get("class") or "")]
    cells = sum(count > 0 for row in square(size).counts for count in row)
    assert len(counts) == (cells if size <= 20 else 0)


def test_long_labels_are_cut_and_keep_their_full_name_to_point_at() -> None:
    long = "a very long label that goes on and on"
    picture = ET.fromstring(draw_confusion_matrix(ConfusionTable([long, "b"], [[1, 0], [0, 1]]), ident="h"))
    label = next(text for text in picture.iter("text") if (text.text or "").startswith("a very"))
    assert label.text == "a very long lab…"
    assert label.findtext("title") == long


def test_wide_letters_count_twice() -> None:
    assert display_width("日本") == 4
    assert abbreviate("日本語日本語", 7) == "日本語…"


def test_more_than_sixty_classes_show_those_with_most_mistakes() -> None:
    confusion = square(70, misses=0)
    counts = [list(row) for row in confusion.counts]
    counts[68][3] = 9
    shown = most_confused_classes(ConfusionTable(confusion.labels, counts))
    assert len(shown.labels) == MAX_CLASSES
    row, column = shown.labels.index("label 68"), shown.labels.index("label 3")
    assert shown.counts[row][column] == 9
    assert "the 60 classes with the most mistakes" in confusion_section(
        ConfusionTable(confusion.labels, counts)
    )


def test_the_commonest_mistakes_come_first() -> None:
    assert confused_pairs(SMALL) == [("dog", "cat", 5, 0.25), ("cat", "dog", 2, 0.2)]
    assert "No mistakes." in confusion_section(square(3, misses=0))


def test_a_matrix_that_is_not_square_is_refused() -> None:
    with pytest.raises(ValueError, match="2 labels need 2 rows of 2 counts"):
        ConfusionTable(["a", "b"], [[1, 2]])
