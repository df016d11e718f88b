"""Where runs of every kind look, compared with attention computed by hand from their weights."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import seqlab
from seqlab.core.errors import UsageError
from seqlab.inspection.attention_page import attention_heatmap, write_attention_page
from seqlab.inspection.attention_weights import attention_weights
from seqlab.runs.run import Run
from tests.pages.reading import Page, pictures
from tests.runs.source_runs import SMALL, hurried, pretrain, write_table

pytestmark = pytest.mark.slow  # trainings and commands: short each, long together

TEXT = "blue two red two"


@pytest.fixture(scope="module")
def looking(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    folder = tmp_path_factory.mktemp("alignments")
    table = write_table(folder)
    runs = {
        "language": pretrain(folder, steps=2),
        "masked": pretrain(folder, task="masked_language_model", steps=2),
    }
    small = [*SMALL, "model.hidden_size=8", "tokens.kind=words", "model.layers=2"]
    with hurried():
        runs["classifier"] = seqlab.train(
            table, *small, "model.heads=2", model="transformer", steps=2, out=folder / "classifier"
        )
        queries = ["model.pooling=queries", "model.queries=4"]
        runs["queries"] = seqlab.train(table, *small, *queries, model="gru", steps=2, out=folder / "queries")
        runs["plain"] = seqlab.train(table, *small, model="gru", steps=2, out=folder / "plain")
    return runs


@pytest.mark.spec(143)
@pytest.mark.parametrize(
    ("kind", "layers", "heads"), [("language", 3, 2), ("masked", 3, 2), ("classifier", 2, 2)]
)
def test_every_layer_and_head_of_a_transformer_is_there(
    kind: str, layers: int, heads: int, looking: dict[str, Run]
) -> None:
    found = attention_weights(looking[kind], TEXT)
    assert [layer.title for layer in found] == [f"layer {number}" for number in range(1, layers + 1)]
    for layer in found:
        assert layer.tokens[:4] == ["blue", "two", "red", "two"]
        assert layer.query_tokens == layer.tokens
        assert layer.alignment.shape == (heads, len(layer.tokens), len(layer.tokens))
        assert isinstance(layer.alignment, np.ndarray)
        assert layer.alignment.sum(axis=-1) == pytest.approx(1.0, abs=1e-5)
    future = np.triu(np.ones(found[0].alignment.shape[1:]), k=1) > 0
    assert bool((found[0].alignment[:, future] == 0).all()) == (kind == "language")


def test_the_first_layer_is_the_softmax_of_its_own_products(looking: dict[str, Run]) -> None:
    run = looking["classifier"]
    ids = torch.from_numpy(run.codec.encode([TEXT])[0]).long().unsqueeze(0)
    backbone = run.model.backbone
    with torch.no_grad():
        steps = backbone.positions.add(run.model.embed(ids), torch.arange(4).unsqueeze(0))
        layer = backbone.layers[0]
        q, k, _ = layer.attention.qkv(layer.attention_residual.before_sublayer(steps))[0].chunk(
            3, dim=-1
        )  # (time, 8) each
    for head, weights in enumerate(attention_weights(run, TEXT)[0].alignment):
        mine = slice(4 * head, 4 * head + 4)
        scores = (q[:, mine] @ k[:, mine].T / 2.0).double().numpy()
        expected = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
        assert weights == pytest.approx(expected, abs=1e-5)


@pytest.mark.spec(136)
def test_learned_queries_give_a_weight_for_every_token(looking: dict[str, Run]) -> None:
    run = looking["queries"]
    (layer,) = attention_weights(run, TEXT)  # as many queries as tokens: still told apart
    assert layer.title == "learned queries"
    assert layer.query_tokens == ["query 1", "query 2", "query 3", "query 4"]
    _, features = run.word_vectors(TEXT)
    queries = run.model.pool.look.queries.detach().numpy()
    scores = queries @ features.T / features.shape[1] ** 0.5
    assert layer.alignment[0] == pytest.approx(
        np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True), abs=1e-5
    )
    strips = attention_heatmap(layer)
    assert [strip.name for strip in strips.rows] == layer.query_tokens
    assert strips.rows[1].weights == pytest.approx(layer.alignment[0, 1])


def test_looking_changes_nothing(looking: dict[str, Run]) -> None:
    run = looking["classifier"]
    before = run.predict([TEXT])
    run.model.train()
    first, again = attention_weights(run, TEXT), attention_weights(run, TEXT)
    assert run.model.training
    run.model.eval()
    assert first[0].alignment == pytest.approx(again[0].alignment)  # no dropout
    assert run.predict([TEXT]) == before
    assert all(
        module.alignment_hook is None for module in run.model.modules() if hasattr(module, "alignment_hook")
    )


@pytest.mark.spec(136)
def test_the_page_shows_every_token_weight_and_head(looking: dict[str, Run], tmp_path: Path) -> None:
    layers = attention_weights(looking["classifier"], TEXT)
    html = write_attention_page(layers, tmp_path / "look.html").read_text(encoding="utf-8")
    page = Page(html)
    assert page.names() & {"script", "link", "img"} == set()
    assert len(pictures(html)) == 2 * (1 + 2)  # a strip and two maps for each layer
    assert f"blue attends to red: {layers[0].alignment[1, 0, 2]:.3f}" in page.text
    assert f"red: {layers[1].alignment[0, :, 2].mean():.3f}" in page.text
    long = write_attention_page(
        attention_weights(looking["classifier"], "red " * 50), tmp_path / "long.html"
    ).read_text(encoding="utf-8")
    assert len(pictures(long)) == 2  # too many pairs for a map
    assert (
        len(
            pictures(
                write_attention_page(
                    attention_weights(looking["queries"], TEXT), tmp_path / "queries.html"
                ).read_text(encoding="utf-8")
            )
        )
        == 1
    )


def test_networks_without_attention_say_so(looking: dict[str, Run]) -> None:
    with pytest.raises(
        UsageError,
        match=r"the recurrent network of this run has no attention(.|\n)*model\.pooling=queries",
    ):
        attention_weights(looking["plain"], TEXT)
    with pytest.raises(UsageError, match="no attention weights to draw"):
        write_attention_page([], "nowhere.html")
