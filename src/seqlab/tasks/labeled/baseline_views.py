"""Features of a split for baselines: the network's tokens, or other features of the text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

from seqlab.baselines.text_features import BagFeatures, BagView, fit_features
from seqlab.tasks.labeled.split import LabeledSplit
from seqlab.tokens.vocabulary import Vocabulary

NETWORK_TOKENS = "the network's tokens"
TUNING = "valid"
"""The split on which a baseline chooses its features."""
MAX_KEPT = 1 << 24
"""Features times outputs of a fitted model that is kept: 128 MB. A larger one is fitted again when needed."""

Model = TypeVar("Model")


def network_view(splits: Mapping[str, LabeledSplit], vocabulary: Vocabulary) -> BagView:
    """The splits as the network's tokens."""
    ids = {name: encoded.steps for name, encoded in splits.items()}
    return BagView(NETWORK_TOKENS, ids, len(vocabulary))


class FittedViews(Generic[Model]):
    """A baseline fitted on the training split in every view of it, once for all splits that are scored."""

    def __init__(
        self,
        train: LabeledSplit,
        vocabulary: Vocabulary,
        fit: Callable[[Iterable[Any], int], Model],
        *,
        num_outputs: int,
    ) -> None:
        """fit: returns the model for the ids of the training texts and the number of distinct ids."""
        self._train, self._vocabulary, self._fit, self._num_outputs = train, vocabulary, fit, num_outputs
        self._models: dict[str, Model] = {}
        self._encoded: dict[str, tuple[LabeledSplit, list[list[Any]]]] = {}

    def candidates(self, splits: Mapping[str, LabeledSplit], split: str) -> Iterator[tuple[BagView, Model]]:
        """Yield the splits that a baseline needs in every view, and the model fitted on it; without validation
        data, only the network's tokens.
        """
        names = (name for name in dict.fromkeys(("train", TUNING, split)) if name in splits)
        needed = {name: splits[name] for name in names}
        first = network_view(needed, self._vocabulary)
        yield first, self._model(first)
        if TUNING not in splits or not self._features:
            return
        ids = {name: self._encode(name, encoded) for name, encoded in needed.items()}
        if all(len(views) == len(self._features) for views in ids.values()):
            for number, features in enumerate(self._features):
                encoded = {name: views[number] for name, views in ids.items()}
                view = BagView(features.name, encoded, features.size)
                yield view, self._model(view)

    def _model(self, view: BagView) -> Model:
        if view.name in self._models:
            return self._models[view.name]
        model = self._fit(view.ids["train"], view.size)
        if view.size * self._num_outputs <= MAX_KEPT:
            self._models[view.name] = model
        return model

    @cached_property
    def _features(self) -> list[BagFeatures]:
        """The kinds of features, with the ids of the training texts among `_encoded`."""
        texts = _texts(self._train)
        features = list(fit_features(texts)) if len(texts) == len(self._train) else []
        self._encoded["train"] = self._train, [kind.encode(texts) for kind in features]
        return features

    def _encode(self, name: str, split: LabeledSplit) -> list[list[Any]]:
        """The texts of a split as ids of every kind of feature; nothing for other inputs."""
        if name not in self._encoded or self._encoded[name][0] is not split:
            texts = _texts(split)
            is_text = len(texts) == len(split)
            self._encoded[name] = (
                split,
                [kind.encode(texts) for kind in self._features] if is_text else [],
            )
        return self._encoded[name][1]


def _texts(split: LabeledSplit) -> list[str]:
    """Return the text of every row; empty for other inputs."""
    values = (row.values[split.input_column] for row in split.rows.rows())
    return [value for value in values if isinstance(value, str)]
