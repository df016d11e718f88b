"""The record of a search against all continuations, listed by hand."""

from __future__ import annotations

import json

import pytest
import torch

from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.constraints import MinTokens, NoRepeatNGram
from seqlab.decoding.diversity import Diversity
from seqlab.decoding.length_normalization import PowerLengthPenalty
from seqlab.decoding.recording import record_search
from seqlab.decoding.search import SourceBatch
from tests.decoding.tables_to_try import SYMBOLS, TableTranslator, batch

SOURCE = (1, 2)


@pytest.mark.spec(120)
def test_every_continuation_is_in_the_tree_with_its_fate() -> None:
    """Width 2 over a vocabulary of 4: at each step all continuations of what was kept before; the two best
    that do not end go on, and those that end among the two best are complete.
    """
    model = TableTranslator(4, seed=2)
    search = BeamSearch(SYMBOLS, beam_size=2, n_best=2, max_tokens=4, length_penalty=PowerLengthPenalty(1.0))
    answers, tree = record_search(model, torch.tensor(SOURCE), search, num_pruned=100)
    assert [one.tokens for one in answers] == [
        one.tokens for one in search.run(model, SourceBatch.from_tokens(*batch([SOURCE])))[0]
    ]
    still_open: dict[tuple[int, ...], tuple[int, float]] = {(): (-1, 0.0)}
    for step in range(1, max(one.step for one in tree.candidates) + 1):
        following = [
            (total + model.log_prob(SOURCE, written, token), ident, written, token)
            for written, (ident, total) in still_open.items()
            for token in range(4)
        ]
        following.sort(key=lambda one: -one[0])
        here = [one for one in tree.candidates if one.step == step]
        assert [(one.parent, one.token) for one in here] == [
            (ident, token) for _, ident, _, token in following
        ]
        assert [one.log_prob for one in here] == pytest.approx([total for total, *_ in following], abs=1e-5)
        assert [one.score for one in here] == pytest.approx(
            [total / step for total, *_ in following], abs=1e-5
        )
        fates, num_open = [], 0
        for rank, (*_, token) in enumerate(following):
            num_open += token != 0
            if token == 0:
                fates.append("ended" if rank < 2 else "pruned")
            else:
                fates.append("pruned" if num_open > 2 else "cut" if step == 4 else "kept")
        assert [one.fate for one in here] == fates
        still_open = {
            (*written, token): (one.ident, total)
            for one, (total, _, written, token) in zip(here, following, strict=True)
            if one.fate == "kept"
        }
    for rank, answer in enumerate(answers, start=1):
        (end,) = [one for one in tree.candidates if one.rank == rank]
        assert (end.score, end.fate == "ended") == (answer.score, answer.ended)


@pytest.mark.spec(120)
def test_a_tree_is_plain_data_with_words() -> None:
    _, tree = record_search(
        TableTranslator(4, seed=2), torch.tensor(SOURCE), BeamSearch(SYMBOLS, beam_size=2, max_tokens=3)
    )
    data = json.loads(json.dumps(tree.to_dicts(["‹end›", "a", "b", "c"].__getitem__), allow_nan=False))
    assert [entry["ident"] for entry in data] == list(range(len(data)))
    assert {entry["word"] for entry in data} <= {"‹end›", "a", "b", "c"}
    assert sum(entry["rank"] == 1 for entry in data) == 1


def test_groups_and_targets_that_could_not_go_on_are_in_the_tree_too() -> None:
    search = BeamSearch(
        SYMBOLS,
        beam_size=4,
        n_best=4,
        max_tokens=9,
        diversity=Diversity(2, 1.0),
        constraints=[NoRepeatNGram(1), MinTokens(7, end_id=0)],
    )
    answers, tree = record_search(TableTranslator(4, seed=2), torch.tensor(SOURCE), search)
    assert {one.group for one in tree.candidates} == {0, 1}
    assert {one.rank for one in tree.candidates if one.rank} == set(range(1, len(answers) + 1))
    assert all(len(one.tokens) == 3 and not one.ended for one in answers)


@pytest.mark.parametrize("num_pruned", [0, 1, 3])
def test_a_tree_shows_as_many_pruned_candidates_as_asked_for(num_pruned: int) -> None:
    search = BeamSearch(SYMBOLS, beam_size=2, max_tokens=5)
    _, tree = record_search(TableTranslator(6, seed=2), torch.tensor(SOURCE), search, num_pruned=num_pruned)
    for step in {one.step for one in tree.candidates}:
        fates = [one.fate for one in tree.candidates if one.step == step]
        assert fates.count("pruned") == num_pruned
