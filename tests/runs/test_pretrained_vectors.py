"""An embedding that starts from a file of word vectors."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
import torch

from seqlab.core.errors import RecipeError, RunError
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.train.prepare import Prepared, prepare
from seqlab.runs.train.start import resume, train
from seqlab.tokens.vector_files import read_word_vectors

TEXT = ["the film was good and short", "a dull film and a dull day", "good music", "The day was Short"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "reviews.csv"
    rows = [
        f"{TEXT[number % 4]} in {number},{'good' if number % 4 in (0, 2) else 'bad'}" for number in range(60)
    ]
    path.write_text("text,label\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "small.vec"
    chance = np.random.default_rng(0)
    words = ["the", "film", "good", "short", "day", "never", "<pad>", "<unk>"]
    lines = [f"{word} {' '.join(f'{value:.6f}' for value in 3 * chance.normal(size=6))}\n" for word in words]
    path.write_text(f"{len(words)} 6\n" + "".join(lines), encoding="utf-8")
    return path


def prepared(data: Path, vectors: Path, *settings: str, model: str = "gru") -> Prepared:
    fixed = [
        "tokens.kind=words",
        "training.threads=1",
        "training.steps=3",
        "training.batch_size=8",
        f"start.vectors={vectors}",
    ]
    recipe, _ = find_recipe(str(data), [*fixed, *settings], model=model)
    return prepare(recipe, out=str(data.parent / "run"))


def table_of(ready: Prepared) -> tuple[list[str], torch.Tensor]:
    embed = ready.model.get_submodule("embed")
    assert isinstance(embed, torch.nn.Embedding)
    return ready.codec.pieces(np.arange(embed.num_embeddings)), embed.weight.detach()


@pytest.mark.spec(30)
def test_known_words_take_their_row_others_start_as_large_and_padding_stays_zero(
    data: Path, vectors: Path
) -> None:
    ready = prepared(data, vectors, "model.hidden_size=9")
    pieces, rows = table_of(ready)
    table = read_word_vectors(vectors)
    assert ready.recipe.model.embedding_size == 6  # type: ignore[union-attr]  # a recurrent network
    known = {piece: row for piece, row in zip(pieces, rows, strict=True) if piece != "<pad>"}
    for word in ("the", "film", "good", "short", "day", "<unk>"):
        assert known[word].tolist() == table.vector(word).tolist()
    for word in ("The", "Short"):  # the file has them in lower case only
        assert known[word].tolist() == table.vector(word.lower()).tolist()
    assert rows[pieces.index("<pad>")].tolist() == [0.0] * 6
    others = torch.stack(
        [row for word, row in known.items() if word not in table.places and word.lower() not in table.places]
    )
    taken = torch.stack(
        [row for word, row in known.items() if word in table.places or word.lower() in table.places]
    )
    assert len(others) > 20
    assert others.square().mean().sqrt().item() == pytest.approx(
        taken.square().mean().sqrt().item(), rel=1e-4
    )
    (said,) = [reason for reason in ready.reasons if "start from the vectors" in reason]
    assert (
        said == f"8 of {len(known)} tokens start from the vectors in small.vec (2 of them in lower case),"
        f" {len(others)} at random"
    )
    assert "model.embedding_size=6, from the size of the vectors in small.vec" in ready.reasons
    assert ready.recipe.start.digest == hashlib.sha256(vectors.read_bytes()).hexdigest()


@pytest.mark.slow
@pytest.mark.parametrize("freeze", [True, False])
def test_rows_move_in_training_unless_they_are_frozen_and_the_run_needs_the_file_no_more(
    data: Path, vectors: Path, freeze: bool
) -> None:
    ready = prepared(
        data, vectors, "training.learning_rate=0.1", *(["start.freeze=embedding"] if freeze else [])
    )
    before = table_of(ready)[1].clone()
    run = train(ready)
    words, after = run.word_vectors()
    assert words == table_of(ready)[0]
    moved = (torch.from_numpy(after) - before).abs().amax(dim=1) > 0
    assert bool(moved.any()) == (not freeze)
    assert not moved[words.index("<pad>")]
    vectors.unlink()
    assert resume(run.folder).word_vectors()[1].tolist() == after.tolist()


def test_a_transformer_becomes_as_wide_as_the_vectors(data: Path, vectors: Path) -> None:
    ready = prepared(data, vectors, "model.heads=3", model="transformer")
    assert ready.recipe.model.hidden_size == 6
    with pytest.raises(
        RecipeError,
        match=(r"have 6 dimensions, .*\b6\b.* 4 heads.\n  Set model.heads to one of 1, 2, 3, 6"),
    ):
        prepared(data, vectors, model="transformer")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            ["model.embedding_size=5"],
            r"small.vec have 6 dimensions, .*model.embedding_size=5.*\n.*or set it to 6",
        ),
        (
            ["tokens.kind=bytes"],
            r"small.vec has no vector .* 25\d tokens.*\n  .*tokens.kind=words",
        ),
        (["start.run=elsewhere"], r"there is no run|no run"),
        (["start.freeze=backbone"], r"start.freeze: applies only to fine-tuning"),
        (["start.digest=abc"], r"is not the file in the recipe"),
    ],
)
def test_what_cannot_be_right_is_refused(
    settings: list[str], message: str, data: Path, vectors: Path
) -> None:
    with pytest.raises((RecipeError, RunError), match=message):
        prepared(data, vectors, *settings)
