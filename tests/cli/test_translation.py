"""Pairs at the command line: trained, asked with every search, scored."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import seqlab
from seqlab.core.errors import UsageError
from seqlab.runs.run import Run
from tests.cli.running import run

pytestmark = pytest.mark.slow
LETTERS = "abcde"


@pytest.fixture(scope="module")
def capitals(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Learns to write letters in capitals, from two files side by side."""
    folder = tmp_path_factory.mktemp("pairs")
    words = sorted({first + second + third for first in LETTERS for second in LETTERS for third in LETTERS})
    (folder / "all.small").write_text("".join(word + "\n" for word in words), encoding="utf-8")
    (folder / "all.large").write_text("".join(word.upper() + "\n" for word in words), encoding="utf-8")
    settings = (
        "data.source=small",
        "data.target=large",
        "training.threads=1",
        "model.hidden_size=32",
        "training.learning_rate=0.02",
    )
    return seqlab.train(folder / "all", *settings, model="gru", steps=150, out=folder / "run")


def test_a_stream_is_answered_in_order_by_a_beam(
    capitals: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["abc", "e", "ddaab", "cab"] * 20
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO("".join(word + "\n" for word in asked).encode()))
    )
    found = run(capsys, "predict", str(capitals.folder), "--beam", "3")
    assert found.code == 0
    lines = [line.split("\t") for line in found.out.splitlines()]
    assert [line[2] for line in lines] == asked
    assert [line[0] for line in lines if line[2] == "abc"] == ["ABC"] * 20
    alone = run(capsys, "predict", str(capitals.folder), "--beam", "3", "ddaab")
    assert alone.out.splitlines()[0].split("\t")[:2] == lines[2][:2]  # whatever stands beside it


def test_a_beam_gives_several_answers_and_other_searches_are_named(
    capitals: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(
        run(capsys, "predict", str(capitals.folder), "abc", "--beam", "4", "--top", "3", "--json").out
    )
    ranking = found["predictions"][0]["ranking"]
    assert len(ranking) == 3
    assert ranking[0][0] == "ABC"
    forced = run(
        capsys,
        "predict",
        str(capitals.folder),
        "abc",
        "--beam",
        "4",
        "--decoding",
        "prefix=E",
        "--decoding",
        "max_tokens=2",
    )
    assert forced.out.startswith("E")
    assert len(forced.out.split("\t")[0]) <= 2


def test_answers_are_told_by_log_p_and_after_a_beam_by_the_score_of_their_rank(
    capitals: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    best, *others = capitals.with_decoding(beam=4).predict(["abc"], top=3)[0].hypotheses
    words = ["predict", str(capitals.folder), "abc"]
    assert (
        run(capsys, *words, "--beam", "4").out == f"{best.text}\t{best.log_prob:.4f}\tabc\t{best.score:.4f}\n"
    )
    assert best.score == pytest.approx(best.log_prob / 4)  # three letters and the end
    lines = run(capsys, *words, "--beam", "4", "--top", "3").out.splitlines()
    assert lines[1].split() == ["log", "P", "score"]
    assert [line.split() for line in lines[2:]] == [
        [f"{one.log_prob:.4f}", f"{one.score:.4f}", one.text] for one in (best, *others)
    ]
    (greedy,) = capitals.predict(["abc"], top=1)[0].hypotheses
    assert run(capsys, *words).out == f"{greedy.text}\t{greedy.log_prob:.4f}\tabc\n"
    found = run(capsys, *words, "--beam", "4", "--top", "3", "--json").json["predictions"][0]
    assert (found["log_prob"], found["score"]) == pytest.approx((best.log_prob, best.score))
    assert [one["score"] for one in found["answers"]] == sorted(
        (one["score"] for one in found["answers"]), reverse=True
    )
    assert run(capsys, *words, "--beam", "4", "--decoding", "choose_by=risk", "--top", "4").code == 0


def test_given_targets_are_scored_from_arguments_a_file_and_a_stream(
    capitals: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [("abc", "ABC"), ("abc", "CBA"), ("e", "E?")]
    expected = capitals.score(pairs)
    assert expected[0].log_prob > expected[1].log_prob
    (answer,) = capitals.predict(["abc"], top=1)[0].hypotheses
    assert (answer.text, answer.log_prob) == ("ABC", pytest.approx(expected[0].log_prob, abs=1e-4))
    lines = [
        f"{score.log_prob:.4f}\t{score.log_prob / 4:.4f}\t{source}\t{target}"
        for score, (source, target) in zip(expected, pairs, strict=True)
    ]
    (tmp_path / "pairs.tsv").write_text(
        "small\tlarge\n" + "".join(f"{source}\t{target}\n" for source, target in pairs), encoding="utf-8"
    )
    words = ["predict", str(capitals.folder), "--score"]
    found = run(capsys, *words, "--file", str(tmp_path / "pairs.tsv"))
    assert found.out.splitlines()[:2] == lines[:2]
    assert "unknown tokens: 1" in found.err
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"abc\tABC\nabc\tCBA\n")))
    assert run(capsys, *words).out.splitlines() == lines[:2]
    alone = run(capsys, *words, "abc\tABC").out.splitlines()
    assert alone[0] == lines[0]
    assert [line.split()[-1] for line in alone[1:]] == ["'A'", "'B'", "'C'", "'<eos>'"]
    scores = run(capsys, *words, "--file", str(tmp_path / "pairs.tsv"), "--json").json["scores"]
    assert [score["log_prob"] for score in scores] == pytest.approx(
        [score.log_prob for score in expected], rel=1e-5
    )
    assert [token["log_prob"] for token in scores[0]["tokens"]] == pytest.approx(
        [token.log_prob for token in expected[0].tokens], abs=1e-5
    )
    run(capsys, *words, "--file", str(tmp_path / "pairs.tsv"), "--out", str(tmp_path / "page.html"))
    assert "abc → ABC" in (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "input 1: no tab" in run(capsys, *words, "abc").err
    with pytest.raises(UsageError, match="pairs of a source and a target for a translation run"):
        capitals.score(["abc"])


def test_batches_by_tokens_are_announced_as_such(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for side in "ab":
        (tmp_path / f"all.{side}").write_text(
            "".join(f"{number}\n" for number in range(100, 200)), encoding="utf-8"
        )
    settings = [
        "data.source=a",
        "data.target=b",
        "training.batch_tokens=48",
        "training.steps=1",
        "training.threads=1",
    ]
    found = run(capsys, "train", str(tmp_path / "all"), *settings, "--out", str(tmp_path / "run"))
    assert "1 step of at most 48 tokens (" in found.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--beam", "500"], "larger than the vocabulary"),
        (
            ["--decoding", "min_tokens=9", "--decoding", "max_tokens=3"],
            "Error: decoding: min_tokens=9 is larger than max_tokens=3",
        ),
        (["--decoding", "bean=3"], "there is no decoding setting called 'bean'.\n  Did you mean 'beam'?"),
    ],
)
def test_searches_that_cannot_be_are_refused_with_words(
    capitals: Run, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    found = run(capsys, "predict", str(capitals.folder), "abc", *words)
    assert found.code == 2
    assert said in found.err


def test_scores_and_the_report_tell_what_was_written(
    capitals: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    found = json.loads(run(capsys, "evaluate", str(capitals.folder), "--beam", "2", "--json").out)
    assert found["scores"]["exact_match"]["value"] > 0.8
    assert found["scores"]["exact_match"]["baseline"] == 0.0  # small letters are never right
    page = (capitals.folder / "report.html").read_text(encoding="utf-8")
    assert ">Attention<" in page
    assert "Example outputs" in page


def test_a_run_that_generates_nothing_has_no_decoding_settings(reviews_run: Run) -> None:
    with pytest.raises(UsageError, match=r"beam: .*classification.* sequences"):
        reviews_run.with_decoding(beam=3)


def test_files_of_unequal_length_are_refused_with_both_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "c.en").write_text("one\ntwo\nthree\n")
    (tmp_path / "c.de").write_text("eins\nzwei\n")
    found = run(capsys, "train", str(tmp_path / "c"), "data.source=en", "data.target=de", "training.steps=1")
    assert found.code == 2
    assert "3" in found.err
    assert "2" in found.err
    assert "lines" in found.err
