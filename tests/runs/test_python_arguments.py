"""What `train`, `predict` and `evaluate` accept from Python, and what they refuse with a sentence."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

import seqlab
from seqlab.core.errors import SeqlabError, SeqlabWarning, UsageError
from seqlab.metrics.metric import Answer, MeanMetric
from seqlab.metrics.registry import metrics
from seqlab.runs.run import Run
from seqlab.tasks.tagging.tagged_sentence import TaggedSentence
from tests.cli.running import run as command
from tests.cli.tiny_pairs import train_tiny, write_pairs
from tests.learning.test_taggers_learn import write_followers

pytestmark = pytest.mark.slow  # a training for each task


class ShareRight(MeanMetric):
    """The share of right answers."""

    def item_value(self, truth: Answer, prediction: Answer) -> float:
        return float(truth == prediction)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory: pytest.TempPathFactory) -> Run:
    rows = [{"message": f"{word} {number}", "kind": word} for number in range(30) for word in ("yes", "no")]
    return seqlab.train(rows, model="gru", steps=1, out=tmp_path_factory.mktemp("run") / "c", verbose=False)


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train_tiny(write_pairs(tmp_path_factory.mktemp("pairs")), "run", steps=1)


@pytest.fixture(params=["classifier", "translator"])
def run(request: pytest.FixtureRequest) -> Run:
    return request.getfixturevalue(request.param)


@pytest.mark.parametrize("inputs", ["a text", b"bytes", {"message": "a"}, None, 3], ids=repr)
def test_what_is_no_list_is_refused_with_an_example(run: Run, inputs: Any) -> None:
    with pytest.raises(UsageError, match="list") as error:
        run.predict(inputs)
    assert "run.predict([" in str(error.value)


@pytest.mark.parametrize("value", [3, None, b"bytes", ["a", "b"]], ids=repr)
@pytest.mark.parametrize("name", ["classifier", "translator", "language_model"])
def test_an_input_that_is_no_text_is_refused_with_its_number(
    name: str, value: Any, request: pytest.FixtureRequest
) -> None:
    with pytest.raises(SeqlabError) as error:
        request.getfixturevalue(name).predict(["a", value])
    assert "input 2" in str(error.value)
    assert "expected text" in str(error.value)
    assert "data.bad_rows" not in str(error.value)  # a setting of training
    assert 'run.predict(["' in str(error.value)


def test_texts_without_a_known_token_get_one_warning(classifier: Run) -> None:
    with pytest.warns(SeqlabWarning) as caught:
        answers = classifier.predict(["yes 1", "☃☃☃", "☂"])
    assert len(answers) == 3
    (warning,) = caught
    assert all(fact in str(warning.message) for fact in ("'☃☃☃'", "3 tokens", "2 of the 3"))
    assert warning.filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error", SeqlabWarning)
        classifier.predict(["yes ☃"])


@pytest.mark.filterwarnings("default::seqlab.errors.SeqlabWarning")
def test_the_command_warns_of_unknown_tokens_in_a_line(
    classifier: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = command(capsys, "predict", str(classifier.folder), "☃☃☃", "yes 1")
    assert ended.code == 0
    (line,) = (line for line in ended.err.splitlines() if "3 tokens" in line)
    assert line.startswith("WARNING: ")
    assert len(ended.out.splitlines()) >= 2


def test_a_misspelled_argument_of_predict_is_answered_with_the_closest(
    classifier: Run, translator: Run
) -> None:
    for run, misspelled, meant in ((classifier, "tpo", "top"), (translator, "bem", "beam")):
        with pytest.raises(UsageError, match=rf"'{misspelled}'.\n  Did you mean '{meant}'\?"):
            run.predict(["yes"], **{misspelled: 3})


@pytest.mark.parametrize("top", [0, -1, "3", 1.5, True], ids=repr)
def test_top_is_a_positive_whole_number(run: Run, top: Any) -> None:
    with pytest.raises(UsageError, match="top") as error:
        run.predict(["a"], top=top)
    assert repr(top) in str(error.value)


def test_generators_arrays_and_tables_are_accepted(classifier: Run, tmp_path: Path) -> None:
    texts = ["yes 3", "no 4"]
    expected = classifier.predict(texts)
    assert classifier.predict(text for text in texts) == expected
    assert classifier.predict(tuple(texts)) == expected
    assert classifier.predict([{"message": text} for text in texts]) == expected


def test_evaluate_takes_tables_and_names_other_types(classifier: Run, tmp_path: Path) -> None:
    rows = [
        {"message": f"{word} {number}", "kind": word} for number in range(40, 50) for word in ("yes", "no")
    ]
    file = tmp_path / "more.csv"
    file.write_text(
        "message,kind\n" + "".join(f"{row['message']},{row['kind']}\n" for row in rows), encoding="utf-8"
    )
    of_file = {score.name: score.value for score in classifier.evaluate(file).scores}
    of_table = {score.name: score.value for score in classifier.evaluate(rows).scores}
    assert of_table == of_file
    assert of_table["loss"] > 0
    with pytest.raises(UsageError, match="int"):
        classifier.evaluate(3)


def test_training_without_rows_or_on_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="empty"):
        seqlab.train([], out=tmp_path / "run")
    with pytest.raises(UsageError, match="int"):
        seqlab.train(3, out=tmp_path / "run")


def test_a_section_can_be_given_as_a_dict(tmp_path: Path) -> None:
    rows = [{"text": f"{word} {number}", "label": word} for number in range(20) for word in ("a", "b")]
    run = seqlab.train(
        rows, model="gru", training={"steps": 2, "seed": 5}, out=tmp_path / "run", verbose=False
    )
    assert (run.recipe.training.steps, run.recipe.training.seed) == (2, 5)
    with pytest.raises(SeqlabError, match="stepz"):
        seqlab.train(rows, training={"stepz": 2}, out=tmp_path / "other")


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("tagger")
    data = write_followers(folder / "words.tsv", sentences=60)
    return seqlab.train(data, model="gru", steps=1, out=folder / "run", verbose=False)


@pytest.fixture(scope="module")
def language_model(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("text")
    (folder / "text.txt").write_text("the quick brown fox jumps over the lazy dog\n" * 40, encoding="utf-8")
    return seqlab.train(folder / "text.txt", model="gru", steps=1, out=folder / "run", verbose=False)


@pytest.mark.parametrize(
    ("name", "decoding", "facts"),
    [
        ("classifier", {"beam": 3}, ["beam", "classification", "generate sequences"]),
        ("classifier", {"temperature": 0.5, "top_k": 3}, ["temperature", "top_k", "classification"]),
        ("tagger", {"beam": 3}, ["beam", "tagging"]),
        ("language_model", {"temperature": 0.5}, ["temperature", "language_model", "generate"]),
        ("language_model", {"beam": 3}, ["beam", "language_model"]),
        ("translator", {"context": 3}, ["context", "translation"]),
        ("translator", {"beem": 3}, ["beem", "'beam'"]),
        ("classifier", {"beem": 3}, ["beem", "'beam'"]),
        ("translator", {"beam": 2, "temperature": 0.5}, ["beam=2", "temperature=0.5"]),
    ],
)
def test_a_decoding_setting_without_effect_is_refused_with_the_reason(
    name: str, decoding: dict[str, Any], facts: list[str], request: pytest.FixtureRequest
) -> None:
    with pytest.raises(SeqlabError) as error:
        request.getfixturevalue(name).predict(["a"], **decoding)
    assert [fact for fact in facts if fact not in str(error.value)] == []


@pytest.mark.parametrize(
    ("name", "options", "facts"),
    [
        ("classifier", ["--beam", "3"], ["--beam", "classification"]),
        ("classifier", ["--decoding", "top_k=3"], ["--decoding top_k", "classification"]),
        ("language_model", ["--beam", "3"], ["--beam", "language_model"]),
        ("language_model", ["--decoding", "temperature=0.5"], ["--decoding temperature", "generate"]),
    ],
)
def test_the_command_line_names_its_own_option(
    name: str,
    options: list[str],
    facts: list[str],
    request: pytest.FixtureRequest,
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = str(request.getfixturevalue(name).folder)
    answered = command(capsys, "predict", folder, "a", *options)
    assert answered.code == 2
    assert [fact for fact in facts if fact not in answered.err] == []


def test_a_tagger_gives_as_many_tags_for_each_word_as_top_asks_for(tagger: Run) -> None:
    tags = tagger.codec.label_names()
    for top in (1, 2, len(tags), len(tags) + 1):
        (sentence,) = tagger.predict(["a b c"], top=top)
        assert isinstance(sentence, TaggedSentence)
        assert [len(candidates) for candidates in sentence.candidates] == 3 * [min(top, len(tags))]
        assert tuple(candidates[0][0] for candidates in sentence.candidates) == sentence.tags
    assert [sum(share for _, share in word) for word in sentence.candidates] == pytest.approx([1, 1, 1])
    (two,) = tagger.predict(["a b c"], top=2)
    assert all(
        other in line for line, ((_, _), (other, _)) in zip(two.to_lines()[1:], two.candidates, strict=True)
    )


def test_a_run_predicts_without_its_metric_and_names_it_where_it_is_scored(tmp_path: Path) -> None:
    rows = [{"text": f"{word} {number}", "label": word} for number in range(20) for word in ("a", "b")]
    metrics.register("share_right")(ShareRight)
    try:
        run = seqlab.train(
            rows, model="gru", steps=1, out=tmp_path / "run", verbose=False, metrics=("share_right",)
        )
        assert run.results["share_right"].value == run.results["accuracy"].value
    finally:
        del metrics._parts["share_right"]
    again = seqlab.load(tmp_path / "run")
    assert again.predict(["a 3"]) == run.predict(["a 3"])
    with pytest.raises(SeqlabError, match="share_right") as error:
        again.evaluate()
    assert "--plugin" in str(error.value)
    with pytest.raises(SeqlabError, match="share_right"):
        seqlab.train(rows, metrics=("share_right",), out=tmp_path / "other")


@pytest.mark.parametrize(
    "settings", [{"max_features": 64}, {"min_df": 3}, {"max_features": 64, "n_grams": 2}, {"model": "bag"}]
)
def test_settings_of_a_bag_need_a_bag(settings: dict[str, Any], tmp_path: Path) -> None:
    rows = [{"text": f"{word} {number}", "label": word} for number in range(20) for word in ("a", "b")]
    options: dict[str, Any] = {"model": "gru", "steps": 1, "out": tmp_path / "run", "verbose": False}
    if "n_grams" in settings or "model" in settings:
        recipe = seqlab.train(rows, **options | settings).recipe
        assert recipe.bag.max_features > 0
        return
    with pytest.raises(SeqlabError, match=f"bag.{next(iter(settings))}") as error:
        seqlab.train(rows, **options | settings)
    assert "bag.n_grams" in str(error.value)
