"""Short names of models: the values of `--model NAME`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seqlab.cells.settings import CELL_KINDS
from seqlab.models.presets import MODEL_PRESETS

SHORT_NAMES: dict[str, dict[str, object]] = {
    **{
        f"bi{name}": {"kind": "recurrent", "cell": name, "bidirectional": True}
        for name in ("rnn", "lstm", "gru")
    },
    "cnn": {"kind": "convolutional"},
    "recurrent": {"kind": "recurrent"},
    "convolutional": {"kind": "convolutional"},
    "fixed_window": {"kind": "fixed_window"},
    "transformer": {"kind": "transformer"},
    "vit": {"kind": "vision_transformer"},
    "cnn2d": {"kind": "image_convolutional"},
    "non_local": {"kind": "image_convolutional", "non_local": True},
    "vision_transformer": {"kind": "vision_transformer"},
    "image_convolutional": {"kind": "image_convolutional"},
    "bag": {"kind": "n_gram_bag"},
    "n_gram_bag": {"kind": "n_gram_bag"},
    "linear": {"kind": "linear"},
    "nlinear": {"kind": "linear"},
    **{name: network.settings for name, network in MODEL_PRESETS.items()},
}


class ModelAliases(Mapping[str, dict[str, object]]):
    """The settings behind a short name, or behind the name of any registered cell."""

    def __getitem__(self, name: str) -> dict[str, object]:
        return SHORT_NAMES[name] if name not in CELL_KINDS else {"kind": "recurrent", "cell": name}

    def __iter__(self) -> Iterator[str]:
        yield from CELL_KINDS
        yield from SHORT_NAMES

    def __len__(self) -> int:
        return len(CELL_KINDS) + len(SHORT_NAMES)


MODEL_ALIASES = ModelAliases()
