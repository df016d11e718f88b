"""seqlab.train, load and run.predict as a Python user calls them."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab.core.errors import UsageError

ROWS = [
    {"id": n, "review": f"{'good' if n % 2 else 'bad'} film number {n}", "verdict": "pos" if n % 2 else "neg"}
    for n in range(60)
]
SMALL: dict[str, Any] = {
    "model": "lstm",
    "steps": 2,
    "hidden_size": 4,
    "seed": 3,
    "text": "review",
    "label": "verdict",
}


@pytest.fixture
def trained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> seqlab.Run:
    return seqlab.train(
        ROWS, **SMALL, learning_rate=0.02, out=tmp_path / "run", verbose=False, **{"model.dropout": 0.25}
    )


def test_settings_by_keyword_reach_the_recipe_and_silence_is_kept(
    trained: seqlab.Run, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe = trained.recipe
    assert (recipe.training.learning_rate, recipe.training.steps, recipe.training.seed) == (0.02, 2, 3)
    assert (recipe.model.hidden_size, recipe.model.dropout) == (4, 0.25)  # type: ignore[union-attr]
    assert (recipe.task, recipe.data.text, recipe.data.label) == ("classification", "review", "verdict")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "")


def test_rows_in_memory_are_trained_on_and_the_run_can_be_scored_again(trained: seqlab.Run) -> None:
    again = seqlab.load(trained.folder)
    assert again.evaluate().scores[0].value == trained.results["accuracy"].value


def test_a_table_is_predicted_as_its_texts_are(trained: seqlab.Run) -> None:
    by_text = trained.predict([row["review"] for row in ROWS[:3]], top=2)
    by_row = trained.predict([{"review": row["review"], "other": 1} for row in ROWS[:3]], top=2)
    assert [found.ranking for found in by_row] == [found.ranking for found in by_text]
    pandas = pytest.importorskip("pandas")
    assert [found.ranking for found in trained.predict(pandas.DataFrame(ROWS[:3]), top=2)] == [
        found.ranking for found in by_text
    ]


@pytest.mark.slow
def test_progress_and_what_was_inferred_go_to_standard_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seqlab.train(ROWS, **SMALL, out=tmp_path / "run")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "task classification" in captured.err
    assert "step 2" in captured.err


@pytest.mark.parametrize(
    ("settings", "facts"),
    [
        ({"learning_rat": 0.1}, ["'learning_rat'", "learning_rate"]),
        ({"temperature": 3}, ["'temperature'", "decoding", "distillation"]),
        ({"carry_state": False}, ["language_model.stateful"]),
        ({"window": 9}, ["model.window", "language_model.window", "masked_language_model.window"]),
        ({"learning_rate": "fast"}, ["training.learning_rate", "fast"]),
    ],
)
def test_a_keyword_that_is_no_setting_is_named(
    settings: dict[str, Any], facts: list[str], tmp_path: Path
) -> None:
    with pytest.raises(seqlab.errors.SeqlabError) as caught:
        seqlab.train(ROWS, out=tmp_path / "run", **settings)
    assert [fact for fact in facts if fact not in str(caught.value)] == []
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("data", [3, object(), [1, 2], []])
def test_data_of_another_type_is_refused(data: Any) -> None:
    with pytest.raises(UsageError) as caught:
        seqlab.train(data)
    assert type(data).__name__ in str(caught.value)


@pytest.mark.slow
def test_decoding_settings_are_keywords_of_predict(tmp_path: Path) -> None:
    pairs = [{"en": f"word {n}", "de": f"Wort {n}"} for n in range(40)]
    settings: dict[str, Any] = {"source": "en", "target": "de", "hidden_size": 8}
    run = seqlab.train(
        pairs, "decoding.max_tokens=3", model="gru", steps=2, out=tmp_path / "run", verbose=False, **settings
    )
    (greedy,), (beam,) = run.predict(["word 3"]), run.predict(["word 3"], top=3, beam=3)
    assert len(greedy.ranking) == 1
    assert len(beam.ranking) == 3
    assert beam.ranking == run.with_decoding(beam=3).predict(["word 3"], top=3)[0].ranking
    with pytest.raises(seqlab.errors.SeqlabError, match="beem"):
        run.predict(["word 3"], beem=3)


@pytest.mark.parametrize(
    ("model", "facts"),
    [
        (object(), ["model=", "object", "seqlab.Trainer", "seqlab.register"]),
        ("lstmm", ["model=", "'lstmm'", "'lstm'"]),
        ({"kind": "recurrent", "hiden_size": 3}, ["model.hiden_size", "hidden_size"]),
    ],
)
def test_a_model_of_another_kind_is_refused_by_the_name_of_the_argument(
    model: Any, facts: list[str], tmp_path: Path
) -> None:
    with pytest.raises(seqlab.errors.SeqlabError) as caught:
        seqlab.train(ROWS, model=model, out=tmp_path / "run")
    assert [fact for fact in facts if fact not in str(caught.value)] == []
    assert "--model" not in str(caught.value)


def test_errors_name_arguments_in_python_and_options_in_commands(tmp_path: Path) -> None:
    with pytest.raises(seqlab.errors.SeqlabError) as caught:
        seqlab.train(ROWS, "start.every=2", out=tmp_path / "run")
    assert 'start="RUN"' in str(caught.value)
    assert "--from" not in str(caught.value)
    assert "--from RUN" in caught.value.message
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    with pytest.raises(seqlab.errors.SeqlabError) as taken:
        seqlab.train(ROWS, steps=1, out=tmp_path / "taken", verbose=False)
    assert "out=" in str(taken.value)
    assert "--out" not in str(taken.value)


def test_splits_in_memory_are_the_splits_of_the_run(tmp_path: Path) -> None:
    rows = [(row["review"], row["verdict"]) for row in ROWS]
    run = seqlab.train(
        {"train": rows[:40], "validation": rows[40:50], "test": rows[50:]},
        model={"kind": "recurrent", "cell": "gru", "hidden_size": 4},
        steps=1,
        out=tmp_path / "run",
        verbose=False,
    )
    assert (run.recipe.data.text, run.recipe.data.label) == ("column_1", "column_2")
    assert run.recipe.model.hidden_size == 4  # type: ignore[union-attr]
    assert run.results.split == "test"
    assert sorted(run.results.raw["splits"]) == ["test", "valid"]
    assert len(run.evaluate(rows[50:]).answers) == 10


def test_what_deserves_a_look_is_a_warning_of_python(tmp_path: Path) -> None:
    rows = [*ROWS, *ROWS[:20]]  # repeated rows, and a model without training does not beat naive Bayes
    with pytest.warns(seqlab.errors.SeqlabWarning) as caught:
        run = seqlab.train(rows, **SMALL, out=tmp_path / "run", verbose=False)
    sentences = [str(warning.message) for warning in caught]
    assert sentences == run.results.raw["warnings"]
    assert any("baseline" in sentence for sentence in sentences)
    assert any("twice" in sentence or "repeat" in sentence or "same" in sentence for sentence in sentences)
    assert {Path(warning.filename).name for warning in caught} == {"test_api.py"}


def test_ctrl_c_is_a_keyboard_interrupt_that_names_the_folder(tmp_path: Path) -> None:
    class Impatient:
        def on_step(self, report: Any) -> None:
            raise KeyboardInterrupt

        def on_validation(self, step: int, validation: Any, *, is_best: bool) -> None: ...

    with pytest.raises(KeyboardInterrupt, match=r"--resume .*run"):
        seqlab.train(ROWS, **SMALL, out=tmp_path / "run", verbose=False, callbacks=[Impatient()])


def test_a_notebook_sees_one_line_that_is_rewritten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    seqlab.train(ROWS, **SMALL, out=tmp_path / "run")
    live = capsys.readouterr().err.split("\r", 1)[1].split("\n")[0]
    assert "step 2/2" in live
    assert "valid_loss" in live.split("\r")[-1]


def test_an_evaluation_shows_its_scores_and_a_misspelled_score_is_answered_with_the_nearest(
    trained: seqlab.Run,
) -> None:
    assert repr(trained.evaluate()) == repr(trained.results)
    assert "acuracy" not in trained.results
    with pytest.raises(KeyError, match=r"'acuracy'.*\n.*'accuracy'"):
        trained.results["acuracy"]
