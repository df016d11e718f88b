"""The captioner's decoders against their equations, for every cell and score."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from seqlab.attention.base import score_functions
from seqlab.cells.base import cells
from seqlab.core.errors import UsageError
from seqlab.decoding.search import SourceBatch, SpecialTokens
from seqlab.decoding.stepwise import StepwiseSearch
from seqlab.decoding.token_choice import Greedy, MultinomialSampler, TokenChooser
from seqlab.models.images.captioner import Captioner, build_captioner
from seqlab.models.images.regions import RegionBackbone
from seqlab.studies.kit.small_models import cell_maker

START, END = 0, 1
OPTIONS = {"projected_lstm": {"proj_size": 7}}


def captioner(view: str, *, cell: str = "gru", score: str = "additive", hidden_size: int = 7) -> Captioner:
    torch.manual_seed(8)
    network = RegionBackbone(channels=2, hidden_size=7, region_pixels=2, rows=2, columns=3)
    model = build_captioner(
        network,
        cell_maker(cell, **OPTIONS.get(cell, {})),
        num_words=5,
        num_regions=6,
        word_size=3,
        hidden_size=8 if cell == "projected_lstm" else hidden_size,
        view=view,
        score=score,
    )
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.5)
    return model.double().eval()


def pictures(batch: int = 2) -> Tensor:
    return torch.randn(batch, 2, 4, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


WORDS = torch.tensor([[0, 2, 4, 3], [0, 3, 3, 2]])


def test_regions_stand_where_they_are_in_the_picture() -> None:
    network = captioner("attention").network
    assert isinstance(network, RegionBackbone)
    features = network.stage(pictures())
    for row in range(2):
        for column in range(3):
            square = features[:, :, 2 * row : 2 * row + 2, 2 * column : 2 * column + 2].amax(dim=(2, 3))
            expected = network.mix(square + network.positions.table[3 * row + column]).clamp(min=0)
            torch.testing.assert_close(network(pictures())[:, 3 * row + column], expected)


@pytest.mark.spec(6, 176)
def test_a_picture_as_first_input_is_read_before_the_words() -> None:
    model = captioner("first_input", cell="lstm")
    regions, decoder = model.network(pictures()), model.decoder
    first = regions.reshape(2, 6 * 7) @ decoder.summary.weight.T + decoder.summary.bias
    inputs = torch.cat(
        [first.unsqueeze(1), model.embed(WORDS)], dim=1
    )  # the picture is the first of the steps
    twin = nn.LSTM(3, 7, batch_first=True).double()
    with torch.no_grad():
        for ours, theirs in {
            "input": "weight_ih_l0",
            "recurrent": "weight_hh_l0",
            "bias": "bias_ih_l0",
        }.items():
            getattr(twin, theirs).copy_(getattr(decoder.cell, ours))
        twin.bias_hh_l0.zero_()
    expected = model.output(twin(inputs)[0][:, 1:])
    torch.testing.assert_close(model(pictures(), WORDS)[0], expected, rtol=0, atol=1e-10)


@pytest.mark.spec(6, 176)
def test_a_picture_as_first_state_is_where_the_words_start() -> None:
    model = captioner("state", cell="rnn")
    regions, decoder = model.network(pictures()), model.decoder
    hidden = torch.tanh(regions.reshape(2, 6 * 7) @ decoder.summary.weight.T + decoder.summary.bias)
    cell = decoder.cell
    for place in range(4):
        hidden = torch.tanh(
            model.embed(WORDS[:, place : place + 1])[:, 0] @ cell.input.T
            + hidden @ cell.recurrent.T
            + cell.bias
        )
        torch.testing.assert_close(
            model(pictures(), WORDS)[0][:, place], model.output(hidden), rtol=0, atol=1e-10
        )


@pytest.mark.spec(6, 150)
def test_at_every_word_the_hidden_state_looks_at_the_regions() -> None:
    model = captioner("attention", cell="rnn")
    regions, decoder, cell = model.network(pictures()), model.decoder, model.decoder.cell
    logits, alignment = model(pictures(), WORDS)
    score = decoder.attention.score
    hidden = torch.tanh(regions.mean(dim=1) @ decoder.summary.weight.T + decoder.summary.bias)
    for place in range(4):
        inner = torch.tanh(
            (hidden @ score.project_query.weight.T).unsqueeze(1) + regions @ score.project_key.weight.T
        )
        weights = torch.softmax((inner @ score.energy.weight.T).squeeze(-1), dim=-1)  # (batch, regions)
        torch.testing.assert_close(alignment[:, place], weights, rtol=0, atol=1e-10)
        context = (weights.unsqueeze(-1) * regions).sum(dim=1)
        read = torch.cat([model.embed(WORDS[:, place : place + 1])[:, 0], context], dim=-1)
        hidden = torch.tanh(read @ cell.input.T + hidden @ cell.recurrent.T + cell.bias)
        torch.testing.assert_close(
            logits[:, place], model.output(torch.cat([hidden, context], dim=-1)), rtol=0, atol=1e-10
        )


@pytest.mark.parametrize("view", ["state", "first_input", "attention"])
@pytest.mark.parametrize("cell", cells.names())
def test_any_cell_writes_word_by_word_what_it_writes_at_once(cell: str, view: str) -> None:
    model = captioner(view, cell=cell)
    whole, alignment = model(pictures(), WORDS)
    decoder_state, found = model.encode(pictures(), torch.ones(2, 1, dtype=torch.bool)), []
    for word in WORDS.split(1, dim=1):
        logits, decoder_state = model.decode(word, torch.ones_like(word, dtype=torch.bool), decoder_state)
        found.append(logits)
    torch.testing.assert_close(torch.cat(found, dim=1), whole, rtol=0, atol=1e-12)
    assert (alignment is None) == (view != "attention")
    assert all(len(part) == 2 for part in decoder_state.cache)  # rows of a state can be picked
    (whole * torch.randn_like(whole)).sum().backward()
    assert [name for name, parameter in model.named_parameters() if parameter.grad is None] == []


@pytest.mark.spec(150, 127)
@pytest.mark.parametrize("score", score_functions.names())
def test_any_score_compares_state_and_regions(score: str) -> None:
    model = captioner("attention", score=score)
    _, alignment = model(pictures(), WORDS)
    assert alignment is not None
    torch.testing.assert_close(alignment.sum(dim=-1), torch.ones(2, 4, dtype=torch.float64))
    assert alignment.std() > 0.01
    assert type(model.decoder.attention.score) is score_functions.get(score)


def test_the_future_of_a_caption_is_not_seen() -> None:
    model = captioner("attention")
    other = WORDS.clone()
    other[:, 2:] = 1
    torch.testing.assert_close(
        model(pictures(), WORDS)[0][:, :2], model(pictures(), other)[0][:, :2], rtol=0, atol=0
    )


def search(chooser: TokenChooser, *, max_tokens: int) -> StepwiseSearch:
    return StepwiseSearch(SpecialTokens(START, END, (START,)), chooser, max_tokens=max_tokens)


def asked(batch: int) -> SourceBatch:
    return SourceBatch.from_tokens(pictures(batch), torch.ones(pictures(batch).shape[:2], dtype=torch.bool))


def log_probs(model: Captioner, picture: Tensor, words: list[int]) -> list[float]:
    """Of the words and the end token, from one run over the whole caption."""
    logits, _ = model(picture.unsqueeze(0), torch.tensor([[START, *words]]))
    return [logits[0].log_softmax(dim=-1)[place, word].item() for place, word in enumerate([*words, END])]


@pytest.mark.spec(176)
@pytest.mark.parametrize("view", ["state", "first_input", "attention"])
@torch.no_grad()
def test_searches_write_captions(view: str) -> None:
    """Greedy words are the likeliest after the words before; what is drawn carries the log-probabilities of
    one run over the whole caption.
    """
    model = captioner(view, cell="lstm")
    for picture, (caption,) in zip(
        pictures(3), search(Greedy(), max_tokens=6).run(model, asked(3)), strict=True
    ):
        words: list[int] = []
        while len(words) < 6:
            logits, _ = model(picture.unsqueeze(0), torch.tensor([[START, *words]]))
            best = max(
                range(1, 5), key=lambda word: logits[0, -1, word].item()
            )  # the start token is never chosen
            if best == END:
                break
            words.append(best)
        assert (caption.tokens, caption.ended) == (words, len(words) < 6)
    drawn = search(MultinomialSampler(temperature=1.3, seed=5, num_samples=4), max_tokens=30).run(
        model, asked(2)
    )
    assert len({tuple(caption.tokens) for caption in drawn[0]}) > 1
    for picture, captions in zip(pictures(2), drawn, strict=True):
        for caption in captions:
            expected = log_probs(model, picture, caption.tokens)[: len(caption.token_log_probs)]
            assert caption.token_log_probs == pytest.approx(expected, abs=1e-9)


def test_a_view_that_does_not_exist_and_widths_that_do_not_fit_are_refused() -> None:
    with pytest.raises(UsageError) as caught:
        captioner("atention")
    message = str(caught.value)
    assert "'atention'" in message
    assert "Did you mean 'attention'?" in message
    assert "attention, first_input, state" in message
    with pytest.raises(UsageError, match="queries have width 9 and keys 7"):
        captioner("attention", score="dot", hidden_size=9)
