"""The groups in which `seqlab list` shows built-in parts."""

from __future__ import annotations

from collections.abc import Sequence

OTHERS = "others"
"""The group of all other parts, such as those of plug-ins."""
GROUPS: dict[str, dict[str, tuple[str, ...]]] = {
    "tasks": {
        "one answer per sequence": ("classification", "multi_label", "regression"),
        "one answer per step": ("tagging",),
        "the next steps of series": ("forecasting",),
        "language models": ("language_model", "masked_language_model"),
        "generation from a source": ("translation", "captioning"),
    },
    "models": {
        "recurrent": (
            "lstm",
            "recurrent",
            "gru",
            "rnn",
            "layer_norm_lstm",
            "projected_lstm",
            "peephole_lstm",
            "coupled_lstm",
            "reset_before_gru",
            "min_gru",
            "orthogonal_rnn",
            "single_gate",
            "additive",
        ),
        "bidirectional": ("bilstm", "bigru", "birnn"),
        "convolutional": ("convolutional", "cnn", "fixed_window"),
        "Transformer": ("transformer",),
        "images": ("image_convolutional", "cnn2d", "non_local", "vision_transformer", "vit"),
        "published architectures": (
            "distilbert",
            "bert-base",
            "bert-large",
            "roberta-base",
            "gpt2",
            "gpt2-medium",
            "gpt2-large",
            "gpt2-xl",
        ),
        "not a neural network": ("n_gram_bag", "bag", "linear", "nlinear"),
    },
    "cells": {
        "with a cell state": (
            "lstm",
            "peephole_lstm",
            "coupled_lstm",
            "layer_norm_lstm",
            "projected_lstm",
        ),
        "gated, with a hidden state only": ("gru", "reset_before_gru", "min_gru", "single_gate", "additive"),
        "without gates": ("rnn", "orthogonal_rnn"),
    },
    "attention": {
        "without parameters": ("dot", "scaled_dot"),
        "learned": ("additive", "concat", "general"),
    },
    "positions": {
        "added to the embedding": ("sinusoidal", "learned"),
        "inside attention": ("rotary", "alibi", "relative"),
        "no positions": ("none",),
    },
    "optimizers": {
        "adaptive": ("adamw", "radam", "adam_2k"),
        "plain": ("sgd",),
    },
    "tokens": {
        "characters and bytes": ("characters", "bytes"),
        "words": ("words", "whitespace"),
        "subwords": ("bpe", "unigram", "wordpiece"),
        "imported": ("hugging_face",),
    },
    "formats": {
        "tables": ("csv", "tsv", "markdown", "parquet", "json", "jsonl"),
        "text": ("text", "labeled_lines", "label_files", "folders"),
        "conversations": ("subtitles", "chat_log", "mailbox"),
        "pairs": ("tmx", "gettext", "pronunciations"),
        "tagged and biological sequences": ("tagged", "fasta"),
    },
    "datasets": {
        "classification": ("languages", "digits", "moving_ball", "recall"),
        "tagging": ("python_tokens", "punctuation"),
        "language modeling": ("pydoc", "stdlib"),
        "translation": ("dates", "numbers", "copy", "reverse"),
        "captioning": ("shapes",),
    },
    "recipes": {
        "classification": ("airline", "imdb", "imdb-lecture", "lstm-lecture"),
        "tagging": ("ud-tagging",),
        "language modeling": ("characters", "words", "shakespeare", "tunes", "gpt-small", "bert-small"),
        "translation": ("multi30k", "multi30k-gru", "cmudict"),
    },
    "studies": {
        "memory and gradients": (
            "no_memory",
            "moving_ball",
            "word_order",
            "recall",
            "lengths",
            "vanishing",
            "clipping",
            "truncation",
            "remedies",
        ),
        "cells and depth": ("gru_or_lstm", "counting", "depth"),
        "attention": (
            "attention_steps",
            "self_similarity",
            "score_scale",
            "two_heads",
            "captions",
            "from_recurrence_to_attention",
        ),
        "recurrence, convolution and attention compared": ("abilities", "weight_sharing", "attention_costs"),
        "training Transformers": (
            "residual_and_norm",
            "warm_up",
            "warm_up_steps",
            "first_updates",
            "rectified_adam",
        ),
        "word vectors": ("analogies", "contexts"),
        "decoding and transfer": ("beam_width", "few_labels"),
    },
}


def grouped(kind: str, names: Sequence[str]) -> dict[str, list[str]]:
    """Names by group; one untitled group if the kind has none.

    >>> grouped("optimizers", ["adamw", "lion", "sgd"])
    {'adaptive': ['adamw'], 'plain': ['sgd'], 'others': ['lion']}
    >>> grouped("runs", ["a", "b"])
    {'': ['a', 'b']}
    """
    if kind not in GROUPS:
        return {"": list(names)}
    groups = {title: [name for name in known if name in names] for title, known in GROUPS[kind].items()}
    known = {name for members in groups.values() for name in members}
    groups[OTHERS] = [name for name in names if name not in known]
    return {title: members for title, members in groups.items() if members}
