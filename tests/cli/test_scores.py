"""seqlab predict --score: sentences ranked by how surprising they are, with the surprisal of every token."""

from __future__ import annotations

import io
import math
import random
from pathlib import Path

import pytest

from seqlab.core.errors import UsageError
from seqlab.runs.run import Run
from tests.cli.conftest import sentence
from tests.cli.running import run


@pytest.mark.slow
@pytest.mark.spec(39)
def test_single_sentences_are_scored_and_ranked_token_by_token(
    story_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plausible = sentence(random.Random(11))
    odd, gibberish = " ".join(reversed(plausible.split())), plausible[::-1]
    found = run(
        capsys, "predict", str(story_run.folder), "--score", gibberish, odd, plausible, "--json"
    ).json["scores"]
    assert [score["rank"] for score in found] == [3, 2, 1]
    assert found[0]["perplexity"] > 1.5 * found[1]["perplexity"] > 1.5**2 * found[2]["perplexity"]
    for score in found:
        assert "".join(token["token"] for token in score["tokens"]) == score["text"]
        assert sum(token["bits"] for token in score["tokens"]) == pytest.approx(
            score["bits_per_token"] * len(score["tokens"])
        )
        assert all(
            token["bits"] == pytest.approx(-math.log2(token["probability"])) for token in score["tokens"]
        )
    in_python = story_run.score([plausible])[0]
    assert in_python.nats == pytest.approx(found[2]["nats"], rel=1e-5)
    shown = run(capsys, "predict", str(story_run.folder), "--score", gibberish, plausible).out.splitlines()
    assert [line.split("\t")[-1] for line in shown] == [plausible, gibberish]
    tokens = run(capsys, "predict", str(story_run.folder), "--score", plausible).out.splitlines()
    assert len(tokens) == 1 + len(plausible)
    assert (
        run(
            capsys,
            "predict",
            str(story_run.folder),
            "--score",
            odd,
            plausible,
            "--out",
            str(tmp_path / "page.html"),
        ).out
        == ""
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.index(plausible) < page.index(odd)
    assert page.count("<rect") >= len(odd) + len(plausible)


def test_scores_of_a_stream_stand_in_its_order(
    story_run: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["tac dlo eht", "", "the old cat"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(lines).encode())))
    shown = run(capsys, "predict", str(story_run.folder), "--score").out.splitlines()
    assert [line.split("\t")[-1] for line in shown] == lines
    assert float(shown[0].split("\t")[0]) > float(shown[2].split("\t")[0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--score", "--vectors"], "--score and --vectors"),
        (["--score", "--out", "x.npy"], "--out x.npy does not end in .html"),
    ],
)
def test_options_of_scores_that_contradict_are_refused(
    story_run: Run, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "predict", str(story_run.folder), "a", *words)
    assert ended.code == 2
    assert said in ended.err


def test_a_classifier_gives_no_probability_of_a_text(reviews_run: Run) -> None:
    with pytest.raises(UsageError, match="a classification run cannot score texts"):
        reviews_run.score(["was lovely"])
    with pytest.raises(UsageError, match="score takes a list of texts"):
        reviews_run.score("was lovely")
