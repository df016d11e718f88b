"""The task and the columns are guessed, and every guess says how to overrule it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import DataError
from seqlab.sources import column_roles
from seqlab.sources.base import Row, Source
from seqlab.sources.column_roles import find_roles
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out
from seqlab.sources.views.series import Series
from tests.sources.guessing import guess

DATA = Path(__file__).parents[2].parent / "shared" / "data"


def table(path: Path, header: str, *rows: str) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n")
    return path


@pytest.mark.parametrize(
    ("header", "rows", "expected"),
    [
        (
            "id,review,sentiment",
            [f"{i},it was film {i} I think,{'pos' if i % 2 else 'neg'}" for i in range(20)],
            ("classification", "review", "sentiment"),
        ),
        (
            "stars,words,n",
            [f"{i % 5},it was film {i} I think,{i / 7}" for i in range(50)],
            ("classification", "words", "stars"),
        ),
        (
            "tweet,airline_sentiment,airline",
            [f"late again {i},neg,{'a' if i % 2 else 'b'}" for i in range(20)],
            ("classification", "tweet", "airline_sentiment"),
        ),
        (
            "title,description,kind",
            [f"t{i},a very long description of film {i},{i % 3}" for i in range(30)],
            ("classification", "description", "kind"),
        ),
        (
            "name,language",
            [f"name{i},{'de' if i % 2 else 'fr'}" for i in range(20)],
            ("classification", "name", "language"),
        ),
        ("quote", [f"to be or not {i}" for i in range(20)], ("language_model", "quote", "")),
        ("id,quote", [f"{i},to be or not {i}" for i in range(20)], ("language_model", "quote", "")),
        ("text,label", ["fine,pos"], ("classification", "text", "label")),
        (  # a longer description has a longer summary, but one is not the translation of the other
            "Summary,Description,Issue Type",
            [
                f"the {'very ' * (i % 9)}slow page {i},it is {'really ' * (i % 9)}slow and that is bad {i},"
                f"{'Bug' if i % 2 else 'Task'}"
                for i in range(40)
            ],
            ("classification", "Description", "Issue Type"),
        ),
        (  # as the RSS feeds of app stores call everything
            "name.label,content.label,rating.label,type",
            [f"user{i},film number {i} is {('bad', 'fair', 'good')[i % 3]},{i % 3},text" for i in range(50)],
            ("classification", "content.label", "rating.label"),
        ),
    ],
)
def test_columns_are_found(
    header: str, rows: list[str], expected: tuple[str, str, str], tmp_path: Path
) -> None:
    found = guess(open_source(table(tmp_path / "t.csv", header, *rows), DataSettings()))
    assert (found.task, found.text, found.label) == expected
    assert all("=NAME" in reason for reason in found.reasons)


def test_reasons_name_the_evidence_and_the_setting(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "review,sentiment", "abcd,pos", "ef,neg", "ghijkl,pos", "mn o p,neg")
    found = guess(open_source(path, DataSettings()))
    assert found.reasons[0].startswith("text column 'review' (mean length 4 characters); set data.text=NAME")
    assert found.reasons[1].startswith("label column 'sentiment' (2 distinct values); set data.label=NAME")


def test_a_label_with_a_few_gaps_wins_over_a_complete_column(tmp_path: Path) -> None:
    rows = [
        f"order {i} is {'late' if i % 2 or i % 5 == 2 else 'wrong'},{'gold' if i % 3 else 'basic'},"
        f"{'' if i % 25 == 0 else 'shipping' if i % 2 else 'returns'},{i % 2}"
        for i in range(100)
    ]  # one text in ten is about something other than its queue
    path = table(tmp_path / "t.csv", "body,tier,queue,region", *rows)
    (about_label,) = (
        reason
        for reason in guess(open_source(path, DataSettings())).reasons
        if reason.startswith("label column")
    )
    assert "'queue'" in about_label
    assert "data.label=tier" in about_label
    assert "uncertain" not in about_label


def test_a_label_without_a_clear_lead_is_uncertain_and_names_the_others(tmp_path: Path) -> None:
    rows = [f"it was film {i} I think,{'ab'[i % 2]},{'xyz'[i % 3]}" for i in range(60)]
    path = table(tmp_path / "t.csv", "review,one,two", *rows)
    found = guess(open_source(path, DataSettings()))
    about_label = next(reason for reason in found.reasons if reason.startswith("label column"))
    assert "uncertain" in about_label
    assert f"data.label={'one' if found.label == 'two' else 'two'}" in about_label


def test_roles_are_inferred_once_for_the_task_and_its_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    first_rows = column_roles.first_rows

    def counted(source: Source, most: int) -> list[Row]:
        read.append(most)
        return first_rows(source, most)

    monkeypatch.setattr(column_roles, "first_rows", counted)
    path = table(tmp_path / "t.csv", "review,sentiment", *(f"film {i},{'pn'[i % 2]}" for i in range(20)))
    source = open_source(path, DataSettings())
    assert guess(source).label == "sentiment"
    assert len(read) == 1
    assert find_roles(source, settings=DataSettings(text="review")).text == "review"
    assert len(read) == 2


def test_what_the_user_names_is_taken_and_not_explained(tmp_path: Path) -> None:
    path = table(
        tmp_path / "t.csv",
        "text,other,label,kind",
        *(f"some words {i},more words {i},{i % 2},{i % 3}" for i in range(30)),
    )
    settings = DataSettings(text="other", label="kind")
    found = guess(open_source(path, settings), settings=settings)
    assert (found.text, found.label) == ("other", "kind")
    assert not any("column" in reason for reason in found.reasons)
    with pytest.raises(DataError, match="Did you mean 'other'"):
        guess(open_source(path, settings), settings=DataSettings(text="othr"))


def test_labelled_series_are_found_and_joined(tmp_path: Path) -> None:
    rows = [
        f"{name},{t},{t * 0.5},{-t},{'up' if name < 'c' else 'down'}" for name in "abcd" for t in range(3)
    ]
    source = open_source(table(tmp_path / "t.csv", "id,t,x,y,direction", *rows), DataSettings())
    found = guess(source)
    assert (found.task, found.text, found.label, found.sequence, found.features) == (
        "classification",
        "",
        "direction",
        "id",
        ("x", "y"),
    )
    assert any("2 numbers per step (x, y)" in reason for reason in found.reasons)
    one = open_source(
        table(tmp_path / "one.csv", "id,x,direction", "a,1,up", "a,2,up", "b,1,down", "b,3,down"),
        DataSettings(),
    )
    assert any("1 number per step (x)" in reason for reason in guess(one).reasons)
    series = Series(source, sequence=found.sequence, label=found.label, features=found.features)
    joined = list(series.rows())
    assert [row.line for row in joined] == [2, 5, 8, 11]
    assert joined[1].values == {"steps": [[0.0, 0.0], [0.5, -1.0], [1.0, -2.0]], "direction": "up", "id": "b"}


@pytest.mark.parametrize(
    "lines",
    [
        ["timestamp,kwh", *(f"2024-01-{day:02d} 00:00:00,{day % 7 + 0.5}" for day in range(1, 29))],
        ["Monat;Umsatz", *(f"{month:02d}.2023;{month * 31 % 17},5" for month in range(1, 13))],
        ["month,passengers", *(f"{1949 + n // 12}-{n % 12 + 1:02d},{100 + n * 13 % 41}" for n in range(60))],
        ["t,x,y", *(f"{n},{n * 7 % 11}.25,{n * 5 % 13}.75" for n in range(50))],
    ],
)
def test_a_series_without_labels_is_one_to_forecast(lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "energy.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = find_roles(open_source(tmp_path / "energy.csv", DataSettings()))
    header = lines[0].replace(";", ",").split(",")
    assert (found.answer, found.time, found.target) == ("future", header[0], header[-1])
    assert all(
        f"data.{role}=" in " ".join(reason.sentence for reason in found.reasons)
        for role in ("time", "target")
    )


DNA = str.maketrans("01b", "act")


def test_a_constant_column_does_not_identify_sequences(tmp_path: Path) -> None:
    rows = [f"https://example.com,{i},{i % 3},text" for i in range(20)]
    with pytest.raises(DataError, match=r"uri, id, rating, type"):
        guess(open_source(table(tmp_path / "t.csv", "uri,id,rating,type", *rows), DataSettings()))


@pytest.mark.parametrize(
    "date", ["05/Mar/24 9:0{} PM", "5 March 202{}", "Mar 5, 202{}", "Sept. 5, 202{} 10:15"]
)
def test_dates_with_the_name_of_a_month_are_not_a_text(date: str, tmp_path: Path) -> None:
    rows = [f'"{date.format(i % 10)}",bug {i},' + "ab"[i % 2] for i in range(40)]
    found = guess(open_source(table(tmp_path / "t.csv", "Created,Short,Kind", *rows), DataSettings()))
    assert (found.text, found.label) == ("Short", "Kind")
    assert "data.text=Created" not in " ".join(found.reasons)


def test_commas_count_more_than_tabs_that_only_indent(tmp_path: Path) -> None:
    rows = [f"{'+-'[n % 2]},S{n},\t\t{'acgt' * 10}{bin(n * 977).translate(DNA)}" for n in range(60)]
    (tmp_path / "promoters.data").write_text("\n".join(rows) + "\n", encoding="utf-8")
    found = find_roles(open_source(tmp_path / "promoters.data", DataSettings()))
    assert (found.text, found.label) == ("3", "1")


def test_verses_of_equally_many_words_are_no_tagged_words(tmp_path: Path) -> None:
    verses = [f"the {one} saw a {two}." for one in ("dog", "cat", "fox") for two in ("tree", "house")] * 10
    text = "\n".join(verse if n % 5 else f"\n{verse}" for n, verse in enumerate(verses))
    (tmp_path / "poem.txt").write_text(text, encoding="utf-8")
    assert open_source(tmp_path / "poem.txt", DataSettings()).columns == ["text"]


@pytest.mark.parametrize("number", ["{n}.0", "{n}", "9" * 5000 + "{n}"])
def test_numbered_rows_are_ids_however_the_numbers_are_written(number: str, tmp_path: Path) -> None:
    """A DataFrame writes 3.0 for 3 where a number of the column is missing; Python refuses very long numbers."""
    rows = (f"{number.format(n=n)},some words {n},{'ab'[n % 2]}\n" for n in range(40))
    path = tmp_path / "t.csv"
    path.write_text("nr,text,kind\n" + "".join(rows), encoding="utf-8")
    found = guess(open_source(path, DataSettings()))
    assert (found.task, found.text, found.label) == ("classification", "text", "kind")


def test_rows_that_are_all_skipped_are_not_called_too_few(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,x,y\n" + "".join(f"{n},word,a\n" for n in range(30)), encoding="utf-8")
    table = open_source(path, DataSettings(bad_rows="skip"))
    series = Series(table, sequence="id", label="y", features=["x"])
    with pytest.raises(DataError, match=r"30 rows.*line 2, column 'x'.*'word'"):
        hold_out(series, how="content", valid_share=0.1, test_share=0.1, seed=1)


def test_a_number_that_no_float_can_hold_is_a_bad_value(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": 1, "x": 1%s, "y": "a"}\n' % ("0" * 400), encoding="utf-8")
    series = Series(open_source(path, DataSettings()), sequence="id", label="y", features=["x"])
    with pytest.raises(DataError, match="line 1, column 'x'"):
        list(series.rows())


def test_names_in_camel_case_and_attributions_are_understood(tmp_path: Path) -> None:
    table = "summary,reviewText,overall\n" + "".join(
        f"{word},it was a {word} film that I saw,{stars}\n"
        for word, stars in (("fine", 5), ("dull", 1))
        for _ in range(40)
    )
    (tmp_path / "reviews.csv").write_text(table, encoding="utf-8")
    found = find_roles(open_source(tmp_path / "reviews.csv", DataSettings()))
    assert (found.text, found.label) == ("reviewText", "overall")
    pairs = [
        f"I see the {one} and the cat.\tJe vois le {two} et le chat.\tCC-BY 2.0 (France) Attribution: tatoeba.org #{n} (CK)"
        for n, (one, two) in enumerate(
            [("dog", "chien"), ("old house", "la vieille maison"), ("tree", "arbre")] * 20
        )
    ]
    (tmp_path / "fra.txt").write_text("\n".join(pairs) + "\n", encoding="utf-8")
    found = find_roles(open_source(tmp_path / "fra.txt", DataSettings()))
    assert "3" not in (found.text, *(found.pair or ()))


def test_a_sequence_with_a_gap_can_be_left_out(tmp_path: Path) -> None:
    path = table(tmp_path / "t.csv", "id,x,label", "a,1,up", "a,2,up", "b,,down", "b,3,down", "c,5,up")
    series = Series(open_source(path, DataSettings(bad_rows="skip")), sequence="id", label="label")
    for _ in range(2):
        assert [row.values["id"] for row in series.rows()] == ["a", "c"]
    assert series.bad_rows.count == 1


@pytest.mark.skipif(not DATA.is_dir(), reason="the shared data is not here")
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("imdb/test.jsonl.xz", ("classification", "text", "label")),
        ("tweets/airline.csv.xz", ("classification", "text", "sentiment")),
        ("tinyshakespeare/input.txt", ("language_model", "text", "")),
        ("irish_abc/irish.abc", ("language_model", "text", "")),
    ],
)
def test_real_files_are_understood(file: str, expected: tuple[str, str, str]) -> None:
    found = guess(open_source(DATA / file, DataSettings()))
    assert (found.task, found.text, found.label) == expected


@pytest.mark.parametrize(
    ("name", "annotation"),
    [
        ("spans", [{"start": 0, "end": 4, "label": "PER"}]),
        ("label", [[0, 4, "PER"]]),
        ("annotations", [{"result": [{"value": {"start": 0, "end": 4, "labels": ["PER"]}}]}]),
    ],
)
def test_spans_are_refused_rather_than_left_out_in_silence(
    name: str, annotation: list[Any], tmp_path: Path
) -> None:
    rows = [
        {"text": f"Anna lives at number {number}, by the river", name: annotation} for number in range(30)
    ]
    path = tmp_path / "spans.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(DataError) as caught:
        find_roles(open_source(path, DataSettings()))
    assert f"'{name}'" in str(caught.value)
    assert "data.text=text" in str(caught.value)
    text_alone = DataSettings(text="text")
    assert find_roles(open_source(path, text_alone), settings=text_alone).answer == "none"


@pytest.mark.parametrize("answers", [["accept"], ["accept", "reject", "ignore"]], ids=len)
def test_a_prodigy_export_names_its_spans_rather_than_its_tokens(answers: list[str], tmp_path: Path) -> None:
    tokens = [
        {"text": "Anna", "start": 0, "end": 4, "id": 0},
        {"text": "lives", "start": 5, "end": 10, "id": 1},
    ]
    rows = [
        {
            "text": f"Anna lives at number {number}",
            "_input_hash": 77 * number,
            "tokens": tokens,
            "spans": [{"start": 0, "end": 4, "label": "PER"}] if number % 2 else [],
            "answer": answers[number % len(answers)],
        }
        for number in range(30)
    ]
    with pytest.raises(DataError) as caught:
        find_roles(open_source(json_lines(tmp_path / "prodigy.jsonl", rows), DataSettings()))
    assert "'spans'" in str(caught.value)
    assert "'tokens'" not in str(caught.value)


def json_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


TEXTS = ("a warm day", "cold rain", "strong wind", "a dry year")


@pytest.mark.parametrize(
    ("choices", "key", "name"),
    [
        ({"choices": {"text": list(TEXTS), "label": list("ABCD")}}, list("ABCD"), "answerKey"),
        ({"choices": list(TEXTS)}, [0, 1, 2, 3], "answer"),
        ({"options": list(TEXTS)}, list(TEXTS), "correct_answer"),
        (
            {"choices": [{"label": label, "text": text} for label, text in zip("ABCD", TEXTS, strict=True)]},
            list("ABCD"),
            "answerKey",
        ),
    ],
    ids=["ARC", "numbers", "texts", "objects"],
)
def test_multiple_choice_is_refused_with_what_is_possible(
    choices: dict[str, Any], key: list[Any], name: str, tmp_path: Path
) -> None:
    rows = [
        {
            "id": f"q{number}",
            "question": f"What follows from number {number}?",
            **choices,
            name: key[number % 4],
        }
        for number in range(40)
    ]
    path = json_lines(tmp_path / "questions.jsonl", rows)
    with pytest.raises(DataError) as caught:
        find_roles(open_source(path, DataSettings()))
    column = next(iter(choices))
    assert all(
        fact in str(caught.value) for fact in ("ultiple", f"'{column}", f"'{name}'", "data.text=question")
    )
    named = DataSettings(text="question", label=name)
    assert find_roles(open_source(path, named), settings=named).label == name


def test_a_list_of_labels_beside_a_class_is_no_multiple_choice(tmp_path: Path) -> None:
    rows = [
        {"text": f"some words {number}", "choices": [["red"], ["red", "blue"]][number % 2], "answer": "yes"}
        for number in range(40)
    ]
    path = json_lines(tmp_path / "labels.jsonl", rows)
    assert find_roles(open_source(path, DataSettings())).answer == "labels"
