"""The LSTM classifier of the lecture: embedding, LSTM, dropout, last step, 257 units with ReLU, dropout, one
sigmoid.
"""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.base import backbones
from seqlab.models.classifier import Classifier, build_head, build_pool
from seqlab.models.settings.recurrent import RecurrentSettings

VOCABULARY, EMBEDDING, HIDDEN, HEAD = 31, 7, 5, 257
LECTURE = RecurrentSettings(
    hidden_size=HIDDEN,
    embedding_size=EMBEDDING,
    head_size=HEAD,
    dropout=0.5,
    input_dropout=0.0,
    pooling="last",
)


class Printed(nn.Module):
    """As the lecture writes it, on torch.nn; it takes the last position of the padded batch."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, EMBEDDING)
        self.lstm = nn.LSTM(EMBEDDING, HIDDEN, batch_first=True)
        self.dropout = nn.Dropout(0.5)
        self.first, self.second = nn.Linear(HIDDEN, HEAD), nn.Linear(HEAD, 1)

    def forward(self, tokens: Tensor) -> Tensor:
        outputs, _ = self.lstm(self.embed(tokens))
        hidden = torch.relu(self.first(self.dropout(outputs)[:, -1]))
        return torch.sigmoid(self.second(self.dropout(hidden)))


def ours(settings: RecurrentSettings, *, num_classes: int = 2) -> Classifier:
    torch.manual_seed(5)
    backbone = backbones.get("recurrent").from_settings(settings, causal=False)
    embed = TokenEmbedding(VOCABULARY, EMBEDDING, pad_id=None)
    head = build_head(settings, backbone.output_size, num_classes)
    return Classifier(
        embed,
        backbone,
        build_pool(settings, backbone.output_size),
        head,
        dropout=settings.dropout,
        ignore_padding_mask=not settings.padding_mask,
    ).eval()


def printed_with(model: Classifier) -> Printed:
    """The printed network with the same weights."""
    printed, weights = Printed().eval(), dict(model.named_parameters())
    cell = "backbone.stack.layers.0.cell."
    with torch.no_grad():
        printed.embed.weight.copy_(weights["embed.weight"])
        printed.lstm.weight_ih_l0.copy_(weights[cell + "input"])
        printed.lstm.weight_hh_l0.copy_(weights[cell + "recurrent"])
        printed.lstm.bias_ih_l0.copy_(weights[cell + "bias"])
        printed.lstm.bias_hh_l0.zero_()
        printed.first.load_state_dict(
            {"weight": weights["head.hidden.weight"], "bias": weights["head.hidden.bias"]}
        )
        printed.second.load_state_dict(
            {"weight": weights["head.output.weight"] * 30, "bias": weights["head.output.bias"]}
        )
        model.head.output.weight.mul_(30)
    return printed


@pytest.mark.spec(75)
def test_the_layers_have_the_printed_shapes() -> None:
    shapes = {
        name: tuple(parameter.shape)
        for name, parameter in ours(LECTURE).named_parameters()
        if name.startswith("head")
    }
    assert shapes == {
        "head.hidden.weight": (257, HIDDEN),
        "head.hidden.bias": (257,),
        "head.output.weight": (1, 257),
        "head.output.bias": (1,),
    }


@pytest.mark.spec(75)
def test_sequences_without_padding_get_the_printed_probability() -> None:
    model, tokens = ours(LECTURE), torch.randint(VOCABULARY, (4, 9))
    expected = printed_with(model)(tokens)
    found = model(tokens, torch.ones(4, 9, dtype=torch.bool)).softmax(dim=-1)
    torch.testing.assert_close(found[:, 1:], expected, rtol=1e-5, atol=1e-6)
    assert found[:, 1].std() > 0.01  # the classes are not all the same


@pytest.mark.spec(75)
def test_the_last_real_step_counts_and_the_printed_last_position_is_a_named_choice() -> None:
    lengths = [9, 3, 5, 1]
    tokens, is_token = torch.randint(VOCABULARY, (4, 9)), torch.arange(9) < torch.tensor(lengths)[:, None]
    model = ours(LECTURE)
    printed = printed_with(model)
    found = model(tokens, is_token).softmax(dim=-1)[:, 1:]
    for row, length in enumerate(lengths):
        torch.testing.assert_close(
            found[row : row + 1], printed(tokens[row : row + 1, :length]), rtol=1e-5, atol=1e-6
        )
    literal = ours(LECTURE.model_copy(update={"padding_mask": False}))
    literal.load_state_dict(model.state_dict())
    as_printed = literal(tokens, is_token).softmax(dim=-1)[:, 1:]
    torch.testing.assert_close(as_printed, printed(tokens), rtol=1e-5, atol=1e-6)
    assert (as_printed - found)[1:].abs().min() > 1e-4


def test_more_than_two_classes_have_a_logit_each() -> None:
    assert ours(LECTURE, num_classes=3)(
        torch.zeros(2, 4, dtype=torch.int64), torch.ones(2, 4, dtype=torch.bool)
    ).shape == (2, 3)


def test_dropout_stands_where_the_lecture_has_it() -> None:
    model = ours(LECTURE)
    assert (model.backbone.dropout.p, model.dropout.p, model.head.dropout.p) == (0.0, 0.5, 0.5)
    assert ours(LECTURE.model_copy(update={"input_dropout": -1.0})).backbone.dropout.p == 0.5
