"""What a user reads about a recipe that cannot be right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import RecipeError
from seqlab.recipes.read import check, read_raw


def words(raw: dict[str, Any], *, where: str = "my.toml") -> str:
    with pytest.raises(RecipeError) as caught:
        check(raw, where=where)
    message = str(caught.value)
    assert len(message.splitlines()) <= 12
    assert "Input should" not in message  # pydantic's own wording
    return message


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        ({"training": {"steps": "abc"}}, "my.toml: training.steps: expected a whole number of at least 0, found 'abc'."),
        ({"training": {"steps": 1.5}}, "training.steps: expected a whole number of at least 0, found 1.5."),
        ({"training": {"steps": True}}, "training.steps: expected a whole number of at least 0, found true."),
        ({"training": {"steps": -3}}, "training.steps: expected a whole number of at least 0, found -3."),
        ({"training": {"steps": 10**22}}, "training.steps: expected whole numbers of at most 9,007,199,254,740,992, found 1000"),
        ({"model": {"hidden_sizes": [64, 10**22]}}, "model.hidden_sizes: expected whole numbers of at most 9,007,199,254,740,992"),
        ({"training": {"learning_rate": 10**400}}, "training.learning_rate: expected a number of more than 0, found 1000"),
        ({"training": {"learning_rate": 0}}, "training.learning_rate: expected a number of more than 0, found 0."),
        ({"training": {"minutes": float("inf")}}, "training.minutes: expected a number of at least 0, found inf."),
        ({"training": {"learning_rate": float("nan")}}, "training.learning_rate: expected a number of more than 0, found nan."),
        ({"training": {"group_by_length": "perhaps"}}, "training.group_by_length: expected true or false, found 'perhaps'."),
        ({"data": {"test_share": 1.5}}, "data.test_share: expected a number of at least 0 and less than 1, found 1.5."),
        ({"data": {"text": 7}}, "data.text: expected text, found 7."),
        ({"data": {"text": ["a"]}}, "data.text: expected text, found ['a']."),
        ({"data": {"delimiter": "ab"}}, "data.delimiter: expected one character, found 'ab'."),
        ({"data": {"features": "x"}}, 'data.features: expected a list of names, such as ["a", "b"] or a,b, found \'x\'.'),
        ({"data": {"features": ["x", 3]}}, "data.features: expected text as entry 2, found 3."),
        ({"data": {"split": "contents"}}, "data.split: expected content, random or tail, found 'contents'. Did you mean 'content'?"),
        ({"model": {"cell": "lstn"}}, "model.cell: expected additive, coupled_lstm, "),
        ({"model": {"cell": "lstn"}}, " or single_gate, found 'lstn'. Did you mean 'lstm'?"),
        ({"model": {"cell": {"kind": "grru"}}}, " or single_gate, found 'grru'. Did you mean 'gru'?"),
        ({"model": {"cell": 5}}, " or single_gate, or a section with one of them as its kind, found 5."),
        ({"model": {"cell": {"forget_bias": "much"}}}, "model.cell.forget_bias: expected a number, found 'much'."),
        ({"model": {"cell": {"forget_bias": True}}}, "model.cell.forget_bias: expected a number, found true."),
        ({"model": {"cell": {"candidate": "tahn"}}}, "model.cell.candidate: expected tanh or sigmoid, found 'tahn'. Did you mean 'tanh'?"),
        (
            {"model": {"cell": {"kind": "peephole_lstm", "gates": ["input", "forgot"]}}},
            "model.cell.gates: expected input, forget or output as entry 2, found 'forgot'. Did you mean 'forget'?",
        ),
        ({"model": {"cell": {"kind": "peephole_lstm", "gates": 3}}}, "gates: expected a list of the names input, forget, output, found 3."),
        ({"model": {"hidden_sizes": [64, 0]}}, "model.hidden_sizes: expected a whole number of at least 1 as entry 2, found 0."),
        ({"model": {"hidden_sizes": [64, True]}}, "such as [64, 32] or 64,32, found [64, true]."),
        (
            {"model": {"hidden_sizes": "wide"}},
            "model.hidden_sizes: expected a list of at most 64 whole numbers of at least 1, such as [64, 32] or 64,32, found 'wide'.",
        ),
        ({"model": {"merge": "means"}}, "model.merge: expected concat, mean, sum or learned, found 'means'. Did you mean 'mean'?"),
        ({"model": "lstn"}, "model: expected a section with settings, found 'lstn'. Did you mean 'lstm'?"),
        ({"model": {"kind": "recurent"}}, "image_convolutional, n_gram_bag or linear, found 'recurent'. Did you mean 'recurrent'?"),
        (
            {"model": {"kind": 3}},
            "fixed_window, transformer, vision_transformer, image_convolutional, n_gram_bag or linear, found '3'.",
        ),
        ({"data": "reviews.csv"}, "data: expected a section with settings, found 'reviews.csv'."),
        ({"model": 5}, "model: expected a section with settings, found 5."),
        ({"task": "clasification"}, "found 'clasification'. Did you mean 'classification'?"),
        ({"task": 4}, "found 4."),
    ],
)  # fmt: skip
def test_a_wrong_value_is_told_with_what_the_setting_takes_and_what_was_found(
    raw: dict[str, Any], sentence: str
) -> None:
    assert sentence in words(raw)


@pytest.mark.parametrize(
    ("raw", "sentence"),
    [
        (
            {"training": {"stepz": 5}},
            "training.stepz: no such setting. Did you mean 'steps'? All: seqlab explain training",
        ),
        ({"training": {"Steps": 5}}, "Did you mean 'steps'?"),
        (
            {"training": {"hidden_size": 5}},
            "training.hidden_size: no such setting. Did you mean model.hidden_size or decoder.hidden_size?",
        ),
        ({"training": {"wheels": 5}}, "training.wheels: no such setting. Available: steps, epochs, minutes,"),
        ({"trainig": {"steps": 5}}, "'trainig' is not a section or setting. Did you mean 'training'?"),
        ({"steps": 5}, "'steps' is not a section or setting. Did you mean training.steps?"),
        ({"seed": 5}, "Did you mean data.seed or training.seed or decoding.seed?"),
        (
            {"model": {"kind": "transformer", "cell": "lstm"}},
            "model.cell: a transformer model has no such setting; it belongs to recurrent models.",
        ),
        (
            {"model": {"heads": 4}},
            (
                "model.heads: a recurrent model has no such setting; it belongs to transformer and"
                " vision_transformer models."
            ),
        ),
        (
            {"model": {"cell": {"kind": "lstm", "peepholes": "full"}}},
            (
                "model.cell: 'lstm' has no option 'peepholes'; it belongs to peephole_lstm. Options: bias,"
                " forget_bias, candidate."
            ),
        ),
        (
            {"model": {"cell": {"peephole": True}}},
            (
                "model.cell: 'lstm' has no option 'peephole'. Did you mean 'peepholes' of peephole_lstm?"
                " Options: bias, forget_bias, candidate."
            ),
        ),
        (
            {"model": {"cell": {"forgetbias": 1.0}}},
            "'lstm' has no option 'forgetbias'. Did you mean 'forget_bias'? Options: ",
        ),
        (
            {"model": {"cell": {"wheels": 4}}},
            "'lstm' has no option 'wheels'. Options: bias, forget_bias, candidate.",
        ),
        (
            {"model": {"forget_bias": 1.0}},
            "model.forget_bias: no such setting. Did you mean model.cell.forget_bias?",
        ),
        (
            {"model": {"kind": "transformer", "cell": {"kind": "lstm"}}},
            "model.cell: a transformer model has no such setting",
        ),
    ],
)
def test_an_unknown_name_gets_the_nearest_one(raw: dict[str, Any], sentence: str) -> None:
    assert sentence in words(raw)


def test_all_mistakes_are_named_at_once() -> None:
    message = words(
        {
            "taks": "x",
            "training": {"stepz": 1, "seed": "a"},
            "data": {"splitt": "tail"},
            "model": {"layers": 0},
        }
    )
    assert message.startswith("my.toml: 5 mistakes.")
    for part in (
        "'taks'",
        "training.stepz",
        "training.seed: expected a whole number",
        "data.splitt",
        "model.layers: expected a whole number of at least 1",
    ):
        assert part in message


def test_all_mistakes_of_a_cell_are_named_at_once() -> None:
    message = words(
        {
            "model": {
                "hidden_size": 0,
                "cell": {"kind": "gru", "forget_bias": 1.0, "keep": "none", "bias": "maybe"},
            }
        }
    )
    assert message.startswith("my.toml: 4 mistakes.")
    for part in (
        "model.hidden_size: ",
        "'gru' has no option 'forget_bias'; it belongs to coupled_lstm, ",
        "model.cell.keep: expected old or new",
        "model.cell.bias",
    ):
        assert part in message


def test_very_many_and_very_long_mistakes_stay_within_twelve_lines_of_readable_length() -> None:
    message = words({"training": {f"wheel{number}" + "x" * 5000: "y" * 5000 for number in range(60)}})
    assert "and 52 more" in message
    assert max(map(len, message.splitlines())) <= 400


@pytest.mark.parametrize("version", [3, 10**30])
def test_a_recipe_of_a_newer_format_asks_for_an_update(version: int) -> None:
    message = words({"format": version, "something": {"new": 1}})
    assert f"my.toml: the recipe has format {version}," in message
    assert "pip install --upgrade seqlab" in message


@pytest.mark.parametrize("version", ["2", 1.5, True, 0, -1])
def test_a_format_that_is_no_version_is_a_mistake(version: object) -> None:
    assert "format: expected a whole number from 1 to 2" in words({"format": version})


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        (
            "broken.toml",
            b"[training\nsteps = 3",
            ("broken.toml: not valid TOML", "line 1", "a section starts with [name]"),
        ),
        ("unquoted.toml", b"task = classification", ("not valid TOML", "Text needs quotes")),
        ("twice.toml", b"[data]\n[data]\n", ("not valid TOML", "data")),
        ("binary.toml", bytes(range(256)), ("binary.toml, line ", "UTF-8")),
        ("latin.toml", 'task = "x"\n# né'.encode("latin-1"), ("latin.toml, line 2: ", "UTF-8")),
        ("nul.toml", b'task = "a\0"', ("not valid TOML",)),
        ("digits.toml", b"a = " + b"9" * 60_000, ("digits.toml: not valid TOML", "digits")),
        ("deep.toml", b"a = " + b"[" * 50_000, ("not valid TOML: nested too deeply",)),
        ("key.toml", b".".join([b"a"] * 40_000) + b" = 1", ("key.toml: not valid TOML", "50 parts")),
        ("quoted.toml", b"[" + b" . ".join([rb'"\"."'] * 9_000) + b"]", ("quoted.toml", "50 parts")),
        ("inline.toml", b"a = {" + b".".join([b"'a'"] * 20_000) + b" = 1}", ("inline.toml", "50 parts")),
        ("huge.toml", b"#" * 1_100_000, ("larger than 1 MB",)),
    ],
)
def test_a_file_that_is_no_recipe_is_told_apart(
    name: str, content: bytes, expected: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(RecipeError) as caught:
        read_raw(str(tmp_path / name))
    assert [part for part in expected if part not in str(caught.value)] == [], str(caught.value)
    assert caught.value.cure


def test_a_folder_called_like_a_recipe_is_no_recipe(tmp_path: Path) -> None:
    (tmp_path / "data.toml").mkdir()
    with pytest.raises(RecipeError, match="is a folder, not a recipe"):
        read_raw(str(tmp_path / "data.toml"))


def test_a_missing_recipe_names_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "reviews.toml").write_text("")
    with pytest.raises(RecipeError) as caught:
        read_raw(str(tmp_path / "review.toml"))
    assert "there is no such recipe file" in str(caught.value)
    assert "Did you mean 'reviews.toml'? Shipped recipes: " in str(caught.value)


def test_a_byte_order_mark_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / "marked.toml").write_bytes(b'\xef\xbb\xbftask = "classification"\n')
    assert read_raw(str(tmp_path / "marked.toml")) == {"task": "classification"}
