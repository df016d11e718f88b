"""Documents side by side in a stream are read as if each were alone."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.document_boundaries import DocumentPieces
from seqlab.models.language_model import LanguageModel
from tests.models.settings_to_try import build, recurrent

START, VOCAB = 2, 9


def language_model(cell: str = "lstm", **settings: object) -> LanguageModel:
    backbone = build(recurrent(cell, layers=2, embedding_size=4, **settings), causal=True)
    return (
        LanguageModel(
            TokenEmbedding(VOCAB, 4, pad_id=None), backbone, dropout=0.0, tied=False, start_id=START
        )
        .double()
        .eval()
    )


def real(tokens: Tensor) -> Tensor:
    return torch.ones_like(tokens, dtype=torch.bool)


@given(st.lists(st.lists(st.integers(0, 4), min_size=1, max_size=9), min_size=1, max_size=5))
def test_pieces_are_the_rows_cut_before_every_start_token(rows: list[list[int]]) -> None:
    time = max(map(len, rows))
    tokens = torch.tensor(
        [row + [START] * (time - len(row)) for row in rows]
    )  # padding that looks like starts
    is_token = torch.arange(time) < torch.tensor([len(row) for row in rows])[:, None]
    expected: list[tuple[int, list[int]]] = []
    for number, row in enumerate(rows):
        for place, token in enumerate(row):
            if place == 0 or token == START:
                expected.append((number, []))
            expected[-1][1].append(token)
    cut = DocumentPieces.split(tokens, is_token, start_id=START)
    found = [
        (row, piece[is_real].tolist())
        for row, piece, is_real in zip(cut.row.tolist(), cut.tokens, cut.is_token, strict=True)
    ]
    assert found == expected
    assert cut.is_new.tolist() == [piece[0] == START for _, piece in expected]
    joined = cut.merge_features(cut.tokens.unsqueeze(-1).double(), is_token).squeeze(-1)
    assert torch.equal(joined[is_token], tokens[is_token].double())
    assert not joined[~is_token].any()
    numbers = torch.arange(len(expected))[:, None]
    last = [
        max(place for place, (row, _) in enumerate(expected) if row == number) for number in range(len(rows))
    ]
    assert cut.final_states((numbers,))[0].squeeze(1).tolist() == last


@pytest.mark.spec(88)
@pytest.mark.parametrize("cell", ["lstm", "peephole_lstm", "gru", "min_gru"])
@pytest.mark.parametrize("initial_state", ["zeros", "learned"])
def test_a_stream_of_documents_gives_what_each_document_gives_alone(cell: str, initial_state: str) -> None:
    model = language_model(cell, initial_state=initial_state)
    rows = torch.tensor([[START, 5, 6, START, 7, 8, 3, START], [4, 5, START, START, 1, 0, 8, 8]])
    logits, state = model(rows, real(rows))
    for row, pieces in enumerate([[(0, 3), (3, 7), (7, 8)], [(0, 2), (2, 3), (3, 8)]]):
        for start, stop in pieces:
            document = rows[row : row + 1, start:stop]
            alone, last = model(document, real(document))
            torch.testing.assert_close(logits[row, start:stop], alone[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(
            tuple(part[row] for part in state), tuple(part[0] for part in last), rtol=0, atol=1e-12
        )


@pytest.mark.spec(183)
@pytest.mark.parametrize("pieces", [[1] * 8, [3, 5], [2, 1, 5]], ids=str)
def test_documents_in_windows_with_the_state_carried_give_what_the_whole_stream_gives(
    pieces: list[int],
) -> None:
    model = language_model(initial_state="learned")
    rows = torch.tensor(
        [[5, 6, START, 7, 8, 3, START, 4], [1, START, START, 6, 7, 1, 0, 8], [3, 3, 4, 5, 6, 7, 8, 1]]
    )
    whole, last = model(rows, real(rows))
    state, found = None, []
    for piece in rows.split(pieces, dim=1):
        logits, state = model(piece, real(piece), state)
        found.append(logits)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=1e-12)
    torch.testing.assert_close(state, last, rtol=0, atol=1e-12)


def test_no_gradient_crosses_the_border_of_a_document() -> None:
    model = language_model()
    rows = torch.tensor([[5, 6, START, 7, 8], [4, 4, 4, 4, START]])
    state = tuple(torch.randn(2, 5, dtype=torch.float64, requires_grad=True) for _ in range(4))
    logits, _ = model(rows, real(rows), state)
    within = torch.autograd.grad(logits[0, 2:].sum() + logits[1, 4:].sum(), state, retain_graph=True)
    assert not any(part.any() for part in within)
    before = torch.autograd.grad(logits[0, :2].sum(), state)
    assert all(part[0].any() for part in before)


def test_ragged_prompts_may_hold_documents() -> None:
    model = language_model()
    rows = torch.tensor([[5, START, 6, 7], [5, 6, 0, 0]])
    is_token = torch.tensor([[True] * 4, [True, True, False, False]])
    logits, state = model(rows, is_token)
    for row, length in ((0, 4), (1, 2)):
        alone, last = model(rows[row : row + 1, :length], is_token[row : row + 1, :length])
        torch.testing.assert_close(logits[row, :length], alone[0], rtol=0, atol=1e-12)
        torch.testing.assert_close(
            tuple(part[row] for part in state), tuple(part[0] for part in last), rtol=0, atol=1e-12
        )
