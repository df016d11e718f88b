from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

import seqlab
from seqlab.core.errors import UsageError
from seqlab.runs.data import open_data

LINES = "the cat sat on the mat .\nthe dog sat on the log .\na bird sang to the dog .\n"
SMALL = [
    "tokens.kind=whitespace",
    "training.steps=3",
    "training.threads=1",
    "language_model.window=6",
    "training.batch_size=2",
]


@pytest.mark.slow
def test_a_language_model_that_adapts_has_scores_of_its_own_and_its_run_stays_as_it_is(
    tmp_path: Path,
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(LINES * 40)
    run = seqlab.train(str(text), *SMALL, "model.hidden_size=5", task="language_model", out=tmp_path / "run")
    weights = tmp_path / "run" / "model.safetensors"
    before = hashlib.sha256(weights.read_bytes()).hexdigest()
    plain = {score.name: score.value for score in run.evaluate().scores}
    cached, dynamic = run.adapted_scores(cache=True, dynamic=True)
    assert (cached.name, dynamic.name) == ("perplexity_with_cache", "perplexity_dynamic")
    assert cached.baseline == pytest.approx(plain["perplexity"], rel=1e-4)
    assert cached.value < plain["perplexity"]  # the same lines again and again: both learn them
    assert dynamic.value < plain["perplexity"]
    assert "neural cache of the last 2,000 tokens" in cached.method
    assert "tokens of the validation text" in dynamic.method
    assert {score.name: score.value for score in run.evaluate().scores} == plain
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == before


@pytest.mark.slow
def test_a_network_without_a_state_says_why_it_cannot_adapt(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text(LINES * 40)
    run = seqlab.train(
        str(text),
        *SMALL,
        "model.kind=transformer",
        "model.hidden_size=8",
        "model.heads=2",
        task="language_model",
        out=tmp_path / "run",
    )
    with pytest.raises(UsageError, match="a transformer network does not"):
        run.adapted_scores(cache=True)


@pytest.mark.slow
def test_without_a_test_text_nothing_is_scored_that_was_chosen_on(tmp_path: Path) -> None:
    for name, times in (("train", 40), ("valid", 6)):
        (tmp_path / f"{name}.txt").write_text(LINES * times)
    settings = [f"data.valid={tmp_path / 'valid.txt'}", "data.test_share=0", "model.hidden_size=5"]
    run = seqlab.train(
        str(tmp_path / "train.txt"), *SMALL, *settings, task="language_model", out=tmp_path / "run"
    )
    (cached,) = run.adapted_scores(cache=True)
    num_tokens = (
        run.codec.encode_split("valid", open_data(run.recipe).parts["valid"]).store["tokens"].num_steps
    )
    num_tuning = num_tokens // 2
    assert f"the first {num_tuning} tokens of the validation text, scored on" in cached.method
    assert f"; {num_tokens - num_tuning - 1} tokens, read in one pass" in cached.method
    assert "fewer than 10 blocks" in cached.method
    (tmp_path / "other.txt").write_text(LINES)
    (other,) = run.adapted_scores(tmp_path / "other.txt", cache=True)
    assert f"the first {num_tokens} tokens of the validation text;" in other.method
