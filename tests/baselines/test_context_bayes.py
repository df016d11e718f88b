"""Tags by a word and its neighbors, compared with the formula written out."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from seqlab.baselines.context_bayes import SMOOTHING, context_features, cross_validated_tags

SENTENCES = [
    ["The", "dog", "sees"],
    ["a", "dog"],
    ["the", "song"],
    ["dog", "sees", "the", "dog"],
    ["sees"],
    ["The", "end"],
]
TAGS = [[0, 1, 2], [0, 1], [0, 1], [1, 2, 0, 1], [2], [0, 2]]


def views(sentence: list[str], place: int) -> tuple[str, str, str, str]:
    words = ["", *[word.lower() for word in sentence], ""]
    return words[place + 1], words[place + 1][-3:], words[place], words[place + 2]


def test_log_probabilities_follow_the_formula() -> None:
    features = context_features(SENTENCES)
    tags = np.array([tag for tags in TAGS for tag in tags])
    numbers = np.repeat(np.arange(len(SENTENCES)), [len(sentence) for sentence in SENTENCES])
    found = cross_validated_tags(features, tags, numbers, num_tags=3)
    words = [
        (number, views(sentence, place), TAGS[number][place])
        for number, sentence in enumerate(SENTENCES)
        for place in range(len(sentence))
    ]
    for row, (number, own, _) in enumerate(words):
        others = [(view, tag) for other, view, tag in words if other % 5 != number % 5]
        logits = []
        for tag in range(3):
            count = sum(other == tag for _, other in others)
            logit = log(count + SMOOTHING)
            for feature in range(4):
                matches = sum(other == tag and view[feature] == own[feature] for view, other in others)
                ids = {view[feature] for view, _ in others} | {
                    view[feature] for other, view, _ in words if other % 5 == number % 5
                }
                size = 1 + max(place_in_order(words, feature, value) for value in ids)
                logit += log((matches + SMOOTHING) / (count + SMOOTHING * size))
            logits.append(logit)
        total = sum(exp(logit) for logit in logits)
        assert found[row].tolist() == pytest.approx([logit - log(total) for logit in logits])


def place_in_order(words: list[tuple[int, tuple[str, str, str, str], int]], feature: int, value: str) -> int:
    """Values are numbered as they first occur."""
    return list(dict.fromkeys(view[feature] for _, view, _ in words)).index(value)


def test_the_tag_of_a_word_does_not_judge_itself() -> None:
    features = context_features(SENTENCES)
    numbers = np.repeat(np.arange(len(SENTENCES)), [len(sentence) for sentence in SENTENCES])
    tags = np.array([tag for tags in TAGS for tag in tags])
    other = tags.copy()
    own = numbers == 1  # folds: sentence 1 is alone in its fold
    other[own] = 2
    before, after = (cross_validated_tags(features, some, numbers, num_tags=3) for some in (tags, other))
    assert np.array_equal(before[own], after[own])
    assert not np.array_equal(before[~own], after[~own])


def test_no_words_have_no_features() -> None:
    assert context_features([]).shape[0] == 0
