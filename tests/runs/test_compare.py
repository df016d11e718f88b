"""Runs side by side: who is better, on which data, and what is refused."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import seqlab
from seqlab.core.errors import RunError, UsageError
from seqlab.recipes.recipe import Recipe
from seqlab.runs.compare.compare import compare_groups, compare_runs
from seqlab.runs.compare.comparison_page import write_comparison
from seqlab.runs.compare.model_comparison import compare_models
from seqlab.runs.run import Run
from seqlab.runs.train.seeds import train_seeds
from seqlab.runs.train.sweep import plan_seeds
from seqlab.tasks.multi_label.calibration import MultiLabelCalibration

pytestmark = pytest.mark.slow  # a training takes a second

SMALL = (
    "training.threads=1",
    "training.batch_size=16",
    "training.steps=4",
    "training.evaluate_every=4",
    "model.hidden_size=8",
)


def write_notes(
    path: Path, *, labels: tuple[str, str] = ("low", "high"), seed: int = 3, count: int = 150
) -> Path:
    chance = random.Random(seed)
    rows = []
    for row in range(count):
        letters = "".join(
            chance.choice("abcde" if row % 2 else "cdefg") for _ in range(chance.randint(4, 17))
        )
        rows.append(f"{letters},{labels[row % 2]}")
    path.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_notes(tmp_path_factory.mktemp("notes") / "notes.csv", count=400)


@pytest.fixture(scope="module")
def pair(notes: Path) -> list[Run]:
    """A model that has learned the letters, and one that has hardly begun."""
    good = seqlab.train(
        notes,
        *SMALL,
        "training.steps=60",
        "training.learning_rate=0.03",
        model="gru",
        out=notes.parent / "good",
    )
    bad = seqlab.train(notes, *SMALL, model="gru", out=notes.parent / "bad")
    return [bad, good]


def test_the_better_run_is_named_with_interval_and_p(pair: list[Run]) -> None:
    found = seqlab.compare([run.folder for run in pair])
    assert found.split == "test"
    difference = found.differences["accuracy"]["good"]
    scores = [run.results["accuracy"].value for run in pair]
    assert difference.value == pytest.approx(scores[1] - scores[0])
    assert difference.verdict == "clearly better"
    assert found.sentences()[0].startswith("accuracy: good is clearly better than bad: by 0.")
    assert found.sentences()[0] in found._repr_html_()  # in a notebook
    assert f"{scores[1]:.4f}" in found._repr_html_()
    right, num_rows = found.mcnemars["good"], difference.num_items
    assert num_rows == 40
    assert right.both + right.only_second == round(scores[1] * num_rows)
    assert right.both + right.only_first == round(scores[0] * num_rows)
    assert found.num_disagreements >= right.only_first + right.only_second
    example = found.disagreements[0]
    assert "notes.csv, line " in example.where
    assert set(example.answers) == {"bad", "good"}
    assert json.loads(json.dumps(found.as_json()))["differences"]["loss"]["good"]["value"] == pytest.approx(
        pair[0].results["loss"].value - pair[1].results["loss"].value, abs=1e-5
    )
    turned = seqlab.compare([run.folder for run in pair], against=pair[1].folder)
    assert [competitor.name for competitor in turned.competitors] == ["good", "bad"]
    assert turned.differences["accuracy"]["bad"].value == pytest.approx(-difference.value)
    assert turned.sentences()[0].startswith("accuracy: bad is clearly worse than good: by 0.")
    assert (turned.mcnemars["bad"].only_first, turned.mcnemars["bad"].only_second) == (
        right.only_second,
        right.only_first,
    )


def test_examples_with_any_number_of_labels_are_shown_with_all_of_them(tmp_path: Path) -> None:
    chance = random.Random(3)
    rows = ["".join(chance.choice("abcde") for _ in range(5)) for _ in range(60)]
    data = tmp_path / "topics.csv"
    labels = ["|".join(letter for letter in "abc" if letter in row) for row in rows]
    data.write_text(
        "text,topics\n" + "\n".join(map(",".join, zip(rows, labels, strict=True))), encoding="utf-8"
    )
    folders = [tmp_path / "one", tmp_path / "two"]
    for seed, folder in enumerate(folders):
        seqlab.train(
            data,
            *SMALL,
            "data.seed=1",
            task="multi_label",
            model="gru",
            seed=seed,
            out=folder,
            label="topics",
        )
    runs = [Run.load(folder) for folder in folders]
    names = tuple(runs[0].codec.label_names())
    every, none = (  # one predicts every label, one none
        Run(
            run.folder,
            run.recipe,
            run.codec,
            run.model,
            MultiLabelCalibration(dict.fromkeys(names, threshold)),
        )
        for run, threshold in zip(runs, (0.0, 1.0), strict=True)
    )
    comparison = compare_groups({"all": [every], "none": [none]})
    assert comparison.num_disagreements == 6
    assert {tuple(example.answers.values()) for example in comparison.disagreements} == {
        ("a | b | c", "(none)")
    }
    by_text = dict(zip(rows, labels, strict=True))
    for example in comparison.disagreements:
        assert example.truth == (" | ".join(by_text[example.text].split("|")) or "(none)")


def test_data_that_one_was_trained_on_is_warned_about(pair: list[Run], notes: Path) -> None:
    found = compare_runs([run.folder for run in pair], data=notes)
    assert found.split == "new data"
    assert any("rows also in training" in warning for warning in found.warnings)


@pytest.mark.slow
def test_folders_of_earlier_comparisons_are_skipped(pair: list[Run], tmp_path: Path) -> None:
    pages = tmp_path / "compared"
    folders = [run.folder for run in pair]
    write_comparison(compare_runs(folders), pages, command="seqlab compare runs/*")
    found = seqlab.compare([*folders, pages])
    assert [competitor.runs[0].folder for competitor in found.competitors] == folders


def test_what_cannot_be_compared_is_refused_with_words(pair: list[Run], notes: Path, tmp_path: Path) -> None:
    folder = pair[0].folder
    with pytest.raises(UsageError, match="a comparison needs two runs"):
        compare_runs([folder])
    for other in (folder, folder.parent / "." / ".." / folder.parent.name / folder.name):
        with pytest.raises(UsageError, match="run is given twice"):
            compare_runs([folder, other])
    with pytest.raises(UsageError, match="--against: 'goood'") as caught:
        compare_runs([run.folder for run in pair], against="goood")
    assert "good" in caught.value.cure
    named = seqlab.train(
        write_notes(tmp_path / "other.csv", labels=("calm", "high")),
        *SMALL,
        model="gru",
        out=tmp_path / "named",
    )
    with pytest.raises(UsageError, match="different labels: only one of bad and named has 'calm', 'low'"):
        compare_runs([folder, named.folder])
    seeded = seqlab.train(notes, *SMALL, model="gru", seed=5, out=tmp_path / "seeded")
    with pytest.raises(
        UsageError, match=r"bad and seeded have different test data. They held out different rows"
    ) as caught:
        compare_runs([folder, seeded.folder])
    assert "--data FILE" in caught.value.cure


def test_language_models_with_other_tokens_share_bits_per_character(tmp_path: Path) -> None:
    chance = random.Random(1)
    (tmp_path / "story.txt").write_text(
        "".join(" ".join(chance.choices(["to", "be", "or", "not", "that"], k=7)) + "\n" for _ in range(700))
    )
    settings = (*SMALL, "language_model.window=16", "data.test_share=0.3")
    letters = seqlab.train(tmp_path / "story.txt", *settings, model="gru", out=tmp_path / "letters")
    words = seqlab.train(
        tmp_path / "story.txt", *settings, "tokens.kind=words", model="gru", out=tmp_path / "words"
    )
    found = compare_runs([letters.folder, words.folder])
    assert found.score_names == ["bits_per_character"]
    expected = letters.results["bits_per_character"].value - words.results["bits_per_character"].value
    assert found.differences["bits_per_character"]["words"].value == pytest.approx(expected, rel=0.02)
    assert "different tokenizers" in found.warnings[0]


def test_seeds_share_their_test_data_and_go_on_where_they_were_stopped(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[str] = []
    settings = [*SMALL, "training.steps=2"]

    def begin(name: str, prepared: object) -> None:
        trained.append(name)
        if name == "notes-seed2" and len(trained) == 2:
            raise KeyboardInterrupt  # somebody stops the second training

    with pytest.raises(KeyboardInterrupt):
        train_seeds(str(notes), settings, 3, base=tmp_path / "notes", model="gru", begin=begin)
    before = json.loads((tmp_path / "notes-seeds" / "seeds.json").read_text())
    assert len(before["runs"]) == 1
    found = train_seeds(str(notes), settings, 3, base=tmp_path / "notes", model="gru", begin=begin)
    assert trained == ["notes-seed1", "notes-seed2", "notes-seed2", "notes-seed3"]
    assert [run.recipe.training.seed for run in found.runs] == [1, 2, 3]
    assert len({json.dumps(run.results.raw["provenance"]["data"]) for run in found.runs}) == 1
    values = [run.results["accuracy"].value for run in found.runs]
    assert found.scores["accuracy"].mean == pytest.approx(sum(values) / 3)
    assert json.loads(found.path.read_text())["over_seeds"]["accuracy"]["values"] == values
    with pytest.raises(RunError, match=r"different plan \(model 'gru' -> 'cnn'\)"):
        train_seeds(str(notes), settings, 3, base=tmp_path / "notes", model="cnn")


def test_runs_that_a_plan_did_not_begin_are_not_taken_for_its_own(notes: Path, tmp_path: Path) -> None:
    seqlab.train(notes, *SMALL, model="gru", out=tmp_path / "notes-seed2")
    with pytest.raises(RunError, match="a run that is not part of this plan") as caught:
        train_seeds(str(notes), [*SMALL, "model.hidden_size=5"], 2, base=tmp_path / "notes", model="gru")
    assert caught.value.where == str(tmp_path / "notes-seed2")
    assert not (tmp_path / "notes-seeds").exists()


def test_seeds_of_a_recipe_are_kept() -> None:
    """What a recipe says about its seeds counts like what the command says."""
    written = Recipe.model_validate({"data": {"train": "a.csv", "seed": 9}, "training": {"seed": 4}})
    values = [
        planned.values
        for planned in plan_seeds(
            written,
            ["training.seed=4", "training.steps=2"],
            2,
            name="a",
            folder=lambda seed: Path(f"a-{seed}"),
        )
    ]
    assert values == [{"training.seed": 4}, {"training.seed": 5}]
    plain = Recipe.model_validate({"data": {"train": "a.csv"}})
    assert plan_seeds(plain, [], 1, name="a", folder=lambda seed: Path(f"a-{seed}"))[0].values == {
        "data.seed": 1,
        "training.seed": 1,
    }


def test_a_contest_trains_what_is_missing_and_compares(notes: Path, tmp_path: Path) -> None:
    trained: list[str] = []
    again = []
    for _ in range(2):
        found = compare_models(
            str(notes),
            ["gru", "rnn"],
            [*SMALL, "training.steps=2"],
            folder=tmp_path / "contest",
            begin=lambda name, _: trained.append(name),
        )
        again.append(found.as_json()["differences"])
    assert trained == ["gru-seed1", "rnn-seed1"]
    assert again[0] == again[1]
    assert (tmp_path / "contest" / "rnn-seed1" / "results.json").is_file()
    turned = compare_models(
        str(notes), ["gru", "rnn"], [*SMALL, "training.steps=2"], folder=tmp_path / "contest", against="rnn"
    )
    assert turned.reference.name == "rnn"
    with pytest.raises(UsageError, match="--against: 'lstm'"):
        compare_models(str(notes), ["gru", "rnn"], [], folder=tmp_path / "another", against="lstm")
    with pytest.raises(UsageError, match="two different models"):
        compare_models(str(notes), ["gru"], [], folder=tmp_path / "contest")
