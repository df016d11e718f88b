"""What the characters of a word give, against plain loops and torch's own LSTM."""

from __future__ import annotations

import pytest
import torch

from seqlab.blocks.character_encoder import CharacterCNN, CharacterEncoder, CharacterLSTM
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.blocks.word_embedding import WordCharacterEmbedding, unique_rows

ROWS = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, 0, 0], [2, 5, 3, 0, 0]])


def encoders() -> list[CharacterEncoder]:
    torch.manual_seed(0)
    return [CharacterCNN(9, 7, embedding_size=4, widths=(2, 3)), CharacterLSTM(9, 7, embedding_size=4)]


def test_a_convolution_keeps_the_largest_value_over_all_places() -> None:
    encoder = CharacterCNN(9, 7, embedding_size=4, widths=(2, 3))
    found = encoder(ROWS)
    assert found.shape == (3, 7)
    for row, characters in enumerate(ROWS.tolist()):
        real = [character for character in characters if character]
        wanted = []
        for windows in encoder.windows:
            width = windows.kernel_size[0]
            embedded = [*encoder.embed.weight[torch.tensor(real)], *[torch.zeros(4)] * (width - 1)]
            values = [
                (windows.weight * torch.stack(embedded[place : place + width], dim=1)).sum(dim=(1, 2))
                + windows.bias
                for place in range(len(real))
            ]
            wanted.append(torch.relu(torch.stack(values)).max(dim=0).values)
        torch.testing.assert_close(found[row], torch.cat(wanted))


def test_a_recurrent_encoder_gives_the_last_states_of_both_directions() -> None:
    encoder = CharacterLSTM(9, 6, embedding_size=4)
    layer = encoder.stack.layers[0]
    twin = torch.nn.LSTM(4, 3, bidirectional=True, batch_first=True)
    for suffix, direction in (("", layer.onward), ("_reverse", layer.backward)):
        getattr(twin, f"weight_ih_l0{suffix}").data.copy_(direction.cell.input)
        getattr(twin, f"weight_hh_l0{suffix}").data.copy_(direction.cell.recurrent)
        getattr(twin, f"bias_ih_l0{suffix}").data.copy_(direction.cell.bias)
        getattr(twin, f"bias_hh_l0{suffix}").data.zero_()
    found = encoder(ROWS)
    for row, characters in enumerate(ROWS):
        real = characters[characters != 0][None]
        _, (last, _) = twin(encoder.embed(real))  # (directions, 1, 3)
        torch.testing.assert_close(found[row], last.flatten())


@pytest.mark.parametrize("number", [0, 1])
def test_what_fills_a_row_up_changes_nothing(number: int) -> None:
    encoder = encoders()[number]
    wider = torch.cat([ROWS, torch.zeros(3, 4, dtype=torch.int64)], dim=1)
    torch.testing.assert_close(encoder(wider), encoder(ROWS))
    torch.testing.assert_close(encoder(ROWS[1:2, :3]), encoder(ROWS)[1:2])
    assert encoder(torch.zeros(2, 5, dtype=torch.int64)).isfinite().all()
    encoder(torch.cat([ROWS, torch.zeros_like(ROWS)])).sum().backward()
    assert all(
        parameter.grad is not None and parameter.grad.isfinite().all() for parameter in encoder.parameters()
    )
    assert encoder.embed.weight.grad[0].abs().sum() == 0


@pytest.mark.parametrize("number", [0, 1])
def test_every_distinct_word_of_a_batch_is_encoded_once(number: int) -> None:
    encoder = encoders()[number]
    embed = WordCharacterEmbedding(
        TokenEmbedding(11, 3, pad_id=1), encoder, unk_id=0, drop_rates=torch.zeros(11)
    ).eval()
    words = torch.tensor([[4, 5, 4], [0, 5, 1]])
    characters = ROWS[torch.tensor([[0, 1, 0], [2, 1, 1]])]
    seen: list[int] = []
    encoder.register_forward_pre_hook(lambda _, given: seen.append(len(given[0])))
    vectors = embed(torch.cat([words.unsqueeze(-1), characters], dim=-1))
    assert seen == [3]
    torch.testing.assert_close(vectors[..., :3], embed.words(words))
    torch.testing.assert_close(vectors[..., 3:], encoder(characters.flatten(0, 1)).unflatten(0, (2, 3)))


def test_rows_that_share_a_number_are_still_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seqlab.blocks.word_embedding.MULTIPLIER", 1)  # the number of a row is its sum
    rows = torch.tensor([[1, 2], [2, 1], [1, 2]])
    distinct, places = unique_rows(rows)
    assert len(distinct) == 2
    assert torch.equal(distinct[places], rows)
