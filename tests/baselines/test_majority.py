"""The most frequent class."""

from __future__ import annotations

import pytest

from seqlab.baselines.majority import MajorityClass
from seqlab.core.errors import UsageError


def test_the_most_frequent_class_is_the_answer_to_everything() -> None:
    majority = MajorityClass.fit([2, 0, 2, 1, 2, 0], num_classes=4)
    assert majority.predict(3).tolist() == [2, 2, 2]
    assert majority.frequencies.tolist() == pytest.approx([2 / 6, 1 / 6, 3 / 6, 0])


def test_of_equally_frequent_classes_the_first_is_taken() -> None:
    assert MajorityClass.fit(iter([1, 1, 0, 0]), num_classes=3).label_id == 0


def test_no_labels_are_refused() -> None:
    with pytest.raises(UsageError, match="most frequent label"):
        MajorityClass.fit([], num_classes=3)
