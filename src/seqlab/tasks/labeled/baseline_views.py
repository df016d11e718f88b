"""Features of a split for baselines: the network's tokens, or other features of the text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from seqlab.baselines.text_features import BagView, bag_views
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tokens.vocabulary import Vocabulary

NETWORK_TOKENS = "the network's tokens"
TUNING = "valid"
"""The split on which a baseline chooses its features."""


def baseline_views(
    splits: Mapping[str, LabeledSplit], split: str, vocabulary: Vocabulary
) -> Iterator[BagView]:
    """Yield the splits that a baseline needs in every view; without validation data, only the network's
    tokens.
    """
    needed = {name: splits[name] for name in dict.fromkeys(("train", TUNING, split)) if name in splits}
    yield BagView(NETWORK_TOKENS, {name: encoded.steps for name, encoded in needed.items()}, len(vocabulary))
    texts = {name: _texts(encoded) for name, encoded in needed.items()}
    if TUNING in splits and all(len(texts[name]) == len(needed[name]) for name in needed):
        yield from bag_views(texts["train"], {name: some for name, some in texts.items() if name != "train"})


def _texts(split: LabeledSplit) -> list[str]:
    """Return the text of every row; empty for other inputs."""
    values = (row.values[split.input_column] for row in split.rows.rows())
    return [value for value in values if isinstance(value, str)]
