"""What every score that a run reports means, by its name."""

from __future__ import annotations

SCORES = {
    "accuracy": "Share of answers that are right. With rare classes, look at macro_f1 too. Higher is better.",
    "average_precision": "Area under the curve of precision over recall, for two classes. Higher is better.",
    "bits_per_character": (
        "Mean -log2 P of a character: comparable between models with different tokens. Lower is better."
    ),
    "bits_per_token": "Mean -log2 P of the next token; nats_per_token divided by log 2. Lower is better.",
    "bleu": "Share of n-grams (up to 4 words) in common with the reference, from 0 to 100. Higher is better.",
    "bleu_lower": "BLEU of lower-cased text. Higher is better.",
    "character_error_rate": (
        "Edits that turn the output into the reference, per character of the reference; can exceed 1. Lower is better."
    ),
    "chrf": "F-score of character n-grams in common with the reference, from 0 to 100. Higher is better.",
    "ece": (
        "Expected calibration error: mean gap between confidence and accuracy. 0.05 means that a stated probability"
        " is off by 5 points on average. Lower is better."
    ),
    "exact_match": "Share of outputs that equal the reference. Higher is better.",
    "loss": "Mean cross-entropy in nats, what training minimizes. Lower is better.",
    "macro_f1": "Mean F1 over the classes: every class counts the same, however rare. Higher is better.",
    "mae": "Mean absolute error, in the unit of the label. Lower is better.",
    "meteor": "Words in common with the reference, allowing for word order and stems, from 0 to 1. Higher is better.",
    "micro_f1": "F1 of all yes-no decisions about labels together. Higher is better.",
    "nats_per_token": "Mean -log P of the next token, natural logarithm. Lower is better.",
    "r_squared": "Share of the label's variance that is explained: 1 is perfect, 0 is the mean. Higher is better.",
    "rmse": "Root of the mean squared error, in the unit of the label. Lower is better.",
    "roc_auc": "Probability that a positive example gets a higher score than a negative one. Higher is better.",
    "spearman": "Correlation of the predicted with the true ranks, from -1 to 1. Higher is better.",
    "subset_accuracy": "Share of rows whose labels are all right. Higher is better.",
    "ter": "Translation edit rate: word edits and shifts per 100 words of the reference. Lower is better.",
    "token_error_rate": "Token edits that turn the output into the reference, per token of it. Lower is better.",
}
