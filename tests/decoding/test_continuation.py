"""Continuing a prompt: what is fed, what is chosen, when it ends."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.decoding.continuation import generate_tokens
from seqlab.decoding.settings import DecodingSettings
from seqlab.models.base import ModelState, backbones
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings.convolutional import ConvolutionalSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings

VOCAB = 11
GREEDY = DecodingSettings(temperature=0, max_tokens=20)
BODIES = [
    RecurrentSettings(cell="lstm", hidden_size=8),
    ConvolutionalSettings(hidden_size=8, layers=2),
    TransformerSettings(hidden_size=8, heads=2),
    TransformerSettings(hidden_size=8, heads=2, positions="learned", max_positions=9),
]


class CountingModel:
    """Always expects the token after the last one it saw, and remembers what it was fed; its state is how
    much it has seen.
    """

    def __init__(self) -> None:
        self.fed: list[list[int]] = []
        self.seen: list[int] = []

    def __call__(
        self, tokens: Tensor, is_token: Tensor, state: ModelState | None = None
    ) -> tuple[Tensor, ModelState]:
        self.fed.append(tokens[0].tolist())
        self.seen.append(tokens.shape[1] + (0 if state is None else int(state[0])))
        return torch.nn.functional.one_hot((tokens + 1) % VOCAB, VOCAB).float(), (
            torch.tensor([self.seen[-1]]),
        )


def language_model(
    settings: RecurrentSettings | ConvolutionalSettings | TransformerSettings,
) -> LanguageModel:
    torch.manual_seed(4)
    backbone = backbones.get(settings.kind).from_settings(settings, causal=True)
    return LanguageModel(
        TokenEmbedding(VOCAB, backbone.input_size, pad_id=None), backbone, dropout=0.0, tied=False
    ).eval()


def likeliest_by_full_runs(
    model: LanguageModel, prompt: list[int], count: int, *, window: int | None = None
) -> Iterator[int]:
    """The likeliest continuation, each token from a run over all that came before (of the window)."""
    tokens = list(prompt)
    for _ in range(count):
        seen = torch.tensor([tokens[-window:] if window else tokens])
        logits, _ = model(seen, torch.ones_like(seen, dtype=torch.bool))
        tokens.append(int(logits[0, -1].argmax()))
        yield tokens[-1]


def test_the_prompt_is_fed_once_and_then_one_token_at_a_time() -> None:
    model = CountingModel()
    assert list(generate_tokens(model, [3, 1, 4], DecodingSettings(temperature=0, max_tokens=4))) == [
        5,
        6,
        7,
        8,
    ]
    assert model.fed == [[3, 1, 4], [5], [6], [7]]


def test_a_stop_token_ends_it_and_is_not_given() -> None:
    assert list(generate_tokens(CountingModel(), [3], GREEDY, stop_ids=[7])) == [4, 5, 6]


@pytest.mark.parametrize("temperature", [0.0, 1.0, 50.0])
def test_forbidden_tokens_are_never_chosen(temperature: float) -> None:
    settings = DecodingSettings(temperature=temperature, max_tokens=200)
    written = list(generate_tokens(CountingModel(), [3], settings, suppressed_ids=[4, 0, 9]))
    assert len(written) == 200
    assert not set(written) & {4, 0, 9}


@pytest.mark.parametrize("settings", BODIES[:3], ids=lambda settings: settings.kind)
def test_carrying_the_state_writes_what_full_runs_would_write(settings: RecurrentSettings) -> None:
    model = language_model(settings)
    with torch.inference_mode():
        expected = list(likeliest_by_full_runs(model, [1, 2, 3], 20))
    assert list(generate_tokens(model, [1, 2, 3], GREEDY)) == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings", BODIES, ids=lambda settings: f"{settings.kind} {getattr(settings, 'positions', '')}"
)
def test_the_same_seed_writes_the_same(settings: RecurrentSettings) -> None:
    model = language_model(settings)
    texts = [
        list(
            generate_tokens(
                model,
                [1],
                DecodingSettings(temperature=1, max_tokens=60, seed=seed),
                suppressed_ids=[0],
                context=9,
            )
        )
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


def test_a_model_with_a_window_starts_again_on_half_of_it() -> None:
    model = CountingModel()
    written = list(
        generate_tokens(model, [0, 1, 2], DecodingSettings(temperature=0, max_tokens=9), context=5)
    )
    assert written == [3, 4, 5, 6, 7, 8, 9, 10, 0]
    assert model.fed == [[0, 1, 2], [3], [4], [4, 5], [6], [7], [8], [8, 9], [10]]


def test_only_the_end_of_a_long_prompt_is_fed_to_a_model_with_a_window() -> None:
    model = CountingModel()
    next(generate_tokens(model, list(range(10)), GREEDY, context=4))
    assert model.fed == [[6, 7, 8, 9]]


@pytest.mark.parametrize("context", [1, 2, 3, 4, 7])
def test_a_window_of_any_size_is_never_exceeded(context: int) -> None:
    model = CountingModel()
    list(
        generate_tokens(
            model, list(range(6)), DecodingSettings(temperature=0, max_tokens=30), context=context
        )
    )
    assert max(model.seen) == context


def test_learned_positions_are_enough_for_any_length_within_the_window() -> None:
    assert (
        len(
            list(
                generate_tokens(
                    language_model(BODIES[3]), [1] * 30, DecodingSettings(max_tokens=50), context=9
                )
            )
        )
        == 50
    )


def test_a_window_of_one_sees_the_last_token_only() -> None:
    model = language_model(BODIES[2])
    with torch.inference_mode():
        expected = list(likeliest_by_full_runs(model, [1, 2], 12, window=1))
    assert (
        list(generate_tokens(model, [1, 2], DecodingSettings(temperature=0, max_tokens=12), context=1))
        == expected
    )


def test_tokens_come_as_they_are_chosen() -> None:
    model = CountingModel()
    stream = generate_tokens(model, [0], GREEDY)
    assert [next(stream), next(stream)] == [1, 2]
    assert len(model.fed) == 2


def test_writing_leaves_gradients_switched_on_for_whoever_asks() -> None:
    stream = generate_tokens(language_model(BODIES[0]), [1], GREEDY)
    next(stream)
    assert torch.is_grad_enabled()
    assert not torch.is_inference_mode_enabled()
