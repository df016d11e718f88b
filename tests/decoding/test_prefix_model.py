"""A function over prefixes is searched as a model with a state is."""

from __future__ import annotations

import torch
from torch import Tensor

from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.prefix_model import PrefixModel
from seqlab.decoding.search import SourceBatch
from tests.decoding.tables_to_try import SYMBOLS, TableTranslator


def test_a_beam_finds_the_same_hypotheses_as_with_a_model_that_keeps_its_state() -> None:
    table = TableTranslator(vocab=4)

    def next_logits(sources: Tensor, is_token: Tensor, prefixes: Tensor) -> Tensor:
        rows = []
        for source, real, prefix in zip(sources, is_token, prefixes, strict=True):
            assert prefix[0] == SYMBOLS.start_id
            rows.append(table.row("logits", tuple(source[real].tolist()), tuple(prefix[1:].tolist()), 4))
        return torch.stack(rows)

    sources = torch.tensor([[1, 2, 3], [2, 1, 0]])
    is_token = torch.tensor([[True, True, True], [True, True, False]])
    batch = SourceBatch.from_tokens(sources, is_token)
    search = BeamSearch(SYMBOLS, beam_size=3, n_best=3, max_tokens=5)
    hypotheses = search.run(PrefixModel(next_logits), batch)
    assert hypotheses == search.run(table, batch)
    assert len(hypotheses[0]) == 3
    assert len({tuple(hypothesis.tokens) for hypothesis in hypotheses[0]}) == 3
