"""Vectors of texts: the features of the body, by hand and whatever else is in the batch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import seqlab
from seqlab.core.errors import UsageError
from seqlab.runs.run import Run
from tests.runs.source_runs import SMALL, hurried, pretrain, write_table

pytestmark = pytest.mark.slow  # short each, long together

TEXTS = ["red", "blue two three four one red", "one one", "green pink " * 9, "never heard of", ""]


@pytest.fixture(scope="session")
def reading_runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("vectors")
    table = write_table(folder)
    runs = {
        "language": pretrain(folder, steps=2),
        "recurrent": pretrain(folder, model="lstm", steps=2),
        "masked": pretrain(folder, task="masked_language_model", steps=2),
    }
    with hurried():
        small = [*SMALL, "model.hidden_size=8", "tokens.kind=words"]
        runs["classifier"] = seqlab.train(
            table, *small, "model.bidirectional=true", model="gru", steps=2, out=folder / "classifier"
        )
        runs["padding"] = seqlab.train(
            table, *small, "model.padding_mask=false", model="transformer", steps=2, out=folder / "padding"
        )
    return runs


KINDS = ["language", "recurrent", "masked", "classifier", "padding"]


@pytest.mark.spec(173)
@pytest.mark.parametrize("pooling", ["mean", "first", "last", "max"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_text_has_the_same_vector_alone_and_in_any_batch(
    kind: str, pooling: str, reading_runs: dict[str, Run]
) -> None:
    run = reading_runs[kind]
    texts = [text for text in TEXTS if text]
    together = run.vectors(texts, pooling=pooling)
    assert together.dtype == np.float32
    assert together.shape[0] == len(texts)
    for place, text in enumerate(texts):
        assert run.vectors([text], pooling=pooling)[0] == pytest.approx(together[place], abs=1e-5)
    assert np.abs(together[0] - together[1]).max() > 1e-3


@pytest.mark.spec(173)
@pytest.mark.parametrize("kind", KINDS)
def test_the_vectors_of_words_pool_to_the_vector_of_the_text(kind: str, reading_runs: dict[str, Run]) -> None:
    run = reading_runs[kind]
    pieces, words = run.word_vectors("blue two red two")
    assert pieces[:4] == ["blue", "two", "red", "two"]
    assert words.shape[0] == len(pieces)
    assert words.mean(axis=0) == pytest.approx(run.vectors(["blue two red two"])[0], abs=1e-5)
    assert words.max(axis=0) == pytest.approx(run.vectors(["blue two red two"], pooling="max")[0], abs=1e-5)
    assert words[0] == pytest.approx(run.vectors(["blue two red two"], pooling="first")[0], abs=1e-5)
    assert np.abs(words[1] - words[3]).max() > 1e-4  # the same word elsewhere


def test_they_are_the_features_of_the_body_in_eval_mode(reading_runs: dict[str, Run]) -> None:
    run = reading_runs["language"]
    ids = torch.tensor([[run.codec.tokenizer.vocabulary.id(word) for word in ("red", "one", "two")]])
    with torch.inference_mode():
        features, _ = run.model.backbone(run.model.embed(ids), torch.ones(1, 3, dtype=torch.bool))
    run.model.train()
    assert run.word_vectors("red one two")[1] == pytest.approx(features[0].numpy(), abs=1e-6)
    assert run.model.training
    run.model.eval()


def test_both_directions_are_taken_where_they_have_read_all(reading_runs: dict[str, Run]) -> None:
    run = reading_runs["classifier"]
    _, words = run.word_vectors("blue two red")
    last = run.vectors(["blue two red"], pooling="last")[0]
    assert last == pytest.approx(np.concatenate([words[-1, :8], words[0, 8:]]), abs=1e-6)


def test_an_empty_text_has_a_vector_and_no_text_has_none(reading_runs: dict[str, Run]) -> None:
    run = reading_runs["language"]
    assert np.isfinite(run.vectors([""])).all()
    assert run.vectors([]).shape == (0, 12)


def test_texts_beyond_the_learned_positions_are_cut(reading_runs: dict[str, Run]) -> None:
    run = reading_runs["language"]
    pieces, words = run.word_vectors("red " * 60)
    assert len(pieces) == len(words) == 40


def test_mistakes_are_said_in_words(reading_runs: dict[str, Run]) -> None:
    run = reading_runs["language"]
    with pytest.raises(
        UsageError, match=r"vectors takes a list of texts.*\n.*run\.vectors\(\[.the text.\]\)"
    ):
        run.vectors("red")
    with pytest.raises(
        UsageError,
        match=r"'median'\.\n  Did you mean 'mean'\? Available: first, last, max, mean",
    ):
        run.vectors(["red"], pooling="median")


def test_merged_directions_have_no_last_step(tmp_path: Path) -> None:
    settings = [*SMALL, "model.hidden_size=6", "model.merge=mean", "model.pooling=max", "tokens.kind=words"]
    with hurried():
        run = seqlab.train(write_table(tmp_path), *settings, model="bigru", steps=2, out=tmp_path / "merged")
    with pytest.raises(UsageError, match=r"merges.*\n.*mean"):
        run.vectors(["red"], pooling="last")
    assert run.vectors(["red"]).shape == (1, 6)
