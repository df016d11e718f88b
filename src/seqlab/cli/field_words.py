"""Words of the field that are no names of parts: what they mean, and which settings or commands belong to them."""

from __future__ import annotations

from dataclasses import dataclass

from seqlab.cli.score_words import SCORES


@dataclass(frozen=True)
class FieldWord:
    """One word: a sentence or two, the settings to look at, and a command to try."""

    meaning: str
    settings: tuple[str, ...] = ()
    command: str = ""


WORDS: dict[str, FieldWord] = {
    "ablation": FieldWord(
        "An experiment that removes or changes one part at a time, to see what each part is worth.",
        command="seqlab compare FILE --models lstm,gru,transformer --seeds 3",
    ),
    "attention mask": FieldWord(
        "Which source steps each target step may attend to: real tokens only (padding mask), and in a causal"
        " model no later ones (causal mask).",
        ("model.padding_mask", "model.window"),
    ),
    "batch size": FieldWord(
        "How many sequences one update of the weights is computed from.",
        ("training.batch_size", "training.batch_tokens", "training.gradient_accumulation"),
    ),
    "beam search": FieldWord(
        "Decoding that keeps the most probable hypotheses at every step, instead of only one (greedy).",
        ("decoding.beam", "decoding.length_penalty", "decoding.n_best"),
        'seqlab predict RUN "A dog runs." --beam 5',
    ),
    "calibration": FieldWord(
        "Whether a probability of 0.8 is right 8 times out of 10. Reported as expected calibration error (ECE); a"
        " temperature fitted on validation data improves it.",
        command="seqlab evaluate RUN",
    ),
    "causal mask": FieldWord(
        "An attention mask that hides all later steps, as a language model needs.", ("model.causal",)
    ),
    "cell state": FieldWord(
        "c_t of an LSTM: the memory that gates write to and erase, beside the hidden state h_t.",
        ("model.cell.kind",),
        "seqlab explain lstm",
    ),
    "checkpoint": FieldWord(
        "Weights and optimizer state saved during training. A run that was stopped resumes from the newest one.",
        ("training.evaluate_every", "training.average_checkpoints"),
        "seqlab train --resume RUN",
    ),
    "confidence interval": FieldWord(
        "The range that holds the true score with 95% confidence (95% CI), by bootstrap over the test examples.",
        command="seqlab evaluate RUN",
    ),
    "cross-attention": FieldWord(
        "Attention of the decoder over the encoded source.", ("decoder.attention",), "seqlab list attention"
    ),
    "early stopping": FieldWord(
        "Training ends when the validation measure has not improved for a number of validations.",
        ("training.patience", "training.evaluate_every"),
        "seqlab train FILE training.patience=5",
    ),
    "embedding": FieldWord(
        "A table with one learned vector for each token, or the vectors themselves.",
        ("model.embedding_size", "start.vectors"),
        "seqlab words RUN WORD",
    ),
    "epoch": FieldWord(
        "One pass over the training data.", ("training.epochs",), "seqlab train FILE training.epochs=10"
    ),
    "exploding gradient": FieldWord(
        "Gradients that grow with the number of steps they flow back through. Clipping limits their norm.",
        ("training.clip_norm",),
        "seqlab study vanishing",
    ),
    "exposure bias": FieldWord(
        "A decoder trained with teacher forcing never sees its own mistakes, but must continue after them when it"
        " generates. Scheduled sampling shows it some.",
        ("scheduled_sampling.schedule",),
    ),
    "fine-tuning": FieldWord(
        "Training that starts from the weights of a finished run, usually on other data or for another task.",
        ("start.run", "start.freeze", "start.lora_rank"),
        "seqlab train FILE --from RUN",
    ),
    "forget gate": FieldWord(
        "The gate of an LSTM that decides how much of the old cell state is kept: c' = f ⊙ c + i ⊙ c̃.",
        ("model.cell.forget_bias",),
        "seqlab explain lstm",
    ),
    "gradient accumulation": FieldWord(
        "Adding up the gradients of several batches before one update: a large batch with little memory.",
        ("training.gradient_accumulation",),
    ),
    "gradient clipping": FieldWord(
        "Scaling the gradient down when its norm is above a limit, against exploding gradients.",
        ("training.clip_norm",),
    ),
    "hidden state": FieldWord(
        "h_t: what a recurrent network carries from step to step, and shows to the layer above.",
        ("model.hidden_size",),
    ),
    "hyperparameter": FieldWord(
        "A setting that is chosen before training and not learned. Every setting of a run is in its recipe.",
        command="seqlab explain training",
    ),
    "input gate": FieldWord(
        "The gate of an LSTM that decides how much of the candidate is written: c' = f ⊙ c + i ⊙ c̃.",
        command="seqlab explain lstm",
    ),
    "kv cache": FieldWord(
        "Keys and values of the tokens so far, kept while a Transformer generates, so that each new token costs one"
        " step. It is always on.",
        ("model.kv_heads", "decoding.context"),
    ),
    "label smoothing": FieldWord(
        "Training toward a target of 1 - ε for the true class and ε shared among all.",
        ("training.label_smoothing",),
    ),
    "latency": FieldWord(
        "The time until one prediction is there.", command="python -m benchmarks single_prediction"
    ),
    "learning-rate schedule": FieldWord(
        "How the learning rate changes during training: warm-up, then constant or decaying.",
        ("training.schedule", "training.warmup_steps", "training.decay_steps", "training.learning_rate"),
    ),
    "length penalty": FieldWord(
        "Normalizes the scores of beam search by length, which otherwise prefers short outputs.",
        ("decoding.length_penalty", "decoding.length_penalty_kind"),
    ),
    "mixed precision": FieldWord(
        "Forward and backward passes in bfloat16 with weights in float32.", ("training.precision",)
    ),
    "nucleus sampling": FieldWord(
        "Sampling from the smallest set of tokens whose probabilities sum to p (top-p).",
        ("decoding.top_p", "decoding.temperature"),
        "seqlab generate RUN --top-p 0.9",
    ),
    "out-of-vocabulary": FieldWord(
        "A word that the vocabulary does not have (OOV). It becomes the unknown token; subwords and characters"
        " avoid it.",
        ("tokens.kind", "tokens.min_count", "decoding.unknown"),
    ),
    "output gate": FieldWord(
        "The gate of an LSTM that decides how much of the cell state is shown: h' = o ⊙ tanh(c').",
        command="seqlab explain lstm",
    ),
    "overfitting": FieldWord(
        "The training loss falls while the validation loss rises. Use more data, more regularization, a smaller"
        " model or early stopping.",
        ("training.patience", "model.dropout", "training.weight_decay", "training.label_smoothing"),
    ),
    "padding mask": FieldWord(
        "Hides the padding that makes sequences of a batch equally long.",
        ("model.padding_mask", "training.pad_to"),
    ),
    "perplexity": FieldWord(
        "exp(mean negative log-likelihood per token): as uncertain as a choice among so many equally likely tokens."
        " Lower is better; comparable only with the same tokens.",
        command="seqlab evaluate RUN",
    ),
    "positional encoding": FieldWord(
        "How a Transformer knows the order of its tokens.",
        ("model.positions", "model.max_positions"),
        "seqlab list positions",
    ),
    "pretraining": FieldWord(
        "Training on text without labels first; the weights are then fine-tuned for a task.",
        ("start.run", "masked_language_model.mlm_probability"),
        "seqlab train FILE --from RUN",
    ),
    "scheduled sampling": FieldWord(
        "The decoder reads its own predictions for a growing share of its inputs, instead of the truth.",
        ("scheduled_sampling.schedule", "scheduled_sampling.min_teacher_forcing_ratio"),
    ),
    "teacher forcing": FieldWord(
        "While training, a decoder reads the true previous token, not its own prediction.",
        ("scheduled_sampling.min_teacher_forcing_ratio", "scheduled_sampling.schedule"),
    ),
    "tensorboard": FieldWord(
        "seqlab writes no TensorBoard logs. Every run has curves in report.html and all numbers in journal.jsonl, one"
        " JSON object per line; a callback can write them anywhere else (docs/extending.md).",
    ),
    "throughput": FieldWord("Sequences or tokens per second.", ("training.batch_size", "training.threads")),
    "tokenizer": FieldWord(
        "Text to tokens and back: characters, words, subwords or bytes.",
        ("tokens.kind", "tokens.size"),
        "seqlab list tokens",
    ),
    "transfer learning": FieldWord(
        "Using what was learned on one task or dataset for another: pretraining, then fine-tuning.",
        ("start.run", "start.vectors"),
        "seqlab gain FILE --from RUN",
    ),
    "truncated bptt": FieldWord(
        "Back-propagation through time over a limited number of steps, while the hidden state is carried on.",
        ("language_model.bptt_steps", "language_model.stateful", "language_model.window"),
    ),
    "vanishing gradient": FieldWord(
        "Gradients that shrink with the number of steps they flow back through, so that distant inputs are not"
        " learned from. Gates and residual paths help.",
        ("model.cell.kind", "model.residual"),
        "seqlab study vanishing",
    ),
    "vocabulary": FieldWord("All tokens that a model knows.", ("tokens.size", "tokens.min_count")),
    "warm-up": FieldWord("Steps over which the learning rate grows from 0.", ("training.warmup_steps",)),
    "weight decay": FieldWord(
        "Shrinks the weights a little at every update (decoupled, as in AdamW).", ("training.weight_decay",)
    ),
}
WORDS |= {
    name: FieldWord(meaning, command="seqlab evaluate RUN")
    for name, meaning in SCORES.items()
    if name not in WORDS
}
OTHER_NAMES = {
    "95% ci": "confidence interval",
    "bptt": "truncated bptt",
    "early_stopping": "early stopping",
    "exploding gradients": "exploding gradient",
    "fine tuning": "fine-tuning",
    "finetuning": "fine-tuning",
    "key-value cache": "kv cache",
    "learning rate schedule": "learning-rate schedule",
    "nucleus": "nucleus sampling",
    "oov": "out-of-vocabulary",
    "regularization": "overfitting",
    "top-p sampling": "nucleus sampling",
    "vanishing gradients": "vanishing gradient",
    "warmup": "warm-up",
}


def find_word(topic: str) -> tuple[str, FieldWord] | None:
    """A word however it is spelled: upper case, hyphens, underscores and spaces do not matter.

    >>> find_word("Early-Stopping")[0], find_word("KV_cache")[0], find_word("fine tuning")[0], find_word("lstm")
    ('early stopping', 'kv cache', 'fine-tuning', None)
    """
    by_spelling = {_spelling(word): word for word in WORDS}
    by_spelling |= {_spelling(other): word for other, word in OTHER_NAMES.items()}
    word = by_spelling.get(_spelling(topic))
    return (word, WORDS[word]) if word else None


def _spelling(word: str) -> str:
    return " ".join(word.casefold().replace("-", " ").replace("_", " ").split())
