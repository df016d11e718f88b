"""Single texts under a language model: their surprisals are those of the stream, whatever their batch."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from seqlab.runs.data import open_further_data
from seqlab.tokens.vocabulary import EOS
from tests.tasks.encoded_task import EncodedTask
from tests.tasks.test_language_model import LSTM, TRANSFORMER, log_probs, make

TEXTS = [
    "the cat sat on the mat.",
    "a dog",
    "the end. the end. the end on the log and on the mat",
    "",
    "zzz?",
]
FIXED_WINDOW: dict[str, object] = {
    "kind": "fixed_window",
    "context": 3,
    "hidden_size": 7,
    "embedding_size": 5,
}


def evaluated(task: EncodedTask, model: torch.nn.Module, folder: Path, text: str) -> float:
    """The nats that the run's own evaluation counts on a file with this content; its first token has nothing
    before it and is not scored.
    """
    path = folder / "again.txt"
    path.write_text(text)
    again = task.codec.encode_split("again", open_further_data(task.recipe, str(path)))
    with_again = replace(task, splits={**task.splits, "again": again})
    evaluation = with_again.evaluate(model, "again")
    scores = {score.name: score.value for score in evaluation.scores}
    return float(scores["nats_per_token"] * evaluation.sections_as_json()["facts"]["tokens"])


@pytest.mark.spec(39)
@pytest.mark.parametrize("model", [LSTM, TRANSFORMER, FIXED_WINDOW], ids=lambda model: model["kind"])
def test_the_surprisals_of_a_text_add_up_to_what_the_evaluation_counts_after_a_line_end(
    tmp_path: Path, model: dict[str, object]
) -> None:
    task = make(tmp_path, model=model, window=8)
    network = task.build_model().eval()
    text = TEXTS[2]
    (score,) = task.predictor(network).score([text])
    assert [token.token for token in score.tokens] == list(text)
    assert sum(token.bits for token in score.tokens) * math.log(2) == pytest.approx(score.nats, rel=1e-9)
    assert score.nats == pytest.approx(evaluated(task, network, tmp_path, f"\n{text}"), rel=1e-5)
    assert score.bits_per_character == pytest.approx(score.nats / len(text) / math.log(2))
    assert score.perplexity == pytest.approx(math.exp(score.nats / len(text)))


@pytest.mark.spec(39)
def test_a_line_of_words_begins_and_ends_like_a_document(tmp_path: Path) -> None:
    task = make(tmp_path, model=LSTM, tokens="words")
    network = task.build_model().eval()
    (score,) = task.predictor(network).score(["the dog sat on the mat."])
    assert [token.token for token in score.tokens] == ["the", "dog", "sat", "on", "the", "mat", ".", EOS]
    assert score.nats == pytest.approx(
        evaluated(task, network, tmp_path, "\nthe dog sat on the mat.\n"), rel=1e-5
    )
    assert score.num_characters == len(score.text) + 1


@pytest.mark.parametrize("model", [LSTM, TRANSFORMER, FIXED_WINDOW], ids=lambda model: model["kind"])
def test_a_text_has_one_score_alone_and_in_any_company(
    tmp_path: Path, model: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make(tmp_path, model=model, window=8)
    network = task.build_model().eval()
    predictor = task.predictor(network)
    together = predictor.score(TEXTS)
    monkeypatch.setattr("seqlab.tasks.language_model.text_scores.MAX_LOGITS", 1)  # one text after the other
    for text, score in zip(TEXTS, together, strict=True):
        (alone,) = predictor.score([text])
        np.testing.assert_allclose(
            [token.log_prob for token in alone.tokens], [token.log_prob for token in score.tokens], atol=1e-5
        )


def test_a_recurrent_model_reads_a_long_text_as_if_in_one_go(tmp_path: Path) -> None:
    task = make(tmp_path, model=LSTM, window=4)
    network = task.build_model().eval()
    text = (
        "the cat sat on the log. " * 20
    )  # more than sixteen windows, which a whole split would read side by side
    (score,) = task.predictor(network).score([text])
    tokens = task.codec.tokenizer.encode("\n" + text)
    np.testing.assert_allclose(
        [token.log_prob for token in score.tokens], log_probs(network, tokens), atol=1e-5
    )


def test_unknown_tokens_are_counted_and_a_text_without_tokens_has_no_mean(tmp_path: Path) -> None:
    task = make(tmp_path, model=LSTM)
    known, unknown, empty = task.predictor(task.build_model().eval()).score(["the", "t¿é", ""])
    assert (known.num_unknown, unknown.num_unknown, empty.num_unknown) == (0, 2, 0)
    assert empty.nats == 0
    assert math.isnan(empty.perplexity)
