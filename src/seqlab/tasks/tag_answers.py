"""What a tagger said about every word of a split, and how good that is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from seqlab.metrics.classification import accuracy, confusion, macro_f1
from seqlab.metrics.score import Score
from seqlab.metrics.tagging import share_interval, token_macro_f1_interval
from seqlab.tasks.answers import Answers

BASELINE = "the word's most frequent tag"


@dataclass(frozen=True)
class TagAnswers:
    """The answers for all words laid end to end, and the number of the sentence in which each stands."""

    words: Answers
    sentences: Int[np.ndarray, " words"]


@dataclass(frozen=True)
class NaiveTags:
    """What a tagger that never looks at neighbours says of the same words, and which of them training has seen."""

    predicted: Int[np.ndarray, " words"]
    is_seen: Bool[np.ndarray, " words"]


def score(answers: TagAnswers, naive: NaiveTags | None) -> list[Score]:
    """Accuracy on all words and on those never seen, macro-F1 and loss, each with an interval over sentences."""
    words, sentences = answers.words, answers.sentences
    targets, predicted, num = words.targets, words.predicted, words.num_classes
    right, loss = share_interval(words.correct, sentences), share_interval(words.nats, sentences)
    macro = token_macro_f1_interval(targets, predicted, sentences, num_classes=num)
    how = _how(sentences)
    beside, beside_macro = _naive(targets, naive, num_classes=num)
    return [
        Score(
            "accuracy", accuracy(targets, predicted), right.low, right.high, baseline=beside, baseline_name=BASELINE,
            how=f"share of {len(targets):,} words with the right tag; {how}",
        ),
        *_on_unseen(answers, naive),
        Score(
            "macro_f1", macro_f1(confusion(targets, predicted, num_classes=num)), macro.low, macro.high,
            baseline=beside_macro, baseline_name=BASELINE,
            how=f"mean of the F1 of all tags; a tag never predicted counts 0; {how}",
        ),
        Score("loss", float(words.nats.mean()), loss.low, loss.high, higher_is_better=False, how=f"mean cross-entropy of a word in nats; {how}"),
    ]  # fmt: skip


def _naive(targets: Int[np.ndarray, " words"], naive: NaiveTags | None, *, num_classes: int) -> tuple[float | None, float | None]:
    """Accuracy and macro-F1 of the tags that are set without looking."""
    if naive is None:
        return None, None
    return accuracy(targets, naive.predicted), macro_f1(confusion(targets, naive.predicted, num_classes=num_classes))


def _how(sentences: Int[np.ndarray, " words"]) -> str:
    return f"95 % bootstrap interval over {len(np.unique(sentences)):,} sentences"


def _on_unseen(answers: TagAnswers, naive: NaiveTags | None) -> list[Score]:
    """Accuracy on the words that training never had, where there are any."""
    if naive is None or naive.is_seen.all():
        return []
    new = ~naive.is_seen
    correct, targets = answers.words.correct[new], answers.words.targets[new]
    reach = share_interval(correct, answers.sentences[new])
    return [
        Score(
            "accuracy_on_unseen_words", float(correct.mean()), reach.low, reach.high,
            baseline=accuracy(targets, naive.predicted[new]), baseline_name="the most frequent tag",
            how=f"share right of the {len(targets):,} words that the training data does not have; {_how(answers.sentences[new])}",
        )
    ]  # fmt: skip
