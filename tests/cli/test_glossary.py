"""`seqlab explain` answers the terms of the field, and what it says about settings, commands and pages is true."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections import Counter
from itertools import pairwise

import pytest
from typer.main import get_command

from seqlab.cells.base import cells
from seqlab.cli.explain import UNEXPLAINED, find_explanation, named_parts, registered_spelling
from seqlab.cli.glossary.terms import all_terms, find_part_name, find_term, part_names, spelling
from seqlab.cli.kinds import KINDS
from seqlab.cli.main import app
from seqlab.cli.part_docs import describe_part
from seqlab.cli.setting_help import all_settings
from seqlab.core.errors import UsageError
from seqlab.models.base import backbones
from seqlab.recipes.read import check, override
from tests.check_each import check_each
from tests.cli.running import run
from tests.docs.pages import ROOT

SEARCHED = """hyperparameter, out-of-vocabulary, OOV, overfitting, early stopping, fine-tuning, pretraining,
transfer learning, teacher forcing, exposure bias, scheduled sampling, gradient clipping, vanishing gradients,
exploding gradients, truncated BPTT, hidden state, cell state, input gate, forget gate, output gate, attention mask,
padding mask, causal mask, KV cache, cross-attention, positional encoding, learning-rate schedule, warm-up,
weight decay, label smoothing, mixed precision, gradient accumulation, checkpoint, embedding, tokenizer, vocabulary,
perplexity, beam search, length penalty, nucleus, top-p sampling, calibration, confidence interval, 95% CI, ablation,
batch size, epoch, throughput, latency, tensorboard,
BLEU, chrF, TER, METEOR, F1, macro F1, ROC AUC, ECE, MCC, accuracy, precision, recall, WER, exact match, RMSE, MAE, R2,
Spearman, bits per character, layer norm, RMS norm, pre-norm, post-norm, ReZero, residual, activation, sinusoidal,
learned, rotary, RoPE, ALiBi, relative, Bahdanau, additive, dot, general, Luong, scaled_dot, multi-head attention,
self-attention, local attention, hard attention, sparse attention, learned queries, non-local, BPE, WordPiece, Unigram,
bytes, baseline, naive Bayes, n-gram, greedy, sampling, temperature, top-k, coverage, MBR, diverse beam search,
backpropagation through time, bptt, gradient clipping, EMA, checkpoint averaging, LoRA, freezing, distillation, dropout,
variational dropout, CRF, tied embeddings, softmax temperature, bootstrap, McNemar, paired test, seed variance,
train/validation/test split, data leak, class imbalance, cross-entropy, huber, sampled softmax, cosine, constant,
momentum, Adam, SGD, teacher-forcing, lr, kv-cache, early-stopping, softmax, attention, seq2seq, encoder-decoder,
bidirectional, BERT, GPT, swiglu, gelu, word2vec, p-value, seed, hard, local, sparse, multi_head, pre, post, rms, lecture_pre_norm,
label error, gradient flow, attention weights, attention heat map, hidden size, batch-size"""
SENTENCE_END = re.compile(r"(?<!et al)[.?](?= |$)")
CURVES = ROOT / "tests" / "golden" / "curves"
COMMANDS = get_command(app).commands  # type: ignore[attr-defined]
"""Of a typer group: its commands by name."""


def words(text: str) -> list[str]:
    return [re.sub(r"\s+", " ", word.strip()) for word in text.split(",")]


def test_every_term_that_users_search_for_is_explained() -> None:
    def check_word(word: str) -> None:
        assert (
            find_term(word)
            or find_part_name(word)
            or registered_spelling(f" {word}")
            or find_explanation(word).settings
        ), word

    check_each(words(SEARCHED), check_word)


def test_every_score_of_the_recorded_trainings_is_explained() -> None:
    recorded = [json.loads(path.read_text(encoding="utf-8")) for path in CURVES.glob("*.json")]
    scores = {name for run in recorded for split in run.get("scores", {}).values() for name in split}
    assert {"accuracy", "bleu", "nats_per_masked_token"} <= scores
    assert [name for name in sorted(scores) if not find_term(name)] == []


@pytest.mark.slow
def test_every_registered_name_is_explained_with_its_summary() -> None:
    names = [(kind, name) for kind in KINDS if kind not in UNEXPLAINED for name in KINDS[kind].names()]

    def check_part(part: tuple[str, str]) -> None:
        kind, name = part
        assert part in named_parts(name)
        assert registered_spelling(name.upper()) == name
        assert describe_part(kind, name).summary == KINDS[kind].summary(name)

    check_each(names, check_part)
    assert [name for name in backbones.names() if not named_parts(name)] == []


def test_every_term_has_two_or_three_sentences_and_names_settings_that_exist() -> None:
    settings = {entry.name for entry in all_settings()}

    def check_term(name: str) -> None:
        term = all_terms()[name]
        assert set(term.settings) <= settings, set(term.settings) - settings
        assert term.meaning.endswith("."), term.meaning
        assert 2 <= len(SENTENCE_END.findall(term.meaning)) <= 3, term.meaning
        assert 40 < len(term.meaning) < 420, len(term.meaning)
        assert all(len(line) <= 120 for line in term.equations), term.equations

    check_each(list(all_terms()), check_term)


def test_every_command_of_a_term_exists() -> None:
    def check_command(name: str) -> None:
        verb, *arguments = shlex.split(all_terms()[name].command.removeprefix("seqlab "))
        options = {option for parameter in COMMANDS[verb].params for option in parameter.opts}
        assert {word for word in arguments if word.startswith("--")} <= options
        if verb == "train":
            model = arguments[arguments.index("--model") + 1] if "--model" in arguments else ""
            start = {"run": "pretrained"} if "--from" in arguments else {}
            check(
                override({"start": start}, [word for word in arguments if "=" in word], model=model),
                where=name,
            )
            if "--task" in arguments:
                assert KINDS["tasks"].has(arguments[arguments.index("--task") + 1])
        elif verb == "study":
            assert KINDS["studies"].has(arguments[0])
        elif verb == "list":
            assert arguments[0] in KINDS
        elif verb == "explain":
            find_explanation(arguments[0])
        decoding = [word for before, word in pairwise(arguments) if before == "--decoding"]
        check(override({}, [f"decoding.{setting}" for setting in decoding]), where=name)

    check_each(list(all_terms()), check_command)


@pytest.mark.slow
def test_every_page_of_a_term_or_part_exists() -> None:
    parts = [
        describe_part(kind, name) for kind in KINDS if kind not in UNEXPLAINED for name in KINDS[kind].names()
    ]
    pages = {term.page for term in all_terms().values()} | {part.page for part in parts}
    assert {page for page in pages if page and not (ROOT / page).is_file()} == set()


def test_the_page_of_every_term_is_about_it() -> None:
    """It has the term, another name of it, or one of its settings."""

    def check_term(name: str) -> None:
        term = all_terms()[name]
        text = spelling((ROOT / term.page).read_text(encoding="utf-8"))
        named = [name, *term.also, *(setting.rpartition(".")[2] for setting in term.settings)]
        assert any(re.search(rf"\b{re.escape(spelling(word))}", text) for word in named), term.page

    check_each(list(all_terms()), check_term)


@pytest.mark.parametrize("name", cells.names())
def test_the_printed_shapes_of_a_cell_are_those_of_its_tensors(name: str) -> None:
    options = {"proj_size": 2} if name == "projected_lstm" else {}
    cell = cells.get(name)(3, 5, **options).materialize_weights()
    sizes = {"gates": cell.num_gates, "input": 3, "hidden": 5, "proj": 2, "batch": 7}
    printed = {
        variable: tuple(math.prod(sizes[size] for size in axis.split(" · ")) for axis in shape.split(", "))
        for variable, shape in re.findall(r"(\w+) \(([^)]+)\)", describe_part("cells", name).shapes)
    }
    states = dict(zip(("hidden", "cell_state"), cell.state_sizes, strict=False))
    actual = {"x": (7, 3), "W": cell.input.shape, **{key: (7, size) for key, size in states.items()}}
    if cell.recurrent is not None:
        actual["U"] = cell.recurrent.shape
    if name == "projected_lstm":
        actual["R"] = cell.projection.shape
    assert printed == actual


def test_every_task_model_and_dataset_has_a_page() -> None:
    names = [(kind, name) for kind in ("tasks", "models", "datasets") for name in KINDS[kind].names()]
    assert [(kind, name) for kind, name in names if not find_explanation(name).pages] == []


def test_the_page_of_every_dataset_is_about_it() -> None:
    def check_dataset(name: str) -> None:
        text = (ROOT / describe_part("datasets", name).page).read_text(encoding="utf-8")
        assert re.search(rf"`{name}`|seqlab \w+ {name}\b", text)

    check_each(KINDS["datasets"].names(), check_dataset)


def test_no_two_terms_share_a_name_and_no_term_hides_the_other_name_of_a_part() -> None:
    names = [name for term in all_terms().values() for name in (term.name, *term.also)]
    others = [
        (kind, name, other) for kind, parts in part_names().items() for name in parts for other in parts[name]
    ]
    counts = Counter(map(spelling, [*names, *(other for _, _, other in others)]))
    assert [name for name, count in counts.items() if count > 1] == []
    assert [(kind, name) for kind, name, _ in others if not KINDS[kind].has(name)] == []


@pytest.mark.parametrize(
    ("topic", "facts"),
    [
        ("early_stopping", ["training.patience"]),
        (
            "Teacher Forcing",
            ["previous token", "scheduled_sampling.", "docs/concepts/sequence_to_sequence.md"],
        ),
        ("tensorboard", ["journal.jsonl"]),
        ("lstm", ["forget ⊙ cell_state + input ⊙ candidate", "(batch, hidden)", "Hochreiter"]),
        ("gru", ["reset", "update ⊙ hidden"]),
        ("LSTM", ["model lstm: ", "model.cell.forget_bias ("]),
        ("RoPE", ["position rotary: ", "cos θ", "parameters: none", "model.positions=rotary"]),
        ("adam", ["optimizer adamw: ", "exp_avg_sq", "training.optimizer=adamw"]),
        ("general", ["score(q, k) = qᵀ W k", "q · k; 65,536 with", "(batch, target, source)"]),
        ("vanishing", ["study vanishing: ", "seqlab study vanishing"]),
        ("cosine", ["½ (1 + cos(π s / decay_steps))", "training.decay_steps"]),
        ("bert-base", ["109,512,762 with its 30,522 tokens"]),
        ("lr", ["training.learning_rate"]),
        ("training.lr", ["training.learning_rate (number"]),
        ("num_beams", ["decoding.beam (whole number"]),
    ],
)
def test_explain_answers_in_the_words_of_the_field(
    topic: str, facts: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    ended = run(capsys, "explain", topic)
    assert ended.code == 0
    assert [fact for fact in facts if fact not in ended.out] == []


def test_a_term_in_json_has_its_equation_command_and_page(capsys: pytest.CaptureFixture[str]) -> None:
    found = run(capsys, "explain", "beam-search", "--json").json
    term = find_term("beam search")
    assert term is not None
    assert found["names"] == {"beam search": term.meaning}
    assert found["equations"] == term.equations
    assert found["term"]["command"] == term.command
    assert found["pages"] == [term.page]
    assert "decoding.beam" in {entry["name"] for entry in found["settings"]}


@pytest.mark.parametrize(
    ("topic", "near"),
    [("perplexitty", "perplexity"), ("teacher forcin", "teacher forcing"), ("rotray", "rotary")],
)
def test_an_unknown_word_gets_a_near_one(topic: str, near: str) -> None:
    with pytest.raises(UsageError, match=f"Did you mean '{near}'"):
        find_explanation(topic)


@pytest.mark.parametrize("kind", ["cells", "attention", "positions", "optimizers"])
def test_every_built_in_part_has_equations(kind: str) -> None:
    without = [name for name in KINDS[kind].names() if not describe_part(kind, name).equations]
    assert without == (["none"] if kind == "positions" else [])
