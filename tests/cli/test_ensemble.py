"""Ensembles of runs, the drawing of a search, and several answers, as a user types them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch

from seqlab.core.errors import RecipeError, UsageError
from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.protocol import AttentionSeq2SeqModel
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.runs.ensemble import require_same_tokens
from seqlab.runs.run import Run
from seqlab.tasks.language_model.codec import LanguageModelCodec
from seqlab.tasks.translation.codec import TranslationCodec
from seqlab.tasks.translation.pair_tokens import PairTokens
from seqlab.tasks.translation.predictor import TranslationPredictor
from tests.cli.running import run
from tests.cli.tiny_pairs import train_tiny, write_pairs
from tests.pages.reading import Page

pytestmark = pytest.mark.slow  # a training takes a second


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Three networks with one vocabulary; the last has no attention."""
    data = write_pairs(tmp_path_factory.mktemp("together"))
    seeds = [train_tiny(data, f"seed-{seed}", f"training.seed={seed}") for seed in (1, 2)]
    return [*seeds, train_tiny(data, "plain", "decoder.attention=none")]


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train_tiny(write_pairs(tmp_path_factory.mktemp("stranger"), letters="abcd"), "other", steps=1)


def tokens_of(run: Run) -> PairTokens:
    assert isinstance(run.codec, TranslationCodec)
    return run.codec.tokens


def predictor_of(run: Run) -> TranslationPredictor:
    assert isinstance(run.predictor, TranslationPredictor)
    return run.predictor


@torch.no_grad()
def test_every_token_has_the_mean_probability_of_all_runs(runs: list[Run]) -> None:
    together = runs[0].ensemble(runs[1], runs[2].folder).with_decoding(beam=4, n_best=4, max_tokens=6)
    tokens = tokens_of(together)
    for answer in predictor_of(together).translate(["cab"])[0]:
        hypothesis = answer.hypothesis
        given = torch.tensor([[tokens.start_id, *hypothesis.tokens]])
        source = torch.from_numpy(tokens.encode_sources(["cab"])[0].astype(np.int64))[None]
        every = [torch.ones_like(source, dtype=torch.bool), torch.ones_like(given, dtype=torch.bool)]
        mean = torch.stack(
            [one.model(source, every[0], given, every[1])[0].double().softmax(-1) for one in runs]
        ).mean(0)
        targets = [*hypothesis.tokens, tokens.end_id][: len(hypothesis.token_log_probs)]
        expected = sum(math.log(mean[place, token].item()) for place, token in enumerate(targets))
        assert math.log(answer.probability) == pytest.approx(expected, abs=1e-4)
    assert together.num_parameters == sum(one.num_parameters for one in runs)


@torch.no_grad()
def test_attention_is_the_mean_over_the_networks_that_have_any(runs: list[Run]) -> None:
    tokens = tokens_of(runs[0])
    source = torch.from_numpy(tokens.encode_sources(["abca"])[0].astype(np.int64))[None]
    given = torch.tensor([[tokens.start_id, 5, 6]])

    def aligned(model: torch.nn.Module) -> torch.Tensor | None:
        assert isinstance(model, AttentionSeq2SeqModel)
        decoder_state = model.encode(source, torch.ones_like(source, dtype=torch.bool))
        return model.decode_with_alignment(given, torch.ones_like(given, dtype=torch.bool), decoder_state)[2]

    alone = [aligned(one.model) for one in runs]
    assert alone[2] is None
    assert alone[0] is not None
    assert alone[1] is not None
    found = aligned(runs[0].ensemble(*runs[1:]).model)
    torch.testing.assert_close(found, (alone[0] + alone[1]) / 2)
    assert aligned(runs[2].ensemble(runs[2].folder).model) is None
    looking = runs[0].ensemble(*runs[1:]).with_decoding(beam=3, coverage_penalty=0.2, unknown="copy")
    assert looking.predict(["abc"])[0].answer  # both need the alignment
    blind = runs[2].ensemble(runs[2]).with_decoding(beam=3, coverage_penalty=0.2)
    with pytest.raises(RecipeError, match=r"decoding\.coverage_penalty"):
        blind.predict(["abc"])


def test_the_command_takes_further_runs_and_scores_them_together(
    runs: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    first, *others = [str(one.folder) for one in runs]
    words = [first, *(word for other in others for word in ("--with", other)), "--beam", "3"]
    found = json.loads(run(capsys, "predict", *words, "cab", "--json").out)
    expected = runs[0].ensemble(*runs[1:]).with_decoding(beam=3).predict(["cab"], top=1)[0]
    assert found["predictions"][0]["answer"] == expected.answer
    assert found["predictions"][0]["probability"] == pytest.approx(expected.probability)
    alone, scored = (
        json.loads(run(capsys, "evaluate", *each, "--json").out) for each in ([first, "--beam", "3"], words)
    )
    assert scored["sections"]["facts"]["signatures"] == alone["sections"]["facts"]["signatures"]
    assert scored["sections"]["translations"] != alone["sections"]["translations"]


def test_runs_with_other_tokens_or_tasks_are_refused_with_words(
    runs: list[Run], stranger: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(capsys, "predict", str(runs[0].folder), "cab", "--with", str(stranger.folder))
    assert found.code == 2
    assert "it has 8 source tokens, not 7" in found.err
    assert str(stranger.folder) in found.err
    first = runs[0].codec
    assert isinstance(first, TranslationCodec)
    reviews = LanguageModelCodec(
        runs[0].recipe.model_copy(update={"task": "language_model"}), first.tokens.target
    )
    with pytest.raises(UsageError, match=r"runs/reviews: .*language_model"):
        require_same_tokens(first, reviews, where="runs/reviews")
    shuffled = Run.load(runs[1].folder)
    pieces = tokens_of(shuffled).target.vocabulary.pieces
    pieces[4], pieces[5] = pieces[5], pieces[4]
    with pytest.raises(UsageError, match=f"target token 4 is '{pieces[4]}', not '{pieces[5]}'"):
        runs[0].ensemble(shuffled)


@pytest.mark.spec(120)
def test_the_search_of_one_text_is_drawn(
    runs: list[Run], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = run(capsys, "predict", str(runs[0].folder), "cab", "--beam", "3")
    drawn = run(
        capsys, "predict", str(runs[0].folder), "cab", "--beam", "3", "--tree", str(tmp_path / "tree.svg")
    )
    assert drawn.out == plain.out  # being watched changes nothing
    picture = (tmp_path / "tree.svg").read_text(encoding="utf-8")
    assert picture.startswith("<svg")
    answer = plain.out.split("\t")[0]
    assert f"Best hypothesis: {' '.join(answer)} " in Page(picture).text
    together = run(
        capsys,
        "predict",
        str(runs[0].folder),
        "cab",
        "--beam",
        "2",
        "--with",
        str(runs[1].folder),
        "--tree",
        str(tmp_path / "t.html"),
    )
    assert together.code == 0
    assert "Step by step" in Page((tmp_path / "t.html").read_text(encoding="utf-8")).text
    _, candidates = runs[0].with_decoding(beam=3).search_tree("cab")
    steps = [
        sum(one["fate"] != "pruned" for one in candidates if one["step"] == step) for step in range(1, 4)
    ]
    assert all(1 <= count <= 3 for count in steps)
    assert "".join(one["word"] for one in way(candidates))[: len(answer)] == answer


def way(candidates: list[dict[str, object]]) -> list[dict[str, object]]:
    """From the first token to the answer, by the parents alone."""
    by_ident = {one["ident"]: one for one in candidates}
    here = next((one for one in candidates if one["rank"] == 1), None)
    found = []
    while here is not None:
        found.append(here)
        here = by_ident.get(here["parent"])
    return found[::-1]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["a", "b", "--beam", "3", "--tree", "t.svg"],
            "--tree draws the search for exactly one text, found 2",
        ),
        (["--beam", "3", "--tree", "t.svg"], "--tree draws the search for exactly one text, found 0"),
        (["a", "--beam", "3", "--tree", "t.png"], "--tree t.png"),
        (["a", "--tree", "t.svg"], "beam of at least 2"),
        (["a", "--beam", "3", "--tree", "t.svg", "--vectors"], "--tree and --vectors"),
        (["a", "--top", "3"], "--top 3 is more than the 1 answer"),
        (
            ["a", "--decoding", "temperature"],
            "--decoding: 'temperature' is not of the form NAME=VALUE.\n  For example: --decoding temperature=1",
        ),
        (
            ["a", "--decoding", "decoding.temperature=1", "--decoding", "samples=2", "--top", "3"],
            "--decoding samples=3",
        ),
    ],
)
def test_what_a_search_cannot_give_is_refused_with_words(
    runs: list[Run],
    words: list[str],
    said: str,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    found = run(capsys, "predict", str(runs[0].folder), *words)
    assert found.code == 2
    assert said in found.err
    assert not list(tmp_path.iterdir())


def test_several_draws_are_shown_the_likeliest_first_and_are_the_same_wherever_the_text_stands(
    runs: list[Run], capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--decoding", "temperature=1", "--decoding", "samples=6", "--decoding", "max_tokens=5"]
    found = json.loads(
        run(capsys, "predict", str(runs[0].folder), "bb", "cab", *words, "--top", "4", "--json").out
    )
    ranking = found["predictions"][1]["ranking"]
    assert len(ranking) == 4
    assert [share for _, share in ranking] == sorted((share for _, share in ranking), reverse=True)
    assert len({text for text, _ in ranking}) > 1
    drawn = runs[0].with_decoding(temperature=1, samples=6, max_tokens=5)
    assert [text for text, _ in drawn.predict(["cab"], top=4)[0].ranking] == [text for text, _ in ranking]
    other = drawn.with_decoding(seed=2).predict(["cab"], top=4)[0].ranking
    assert [text for text, _ in other] != [text for text, _ in ranking]


def test_another_search_leaves_the_run_as_it_was(runs: list[Run]) -> None:
    wide = runs[0].with_decoding(beam=4, length_penalty=0.6)
    assert (wide.recipe.decoding.beam, wide.recipe.decoding.length_penalty, runs[0].recipe.decoding.beam) == (
        4,
        0.6,
        1,
    )
    assert wide.model is runs[0].model
    assert wide.with_decoding(beam=2).recipe.decoding.length_penalty == 0.6
    assert isinstance(runs[0].model, EncoderDecoder)
    assert isinstance(wide.ensemble(runs[1]).model, Ensemble)
