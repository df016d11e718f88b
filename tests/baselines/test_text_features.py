"""Features of texts against plain sets, and what long texts leave out."""

from __future__ import annotations

import pytest
from sklearn.feature_extraction.text import CountVectorizer

from seqlab.baselines import text_features
from seqlab.baselines.text_features import fit_features

TRAIN = ["The cat sat.", "the cat, the dog", "A dog   sat down", ""]
VALID = ["the bird sat", "Cat!"]


def test_every_view_has_the_features_that_scikit_learn_counts() -> None:
    kinds = {features.name: features for features in fit_features(TRAIN)}
    analyzers = {
        "words": CountVectorizer(token_pattern=r"\w+|[^\w\s]"),
        "words and word pairs": CountVectorizer(token_pattern=r"\w+|[^\w\s]", ngram_range=(1, 2)),
    }
    for name, vectorizer in analyzers.items():
        counts = vectorizer.fit_transform(TRAIN)
        assert kinds[name].size == counts.shape[1]
        assert [len(ids) for ids in kinds[name].encode(TRAIN)] == (counts > 0).sum(axis=1).ravel().tolist()[0]
        known = vectorizer.transform(VALID)
        assert [len(ids) for ids in kinds[name].encode(VALID)] == (known > 0).sum(axis=1).ravel().tolist()[0]


def test_ids_are_those_of_the_training_texts() -> None:
    for features in fit_features(TRAIN):
        used = {int(number) for ids in features.encode(TRAIN) for number in ids}
        assert used == set(range(features.size))
        assert all(0 <= number < features.size for ids in features.encode(VALID) for number in ids)


def test_long_texts_leave_out_what_would_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    features = {
        name: (of, 20 if name == "character n-grams" else most)
        for name, (of, most) in text_features.FEATURES.items()
    }
    monkeypatch.setattr(text_features, "FEATURES", features)
    assert [features.name for features in fit_features(TRAIN)] == ["words", "words and word pairs"]


def test_rare_features_are_dropped_beyond_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_features, "MAX_FEATURES", 2)
    words = next(fit_features(["a a b", "a b c", "a"]))
    assert words.size == 2
    assert [len(ids) for ids in words.encode(["a a b", "a b c", "a"])] == [2, 2, 1]
