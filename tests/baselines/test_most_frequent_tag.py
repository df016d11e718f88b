"""The naive tagger counts, and nothing else."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqlab.baselines.most_frequent_tag import MostFrequentTag

SENTENCES = st.lists(
    st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 3)), min_size=1), min_size=1
)


@pytest.mark.slow
@given(SENTENCES)
def test_no_tagger_by_word_alone_does_better_on_its_own_training_data(
    sentences: list[list[tuple[str, int]]],
) -> None:
    baseline = MostFrequentTag.fit(
        [([word for word, _ in pairs], [tag for _, tag in pairs]) for pairs in sentences]
    )
    pairs = [pair for sentence in sentences for pair in sentence]
    right = sum(
        tag == guess
        for (_, tag), guess in zip(pairs, baseline.predict([word for word, _ in pairs]), strict=True)
    )
    counts = Counter(pairs)
    assert right == sum(max(counts[word, tag] for tag in range(4)) for word in {word for word, _ in pairs})
    assert baseline.has_seen(pairs[0][0])
    total = Counter(tag for _, tag in pairs)
    assert total[baseline.predict(["never"])[0]] == max(total.values())
    assert not baseline.has_seen("never")
