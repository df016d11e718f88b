"""The attention that a user sees in a report: every weight is that of the network, at the right token.

The networks are hardly trained: what they look at does not matter, only that the report says it.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import torch

import seqlab
from seqlab.runs.run import Run
from tests.runs.saved_vocabulary import token_ids

pytestmark = pytest.mark.slow


def section(run: Run, kind: str) -> list[dict[str, Any]]:
    """The examples of one kind that the report shows, from the file of results."""
    results = json.loads((run.folder / "results.json").read_text(encoding="utf-8"))
    return [
        example
        for part in results["splits"].values()
        for example in part["sections"].get(kind, {"examples": []})["examples"]
    ]


def assert_rows_differ(weights: list[list[float]]) -> None:
    """So that no row could stand for another, nor for itself in reverse."""
    for i, row in enumerate(weights):
        for other in (row[::-1], *weights[:i]):
            assert max(abs(a - b) for a, b in zip(row, other, strict=True)) > 5e-4


def grow(model: torch.nn.Module) -> None:
    """Larger weights at the start, so that attention is far from even."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_(std=0.8)


@pytest.fixture
def uneven(monkeypatch: pytest.MonkeyPatch) -> None:
    """Trainings begin with large weights and change little."""
    from seqlab.training import loop

    original = loop.TrainingLoop.__init__

    def start(self: loop.TrainingLoop, model: torch.nn.Module, *arguments: Any, **options: Any) -> None:
        torch.manual_seed(4)
        grow(model)
        original(self, model, *arguments, **options)

    monkeypatch.setattr(loop.TrainingLoop, "__init__", start)


@pytest.mark.spec(178)
@pytest.mark.usefixtures("uneven")
def test_every_row_of_a_translations_heat_map_is_the_softmax_of_its_own_scores(tmp_path: Path) -> None:
    words = ["abc", "bca", "cab", "abcd", "dcb", "bd", "ca", "db", "bad", "dab", "cad", "acd"]
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("source\ttarget\n" + "".join(f"{word}\t{word[::-1]}\n" for word in words * 2))
    settings = ["model.kind=recurrent", "model.hidden_size=6", "decoder.context=output",
                "decoder.attention=dot", "decoding.max_tokens=6"]  # fmt: skip
    run = seqlab.train(pairs, *settings, "data.valid_share=0.3", task="translation", steps=1,
                       out=tmp_path / "run", verbose=False)  # fmt: skip
    model = run.model.double().eval().requires_grad_(False)
    examples = section(run, "attention")
    assert examples
    for example in examples:
        state = (torch.zeros(1, 6, dtype=torch.float64),) * 2
        keys, queries = [], []
        for token in token_ids(run.folder / "tokens/source", example["read"]):
            hidden, state = model.encoder.stack.layers[0].cell(model.embed_source.weight[[token]], state)
            keys.append(hidden[0])
        written = token_ids(run.folder / "tokens/target", ["<sos>", *example["written"][:-1]])
        for token in written:
            hidden, state = model.decoder.stack.layers[0].cell(model.embed_target.weight[[token]], state)
            queries.append(hidden[0])
        expected = (torch.stack(queries) @ torch.stack(keys).T).softmax(dim=1)
        assert len(example["weights"]) == len(example["written"])
        torch.testing.assert_close(
            torch.tensor(example["weights"], dtype=torch.float64), expected, rtol=0, atol=1e-4
        )
    assert_rows_differ(max((example["weights"] for example in examples), key=len)[:2])


@pytest.mark.spec(179)
@pytest.mark.usefixtures("uneven")
def test_every_strip_of_a_classifier_has_the_weights_of_its_query(tmp_path: Path) -> None:
    chance = random.Random(2)
    rows = [" ".join(chance.choices(["red", "blue", "old", "new", "car", "bus"], k=6)) for _ in range(40)]
    table = tmp_path / "table.csv"
    table.write_text("text,label\n" + "".join(f"{row},{'car' in row}\n" for row in rows))
    settings = [
        "tokens.kind=whitespace",
        "model.kind=recurrent",
        "model.hidden_size=5",
        "model.pooling=queries",
    ]
    run = seqlab.train(table, *settings, task="classification", steps=1, out=tmp_path / "run", verbose=False)
    model = run.model.double().eval().requires_grad_(False)
    examples = section(run, "query_attention")
    assert examples
    for example in examples:
        line = int(example["title"].split(":")[0].removeprefix("line "))
        assert [token.strip() for token in example["tokens"]] == rows[line - 2].split()
        ids = torch.tensor([token_ids(run.folder / "tokens", rows[line - 2].split())])
        steps, _ = model.backbone(model.embed(ids), torch.ones_like(ids, dtype=torch.bool))
        expected = (model.pool.look.queries @ steps[0].T / 5**0.5).softmax(dim=1)  # (queries, time)
        weights = [strip["weights"] for strip in example["strips"]]
        assert [strip["name"] for strip in example["strips"]] == [
            f"query {number}" for number in range(1, len(expected) + 1)
        ]
        torch.testing.assert_close(torch.tensor(weights, dtype=torch.float64), expected, rtol=0, atol=1e-4)
        assert_rows_differ(weights)


@pytest.mark.spec(150)
@pytest.mark.usefixtures("uneven")
def test_every_grid_of_a_caption_has_the_weights_of_the_regions_row_by_row(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    chance = random.Random(3)
    for number in range(6):
        pixels = bytes(chance.randrange(256) for _ in range(12 * 8 * 3))
        image.frombytes("RGB", (12, 8), pixels).save(tmp_path / f"{number}.png")
    for name, numbers in (("train", range(5)), ("valid", [5])):
        lines = [f"{number}.png\ta {'red' if number % 2 else 'blue'} wall\n" for number in numbers]
        (tmp_path / f"{name}.tsv").write_text("image\tcaption\n" + "".join(lines))
    settings = ["data.source=image", "data.target=caption", "data.image_size=12", "data.test_share=0",
                "model.kind=image_convolutional", "model.hidden_size=6", "decoding.max_tokens=5"]  # fmt: skip
    run = seqlab.train(tmp_path / "train.tsv", *settings, f"data.valid={tmp_path / 'valid.tsv'}",
                       task="captioning", steps=1, out=tmp_path / "run", verbose=False)  # fmt: skip
    model = run.model.eval().requires_grad_(False)
    regions: list[Any] = []
    model.encoder.register_forward_hook(lambda _, inputs, output: regions.append((inputs[1], output)))
    run.predict([str(tmp_path / "5.png")])
    is_row, (features, state) = regions[0]
    (example,) = section(run, "image_attention")
    words = [look["words"] for look in example["looks"][1:]]
    rows, columns = model.encoder.grid
    assert features.shape[:2] == (1, rows * columns)
    ids = torch.tensor([token_ids(run.folder / "tokens/target", ["<sos>", *words[:-1]])])
    started = model.decoder.init_state(features, model.encoder.feature_mask(is_row), state)
    _, _, expected = model.decoder.forward_with_alignment(
        model.embed_target(ids), torch.ones_like(ids, dtype=torch.bool), started
    )
    grids = torch.tensor([look["weights"] for look in example["looks"][1:]])
    assert grids.shape == (len(words), rows, columns)
    torch.testing.assert_close(grids, expected[0].reshape(grids.shape), rtol=0, atol=2e-4)
    assert_rows_differ(grids.flatten(1).tolist()[:2])
