"""The warnings of a page: the most important first, one of each kind, the rest folded."""

from __future__ import annotations

import re
from collections.abc import Sequence

from seqlab.pages.html import Markup, tag

MAX_SHOWN = 5
TOPICS = (
    r"baseline|too few|skipped [\d,]+ of|the only label here",  # what the result is worth
    r"in train\b|in valid\b|also in training",  # test data that occurs in training
    r"labels?\b",
    r"skipped|left out|excluded|empty",
    r"repeat|nearly identical",
    r"truncated|longer than",
)
"""Topics of warnings, from those that invalidate a result to those that are good to know."""


def rank_warnings(sentences: Sequence[str]) -> tuple[list[str], list[str]]:
    """The sentences to show and those to fold: by topic, the first of each topic before the second of any.

    >>> rank_warnings(["train: 3 texts repeat an earlier one", "the model does not beat its baseline: …"])
    (['the model does not beat its baseline: …', 'train: 3 texts repeat an earlier one'], [])
    """
    distinct = list(dict.fromkeys(sentences))
    seen: dict[int, int] = {}
    placed = []
    for sentence in distinct:
        topic = _topic(sentence)
        seen[topic] = seen.get(topic, 0) + 1
        placed.append((seen[topic], topic, sentence))
    if len(placed) <= MAX_SHOWN:
        return [sentence for _, _, sentence in sorted(placed, key=lambda entry: entry[1])], []
    ranked = [sentence for _, _, sentence in sorted(placed, key=lambda entry: entry[:2])]
    folded = sorted(ranked[MAX_SHOWN:], key=_topic)
    return sorted(ranked[:MAX_SHOWN], key=_topic), folded


def limits_scores(sentence: str) -> bool:
    """Whether a warning is about what the scores are worth, so that it belongs next to them."""
    return _topic(sentence) == 0


def _topic(sentence: str) -> int:
    return next((place for place, pattern in enumerate(TOPICS) if re.search(pattern, sentence)), len(TOPICS))


def warnings_box(sentences: Sequence[str]) -> Markup:
    """The box at the top of a page; empty without warnings."""
    if not sentences:
        return Markup("")
    shown, folded = rank_warnings(sentences)
    count = len(shown) + len(folded)
    parts = [tag("b", f"{count} warning{'' if count == 1 else 's'}"), _list(shown)]
    if folded:
        parts.append(tag("details", tag("summary", f"{len(folded)} more"), _list(folded)))
    return tag("aside", *parts, class_="warnings", role="note")


def _list(sentences: Sequence[str]) -> Markup:
    return tag("ul", *[tag("li", sentence) for sentence in sentences])
