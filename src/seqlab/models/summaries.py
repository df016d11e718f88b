"""One line for each model: what sets it apart, and when to use it. No torch here."""

from __future__ import annotations

from seqlab.cells.registry import cells
from seqlab.models.presets import MODEL_PRESETS

MODEL_SUMMARIES = {
    "rnn": "Plain (Elman) RNN; a baseline, and for short dependencies.",
    "lstm": "Gates and a cell state; the default, a good first choice.",
    "gru": "Two gates, no cell state; smaller, often as good as LSTM.",
    "peephole_lstm": "LSTM whose gates see the cell state; for precise timing.",
    "coupled_lstm": "LSTM with one gate fewer; smaller, but it cannot count.",
    "layer_norm_lstm": "LSTM with layer norm; stabler training, slower steps.",
    "projected_lstm": "LSTM with a projected output; for a large cell state.",
    "reset_before_gru": "GRU of the published paper; to reproduce older results.",
    "single_gate": "One gate mixes old and new state; between RNN and GRU.",
    "additive": "The gated additive update alone; shows what a gate does.",
    "orthogonal_rnn": "RNN with an orthogonal matrix; for long dependencies.",
    "min_gru": "Gates depend on the input only; small and fast.",
    "birnn": "Bidirectional RNN; a baseline for bilstm and bigru.",
    "bilstm": "Bidirectional LSTM; first choice for tagging.",
    "bigru": "Bidirectional GRU; smaller than bilstm.",
    "convolutional": "Dilated convolutions; fast, with a bounded context.",
    "fixed_window": "One hidden layer over a few steps; no memory.",
    "transformer": "Self-attention; for larger data, translation and pretraining.",
    "vision_transformer": "Transformer over patches; needs more images.",
    "image_convolutional": "3 × 3 convolutions; first choice for images.",
    "non_local": "cnn2d with self-attention after its first stage.",
    "n_gram_bag": "Linear n-gram classifier; fast, strong on long texts.",
    "linear": "Linear map from a window to its forecast; strong baseline.",
}
MODEL_SYNONYMS = {
    "recurrent": "lstm",
    "cnn": "convolutional",
    "vit": "vision_transformer",
    "cnn2d": "image_convolutional",
    "bag": "n_gram_bag",
    "nlinear": "linear",
}
"""Aliases of another name."""


def model_summary(name: str) -> str:
    """
    >>> model_summary("gpt2")
    'GPT-2 (2019): 12 layers × 768, 124.5M parameters.'
    >>> model_summary("cnn") == model_summary("convolutional")
    True
    """
    name = MODEL_SYNONYMS.get(name, name)
    if name in MODEL_PRESETS:
        return MODEL_PRESETS[name].summary
    return MODEL_SUMMARIES.get(name) or cells.summary(name)
