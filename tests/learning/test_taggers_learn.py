"""Taggers learn what no look at single words can tell, and on real text they soon beat the naive one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import seqlab
from seqlab.sources.formats.tagged_words import TaggedWords
from seqlab.sources.settings import DataSettings
from seqlab.tasks.tagging.tagged_sentence import TaggedSentence
from tests.runs.source_runs import hurried, pretrain

SMALL = ("training.threads=1", "training.evaluate_every=50", "training.batch_size=32", "model.dropout=0")
NETWORKS = {
    "bilstm": ("model.hidden_size=16",),
    "transformer": ("model.hidden_size=32", "model.heads=2", "model.layers=2"),
    "cnn": ("model.hidden_size=16", "model.layers=2"),
}


def write_followers(path: Path, *, sentences: int = 500) -> Path:
    """The tag of a word is the word that follows: which word it is says nothing about that."""
    chance = random.Random(2)
    lines = []
    for _ in range(sentences):
        words = chance.choices("abcd", k=chance.randint(3, 7))
        lines += [
            f"{word}\t{follower}" for word, follower in zip(words, [*words[1:], "end"], strict=True)
        ] + [""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.spec(11)
@pytest.mark.parametrize(
    "model",
    [
        pytest.param(name, marks=pytest.mark.slow if name == "bilstm" else pytest.mark.long)
        for name in NETWORKS
    ],
)
def test_a_tagger_learns_a_rule_about_neighbours(model: str, tmp_path: Path) -> None:
    data = write_followers(tmp_path / "followers.tsv")
    run = seqlab.train(
        data,
        *SMALL,
        *NETWORKS[model],
        "training.learning_rate=0.01",
        model=model,
        steps=200,
        seed=1,
        out=tmp_path / "run",
    )
    accuracy = run.results["accuracy"]
    assert accuracy.value > 0.97
    assert accuracy.baseline is not None
    assert accuracy.baseline < 0.4
    assert accuracy.verdict == "clearly better"
    (answer,) = run.predict([["d", "a", "a", "c"]])
    assert isinstance(answer, TaggedSentence)
    assert answer.tags == ("a", "a", "c", "end")
    report = (run.folder / "report.html").read_text(encoding="utf-8")
    assert "accuracy on unseen words" not in report
    assert all(f"<bdi>{tag}</bdi>" in report for tag in ("a", "b", "c", "d", "end"))  # the table of tags


def write_names(path: Path, *, sentences: int = 300) -> Path:
    """Names of one to three words that nobody has seen before, told by their endings: a person's in -ko, a
    place's in -burg.
    """
    chance = random.Random(5)
    lines: list[str] = []

    def word(ending: str) -> str:
        return "".join(chance.choices("bdfgklmnprst", k=3)) + ending

    for _ in range(sentences):
        for _ in range(chance.randint(2, 5)):
            kind, ending = chance.choice([("PER", "ko"), ("LOC", "burg"), ("", "en")])
            length = chance.randint(1, 3) if kind else 2
            tags = ["B-" + kind, *["I-" + kind] * (length - 1)] if kind else ["O"] * length
            lines += [f"{word(ending)} {tag}" for tag in tags]
            lines += ["and O"] if kind else []
        lines.append("")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.long
@pytest.mark.spec(11)
@pytest.mark.parametrize("characters", ["convolutional", "recurrent"])
def test_words_never_seen_are_tagged_by_their_endings_and_marked_as_spans(
    characters: str, tmp_path: Path
) -> None:
    data = write_names(tmp_path / "names.conll")
    sizes = (
        "model.hidden_size=16",
        "tagging.crf=true",
        f"tagging.characters={characters}",
        "training.learning_rate=0.01",
    )
    run = seqlab.train(data, *SMALL, *sizes, model="bilstm", steps=300, seed=1, out=tmp_path / "run")
    assert next(iter(run.results)) == "span_f1"
    assert run.results["span_f1"].value > 0.95
    assert run.results["span_f1"].verdict == "clearly better"
    assert run.results["accuracy_on_unseen_words"].value > 0.97
    (answer,) = run.predict([["mnpko", "bdfko", "and", "rstburg", "gklen", "gklen"]])
    assert isinstance(answer, TaggedSentence)
    assert answer.spans is not None
    assert [(span.type, span.text) for span in answer.spans] == [("PER", "mnpko bdfko"), ("LOC", "rstburg")]


@pytest.mark.long
@pytest.mark.spec(12)
def test_a_tagger_of_steps_learns_what_a_single_step_does_not_tell(tmp_path: Path) -> None:
    """The tag of a step is the sign of the first number of the step that follows."""
    chance = random.Random(7)
    rows = []
    for _ in range(300):
        steps = [[chance.gauss(0, 1), chance.gauss(0, 1)] for _ in range(chance.randint(4, 9))]
        rows.append(
            {"frames": steps, "tags": ["up" if step[0] > 0 else "down" for step in [*steps[1:], [1.0]]]}
        )
    path = tmp_path / "frames.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    run = seqlab.train(
        path,
        *SMALL,
        "model.hidden_size=16",
        "training.learning_rate=0.01",
        model="bilstm",
        steps=300,
        seed=1,
        out=tmp_path / "run",
    )
    accuracy = run.results["accuracy"]
    assert accuracy.value > 0.9
    assert accuracy.baseline_name == "the nearest mean of each step"
    assert accuracy.baseline is not None
    assert accuracy.baseline < 0.65
    (answer,) = run.predict([[[0.0, 0.0], [2.0, 0.0], [-2.0, 0.0], [-2.0, 0.0]]])
    assert isinstance(answer, TaggedSentence)
    assert answer.tags == ("up", "down", "down", "up")


@pytest.mark.slow
@pytest.mark.parametrize("task", ["masked_language_model", "language_model"])
def test_a_tagger_starts_from_a_network_that_has_read_text(task: str, tmp_path: Path) -> None:
    source = pretrain(tmp_path, task=task)
    data, chance = tmp_path / "colours.tsv", random.Random(4)
    words = [
        ("red", "C"),
        ("blue", "C"),
        ("one", "N"),
        ("two's", "N"),
        ("four", "N"),
    ]  # the fourth is two tokens
    sentences = [
        "".join(f"{word}\t{tag}\n" for word, tag in chance.choices(words, k=chance.randint(3, 9)))
        for _ in range(80)
    ]
    data.write_text("\n".join(sentences), encoding="utf-8")
    with hurried():
        settings = ("training.threads=1", "training.batch_size=8", "training.learning_rate=0.01")
        run = seqlab.train(data, *settings, start=source.folder, steps=30, out=tmp_path / "tuned")
    assert run.recipe.task == "tagging"
    assert run.recipe.tokens == source.recipe.tokens
    assert getattr(run.recipe.model, "causal", None) == (task == "language_model")
    assert run.results["accuracy"].value > 0.9  # each word has one tag
    untouched = set(run.model.state_dict()) - set(source.model.state_dict())
    assert all(name.startswith("head.") for name in untouched)


@pytest.mark.long
@pytest.mark.spec(11)
@pytest.mark.timeout(900)
def test_a_minutes_work_beats_the_naive_tagger_on_universal_dependencies(
    shared_data: Path, tmp_path: Path
) -> None:
    """Part-of-speech tags of English, out of files of two columns. 500 updates are what one free core does in
    about a minute.
    """
    paths = {}
    for part in ("train", "dev", "test"):
        source = TaggedWords(shared_data / "ud_english_ewt" / f"en_ewt-ud-{part}.conllu.xz", DataSettings())
        sentences = [
            "".join(
                f"{word}\t{tag}\n" for word, tag in zip(row.values["form"], row.values["upos"], strict=True)
            )
            for row in source.rows()
        ]
        paths[part] = tmp_path / f"{part}.tsv"
        paths[part].write_text("\n".join(sentences), encoding="utf-8")
    run = seqlab.train(
        str(paths["train"]),
        valid=str(paths["dev"]),
        test=str(paths["test"]),
        steps=500,
        seed=1,
        out=tmp_path / "run",
    )
    raw = run.results.raw["splits"]["test"]["sections"]
    assert (raw["facts"]["sentences"], raw["facts"]["examples"], len(raw["confusion"]["labels"])) == (
        2_077,
        25_094,
        17,
    )
    assert run.results["accuracy"].baseline == pytest.approx(0.862, abs=0.002)
    assert run.results["accuracy"].verdict == "clearly better"
    assert run.results["accuracy_on_unseen_words"].verdict == "clearly better"
