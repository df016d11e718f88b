"""Every golden case: the one table in which names of settings stand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Settings = Mapping[str, Any]

COMMON: Settings = {
    "training.steps": 12,
    "training.evaluate_every": 5,
    "training.batch_size": 8,
    "training.learning_rate": 0.03,
    "training.seed": 3,
    "training.threads": 1,
    "training.device": "cpu",
    "data.valid_share": 0.15,
    "data.test_share": 0.15,
}
TASK = "TASK"
"""Stands for the task of a case: its own section."""
TEACHER, VECTORS, LEARNING_RATE, N_BEST = (
    "distillation.run",
    "start.vectors",
    "training.learning_rate",
    "n_best",
)
"""Settings that the tests fill in or look at: a teacher, a file of word vectors, the rate, and how many
answers a search gives.
"""

SHORT_TARGETS: Settings = {"decoding.min_tokens": 2, "decoding.max_tokens": 8}
"""A model that has learned little would write nothing, or never end."""
DATA: dict[str, Settings] = {
    "reviews": {"data.text": "text", "data.label": "label", "tokens.kind": "words"},
    "tickets": {"data.text": "title,body", "data.label": "kind", "tokens.kind": "words"},
    "topics": {"data.text": "text", "data.label": "labels", "tokens.kind": "words"},
    "stars": {"data.text": "text", "data.label": "stars", "tokens.kind": "words"},
    "trends": {"data.sequence": "series", "data.label": "trend"},
    "doses": {"data.sequence": "series", "data.label": "dose"},
    "phases": {"data.sequence": "series", "data.label": "phase"},
    "weather": {
        "data.sequence": "town",
        "data.target": "load",
        "data.features": "wind",
        "data.known": "holiday",
        "data.horizon": 3,
        f"{TASK}.context": 14,
    },
    "images": {"data.sequence": "image", "data.label": "shape"},
    "tags": {},
    "names": {},
    "story": {"tokens.kind": "characters", f"{TASK}.window": 16},
    "notes": {"data.text": "note", "tokens.kind": "whitespace", f"{TASK}.window": 16},
    "numbers": {
        "data.source": "words",
        "data.target": "digits",
        "tokens.kind": "whitespace",
        **SHORT_TARGETS,
    },
    "two_languages": {
        "data.source": "words",
        "data.target": "digits",
        "data.language": "order",
        "tokens.kind": "whitespace",
        **SHORT_TARGETS,
    },
    "walls": {"data.source": "image", "data.target": "caption", "data.image_size": 8, **SHORT_TARGETS},
}
"""How each dataset is read."""

QUESTIONS: dict[str, Sequence[Any]] = {
    "reviews": ["the story was lovely and very warm", "a dull film", "unheard"],
    "tickets": [
        {"title": "the film", "body": "why was the story long"},
        {"title": "awful music", "body": "a scene"},
    ],
    "topics": ["the owl and the river", "a long film", "rain at the door"],
    "stars": ["lovely warm story", "bad sad dull film", "the actor"],
    "trends": [[[0.1, 2.0], [0.5, 1.5], [0.9, 2.5], [1.1, 2.0]], [[1.0, 1.0], [0.2, 3.0], [-0.4, 2.0]]],
    "doses": [[[0.1, 2.0], [0.5, 1.5], [0.9, 2.5], [1.1, 2.0]], [[1.0, 1.0], [0.2, 3.0], [-0.4, 2.0]]],
    "phases": [[[0.1, 2.0], [0.5, 1.5], [0.9, 2.5], [1.1, 2.0]], [[1.0, 1.0], [0.2, 3.0], [-0.4, 2.0]]],
    "weather": [
        {"date": f"2025-06-{day:02}", "town": town, "load": load, "wind": 2, "holiday": int(day == 13)}
        for town, level in (("Ulm", 10), ("Jena", 200))
        for day in range(1, 16)
        for load in [level + day if day <= 12 else None]
    ],
    "images": [[[0.9 if row == 3 and 2 <= column < 6 else 0.1 for column in range(8)] for row in range(8)]],
    "tags": ["the old dog sees Anna .", "Oslo likes the unseen river ."],
    "names": ["Ada Byron visits New York .", "the bird finds Oslo ."],
    "story": ["the old d", "Anna "],
    "notes": ["the old", "Paul likes the"],
    "numbers": ["three one four", "nine", "two seven one eight two"],
    "two_languages": ["up: three one four", "down: three one four"],
    "walls": [[[[210, 30, 30]] * 8] * 4 + [[[40, 60, 210]] * 8] * 4, [[[30, 170, 40]] * 8] * 8],
}
"""What a trained model is asked."""


@dataclass(frozen=True)
class Case:
    """One short training run, and what is asked of the result."""

    data: str
    task: str
    model: str = ""
    settings: Settings = field(default_factory=dict)
    start: str = ""
    """The case that is trained before, and from whose run this one starts."""
    teacher: str = ""
    """The case that is trained before, and whose run teaches this one."""
    vectors: str = ""
    """The file of word vectors from which the embedding starts."""
    questions: Sequence[Any] | None = None
    """Other questions than those of the data."""
    searches: Sequence[Settings] = ()
    """Settings of further searches for the same questions."""
    texts: Sequence[Settings] = ()
    """What is generated: settings of each text."""
    likelihoods: Sequence[Any] = ()
    """Texts, or pairs, whose probability is asked."""
    adapts: bool = False
    """Whether a language model is also scored with a cache and with dynamic evaluation."""
    gives_vectors: bool = False
    """Whether the vectors of the questions are written down too."""

    def all_settings(self) -> dict[str, Any]:
        settings = {**COMMON, **DATA[self.data], **self.settings}
        return {name.replace(TASK, self.task): value for name, value in settings.items()}


SMALL: Settings = {"model.hidden_size": 12}
TINY_TRANSFORMER: Settings = {"model.hidden_size": 12, "model.heads": 2, "model.layers": 2}
PAIR: Settings = {"model.hidden_size": 12, "model.dropout": 0.1}
PAIR_TRANSFORMER: Settings = {**TINY_TRANSFORMER, "model.layers": 1}
READ: Sequence[Settings] = (
    {"prompt": "the ", "temperature": 0, "max_tokens": 20},
    {"prompt": "the ", "temperature": 0.9, "top_k": 8, "max_tokens": 20, "seed": 5},
    {"prompt": "", "temperature": 1.0, "top_p": 0.8, "max_tokens": 20, "seed": 6},
)
BEAMS: Sequence[Settings] = (
    {"beam": 3, "n_best": 3, "length_penalty": 0.6},
    {
        "beam": 4,
        "n_best": 2,
        "length_penalty_kind": "gnmt",
        "beam_groups": 2,
        "min_tokens": 2,
        "no_repeat_ngram": 2,
    },
    {"temperature": 1, "samples": 3, "n_best": 2, "top_k": 5, "seed": 4},
)
PAIRS_TO_SCORE = [("three one four", "4 1 3"), ("nine", "7")]


CELLS: dict[str, Case] = {
    "rnn": Case("reviews", "classification", "rnn", SMALL),
    "rnn_relu_identity": Case(
        "reviews",
        "classification",
        "rnn",
        {
            **SMALL,
            "model.cell.activation": "relu",
            "model.initialization": "identity",
            "model.residual": True,
        },
    ),
    "lstm": Case("reviews", "classification", "lstm", SMALL, gives_vectors=True),
    "lstm_no_bias": Case(
        "reviews",
        "classification",
        "lstm",
        {**SMALL, "model.cell.bias": False, "model.cell.candidate": "sigmoid"},
    ),
    "peephole_lstm": Case("reviews", "classification", "peephole_lstm", SMALL),
    "peephole_lstm_full": Case(
        "reviews",
        "classification",
        "peephole_lstm",
        {
            **SMALL,
            "model.cell.peepholes": "full",
            "model.cell.gates": "input,output",
            "model.cell.output_gate_sees": "new",
        },
    ),
    "coupled_lstm": Case("reviews", "classification", "coupled_lstm", SMALL),
    "layer_norm_lstm": Case("reviews", "classification", "layer_norm_lstm", SMALL),
    "projected_lstm": Case(
        "reviews", "classification", "projected_lstm", {**SMALL, "model.cell.proj_size": 7}
    ),
    "gru": Case("reviews", "classification", "gru", SMALL),
    "gru_keep_new": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "model.cell.keep": "new", "model.initialization": "orthogonal"},
    ),
    "reset_before_gru": Case("reviews", "classification", "reset_before_gru", SMALL),
    "single_gate": Case("reviews", "classification", "single_gate", SMALL),
    "additive": Case("reviews", "classification", "additive", {**SMALL, "model.cell.candidate": "input"}),
    "orthogonal_rnn": Case("reviews", "classification", "orthogonal_rnn", SMALL),
    "orthogonal_rnn_radius": Case(
        "reviews",
        "classification",
        "orthogonal_rnn",
        {**SMALL, "model.cell.radius": 0.1, "model.cell.activation": "tanh"},
    ),
    "min_gru": Case("reviews", "classification", "min_gru", SMALL),
}
"""Each cell as a classifier of text."""

CLASSIFIERS: dict[str, Case] = {
    "bilstm_deep": Case(
        "reviews",
        "classification",
        "bilstm",
        {
            "model.hidden_sizes": "10,6",
            "model.embedding_size": 8,
            "model.merge": "mean",
            "model.pooling": "max",
        },
    ),
    "bigru_learned_merge": Case(
        "reviews",
        "classification",
        "bigru",
        {
            **SMALL,
            "model.merge": "learned",
            "model.initial_state": "learned",
            "model.pooling": "queries",
            "model.queries": 2,
            "model.head_size": 5,
        },
    ),
    "lstm_dropout_kinds": Case(
        "reviews",
        "classification",
        "lstm",
        {
            **SMALL,
            "model.layers": 2,
            "model.locked_dropout": True,
            "model.input_dropout": 0.4,
            "model.initial_state": "random",
            "model.pooling": "mean",
        },
    ),
    "lstm_padding_seen": Case(
        "reviews",
        "classification",
        "lstm",
        {**SMALL, "model.padding_mask": False, "training.pad_to": 14, "training.group_by_length": False},
    ),
    "convolutional": Case("reviews", "classification", "cnn", {**SMALL, "model.layers": 2}),
    "fixed_window": Case(
        "reviews", "classification", "fixed_window", {**SMALL, "model.context": 3, "model.embedding_size": 6}
    ),
    "n_gram_bag": Case("reviews", "classification", "bag"),
    "bag_beside_gru": Case("reviews", "classification", "gru", {**SMALL, "bag.n_grams": 2}),
    "transformer": Case("reviews", "classification", "transformer", TINY_TRANSFORMER, gives_vectors=True),
    "transformer_post_learned": Case(
        "reviews",
        "classification",
        "transformer",
        {
            **TINY_TRANSFORMER,
            "model.norm": "post",
            "model.positions": "learned",
            "model.max_positions": 20,
            "model.pooling": "first",
        },
    ),
    "transformer_rms_rotary_swiglu": Case(
        "reviews",
        "classification",
        "transformer",
        {
            **TINY_TRANSFORMER,
            "model.norm_kind": "rms",
            "model.positions": "rotary",
            "model.gated": True,
            "model.activation": "silu",
            "model.heads": 2,
            "model.kv_heads": 1,
            "model.qkv_bias": False,
            "model.bias": False,
        },
    ),
    "transformer_rezero_alibi": Case(
        "reviews",
        "classification",
        "transformer",
        {**TINY_TRANSFORMER, "model.norm": "rezero", "model.positions": "alibi", "model.causal": True},
    ),
    "transformer_shared_rezero": Case(
        "reviews",
        "classification",
        "transformer",
        {**TINY_TRANSFORMER, "model.norm": "shared_rezero", "model.positions": "none"},
    ),
    "transformer_lecture_relative": Case(
        "reviews",
        "classification",
        "transformer",
        {
            **TINY_TRANSFORMER,
            "model.norm": "lecture",
            "model.positions": "relative",
            "model.attention_dropout": 0.2,
            "model.pooling": "mean",
        },
    ),
    "transformer_embedding_options": Case(
        "reviews",
        "classification",
        "transformer",
        {
            **TINY_TRANSFORMER,
            "model.embedding_norm": True,
            "model.embedding_scale": True,
            "model.window": 3,
            "model.head_size": 5,
            "model.feedforward_size": 9,
            "model.activation": "relu",
            "model.padding_mask": False,
        },
    ),
    "two_text_columns": Case("tickets", "classification", "lstm", SMALL),
    "class_weights": Case(
        "tickets", "classification", "gru", {**SMALL, "classification.class_weights": "balanced"}
    ),
    "label_smoothing": Case(
        "tickets", "classification", "transformer", {**TINY_TRANSFORMER, "training.label_smoothing": 0.1}
    ),
    "series_classification": Case("trends", "classification", "lstm", SMALL),
    "images_by_rows": Case("images", "classification", "gru", SMALL),
    "images_by_patches": Case("images", "classification", "vit", {**TINY_TRANSFORMER, "model.patch_size": 4}),
    "images_convolutional": Case("images", "classification", "non_local", {**SMALL, "model.layers": 1}),
    "label_sets": Case("topics", "multi_label", "lstm", SMALL),
    "label_sets_transformer": Case("topics", "multi_label", "transformer", TINY_TRANSFORMER),
    "regression_text": Case("stars", "regression", "transformer", TINY_TRANSFORMER),
    "regression_bag": Case("stars", "regression", "bag"),
    "regression_series": Case("doses", "regression", "gru", {**SMALL, "regression.loss": "squared"}),
}

FORECASTING: dict[str, Case] = {
    "forecasting_lstm": Case("weather", "forecasting", "lstm", SMALL),
    "forecasting_transformer": Case(
        "weather",
        "forecasting",
        "transformer",
        {
            **TINY_TRANSFORMER,
            "forecasting.patch": 7,
            "forecasting.output": "normal",
            "forecasting.linear": True,
        },
    ),
    "forecasting_linear": Case("weather", "forecasting", "linear", {"forecasting.scaling": "mean"}),
    "forecasting_recursive": Case(
        "weather",
        "forecasting",
        "gru",
        {**SMALL, "data.features": "", "data.known": "wind,holiday", "forecasting.strategy": "recursive"},
    ),
}

TRAINING: dict[str, Case] = {
    "tokens_bpe": Case(
        "reviews", "classification", "gru", {**SMALL, "tokens.kind": "bpe", "tokens.size": 60}
    ),
    "tokens_wordpiece": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "tokens.kind": "wordpiece", "tokens.size": 60, "tokens.lowercase": True},
    ),
    "tokens_unigram": Case(
        "reviews", "classification", "gru", {**SMALL, "tokens.kind": "unigram", "tokens.size": 60}
    ),
    "tokens_bytes": Case(
        "reviews", "classification", "gru", {**SMALL, "tokens.kind": "bytes", "data.max_length": 30}
    ),
    "rare_words_unknown": Case(
        "reviews", "classification", "gru", {**SMALL, "tokens.min_count": 25, "tokens.size": 15}
    ),
    "split_random": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "data.split": "random", "data.seed": 9, "data.train_rows": 60},
    ),
    "accumulation": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "training.gradient_accumulation": 3, "training.batch_size": 4},
    ),
    "batch_tokens": Case(
        "reviews", "classification", "gru", {**SMALL, "training.batch_size": 0, "training.batch_tokens": 60}
    ),
    "epochs_and_patience": Case(
        "reviews",
        "classification",
        "gru",
        {
            **SMALL,
            "training.steps": 0,
            "training.epochs": 2.5,
            "training.evaluate_every": 3,
            "training.patience": 1,
            "training.learning_rate": 1.0,
        },
    ),
    "sgd": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "training.optimizer": "sgd", "training.learning_rate": 0.5, "training.momentum": 0.8},
    ),
    "radam": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "training.optimizer": "radam", "training.weight_decay": 0.1},
    ),
    "adam_2k": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "training.optimizer": "adam_2k", "training.measured_steps": 4},
    ),
    "constant_rate_decay_all": Case(
        "reviews",
        "classification",
        "gru",
        {
            **SMALL,
            "training.schedule": "constant",
            "training.warmup_steps": 4,
            "training.decay_all": True,
            "training.weight_decay": 0.2,
        },
    ),
    "early_decay_and_tight_clipping": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "training.decay_steps": 8, "training.clip_norm": 0.05, "training.warmup_steps": 2},
    ),
    "average_moving": Case("reviews", "classification", "gru", {**SMALL, "training.ema_decay": 0.9}),
    "average_last": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "training.average_checkpoints": 3, "training.average_every": 2},
    ),
    "distillation": Case(
        "reviews",
        "classification",
        "gru",
        {**SMALL, "distillation.weight": 0.7, "distillation.temperature": 3.0},
        teacher="transformer",
    ),
    "distillation_language_model": Case(
        "story", "language_model", "gru", SMALL, teacher="language_model_transformer"
    ),
    "fine_tuning": Case(
        "reviews", "classification", start="pretraining", settings={"start.freeze_layers": 1}
    ),
    "fine_tuning_layer_decay": Case(
        "reviews", "classification", start="pretraining", settings={"start.layer_decay": 0.5}
    ),
    "fine_tuning_half_depth": Case(
        "reviews",
        "classification",
        start="pretraining",
        settings={"start.every": 2, "start.freeze": "embedding"},
    ),
    "fine_tuning_from_language_model": Case(
        "reviews", "classification", start="language_model_words", settings={"start.freeze": "backbone"}
    ),
    "fine_tuning_same_task": Case(
        "reviews", "classification", start="lstm", settings={"training.learning_rate": 0.003}
    ),
    "lora": Case(
        "reviews",
        "classification",
        start="pretraining",
        settings={"start.lora_rank": 2, "start.lora_alpha": 4, "start.lora_targets": "qkv,feed_forward"},
    ),
    "word_vectors": Case(
        "reviews",
        "classification",
        "lstm",
        {"model.hidden_size": 10, "start.freeze": "embedding"},
        vectors="vectors",
    ),
}
"""Ways to train, mostly on one small model."""

TAGGERS: dict[str, Case] = {
    "tagger": Case("tags", "tagging", "bilstm", SMALL),
    "tagger_crf": Case(
        "names",
        "tagging",
        "bilstm",
        {**SMALL, "tagging.crf": True, "tagging.characters": "recurrent", "tagging.character_embedding": 6},
    ),
    "tagger_words_only": Case("names", "tagging", "gru", {**SMALL, "tagging.characters": "none"}),
    "tagger_transformer": Case(
        "tags",
        "tagging",
        "transformer",
        {
            **TINY_TRANSFORMER,
            "tagging.character_widths": "2,3",
            "tagging.word_dropout": 3.0,
            "data.max_length": 5,
        },
    ),
    "tagger_pieces": Case(
        "tags", "tagging", "cnn", {**SMALL, "model.layers": 2, "tokens.kind": "wordpiece", "tokens.size": 80}
    ),
    "tagger_series": Case("phases", "tagging", "bigru", SMALL),
    "tagger_series_crf": Case(
        "phases", "tagging", "fixed_window", {**SMALL, "model.context": 3, "tagging.crf": True}
    ),
}

LANGUAGE_MODELS: dict[str, Case] = {
    "language_model_lstm": Case(
        "story",
        "language_model",
        "lstm",
        {**SMALL, "model.layers": 2},
        texts=READ,
        likelihoods=["the dog sees Anna ."],
        adapts=True,
    ),
    "language_model_no_carry": Case(
        "story", "language_model", "gru", {**SMALL, "language_model.stateful": False}
    ),
    "language_model_detached": Case(
        "story", "language_model", "rnn", {**SMALL, "language_model.bptt_steps": 5}
    ),
    "language_model_average": Case(
        "story",
        "language_model",
        "lstm",
        {**SMALL, "training.ema_decay": 0.8, "training.gradient_accumulation": 2, "model.tied": False},
        texts=READ[:1],
    ),
    "language_model_transformer": Case(
        "story",
        "language_model",
        "transformer",
        TINY_TRANSFORMER,
        texts=READ,
        likelihoods=["the dog sees Anna ."],
    ),
    "language_model_rotary_window": Case(
        "story",
        "language_model",
        "transformer",
        {**TINY_TRANSFORMER, "model.positions": "rotary", "model.window": 5, "model.kv_heads": 1},
        texts=READ[:2],
    ),
    "language_model_convolutional": Case(
        "story", "language_model", "cnn", {**SMALL, "model.layers": 2}, texts=READ[:1]
    ),
    "language_model_fixed_window": Case(
        "story",
        "language_model",
        "fixed_window",
        {**SMALL, "model.context": 4, "model.embedding_size": 8},
        texts=READ[:1],
    ),
    "language_model_bytes_smoothed": Case(
        "story",
        "language_model",
        "gru",
        {**SMALL, "tokens.kind": "bytes", "training.label_smoothing": 0.1},
        texts=READ[:1],
    ),
    "language_model_words": Case(
        "notes", "language_model", "transformer", {**TINY_TRANSFORMER, "tokens.kind": "words"}, texts=READ[:1]
    ),
    "language_model_whitespace": Case(
        "notes", "language_model", "lstm", SMALL, texts=READ[:2], likelihoods=["the old dog sees Anna ."]
    ),
    "documents_not_reset": Case(
        "notes", "language_model", "gru", {**SMALL, "language_model.reset_at_documents": False}
    ),
    "sampled_softmax": Case(
        "notes",
        "language_model",
        "lstm",
        {**SMALL, "language_model.softmax": "sampled", "language_model.softmax_samples": 10},
    ),
    "pretraining": Case(
        "story",
        "masked_language_model",
        "transformer",
        {**TINY_TRANSFORMER, "tokens.kind": "words"},
        questions=["the [MASK] dog sees Anna .", "Oslo [MASK] the [MASK] river ."],
    ),
    "pretraining_whole_words": Case(
        "story",
        "masked_language_model",
        "transformer",
        {
            **TINY_TRANSFORMER,
            "tokens.kind": "wordpiece",
            "tokens.size": 80,
            "masked_language_model.whole_word_mask": True,
            "masked_language_model.dynamic_masking": False,
            "masked_language_model.mlm_probability": 0.3,
        },
        questions=["the [MASK] dog sees Anna ."],
    ),
    "pretraining_bilstm": Case(
        "notes",
        "masked_language_model",
        "bilstm",
        {
            **SMALL,
            "masked_language_model.mask_replace_prob": 0.6,
            "masked_language_model.random_replace_prob": 0.3,
        },
        questions=["the [MASK] sees Anna ."],
    ),
}

TRANSLATORS: dict[str, Case] = {
    "translation_additive": Case(
        "numbers", "translation", "bigru", PAIR, searches=BEAMS, likelihoods=PAIRS_TO_SCORE
    ),
    "translation_dot": Case(
        "numbers", "translation", "lstm", {**PAIR, "decoder.attention": "dot"}, searches=BEAMS[:1]
    ),
    "translation_scaled_dot_projected": Case(
        "numbers",
        "translation",
        "lstm",
        {**PAIR, "decoder.attention": "scaled_dot", "decoder.projected": True, "decoder.context": "input"},
    ),
    "translation_general": Case(
        "numbers",
        "translation",
        "gru",
        {**PAIR, "decoder.attention": "general", "decoder.bridge": "mean", "model.layers": 2},
    ),
    "translation_concat": Case(
        "numbers", "translation", "lstm", {**PAIR, "decoder.attention": "concat", "decoder.bridge": "learned"}
    ),
    "translation_constant": Case("numbers", "translation", "lstm", {**PAIR, "decoder.attention": "constant"}),
    "translation_no_attention": Case(
        "numbers", "translation", "lstm", {**PAIR, "decoder.attention": "none"}, searches=BEAMS[:1]
    ),
    "translation_local_monotonic": Case(
        "numbers", "translation", "lstm", {**PAIR, "decoder.window": "monotonic", "decoder.reach": 1}
    ),
    "translation_local_predicted": Case(
        "numbers", "translation", "lstm", {**PAIR, "decoder.window": "predicted", "decoder.reach": 2}
    ),
    "translation_hard": Case("numbers", "translation", "lstm", {**PAIR, "decoder.alignment": "hard"}),
    "translation_other_decoder": Case(
        "numbers",
        "translation",
        "cnn",
        {
            **PAIR,
            "model.layers": 2,
            "decoder.kind": "recurrent",
            "decoder.cell": "gru",
            "decoder.hidden_size": 10,
        },
    ),
    "translation_transformer": Case(
        "numbers",
        "translation",
        "transformer",
        {**PAIR_TRANSFORMER, "tokens.shared": True, "training.label_smoothing": 0.1},
        searches=(*BEAMS, {"beam": 3, "coverage_penalty": 0.4, "choose_by": "risk"}),
        likelihoods=PAIRS_TO_SCORE,
    ),
    "translation_transformer_average": Case(
        "numbers",
        "translation",
        "transformer",
        {
            **PAIR_TRANSFORMER,
            "model.positions": "rotary",
            "training.average_checkpoints": 2,
            "training.average_every": 4,
            "training.batch_tokens": 120,
        },
    ),
    "translation_characters": Case(
        "numbers",
        "translation",
        "gru",
        {**PAIR, "tokens.kind": "characters", "tokens.target_kind": "whitespace", "decoding.beam": 2},
    ),
    "translation_two_languages": Case(
        "two_languages", "translation", "gru", PAIR, searches=({"prefix": "4"},)
    ),
    "scheduled_sampling": Case(
        "numbers",
        "translation",
        "gru",
        {
            **PAIR,
            "scheduled_sampling.schedule": "linear",
            "scheduled_sampling.half_life": 6,
            "scheduled_sampling.per": "token",
        },
    ),
    "scheduled_sampling_sequences": Case(
        "numbers",
        "translation",
        "transformer",
        {
            **PAIR_TRANSFORMER,
            "scheduled_sampling.schedule": "inverse_sigmoid",
            "scheduled_sampling.half_life": 4,
            "scheduled_sampling.min_teacher_forcing_ratio": 0.2,
        },
    ),
    "captioning": Case(
        "walls",
        "captioning",
        "cnn2d",
        {"model.hidden_size": 6, "decoder.hidden_size": 12},
        searches=BEAMS[:1],
    ),
    "captioning_recurrent": Case(
        "walls",
        "captioning",
        "vit",
        {**TINY_TRANSFORMER, "model.patch_size": 4, "decoder.kind": "recurrent", "decoder.cell": "lstm"},
    ),
}

CASES: dict[str, Case] = {
    **CELLS,
    **CLASSIFIERS,
    **FORECASTING,
    **TRAINING,
    **TAGGERS,
    **LANGUAGE_MODELS,
    **TRANSLATORS,
}
