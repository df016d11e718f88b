from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from seqlab.batches.columns import StepColumn
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter
from seqlab.batches.stored_column import StoredColumn
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.models.base import backbones
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.tasks.language_model import neural_cache
from seqlab.tasks.language_model.log_likelihood import stream_log_probs
from seqlab.tasks.language_model.neural_cache import CacheSettings, cache_log_probs, read_with_cache

VOCAB = 7


def make_model() -> LanguageModel:
    torch.manual_seed(3)
    backbone = backbones.get("recurrent").from_settings(
        RecurrentSettings(hidden_size=5, dropout=0), causal=True
    )
    return LanguageModel(TokenEmbedding(VOCAB, 5, pad_id=None), backbone, dropout=0.0, tied=True).eval()


def make_stream(folder: Path, length: int = 40) -> StoredColumn:
    writer = StoreWriter(folder, [StepColumn("tokens", np.dtype(np.uint8))])
    writer.extend(tokens=np.random.default_rng(4).integers(VOCAB, size=length).astype(np.uint8))
    writer.end_sequence()
    writer.finish()
    return Store(folder)["tokens"]


def test_probabilities_of_the_cache_are_those_of_the_equation_and_sum_to_one() -> None:
    torch.manual_seed(1)
    features, keys = torch.randn(3, 4), torch.randn(5, 4)
    targets, values = torch.tensor([2, 0, 2]), torch.tensor([1, 2, 0, 2, 1])
    seen = torch.cat([keys, features]), torch.cat([values, targets])
    for step in range(3):
        last = 5 + step
        window = range(max(0, last - 6), last)  # a cache of six
        weights = {place: float(torch.exp(0.7 * features[step] @ seen[0][place])) for place in window}
        total = 0.0
        for word in range(3):
            expected = sum(weight for place, weight in weights.items() if seen[1][place] == word) / sum(
                weights.values()
            )
            asked = torch.cat(
                [targets[:step], torch.tensor([word])]
            )  # only the last target is asked about; those before it are in the cache
            found = (
                cache_log_probs(features[: step + 1], asked, keys, values, theta=0.7, size=6)[step]
                .exp()
                .item()
            )
            assert found == pytest.approx(expected, rel=1e-5)
            total += found
        assert total == pytest.approx(1, rel=1e-5)


def test_with_no_share_the_cache_changes_nothing_and_pieces_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, stream = make_model(), make_stream(tmp_path / "store")
    plain = stream_log_probs(model, stream, window=11, carries_state=True, max_tokens=100)
    whole = read_with_cache(model, stream.values, thetas=(0.4,), size=9)
    np.testing.assert_allclose(whole.mixed(CacheSettings(0.4, 0.0)), plain, rtol=1e-5)
    monkeypatch.setattr(neural_cache, "STEPS", 6)
    pieces = read_with_cache(model, stream.values, thetas=(0.4,), size=9)
    mixed = CacheSettings(0.4, 0.3)
    np.testing.assert_allclose(pieces.mixed(mixed), whole.mixed(mixed), rtol=1e-5)
    assert not np.allclose(whole.mixed(mixed), plain, rtol=1e-2)


def test_the_best_numbers_make_the_text_likelier_than_others_do(tmp_path: Path) -> None:
    read = read_with_cache(make_model(), make_stream(tmp_path / "store").values)
    best = read.mixed(read.best()).mean()
    assert all(
        best >= read.mixed(CacheSettings(theta, share)).mean()
        for theta in neural_cache.THETAS
        for share in neural_cache.LAMBDAS
    )
