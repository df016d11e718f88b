"""A recipe -> the parts of its data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import DataError, RecipeError
from seqlab.recipes.read import check
from seqlab.recipes.recipe import Recipe
from seqlab.runs.data import open_data, open_further_data, require_files

ROWS = "".join(f"a fine film number {i},pos\na dull film number {i},neg\n" for i in range(50))


def recipe(train: Path | str, *, task: str = "", **data: Any) -> Recipe:
    return check({"task": task, "data": {"train": str(train), **data}}, where="test")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    (tmp_path / "films.csv").write_text("text,label\n" + ROWS)
    return tmp_path / "films.csv"


def test_no_training_data_says_how_to_name_some() -> None:
    with pytest.raises(
        RecipeError, match=r'data.train: no training data .*\n  For example: "data.train=reviews.csv"'
    ):
        open_data(Recipe())


def test_parts_are_held_out_and_the_guess_is_in_the_recipe(table: Path) -> None:
    opened = open_data(recipe(table))
    assert (opened.recipe.task, opened.recipe.data.text, opened.recipe.data.label) == (
        "classification",
        "text",
        "label",
    )
    counts = {name: sum(1 for _ in part.rows()) for name, part in opened.parts.items()}
    assert counts == {"train": 80, "valid": 10, "test": 10}
    assert any("held out 10% for valid and 10% for test, by content" in reason for reason in opened.reasons)


def test_a_named_part_is_taken_instead_of_holding_out(table: Path) -> None:
    (table.parent / "more.csv").write_text("text,label\nnice,pos\n")
    opened = open_data(recipe(table, test=str(table.parent / "more.csv")))
    counts = {name: sum(1 for _ in part.rows()) for name, part in opened.parts.items()}
    assert counts == {"train": 90, "valid": 10, "test": 1}


def test_text_is_cut_from_the_end(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {i:03d}\n" for i in range(100)))
    opened = open_data(recipe(tmp_path / "a.txt"))
    assert opened.recipe.data.split == "tail"
    lines = {name: [row.values["text"] for row in part.rows()] for name, part in opened.parts.items()}
    assert (lines["train"][-1], lines["valid"][0], lines["test"][-1]) == ("line 079", "line 080", "line 099")


def test_the_task_that_the_user_names_beats_the_guess(table: Path) -> None:
    opened = open_data(recipe(table, task="language_model"))
    assert (opened.recipe.task, opened.recipe.data.label) == ("language_model", "")
    assert not any("classification" in reason for reason in opened.reasons)


def test_classification_without_a_label_says_which_setting_names_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("some text\n" * 50)
    with pytest.raises(
        DataError, match=r"classification needs a label.*\n.*data.label=NAME.*task=.language_model"
    ):
        open_data(recipe(tmp_path / "a.txt", task="classification"))


@pytest.mark.slow
def test_a_built_in_dataset_brings_its_own_parts_and_settings() -> None:
    pytest.importorskip("sklearn")
    opened = open_data(recipe("digits"))
    assert (opened.recipe.task, opened.recipe.data.label) == ("classification", "label")
    assert set(opened.parts) == {"train", "valid", "test"}


@pytest.mark.slow
def test_a_built_in_dataset_can_be_tested_on_a_file(tmp_path: Path) -> None:
    pytest.importorskip("babel")
    (tmp_path / "names.csv").write_text("name,language\nSuomi,Finnish\n")
    opened = open_data(recipe("languages", test=str(tmp_path / "names.csv")))
    assert [row.values["name"] for row in opened.parts["test"].rows()] == ["Suomi"]
    (tmp_path / "other.csv").write_text("word,language\nSuomi,Finnish\n")
    with pytest.raises(DataError, match="there is no column 'name'"):
        open_data(recipe("languages", test=str(tmp_path / "other.csv")))


def test_a_file_called_like_a_built_in_dataset_comes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits").write_text("text,label\n" + ROWS)
    assert open_data(recipe("digits")).recipe.data.text == "text"


@pytest.mark.parametrize(
    ("train", "words"),
    [
        ("film.csv", "Did you mean '{folder}/films.csv'?"),
        ("languagse", "Did you mean 'languages'?"),
        ("nowhere/x.csv", "There is no folder '{folder}/nowhere' either."),
        ("zzzz", "The folder contains: films.csv."),
    ],
)
def test_a_missing_file_gets_the_nearest_name(train: str, words: str, table: Path) -> None:
    with pytest.raises(DataError) as caught:
        require_files(recipe(table.parent / train))
    assert "there is no such file or folder" in str(caught.value)
    assert words.format(folder=table.parent) in str(caught.value)
    assert "copy, dates, digits, " in str(caught.value)
    assert "seqlab train" not in str(caught.value)  # the reader may be a Python program


@pytest.mark.parametrize("part", ["valid", "test"])
def test_missing_validation_or_test_data_is_refused_without_reading(part: str, table: Path) -> None:
    with pytest.raises(DataError, match=r"gone.csv: there is no such file or folder"):
        require_files(recipe(table, **{part: "gone.csv"}))


def test_a_folder_with_very_many_files_gives_a_short_hint(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number:04d}").touch()
    with pytest.raises(DataError) as caught:
        require_files(recipe(tmp_path / "wheels"))
    assert "and 289 more" in str(caught.value)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(("row", "words"), [("x,1,1,up", "the same numbers (a 1, b 1)"), ("x,1,2,up", "")])
def test_series_that_never_change_teach_nothing(row: str, words: str, tmp_path: Path) -> None:
    rows = "".join(f"s{i},1,1,{'up' if i % 2 else 'down'}\n" * 3 for i in range(30))
    (tmp_path / "flat.csv").write_text(f"id,a,b,label\n{rows}{row}\n")
    settings = recipe(tmp_path / "flat.csv", sequence="id", label="label", features=["a", "b"])
    if not words:
        assert set(open_data(settings).parts) == {"train", "valid", "test"}
        return
    with pytest.raises(DataError) as caught:
        open_data(settings)
    assert words in str(caught.value)
    assert "data.features=NAME,NAME" in str(caught.value)


def test_a_bad_row_is_told_before_a_count_that_is_too_small(tmp_path: Path) -> None:
    (tmp_path / "tiny.csv").write_text("text,label\nfine,pos\nbad,\nworse,\n")
    with pytest.raises(DataError, match=r"tiny.csv, line 3: column 'label' is empty"):
        open_data(recipe(tmp_path / "tiny.csv", text="text", label="label"))


def test_more_data_must_have_the_columns_of_the_run(table: Path) -> None:
    (table.parent / "more.csv").write_text("review,label\nnice,pos\n")
    with pytest.raises(DataError, match=r"more.csv: there is no column 'text'.\n  Available: label, review."):
        open_further_data(open_data(recipe(table)).recipe, str(table.parent / "more.csv"))


def test_more_data_from_a_folder_is_its_test_part(table: Path) -> None:
    folder = table.parent / "folder"
    folder.mkdir()
    (folder / "train.csv").write_text("text,label\none,pos\n")
    (folder / "test.csv").write_text("text,label\ntwo,neg\n")
    found = open_further_data(open_data(recipe(table)).recipe, str(folder))
    assert [row.values["text"] for row in found.rows()] == ["two"]


def test_a_column_that_is_only_called_steps_is_not_taken_for_numbers(tmp_path: Path) -> None:
    rows = "".join(f"{i},a fine film number {i},pos\n{i},a dull film number {i},neg\n" for i in range(50))
    (tmp_path / "walks.csv").write_text("steps,text,label\n" + rows)
    opened = open_data(recipe(tmp_path / "walks.csv"))
    assert opened.parts["train"].columns == ["text", "label"]
    assert set(next(iter(opened.parts["train"].rows())).values) == {"text", "label"}
    with pytest.raises(DataError, match="a column called 'steps' cannot be the text or the label"):
        open_data(recipe(tmp_path / "walks.csv", label="steps"))


def test_fewer_rows_to_learn_from_are_a_part_of_more_and_leave_the_other_parts_alone(table: Path) -> None:
    def rows(count: int) -> dict[str, list[str]]:
        return {
            name: [row.values["text"] for row in part.rows()]
            for name, part in open_data(recipe(table, train_rows=count)).parts.items()
        }

    few, more, everything = rows(10), rows(40), rows(0)
    assert [len(each["train"]) for each in (few, more, everything)] == [10, 40, 80]
    assert set(few["train"]) < set(more["train"]) < set(everything["train"])
    assert few["valid"] == everything["valid"]
    assert few["test"] == everything["test"]
    assert rows(1000) == everything
    assert few["train"] != everything["train"][:10], "drawn at random, not from the beginning"


def test_lines_of_a_text_are_not_drawn_at_random(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"line {i:03d}\n" for i in range(100)))
    with pytest.raises(
        RecipeError,
        match=(r"data.train_rows: .*random.*\n  .*data.max_rows=NUMBER"),
    ):
        open_data(recipe(tmp_path / "a.txt", train_rows=10))


@pytest.mark.parametrize(
    ("name", "unit", "sides"),
    [
        ("u.po", 'msgid "word {n}"\nmsgstr "Wort {n}"\n\n', ("msgid", "msgstr")),
        ("u.dict", "WORD{n}  W ER{n} D\n", ("word", "phonemes")),
        (
            "u.tmx",
            (
                '<tu><tuv xml:lang="de"><seg>Wort {n}</seg></tuv><tuv xml:lang="en-GB"><seg>word'
                " {n}</seg></tuv></tu>"
            ),
            ("en-GB", "de"),
        ),
    ],
)
def test_formats_of_pairs_are_translated_where_no_task_is_named(
    name: str, unit: str, sides: tuple[str, str], tmp_path: Path
) -> None:
    content = "".join(unit.format(n=n) for n in range(40))
    (tmp_path / name).write_text(
        f'<tmx><header srclang="en"/><body>{content}</body></tmx>' if name.endswith("tmx") else content
    )
    opened = open_data(recipe(tmp_path / name))
    assert (opened.recipe.task, opened.recipe.data.source, opened.recipe.data.target) == (
        "translation",
        *sides,
    )
    assert sorted(opened.reasons[:2], reverse=True) == [
        "pairs by their format: translation; set task=NAME to change the task",
        f"from column '{sides[0]}' to column '{sides[1]}'; set data.source=NAME data.target=NAME to change it",
    ]
    one = open_data(recipe(tmp_path / name, text=sides[1]))
    assert (one.recipe.task, one.recipe.data.text) == (
        "language_model",
        sides[1],
    )  # somebody asks for one side


def test_of_many_languages_two_are_to_be_named(tmp_path: Path) -> None:
    unit = "".join(f'<tuv xml:lang="{language}"><seg>x</seg></tuv>' for language in ("fr", "de", "en"))
    (tmp_path / "u.tmx").write_text(f'<tmx><header srclang="en"/><body><tu>{unit}</tu></body></tmx>')
    with pytest.raises(
        DataError,
        match=r"this file has the columns en, fr, de\.\n  .*data.source=en. .data.target=fr.$",
    ):
        open_data(recipe(tmp_path / "u.tmx"))


def test_files_of_two_languages_are_told_when_neither_is_named(tmp_path: Path) -> None:
    for ending in ("de.gz", "en", "csv"):
        (tmp_path / f"corpus.{ending}").write_text("x\n")
    with pytest.raises(
        DataError,
        match=(r"with the extensions de, en: .* .data\.source=de. .data\.target=en., for example\."),
    ):
        open_data(recipe(tmp_path / "corpus"))


def test_two_columns_of_text_without_a_label_may_be_pairs(tmp_path: Path) -> None:
    (tmp_path / "two.tsv").write_text(
        "english\tgerman\n"
        + "".join(f"the dog number {n} runs\tder Hund Nummer {n} rennt\n" for n in range(60))
    )
    opened = open_data(recipe(tmp_path / "two.tsv"))
    data = opened.recipe.data
    assert (opened.recipe.task, data.source, data.target) == ("translation", "english", "german")
    assert any("task=language_model" in reason for reason in opened.reasons)


def test_who_names_one_side_asks_for_pairs(tmp_path: Path) -> None:
    (tmp_path / "two.tsv").write_text(
        "en\tde\n" + "".join(f"dog {number}\tHund {number}\n" for number in range(60))
    )
    opened = open_data(recipe(tmp_path / "two.tsv", target="en"))
    assert (opened.recipe.task, opened.recipe.data.source, opened.recipe.data.target) == (
        "translation",
        "de",
        "en",
    )
    assert opened.reasons[0].startswith("from column 'de' to column 'en'")
    (tmp_path / "u.en").write_text("a dog\n" * 20)
    with pytest.raises(
        DataError,
        match=(
            r"target column, but this file is one text\.\n  .*data\.train=train. .data\.source=en."
            r" .data\.target=de.$"
        ),
    ):
        open_data(recipe(tmp_path / "u.en", target="de"))


def test_a_pair_that_was_taken_for_names_is_told(tmp_path: Path) -> None:
    rows = "".join(f"Go {n}.\tVa {n} !\n" for n in range(40))
    (tmp_path / "bare.tsv").write_text(rows)
    opened = open_data(recipe(tmp_path / "bare.tsv", task="translation", header=True))
    (warning,) = opened.warnings
    assert warning.startswith("train: the first line ")
    assert "'Go 0.' and 'Va 0 !'" in warning
    assert "data.header=false" in warning
    cured = open_data(recipe(tmp_path / "bare.tsv", task="translation", header=False))
    assert (cured.recipe.data.source, cured.recipe.data.target, cured.warnings) == ("1", "2", [])
    assert sum(1 for part in cured.parts.values() for _ in part.rows()) == 40
    (tmp_path / "named.tsv").write_text("en\tfr\n" + rows)
    assert open_data(recipe(tmp_path / "named.tsv", task="translation")).warnings == []
    (tmp_path / "three.tsv").write_text(rows.replace("\n", "\tCC-BY 2.0\n"))
    three = open_data(recipe(tmp_path / "three.tsv"))
    assert (three.recipe.task, three.recipe.data.source, three.recipe.data.target) == (
        "translation",
        "1",
        "2",
    )
    assert any("data.header=true" in reason for reason in three.reasons)
