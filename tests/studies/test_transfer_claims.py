"""The study of few labels: what its classifiers see and start from, and its verdict."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import torch
from torch import nn

from seqlab.metrics.seeds import summarize_seeds
from seqlab.studies import few_labels
from seqlab.studies.few_labels import (
    LANGUAGES,
    PAD,
    FewLabelsConfig,
    NameClassifier,
    Names,
    conclude,
    train_classifier,
)
from seqlab.studies.kit.small_language_model import SmallLanguageModel
from seqlab.studies.kit.small_models import cell_maker
from seqlab.studies.kit.small_training import TrainingRecord
from tests.studies.findings import quick

SMALL = FewLabelsConfig(num_seeds=1, pretraining_steps=0, num_labels=(4,), steps=1, hidden_size=5)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Names:
    """Forty names in four languages, eight of them held out, and ten in another language."""
    monkeypatch.setattr(few_labels, "NUM_HELD_OUT", 8)
    known = {f"{language} {number}": language for language in LANGUAGES for number in range(10)}
    return Names.from_languages(known | {f"Danish {number}": "Danish" for number in range(10)})


def test_no_held_out_name_is_in_the_text_of_the_language_model(names: Names) -> None:
    unlabeled = {tuple(row) for row in names.unlabeled.tolist()}
    labeled = [tuple(row) for row in names.labeled.tolist()]
    assert (len(unlabeled), len(labeled)) == (42, 40)
    assert unlabeled.isdisjoint(labeled[:8])
    assert set(labeled[8:]) < unlabeled


def test_labels_are_those_of_their_names(names: Names) -> None:
    lengths = (names.labeled != PAD).sum(dim=1) - 2 - len(" 0")  # without both edges and the number
    expected = [len(LANGUAGES[label]) for label in names.labels.tolist()]
    assert lengths.tolist() == expected
    by_symbols: dict[tuple[int, ...], set[int]] = {}
    for row, label in zip(names.labeled.tolist(), names.labels.tolist(), strict=True):
        by_symbols.setdefault(tuple(row[1:5]), set()).add(label)
    assert sorted(map(len, by_symbols.values())) == [1, 1, 1, 1]


def test_rows_to_train_on_are_balanced_and_few_are_a_subset_of_many(names: Names) -> None:
    few, many = names.draw_labeled(8, seed=3), names.draw_labeled(16, seed=3)
    assert set(Counter(names.labels[few].tolist()).values()) == {2}
    assert set(Counter(names.labels[many].tolist()).values()) == {4}
    assert set(few.tolist()) < set(many.tolist())
    assert min(many.tolist()) >= 8  # none is held out
    assert set(names.draw_labeled(8, seed=4).tolist()) != set(few.tolist())


def test_the_classifier_averages_the_states_of_the_characters_and_not_of_padding() -> None:
    torch.manual_seed(0)
    language_model = SmallLanguageModel(7, cell_maker("gru"), 5)
    classifier = NameClassifier(language_model)
    name = torch.tensor([[1, 4, 6, 1]])
    states, _ = language_model.stack(language_model.embed(name), torch.ones(1, 4, dtype=torch.bool))
    expected = classifier.head(states.sum(dim=1) / 4)
    padded = torch.tensor([[1, 4, 6, 1, PAD, PAD]])
    assert torch.allclose(classifier(name), expected, atol=1e-6)
    assert torch.allclose(classifier(padded), expected, atol=1e-6)


def test_both_classifiers_differ_in_the_weights_of_the_language_model_only(
    names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[dict[str, torch.Tensor]] = []

    def train(model: nn.Module, *_: Any, **__: Any) -> TrainingRecord:
        started.append({name: value.clone() for name, value in model.state_dict().items()})
        return TrainingRecord([], [], 0.0)

    pretrained = few_labels.pretrain(names, SMALL, seed=0).state_dict()
    monkeypatch.setattr(few_labels, "train_small", train)
    for weights in (None, pretrained):
        train_classifier(names, SMALL, 4, 0, weights, 0.01)
    scratch, tuned = started
    assert torch.equal(scratch["head.weight"], tuned["head.weight"])
    kept = [name for name in tuned if name.startswith(("embed", "stack"))]
    assert all(torch.equal(tuned[name], pretrained[name]) for name in kept)
    assert any(not torch.equal(scratch[name], pretrained[name]) for name in kept)


def test_validation_and_test_names_are_different_held_out_names(
    names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored: list[list[int]] = []

    def score(_: NameClassifier, names: Names, rows: slice) -> float:
        scored.append(list(range(len(names.labels)))[rows])
        return 0.0

    monkeypatch.setattr(few_labels, "_accuracy", score)
    train_classifier(names, SMALL, 4, 0, None, 0.01)
    assert scored == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_the_learning_rate_is_chosen_on_validation_names(
    names: Names, monkeypatch: pytest.MonkeyPatch
) -> None:
    scores = {0.003: (0.6, 0.5), 0.01: (0.5, 0.9)}  # validation, test

    def train(*arguments: Any) -> tuple[float, float]:
        return scores[arguments[-1]]

    monkeypatch.setattr(few_labels, "train_classifier", train)
    assert few_labels.accuracies(names, SMALL, 0) == {(4, "from scratch"): 0.5, (4, "pretrained"): 0.5}


@pytest.mark.parametrize(
    ("few", "many", "verdict"),
    [
        ((0.10, 0.11, 0.12), (0.01, 0.02, 0.01), "Holds: "),
        ((0.10, 0.11, 0.12), (0.10, 0.12, 0.11), "Depends: "),  # helps as much with many labels
        ((0.01, -0.02, 0.01), (0.01, -0.01, 0.02), "Does not hold here: "),  # never helps
        ((0.10, 0.11, 0.12), (0.21, 0.22, 0.21), "Does not hold here: "),  # helps more with many labels
    ],
)
def test_the_verdict_compares_the_gains_with_few_and_many_labels(
    few: tuple[float, ...], many: tuple[float, ...], verdict: str
) -> None:
    conclusion = conclude({320: summarize_seeds(many), 20: summarize_seeds(few)})
    assert conclusion.startswith(verdict)
    assert f"{sum(few) / 3:+.3f}" in conclusion.replace("−", "-")


@pytest.mark.long
@pytest.mark.spec(112)
def test_a_pretrained_classifier_is_better_with_few_labels_and_its_gain_shrinks() -> None:
    found = quick("few_labels")
    gains = {int(row["labels"]): float(row["pretrained"]) - float(row["from scratch"]) for row in found.rows}
    assert gains[20] > 0.05
    assert gains[20] > gains[320] + 0.02
    accuracies = [float(row["from scratch"]) for row in found.rows]
    assert accuracies == sorted(accuracies)
    assert accuracies[0] > 1 / len(LANGUAGES)
