"""The language-model task: streams, scores, samples."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch

from seqlab.baselines.ngram import NGram
from seqlab.batches.loader import Cursor
from seqlab.decoding.settings import DecodingSettings
from seqlab.metrics.score import Score
from seqlab.tasks.evaluation import Evaluation
from tests.tasks.encoded_streams import encode_recipe, split_log_probs, tokens_of
from tests.tasks.encoded_task import EncodedTask

TEXT = "the cat sat on the mat.\nthe dog sat on the log.\nthe end\n" * 12


def make(
    folder: Path, *, model: dict[str, object], tokens: str = "characters", window: int = 8
) -> EncodedTask:
    path = folder / "text.txt"
    path.write_text(TEXT)
    raw = {
        "data": {"train": str(path)},
        "tokens": {"kind": tokens},
        "model": model,
        "language_model": {"window": window},
        "training": {"batch_size": 3},
    }
    task = encode_recipe(raw)
    torch.manual_seed(5)
    return task


LSTM = {"kind": "recurrent", "hidden_size": 9, "dropout": 0.0}
TRANSFORMER = {"kind": "transformer", "hidden_size": 8, "heads": 2, "layers": 1, "dropout": 0.0}


def log_probs(model: torch.nn.Module, tokens: np.ndarray) -> np.ndarray:
    """Of every token but the first, from one run over all of them."""
    ids = torch.from_numpy(tokens.astype(np.int64))[None]
    logits, _ = model(ids[:, :-1], torch.ones_like(ids[:, :-1], dtype=torch.bool))
    return logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).detach().numpy().ravel()


def test_a_recurrent_model_is_scored_as_if_it_read_the_stream_in_one_go(tmp_path: Path) -> None:
    task = make(tmp_path, model=LSTM, window=64)  # the stream is too short for several lanes
    model = task.build_model().eval()
    scored = split_log_probs(task, model, "valid")
    assert len(scored) == tokens_of(task, "valid").num_steps - 1
    np.testing.assert_allclose(scored, log_probs(model, tokens_of(task, "valid").values), atol=1e-5)


def test_of_a_long_split_only_the_beginning_is_scored(tmp_path: Path) -> None:
    task = make(tmp_path, model=LSTM, window=64)
    model = task.build_model().eval()
    whole = split_log_probs(task, model, "valid")
    assert len(whole) > 30
    np.testing.assert_allclose(split_log_probs(task, model, "valid", max_tokens=21), whole[:20], atol=1e-6)


def test_in_lanes_only_the_first_tokens_of_a_lane_lack_their_past(tmp_path: Path) -> None:
    task = make(tmp_path, model=LSTM, window=4)
    model = task.build_model().eval()
    values = tokens_of(task, "train").values
    scored = split_log_probs(task, model, "train")
    edges = [(len(values) - 1) * lane // 16 for lane in range(17)]
    for start, stop in pairwise(edges):
        np.testing.assert_allclose(scored[start:stop], log_probs(model, values[start : stop + 1]), atol=1e-5)


def test_a_transformer_scores_every_token_after_at_least_half_a_window(tmp_path: Path) -> None:
    window = 8
    task = make(tmp_path, model=TRANSFORMER, window=window)
    model = task.build_model().eval()
    values = tokens_of(task, "valid").values
    scored = split_log_probs(task, model, "valid")
    lanes = 16 if len(values) - 1 > 16 * window else 1
    assert lanes == 1
    for place in range(len(scored)):
        first = max(0, place // (window // 2) * (window // 2) - window // 2)
        assert scored[place] == pytest.approx(log_probs(model, values[first : place + 2])[-1], abs=1e-5)


@pytest.mark.spec(36, 38)
def test_scores_are_one_number_in_four_units(tmp_path: Path) -> None:
    task = make(tmp_path, model=LSTM)
    model = task.build_model().eval()
    evaluation = task.evaluate(model, "test")
    scores = {score.name: score for score in evaluation.scores}
    nats = scores["nats_per_token"].value
    assert nats == pytest.approx(-float(split_log_probs(task, model, "test").mean()), rel=1e-6)
    assert scores["perplexity"].value == pytest.approx(math.exp(nats))
    assert scores["bits_per_token"].value == pytest.approx(nats / math.log(2))
    tokens, characters = (evaluation.sections_as_json()["facts"][name] for name in ("tokens", "characters"))
    assert tokens == characters  # the first character is read, not predicted
    assert scores["bits_per_character"].value == pytest.approx(scores["bits_per_token"].value)
    assert scores["bits_per_character"].value == pytest.approx(nats * tokens / characters / math.log(2))
    assert scores["nats_per_token"].baseline_name.endswith("-gram")


def test_the_next_token_comes_after_the_whole_prompt_where_a_state_is_carried(tmp_path: Path) -> None:
    """Two prompts that differ before the last window only."""
    prompts = ["the dog" + TEXT[7:40], "the cat" + TEXT[7:40]]
    for network, is_same in ((LSTM, False), (TRANSFORMER, True)):
        task = make(tmp_path, model=network)
        model = task.build_model().eval()
        first, second = task.predictor(model).predict(prompts, top=100)
        assert (first.ranking == second.ranking) is is_same
        if not is_same:
            logits, _ = model(
                torch.from_numpy(task.codec.tokenizer.encode(prompts[0]).astype(np.int64))[None],
                torch.ones(1, 40, dtype=torch.bool),
            )
            assert first.probability == pytest.approx(logits[0, -1].softmax(-1).max().item(), rel=1e-5)


@pytest.mark.spec(46)
def test_simpler_models_stand_beside_the_network_from_single_tokens_on(tmp_path: Path) -> None:
    task = make(tmp_path, model=LSTM)
    evaluation = task.evaluate(task.build_model().eval(), "test")
    lines = {
        line["name"]: line["nats"] for line in evaluation.sections_as_json()["language_models"]["models"]
    }
    names = list(lines)
    assert names[:2] == ["unigram", "bigram"]
    assert names[-1] == "this network"
    train, test = (tokens_of(task, split).values.astype(np.int64) for split in ("train", "test"))
    pairs = NGram.fit(train, len(task.codec.tokenizer.vocabulary), order=2)
    by_chain_rule = [
        math.log(pairs.next_token_probs(test[:place])[test[place]]) for place in range(1, len(test))
    ]
    assert lines["bigram"] == pytest.approx(-sum(by_chain_rule) / len(by_chain_rule))
    assert lines["unigram"] > lines["bigram"] > lines[names[2]]
    assert scores_of(evaluation)["nats_per_token"].baseline == pytest.approx(lines[names[2]], rel=1e-12)


def scores_of(evaluation: Evaluation) -> dict[str, Score]:
    return {score.name: score for score in evaluation.scores}


def test_words_have_an_end_token_per_line_and_characters_have_none(tmp_path: Path) -> None:
    words = make(tmp_path, model=LSTM, tokens="words")
    ids = tokens_of(words, "train").values.tolist()
    assert words.codec.tokenizer.decode(ids[: ids.index(words.codec.end_id)]) == "the cat sat on the mat."
    characters = make(tmp_path, model=LSTM)
    assert characters.codec.end_id not in tokens_of(characters, "train").values
    assert characters.codec.tokenizer.decode(tokens_of(characters, "train").values[:24].tolist()) == TEXT[:24]


@pytest.mark.spec(3)
@pytest.mark.parametrize("model", [LSTM, TRANSFORMER])
def test_the_next_token_table_is_sorted_and_sums_to_one_over_the_vocabulary(
    tmp_path: Path, model: dict[str, object]
) -> None:
    task = make(tmp_path, model=model, tokens="words")
    ranking = task.predictor(task.build_model().eval()).predict(["the cat sat"], top=10_000)[0].ranking
    shares = [share for _, share in ranking]
    assert len(ranking) == len(task.codec.tokenizer.vocabulary)
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1, abs=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("tokens", ["characters", "bytes", "words", "bpe"])
def test_text_comes_in_pieces_that_join_to_the_whole_and_a_seed_repeats_it(
    tmp_path: Path, tokens: str
) -> None:
    task = make(tmp_path, model=LSTM, tokens=tokens)
    model = task.build_model().eval()
    settings = DecodingSettings(max_tokens=90, seed=4, temperature=1.0)
    stream = task.predictor(model).stream
    pieces = list(stream("the cat", settings))
    assert pieces == list(stream("the cat", settings))
    assert "".join(pieces) != "".join(stream("the cat", settings.model_copy(update={"seed": 5})))
    assert len(pieces) > 5


def test_generating_reads_no_more_than_the_context_of_its_settings(tmp_path: Path) -> None:
    """Two prompts that end alike go on alike when only their end is read."""
    task = make(tmp_path, model=TRANSFORMER)
    model = task.build_model().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(4)  # a new network hardly depends on what it reads
    stream = task.predictor(model).stream

    def go_on(prompt: str, context: int) -> str:
        return "".join(
            stream(prompt, DecodingSettings(max_tokens=20, seed=4, temperature=1.0, context=context))
        )

    assert go_on("the cat sat", 2) == go_on("a log, so at", 2)
    assert go_on("the cat sat", 0) != go_on("a log, so at", 0)


def test_carried_state_is_taken_over_inside_an_epoch_and_dropped_at_its_start(tmp_path: Path) -> None:
    task = make(tmp_path, model=LSTM)
    model = task.build_model().eval()
    objective = task.objective()
    loader = objective.loader(Cursor())
    first, second = loader.take(), loader.take()
    assert not first.continues
    assert second.continues
    loss = objective.loss(model, first, step=0, carry=())
    cold, warm = (
        objective.loss(model, second, step=0, carry=()).total,
        objective.loss(model, second, step=0, carry=loss.carry).total,
    )
    joined = torch.cat([first.inputs, second.inputs], dim=1)
    logits, _ = model(joined, torch.ones_like(joined, dtype=torch.bool))
    expected = torch.nn.functional.cross_entropy(
        logits[:, first.inputs.shape[1] :].reshape(-1, logits.shape[-1]),
        second["next_tokens"].reshape(-1),
        reduction="sum",
    )
    assert warm.item() == pytest.approx(expected.item(), rel=1e-5)
    assert cold.item() != pytest.approx(expected.item(), rel=1e-5)
    assert all(not part.requires_grad for part in loss.carry)
