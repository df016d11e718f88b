"""A prepared decoder: laid out once, shared by threads, and never changed by a search."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
import torch
from torch import Tensor

from seqlab.attention.recording import record_alignments
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.decoding.batched_decoding import decode_batched
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.continuation import generate_tokens
from seqlab.decoding.coverage import CoveragePenalty
from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.forced_scoring import score_targets
from seqlab.decoding.prepared_decoder import prepare_decoder
from seqlab.decoding.protocol import Seq2SeqModel
from seqlab.decoding.recording import record_search
from seqlab.decoding.search import Search, SpecialTokens
from seqlab.decoding.settings import DecodingSettings
from seqlab.decoding.stepwise import StepwiseSearch
from seqlab.decoding.token_choice import Greedy, MultinomialSampler
from seqlab.models.base import backbones
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import SequenceSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.models.single_step.product import PackedLinear
from tests.models.pairs_to_try import END, PAD, SMALL, SOURCE_TOKENS, START, build_pair

THREADS = 8
SPECIAL = SpecialTokens(START, END, (PAD,))
RECURRENT = RecurrentSettings(hidden_size=6, bidirectional=True)
SEARCHES: dict[str, Search] = {
    "greedy": StepwiseSearch(SPECIAL, Greedy(), max_tokens=6),
    "beam": BeamSearch(SPECIAL, beam_size=3, max_tokens=6, n_best=2),
    "beam with coverage": BeamSearch(
        SPECIAL, beam_size=3, max_tokens=6, coverage_penalty=CoveragePenalty(0.4)
    ),
    "sampling": StepwiseSearch(SPECIAL, MultinomialSampler(seed=5, num_samples=2), max_tokens=6),
}
MODELS: dict[str, Callable[[], Seq2SeqModel]] = {
    "ensemble": lambda: Ensemble([build_pair(SMALL, seed=seed) for seed in (3, 5)]),
    "transformer": lambda: build_pair(SMALL),
    "float32 transformer": lambda: build_pair(SMALL).float(),
    "rotary transformer": lambda: build_pair(SMALL.model_copy(update={"positions": "rotary"})),
    "recurrent with attention": lambda: build_pair(RECURRENT, DecoderSettings(attention="additive")),
    "input feeding": lambda: build_pair(RECURRENT, DecoderSettings(attention="additive", context="input")),
}
LANGUAGE_MODELS: dict[str, SequenceSettings] = {
    "lstm": RecurrentSettings(cell="lstm", hidden_size=8),
    "transformer": TransformerSettings(hidden_size=8, heads=2, layers=2),
    "rotary": TransformerSettings(hidden_size=8, heads=2, positions="rotary"),
}


@pytest.fixture(autouse=True)
def _often_interrupted() -> Iterator[None]:
    """Threads take turns often, so that shared state cannot survive by luck."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


def sources_of(thread: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(thread)
    return [torch.randint(3, SOURCE_TOKENS, (length,), generator=generator) for length in (2 + thread, 5, 3)]


def in_threads(work: Callable[[int], object]) -> list[object]:
    """The results of all threads, which begin at the same time."""
    barrier = Barrier(THREADS)

    def wait_and_work(thread: int) -> object:
        barrier.wait()
        return work(thread)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(wait_and_work, range(THREADS)))


def decode(model: object, search: Search, thread: int) -> list[list[tuple[list[int], float]]]:
    answers = decode_batched(model, sources_of(thread), search, batch_size=2)  # type: ignore[arg-type]
    return [[(each.tokens, round(each.score, 5)) for each in hypotheses] for hypotheses in answers]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
def test_eight_threads_with_different_searches_decode_what_one_decodes(model: str) -> None:
    prepared, searches = prepare_decoder(MODELS[model]()), 2 * list(SEARCHES.values())
    expected = [decode(prepared, searches[thread], thread) for thread in range(THREADS)]
    assert len({str(answers) for answers in expected}) == THREADS  # sources matter
    assert in_threads(lambda thread: decode(prepared, searches[thread], thread)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("kind", LANGUAGE_MODELS)
def test_eight_threads_continue_prompts_as_one_does(kind: str, temperature: float) -> None:
    torch.manual_seed(4)
    settings = LANGUAGE_MODELS[kind]
    backbone = backbones.get(settings.kind).from_settings(settings, causal=True)
    model = LanguageModel(
        TokenEmbedding(11, backbone.input_size, pad_id=None), backbone, dropout=0.0, tied=False
    ).eval()
    decoding = DecodingSettings(temperature=temperature, max_tokens=10, seed=3)

    def continue_prompt(thread: int) -> list[int]:
        return list(generate_tokens(model, [thread, 1 + thread // 2], decoding))

    expected = [continue_prompt(thread) for thread in range(THREADS)]
    assert in_threads(continue_prompt) == expected


def test_positions_beyond_the_table_are_right_in_every_thread() -> None:
    """The table of sinusoidal positions grows while others read it."""
    model = build_pair(SMALL)
    positions = model.decoder.positions
    lengths = [300 * (thread + 1) for thread in range(THREADS)]

    def add(thread: int) -> Tensor:
        steps = torch.zeros(1, lengths[thread], 8, dtype=torch.float64)
        return positions.add(steps, torch.arange(lengths[thread])[None])  # type: ignore[operator]

    found = in_threads(add)
    longest = add(THREADS - 1)
    for length, rows in zip(lengths, found, strict=True):
        assert isinstance(rows, Tensor)
        assert torch.equal(rows, longest[:, :length])


def test_a_recording_sees_the_calls_of_its_own_thread_only() -> None:
    model, source = build_pair(SMALL), sources_of(0)[0][None]

    def record(_: int) -> int:
        with record_alignments(model) as alignments:
            for _ in range(3):
                model.encode(source, torch.ones_like(source, dtype=torch.bool))
        return len(alignments["encoder.layers.0.attention"])

    assert in_threads(record) == [3] * THREADS


@pytest.fixture
def layouts(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The shapes of the matrices that were laid out so far."""
    shapes: list[tuple[int, ...]] = []
    original = PackedLinear.__init__

    def count(self: PackedLinear, weight: Tensor, bias: Tensor | None) -> None:
        shapes.append(tuple(weight.shape))
        original(self, weight, bias)

    monkeypatch.setattr(PackedLinear, "__init__", count)
    return shapes


@pytest.mark.parametrize("build", [lambda: build_pair(SMALL), lambda: Ensemble([build_pair(SMALL)])])
def test_weights_are_laid_out_once_for_any_number_of_calls(
    layouts: list[tuple[int, ...]], build: Callable[[], Seq2SeqModel]
) -> None:
    prepared = prepare_decoder(build())
    once = len(layouts)
    assert once == 2 * 6 + 1  # two layers of six matrices, and the output layer
    beam = BeamSearch(SPECIAL, beam_size=2, max_tokens=4)
    for call in range(3):
        decode(prepared, SEARCHES["greedy"], call)
        record_search(prepared, sources_of(call)[0], beam)
        score_targets(prepared, sources_of(call), [[3, 4]] * 3, SPECIAL)
    assert len(layouts) == once
    assert prepare_decoder(prepared) is prepared
    assert len(layouts) == once


def test_a_bare_model_is_laid_out_once_in_every_call(layouts: list[tuple[int, ...]]) -> None:
    model = build_pair(SMALL)
    prepared = prepare_decoder(model)
    once = len(layouts)
    assert decode(model, SEARCHES["beam"], 0) == decode(prepared, SEARCHES["beam"], 0)
    decode(model, SEARCHES["beam"], 1)
    assert len(layouts) == 3 * once


def test_after_the_weights_changed_a_decoder_is_prepared_again() -> None:
    model = build_pair(SMALL)
    before = decode(prepare_decoder(model), SEARCHES["beam"], 0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter))
    after = decode(prepare_decoder(model), SEARCHES["beam"], 0)
    assert after != before
    search = SEARCHES["beam"]
    assert after == decode(_Unprepared(model), search, 0)


@pytest.mark.parametrize("build", [lambda: build_pair(SMALL), lambda: Ensemble([build_pair(SMALL)])])
def test_a_model_that_moves_after_it_was_prepared_is_not_read_from_old_weights(
    build: Callable[[], EncoderDecoder | Ensemble],
) -> None:
    """To another dtype, as to another device."""
    model = build()
    prepared = prepare_decoder(model)
    model.float()
    expected = prepare_decoder(model)
    assert decode(prepared, SEARCHES["beam"], 0) == decode(expected, SEARCHES["beam"], 0)
    moved, fresh = (
        score_targets(decoder, sources_of(0), [[3, 4]] * 3, SPECIAL) for decoder in (prepared, expected)
    )
    assert moved == fresh
    assert prepare_decoder(prepared) is not prepared


class _Unprepared:
    """The network itself, whatever it is."""

    def __init__(self, model: EncoderDecoder) -> None:
        self.encode, self.decode = model.encode, model.decode
