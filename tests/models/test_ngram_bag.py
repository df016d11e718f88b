"""The bag of n-grams, against a dictionary and plain arithmetic."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.blocks.ngrams import FOLD, MIX, NO_KEY, SPREAD
from seqlab.core.errors import ArgumentError, RecipeError
from seqlab.models.classifier import Classifier, build_classifier
from seqlab.models.count_statistics import Example, fit_count_statistics
from seqlab.models.ngram_bag import LOGIT_SCALE, NGramBag
from seqlab.models.settings.bag import BagSettings, NGramBagSettings
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.section import require_sequence_settings
from tests.blocks.test_ngrams import padded, runs

TEXTS = [[5, 3, 5], [3, 9], [9, 9, 2, 9], [2, 5, 3, 8], [7, 5], [3]]
CLASSES = [0, 2, 1, 0, 1, 2]
UNSEEN = [[5, 3, 8, 8], [40, 41], [9]]


def belongs() -> Tensor:
    return nn.functional.one_hot(torch.tensor(CLASSES), 3).float()


def examples() -> Iterator[Example]:
    """Two batches, as a split comes."""
    for part in (slice(0, 4), slice(4, 6)):
        yield *padded(TEXTS[part]), belongs()[part]


def counted(*, n_grams: int = 2, places: int = 64, least: int = 1) -> NGramBag:
    """A bag that has counted, with random weights."""
    bag = NGramBag(3, max_n=n_grams, max_features=places, min_df=least)
    bag.fit_counts(examples)
    generator = torch.Generator().manual_seed(5)
    nn.init.normal_(bag.weight, generator=generator)
    nn.init.normal_(bag.bias, generator=generator)
    return bag


def ratio(run: tuple[str, ...], label: int) -> float:
    """The log-count ratio by hand."""
    ours = [runs(text, 2) for text, its in zip(TEXTS, CLASSES, strict=True) if its == label]
    others = [runs(text, 2) for text, its in zip(TEXTS, CLASSES, strict=True) if its != label]
    every = set().union(*ours, *others)

    def share(texts: list[set[tuple[str, ...]]]) -> float:
        return (1 + sum(run in text for text in texts)) / sum(
            1 + sum(each in text for text in texts) for each in every
        )

    return math.log(share(ours)) - math.log(share(others))


def place_of(bag: NGramBag, run: tuple[str, ...]) -> int:
    """Where a run has its weight: its key in Python's whole numbers, which do not wrap around by
    themselves.
    """
    key = 0
    for step in run:
        number = {"<": 1, ">": 2}.get(step) or int(step) + 3
        key = (key * MIX + number) * SPREAD % 2**64
        key = key - 2**64 if key >= 2**63 else key
        key ^= key >> FOLD
    return bag.table.keys.tolist().index(key)


def by_hand(bag: NGramBag, text: list[int]) -> list[float]:
    known = set().union(*(runs(each, 2) for each in TEXTS))
    found = runs(text, 2) & known
    logits = bag.bias.tolist()
    for run in found:
        weights = bag.weight[place_of(bag, run)].tolist()
        for label in range(3):
            logits[label] += LOGIT_SCALE / math.sqrt(len(found)) * weights[label] * ratio(run, label)
    return logits


def test_logits_are_those_of_a_dictionary_of_runs() -> None:
    bag = counted()
    logits = bag(*padded(TEXTS + UNSEEN))
    for row, text in enumerate(TEXTS + UNSEEN):
        assert logits[row].tolist() == pytest.approx(by_hand(bag, text), abs=2e-5)


def test_with_one_class_against_another_ratios_are_opposite() -> None:
    bag = NGramBag(2, max_n=1, max_features=16, min_df=1)
    answers = nn.functional.one_hot(torch.tensor([0, 1, 1, 0, 1, 0]), 2).float()
    bag.fit_counts(lambda: [(*padded(TEXTS), answers)])
    torch.testing.assert_close(bag.ratios[:, 0], -bag.ratios[:, 1])
    assert bag.ratios.abs().max() > 0.1
    assert not bag.ratios[bag.table.keys == NO_KEY].any()


def test_where_answers_are_no_classes_every_n_gram_speaks_with_its_weight() -> None:
    bag = NGramBag(1, max_n=2, max_features=64, min_df=1)
    bag.fit_counts(lambda: [(*padded(TEXTS), None)])
    assert torch.equal(bag.ratios, torch.ones(64, 1))


def test_batch_and_padding_change_nothing() -> None:
    bag = counted()
    together = bag(*padded(TEXTS, width=13))
    for row, text in enumerate(TEXTS):
        torch.testing.assert_close(bag(*padded([text, *UNSEEN]))[0], together[row], rtol=0, atol=1e-6)


@pytest.mark.spec(18)
def test_order_is_seen_by_pairs_and_not_by_single_words() -> None:
    dog, bites, man = 5, 3, 9
    twins = padded([[dog, bites, man], [man, bites, dog]])
    alone = NGramBag(2, max_n=1, max_features=16, min_df=1)
    pairs = NGramBag(2, max_n=2, max_features=16, min_df=1)
    for bag in (alone, pairs):
        bag.fit_counts(lambda: [(*twins, torch.eye(2))])
        nn.init.normal_(bag.weight, generator=torch.Generator().manual_seed(1))
    one, other = alone(*twins)
    assert torch.equal(one, other)
    one, other = pairs(*twins)
    assert not torch.allclose(one, other)


def test_counting_again_gives_the_same_and_its_state_is_the_whole_of_it() -> None:
    bag, fresh = counted(), NGramBag(3, max_n=2, max_features=64, min_df=1)
    before = {name: tensor.clone() for name, tensor in bag.state_dict().items()}
    bag.fit_counts(examples)
    assert all(torch.equal(tensor, before[name]) for name, tensor in bag.state_dict().items())
    fresh.load_state_dict(before)
    assert torch.equal(fresh(*padded(UNSEEN)), bag(*padded(UNSEEN)))


def test_a_bag_beside_a_network_adds_its_logits_and_both_learn() -> None:
    def embedding(size: int) -> nn.Module:
        return TokenEmbedding(60, size, pad_id=1)

    model = build_classifier(
        ConvolutionalSettings(hidden_size=5, layers=1),
        embedding=embedding,
        num_classes=3,
        bag=BagSettings(n_grams=2, max_features=64),
    )
    assert isinstance(model, Classifier)
    assert model.bag is not None
    model.eval()
    fit_count_statistics(model, examples)
    nn.init.normal_(model.bag.weight)
    inputs = padded(TEXTS)
    bag, model.bag = model.bag, None
    expected = model(*inputs) + bag(*inputs)
    model.bag = bag
    torch.testing.assert_close(model(*inputs), expected)
    model(*inputs).square().sum().backward()
    assert all(
        parameter.grad is not None and parameter.grad.any()
        for parameter in (bag.weight, model.backbone.layers[0].convolve.weight)
    )


def test_numbers_and_tasks_with_steps_are_refused_with_words() -> None:
    with pytest.raises(ArgumentError, match=r"^n_grams=.*numeric"):
        build_classifier(NGramBagSettings(), embedding=nn.Identity, num_classes=2, num_features=4)
    with pytest.raises(RecipeError, match=r"model\.kind: a bag of n-grams"):
        require_sequence_settings(NGramBagSettings())
