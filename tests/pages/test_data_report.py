from __future__ import annotations

from seqlab.pages.data_report import render_survey
from seqlab.sources.survey.report import Leak, PartSurvey, Quantiles, Survey
from tests.pages.reading import Page

HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J\u202e"
SHOWN = "<img src=x onerror=alert(1)>‹ESC›[2J‹U+202E›"


def full_survey(word: str) -> Survey:
    train = PartSurvey(
        rows=1200,
        characters=54_321,
        length_characters=Quantiles(1, 9, 40, 90, 120, 987, 45.27),
        labels={word: 900, "b": 300},
    )
    test = PartSurvey(
        rows=200,
        characters=9000,
        length_words=Quantiles(0, 2, 8, 18, 24, 190, 9.05),
        labels={word: 50, "b": 150},
        empty=1,
        first_empty=[word],
        leaks=2,
        first_leaks=[Leak(word, "train.csv, line 3")],
        unseen_labels={word: 1},
        skipped=1,
        first_skipped=[word],
    )
    return Survey({"train": train, "test": test}, [(word, "B")])


def test_the_survey_shows_its_numbers() -> None:
    page = Page(render_survey(full_survey("a"), title="reviews.csv"))
    assert page.values("id") == ["parts", "lengths", "labels", "leaks", "skipped"]
    for words in (
        "1,200",
        "54,321",
        "45.27",
        "987",
        "900 75%",
        "50 25%",
        "150 75%",
        "train.csv, line 3",
        "warnings",
    ):
        assert words in page.text


def test_hostile_cells_of_a_file_stay_text() -> None:
    html = render_survey(full_survey(HOSTILE), title=HOSTILE, subtitle=HOSTILE)
    page = Page(html)
    assert "img" not in page.names()
    assert page.text.count(SHOWN) >= 5
    assert "\x1b" not in html


def test_a_survey_of_nothing_is_a_title() -> None:
    page = Page(render_survey(Survey({}, []), title="empty.csv"))
    assert "section" not in page.names()


def test_a_plain_text_without_labels_has_no_label_section() -> None:
    part = PartSurvey(rows=10, characters=100, length_characters=Quantiles(1, 1, 1, 1, 1, 1, 1.0))
    assert Page(render_survey(Survey({"train": part}, []), title="t")).values("id") == ["parts", "lengths"]


def test_thousands_of_labels_are_cut_with_a_note_the_most_frequent_first() -> None:
    part = PartSurvey(rows=5, labels={f"label{i}": i for i in range(1, 1001)})
    text = Page(render_survey(Survey({"train": part}, []), title="t")).text
    assert "first 200 of 1,000 labels" in text
    assert text.index("label1000") < text.index("label999")
    assert "label12 " not in text
