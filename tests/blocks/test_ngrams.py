"""Runs of neighbouring tokens, against lists of strings."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from torch import Tensor

from seqlab.blocks.ngrams import NO_KEY, NGramTable, count_keys, distinct_ngrams, ngram_keys

TEXTS = [[5, 3, 5, 3, 9], [3], [9, 9, 9, 9, 9, 9, 2], [2, 5, 3]]


def padded(texts: list[list[int]], *, width: int = 0) -> tuple[Tensor, Tensor]:
    """Texts side by side; the padding is a token that also stands in texts, so that a slip shows."""
    width = max(width, *map(len, texts))
    tokens = torch.tensor([text + [3] * (width - len(text)) for text in texts])
    return tokens, torch.arange(width) < torch.tensor([len(text) for text in texts]).unsqueeze(1)


def runs(text: list[int], longest: int) -> set[tuple[str, ...]]:
    """Every run of a text with its borders as strings; a border alone is none."""
    steps = ["<", *map(str, text), ">"]
    found = {
        tuple(steps[start : start + size])
        for size in range(1, longest + 1)
        for start in range(len(steps) - size + 1)
    }
    return found - {("<",), (">",)}


@pytest.mark.parametrize("longest", [1, 2, 4])
def test_equal_keys_are_equal_runs(longest: int) -> None:
    rows, keys = distinct_ngrams(*padded(TEXTS), max_n=longest)
    of_row = [set(keys[rows == row].tolist()) for row in range(len(TEXTS))]
    truth = [runs(text, longest) for text in TEXTS]
    assert [len(found) for found in of_row] == [len(each) for each in truth]
    for one in range(len(TEXTS)):
        for other in range(len(TEXTS)):
            assert len(of_row[one] & of_row[other]) == len(truth[one] & truth[other])


def test_padding_and_neighbours_change_no_key() -> None:
    rows, keys = distinct_ngrams(*padded(TEXTS, width=11), max_n=3)
    for number, text in enumerate(TEXTS):
        alone = distinct_ngrams(*padded([text, text]), max_n=3)
        assert torch.equal(keys[rows == number], alone[1][alone[0] == 0])


def test_keys_of_a_large_corpus_do_not_collide() -> None:
    tokens = torch.randint(0, 50_000, (40, 1_000), generator=torch.Generator().manual_seed(1))
    keys = ngram_keys(tokens, torch.ones_like(tokens, dtype=torch.bool), max_n=2)
    pairs = {(a, b) for row in tokens.tolist() for a, b in zip(["<", *row], [*row, ">"], strict=True)}
    assert len(set(keys.flatten().tolist()) - {NO_KEY}) == len(
        {word for row in tokens.tolist() for word in row}
    ) + len(pairs)


def test_a_table_has_the_runs_of_most_texts() -> None:
    counts = Counter(run for text in TEXTS for run in runs(text, 2))
    kept = {run for run, times in counts.items() if times >= 2}
    table = NGramTable(len(kept) + 3, max_n=2, min_df=2)
    table.fit(
        [padded(TEXTS[:3]), padded([TEXTS[3], [7]])]
    )  # a batch with one text that has nothing in common with the others
    rows, places = table(*padded(TEXTS))
    assert [int((rows == row).sum()) for row in range(len(TEXTS))] == [
        len(runs(text, 2) & kept) for text in TEXTS
    ]
    assert len(set(places.tolist())) == len(kept)
    most = NGramTable(1, max_n=2, min_df=1)
    most.fit([padded(TEXTS)])
    (best, _), *_ = counts.most_common(1)
    assert best == ("3",)
    assert most(*padded(TEXTS))[0].tolist() == [0, 1, 3]


def test_forgetting_on_the_way_never_loses_a_frequent_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.blocks.ngrams.MAX_PENDING_KEYS", 50)
    generator = torch.Generator().manual_seed(3)
    parts = [
        torch.cat([torch.tensor([1, 2, 3]), torch.randint(10, 10_000, (40,), generator=generator)])
        for _ in range(20)
    ]
    exact = Counter(torch.cat(parts).tolist())
    assert (
        dict(zip(*(each.tolist() for each in count_keys(iter(parts), max_keys=10**9)), strict=True)) == exact
    )
    keys, counts = count_keys(iter(parts), max_keys=100)
    found = dict(zip(keys.tolist(), counts.tolist(), strict=True))
    assert len(found) < len(exact) / 2
    assert all(found[key] == 20 for key in (1, 2, 3))
    assert all(found[key] <= exact[key] for key in found)
