"""seqlab words and seqlab export, on a run and on files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from seqlab.runs.run import Run
from seqlab.tokens.vector_files import read_word_vectors
from tests.cli.running import run


@pytest.fixture
def family(tmp_path: Path) -> Path:
    path = tmp_path / "family.vec"
    path.write_text(
        "5 3\nman 1 0 0\nwoman 1 1 0\nuncle 1 0 1\naunt 1 1 1\nstone -1 0.2 -0.4\n", encoding="utf-8"
    )
    return path


def by_hand(path: Path) -> dict[str, list[float]]:
    lines = [line.split(" ") for line in path.read_text(encoding="utf-8").splitlines()]
    return {line[0]: [float(field) for field in line[1:]] for line in lines if len(line) > 2}


@pytest.mark.parametrize("to", ["word2vec", "glove"])
def test_an_exported_embedding_is_the_table_of_the_run_exactly(
    to: str, reviews_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "reviews.vec"
    words, table = reviews_run.word_vectors()
    outcome = run(capsys, "export", str(reviews_run.folder), "--to", to, "--out", str(out))
    assert outcome.code == 0, outcome.err
    found = by_hand(out)
    assert set(found) == {word for word in words if word != "<pad>"}
    assert all(np.float32(row).tolist() == table[words.index(word)].tolist() for word, row in found.items())
    assert out.read_text(encoding="utf-8").startswith(f"{len(found)} {table.shape[1]}\n") == (
        to == "word2vec"
    )
    assert f"{len(found)} vectors of dimension {table.shape[1]}\nnext:\n  seqlab words {out} " in outcome.out
    packed = tmp_path / "reviews.vec.gz"
    assert run(capsys, "export", str(reviews_run.folder), "--to", to, "--out", str(packed), "--json").json[
        "words"
    ] == len(found)
    assert read_word_vectors(packed).vectors.tolist() == read_word_vectors(out).vectors.tolist()


def test_tokens_with_blanks_cannot_be_written_where_blanks_separate(
    story_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = run(
        capsys, "export", str(story_run.folder), "--to", "word2vec", "--out", str(tmp_path / "story.vec")
    )
    assert outcome.code == 2
    assert (
        "the token ' ' contains whitespace, but this format uses spaces as separators.\n  Word vectors can be exported"
        in outcome.err
    )
    assert list(tmp_path.iterdir()) == []


def test_a_format_that_is_not_there_is_refused_with_those_that_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outcome = run(capsys, "export", "anything", "--to", "word3vec")
    assert outcome.code == 2
    assert "--to: there is no format called 'word3vec'.\n  Did you mean 'word2vec'?" in outcome.err
    assert (
        "seqlab export anything --to FORMAT. Available: glove, word2vec"
        in run(capsys, "export", "anything").err
    )


@pytest.mark.spec(31)
def test_neighbours_and_analogies_of_a_file(family: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = run(capsys, "words", str(family), "uncle", "--top", "2")
    assert outcome.out.startswith("uncle\n   0.8165  aunt\n   0.7071  man\nnext:\n  seqlab words ")
    assert (
        "man is to woman as uncle is to:\n   "
        in run(capsys, "words", str(family), "--analogy", "man", "woman", "uncle").out
    )
    for extra in ([], ["--multiply"]):
        found = run(
            capsys, "words", str(family), "--analogy", "man", "woman", "uncle", "--top", "1", "--json", *extra
        ).json
        assert found["answers"][0][0] == "aunt"
    assert "5 words, 3 dimensions: man, woman, uncle" in run(capsys, "words", str(family)).out


@pytest.mark.spec(31)
def test_questions_are_scored_by_section_with_how_many_could_be_asked(
    family: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    questions = tmp_path / "questions.txt"
    questions.write_text(
        ": kin\nman woman uncle aunt\nMan Woman Uncle Aunt\nman woman king queen\n: cities\na b c d\n",
        encoding="utf-8",
    )
    lines = run(capsys, "words", str(family), "--questions", str(questions)).out.splitlines()
    assert lines[1].split() == ["kin", "1.000", "1.000", "2", "of", "3"]
    assert lines[2].split() == ["cities", "-", "-", "0", "of", "1"]
    assert lines[3].split() == ["all", "1.000", "1.000", "2", "of", "4"]
    sections = run(capsys, "words", str(family), "--questions", str(questions), "--json").json["sections"]
    assert [section["accuracy"] for section in sections] == [1.0, None, 1.0]


@pytest.mark.spec(180)
def test_a_map_is_a_page_and_its_points_are_numbers(
    family: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "map.html"
    found = run(capsys, "words", str(family), "man", "--map", str(page), "--json").json
    assert found["near"] == run(capsys, "words", str(family), "man", "--json").json["near"]
    assert sorted(word for word, *_ in found["points"]) == ["aunt", "man", "stone", "uncle", "woman"]
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "does not end in .html" in run(capsys, "words", str(family), "--map", "map.png").err


def test_vectors_are_learned_from_a_text(
    story_txt: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "story.vec"
    outcome = run(capsys, "words", str(story_txt), "--learn", str(out), "cat", "--top", "2")
    assert outcome.code == 0, outcome.err
    assert {line.split()[1] for line in outcome.out.splitlines()[1:3]} == {"dog", "bird"}
    assert read_word_vectors(out).width == len(read_word_vectors(out))  # few words need few numbers


def test_a_neighbor_that_is_a_space_is_visible(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "letters.vec"
    path.write_text("3 2\na 1 0\n\u2003 0.9 0.1\nb 0 1\n", encoding="utf-8")
    assert "  '\\u2003'" in run(capsys, "words", str(path), "a").out


def test_words_of_a_run_and_their_mistakes(
    reviews_run: Run, waves_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(capsys, "words", str(reviews_run.folder), "great", "--json").json
    assert len(found["near"]["great"]) == 10
    assert (
        "the word 'graet' has no vector.\n  Did you mean 'great'?"
        in run(capsys, "words", str(reviews_run.folder), "graet").err
    )
    assert "no token embedding" in run(capsys, "words", str(waves_run.folder)).err
    assert "--multiply applies only to" in run(capsys, "words", str(reviews_run.folder), "--multiply").err
    wrong = tmp_path / "wrong.vec"
    wrong.write_text("2 2\na 1 2\nb 3\n", encoding="utf-8")
    outcome = run(capsys, "words", str(wrong))
    assert (outcome.code, "wrong.vec, line 3: the word 'b' has 1 values" in outcome.err) == (2, True)


@pytest.mark.spec(18)
def test_the_distance_of_two_word_orders_in_a_run(
    reviews_run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = run(
        capsys, "words", str(reviews_run.folder), "--word-order", "film was great", "great was film"
    )
    assert "the network distinguishes" in outcome.out
    found = json.loads(
        run(
            capsys,
            "words",
            str(reviews_run.folder),
            "--word-order",
            "film was great",
            "film was great",
            "--json",
        ).out
    )
    assert (found["distance"], found["same"]) == (0.0, True)
    other = run(
        capsys, "words", str(reviews_run.folder), "--word-order", "film was great", "film was dull"
    ).err
    assert "they differ in dull, great." in other
