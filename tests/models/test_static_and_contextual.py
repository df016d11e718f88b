"""A word's row is the same wherever it stands; what a network makes of it depends on its neighbours, as far
as the network sees them.
"""

from __future__ import annotations

import pytest
import torch

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.settings.convolutional import ConvolutionalSettings
from tests.models.settings_to_try import AnySettings, build, recurrent

SENTENCES = torch.tensor([[3, 4, 5, 7], [3, 8, 5, 2]])  # token 3 begins both, token 5 stands third


@pytest.mark.spec(32)
@pytest.mark.parametrize(
    ("settings", "looks_ahead"),
    [
        (recurrent("gru", hidden_size=6), False),
        (recurrent("lstm", hidden_size=6, bidirectional=True), True),
        (ConvolutionalSettings(hidden_size=6, layers=2, kernel_size=3), True),
    ],
    ids=["gru", "lstm, both ways", "convolution"],
)
def test_the_same_word_has_one_row_and_another_vector_beside_other_words(
    settings: AnySettings, looks_ahead: bool
) -> None:
    torch.manual_seed(2)
    backbone = build(settings, causal=False)
    embedded = TokenEmbedding(9, backbone.input_size, pad_id=None).double()(SENTENCES)
    assert torch.equal(embedded[0, [0, 2]], embedded[1, [0, 2]])
    contextual, _ = backbone(embedded, torch.ones_like(SENTENCES, dtype=torch.bool))
    differs = (contextual[0] - contextual[1]).abs().amax(dim=-1) > 1e-3
    assert differs[2]  # another word stands before it
    assert bool(differs[0]) == looks_ahead  # nothing stands before it
