"""What becomes of hypotheses that end: by hand, by cost and score, and as in transformers."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor

from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.beam_policy import BeamPolicy, OpenBeam, SharedBeam, ThoroughBeam
from seqlab.decoding.length_normalization import PowerLengthPenalty
from seqlab.decoding.search import SourceBatch, SpecialTokens
from seqlab.models.decoders.base import DecoderState
from tests.decoding.tables_to_try import SYMBOLS, TableTranslator, batch

END = 0


def test_the_width_of_open_hypotheses_stays_where_others_end() -> None:
    tokens = torch.tensor([[END, 3, 4, END, 5, 6], [3, 4, 5, END, END, 6]])
    taken = OpenBeam().is_taken(tokens, end_id=END, width=3).tolist()
    assert taken == [[True, True, True, False, True, False], [True, True, True, False, False, False]]
    shared = SharedBeam().is_taken(tokens, end_id=END, width=3).tolist()
    assert shared == [[True, True, True, False, False, False]] * 2


def best_scores(policy: BeamPolicy, *, spread: float, alpha: float) -> tuple[list[float], int]:
    """The best score of each source, and the rows that the model had to compute."""
    scores, rows = [], 0
    for seed in range(8):
        model = TableTranslator(6, seed, spread=spread)
        search = BeamSearch(
            SYMBOLS, beam_size=3, max_tokens=14, length_penalty=PowerLengthPenalty(alpha), policy=policy
        )
        found = search.run(model, SourceBatch.from_tokens(*batch([(1, 2), (2,), (3, 1)])))
        scores += [targets[0].score for targets in found]
        rows += sum(model.batches)
    return scores, rows


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.5, 1.5, 4.0], ids=["flat", "usual", "peaked"])
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
def test_thorough_beams_score_best_and_open_ones_cost_least(spread: float, alpha: float) -> None:
    """Up to the mean (alpha 1), which is the default."""
    opened, open_rows = best_scores(OpenBeam(), spread=spread, alpha=alpha)
    thorough, thorough_rows = best_scores(ThoroughBeam(), spread=spread, alpha=alpha)
    shared, _ = best_scores(SharedBeam(), spread=spread, alpha=alpha)
    assert open_rows <= thorough_rows
    assert all(one >= other - 1e-9 for one, other in zip(thorough, opened, strict=True))
    assert sum(thorough) >= sum(shared) - 1e-9
    assert sum(opened) / len(opened) >= sum(shared) / len(shared) - 0.01


class Bart:
    """A network of transformers as a model of ours, without its cache."""

    def __init__(self, network: Any) -> None:
        self.network = network

    def encode(self, source: Tensor, source_is_token: Tensor) -> DecoderState:
        states = self.network.get_encoder()(source, source_is_token.long()).last_hidden_state
        return DecoderState((states, source_is_token), (torch.zeros(len(source), 0, dtype=torch.long),))

    def decode(
        self, targets: Tensor, is_token: Tensor, decoder_state: DecoderState
    ) -> tuple[Tensor, DecoderState]:
        written = torch.cat([decoder_state.cache[0], targets], dim=1)
        states, source_is_token = decoder_state.source
        each = len(written) // len(states)
        logits = self.network(
            encoder_outputs=(states.repeat_interleave(each, 0),),
            attention_mask=source_is_token.repeat_interleave(each, 0).long(),
            decoder_input_ids=written,
            use_cache=False,
        ).logits
        return logits[:, -1:], decoder_state.with_cache((written,))


IDS = {"bos_token_id": 0, "eos_token_id": 2, "pad_token_id": 1, "decoder_start_token_id": 3}
SOURCE = torch.randint(4, 12, (12, 5), generator=torch.Generator().manual_seed(1))
WIDTH, MAX_TOKENS = 3, 12

Found = list[tuple[list[int], float]]
"""The tokens and the score of every hypothesis."""


@pytest.fixture(scope="module")
def network() -> Any:
    """A random network of transformers that ends after 0 to 12 tokens. With tied embeddings it would repeat a
    token forever.
    """
    transformers = pytest.importorskip("transformers")
    sizes = {f"{side}_{name}": 1 for side in ("encoder", "decoder") for name in ("layers", "attention_heads")}
    inner = {f"{side}_ffn_dim": 16 for side in ("encoder", "decoder")}
    options = {"tie_word_embeddings": False, "forced_eos_token_id": None}
    with torch.random.fork_rng():
        torch.manual_seed(3)
        config = transformers.BartConfig(
            vocab_size=12, d_model=16, init_std=0.5, **options, **sizes, **inner, **IDS
        )
        network = transformers.BartForConditionalGeneration(config).eval()
    network.final_logits_bias[0, [0, 1, 3]] -= 50  # special tokens
    network.final_logits_bias[0, 2] += 2  # the end
    return network


def ours(network: Any, policy: BeamPolicy, alpha: float) -> Found:
    search = BeamSearch(
        SpecialTokens(3, 2, (0, 1, 3)),
        beam_size=WIDTH,
        n_best=WIDTH,
        max_tokens=MAX_TOKENS,
        length_penalty=PowerLengthPenalty(alpha),
        policy=policy,
    )
    is_token = torch.ones_like(SOURCE, dtype=torch.bool)
    found = search.run(Bart(network), SourceBatch.from_tokens(SOURCE, is_token))
    return [(hypothesis.tokens, hypothesis.score) for best in found for hypothesis in best]


def theirs(network: Any, early_stopping: bool | str, alpha: float) -> Found:
    from transformers import GenerationConfig

    options = GenerationConfig(
        num_beams=WIDTH,
        num_return_sequences=WIDTH,
        max_new_tokens=MAX_TOKENS,
        length_penalty=alpha,
        early_stopping=early_stopping,
        return_dict_in_generate=True,
        output_scores=True,
        **IDS,
    )
    found = network.generate(SOURCE, attention_mask=torch.ones_like(SOURCE), generation_config=options)
    rows = [row[1:] for row in found.sequences.tolist()]
    tokens = [row[: row.index(2)] if 2 in row else row for row in rows]
    return list(zip(tokens, found.sequences_scores.tolist(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0])
@pytest.mark.parametrize(("policy", "early_stopping"), [(OpenBeam(), False), (ThoroughBeam(), "never")])
def test_hypotheses_are_those_of_transformers(
    network: Any, policy: BeamPolicy, early_stopping: bool | str, alpha: float
) -> None:
    found, expected = ours(network, policy, alpha), theirs(network, early_stopping, alpha)
    assert [tokens for tokens, _ in found] == [tokens for tokens, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=1e-4)
    assert len({len(tokens) for tokens, _ in found}) >= 8


@pytest.mark.slow
def test_the_network_of_that_comparison_tells_the_policies_apart(network: Any) -> None:
    opened, thorough, shared = (
        [tokens for tokens, _ in ours(network, policy, 1.0)]
        for policy in (OpenBeam(), ThoroughBeam(), SharedBeam())
    )
    assert opened != thorough
    assert opened != shared
    assert thorough != shared
