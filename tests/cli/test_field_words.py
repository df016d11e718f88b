"""Words that users search for are found by `seqlab explain`."""

from __future__ import annotations

import re

import pytest

from seqlab.cells.settings import CELL_KINDS
from seqlab.cli.equations import cell_equations
from seqlab.cli.explain import _all_settings, _matching_settings, _named
from seqlab.cli.field_words import OTHER_NAMES, WORDS, find_word
from tests.check_each import check_each
from tests.cli.running import run

SEARCHED = """hyperparameter, out-of-vocabulary, OOV, overfitting, early stopping, fine-tuning, pretraining,
transfer learning, teacher forcing, exposure bias, scheduled sampling, gradient clipping, vanishing gradients,
exploding gradients, truncated BPTT, hidden state, cell state, input gate, forget gate, output gate, attention mask,
padding mask, causal mask, KV cache, cross-attention, positional encoding, learning-rate schedule, warm-up,
weight decay, label smoothing, mixed precision, gradient accumulation, checkpoint, embedding, tokenizer, vocabulary,
perplexity, beam search, length penalty, nucleus, top-p sampling, calibration, confidence interval, ablation,
batch size, epoch, throughput, latency, tensorboard, ECE, macro_f1, micro F1, roc_auc, average_precision, BLEU, chrF,
TER, METEOR, rmse, mae, r_squared, spearman, bits_per_character, nats_per_token, exact_match, character_error_rate,
token_error_rate, subset_accuracy, accuracy, loss"""


def test_every_word_is_found_and_its_settings_exist() -> None:
    settings = {entry.name for entry in _all_settings()}

    def check(word: str) -> None:
        found = find_word(word)
        assert found is not None or _named(word) or _matching_settings(word), word
        assert found is None or set(found[1].settings) <= settings, found

    check_each([re.sub(r"\s+", " ", word.strip()) for word in SEARCHED.split(",")] + list(WORDS), check)
    assert set(OTHER_NAMES.values()) <= set(WORDS)


@pytest.mark.parametrize(
    ("topic", "facts"),
    [
        ("early_stopping", ["training.patience"]),
        ("Teacher Forcing", ["previous token", "scheduled_sampling."]),
        ("tensorboard", ["journal.jsonl"]),
        ("lstm", ["forget ⊙ cell_state + input ⊙ candidate", "(batch, hidden)"]),
        ("gru", ["reset", "update ⊙ hidden"]),
    ],
)
def test_explain_answers_in_the_words_of_the_field(
    topic: str, facts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "explain", topic)
    assert ended.code == 0
    assert [fact for fact in facts if fact not in ended.out] == []


@pytest.mark.parametrize("topic", ["training.lr", "lr"])
def test_a_name_of_another_library_is_answered_with_the_setting(
    topic: str, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "explain", topic)
    assert ended.code == 2
    assert "training.learning_rate" in ended.err


def test_every_built_in_cell_has_equations() -> None:
    assert [name for name in CELL_KINDS if not cell_equations(name)] == []
