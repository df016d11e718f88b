"""An input that the network cannot read is answered with the setting that limits it, not with an argument."""

from __future__ import annotations

from pathlib import Path

import pytest

import seqlab
from seqlab.core.errors import RecipeError
from seqlab.runs.run import Run

LONGEST = 12


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("short")
    rows = [f"{'good' if n % 2 else 'bad'} {n},{'pos' if n % 2 else 'neg'}\n" for n in range(60)]
    (folder / "rows.csv").write_text("text,label\n" + "".join(rows))
    settings = {
        "model.positions": "learned",
        "model.max_positions": LONGEST,
        "model.hidden_size": 8,
        "model.heads": 2,
        "model.layers": 1,
        "tokens.kind": "characters",
        "data.max_length": 0,
        "training.threads": 1,
        "training.steps": 1,
    }
    return seqlab.train(
        folder / "rows.csv", model="transformer", out=folder / "run", verbose=False, **settings
    )


@pytest.mark.parametrize("ask", ["predict", "vectors", "word_vectors", "evaluate"])
def test_a_text_beyond_the_learned_positions(run: Run, ask: str, tmp_path: Path) -> None:
    text = "a" * 20
    (tmp_path / "long.csv").write_text(f"text,label\n{text},pos\nbad,neg\n")
    question = {"predict": [text], "vectors": [text], "word_vectors": text, "evaluate": tmp_path / "long.csv"}
    with pytest.raises(RecipeError) as caught:
        getattr(run, ask)(question[ask])
    for fact in ("model.max_positions", str(LONGEST), "20", "Shorten"):
        assert fact in str(caught.value)
    assert "max_length" not in str(caught.value)


def test_a_text_that_fits_is_answered(run: Run) -> None:
    assert run.predict(["a" * LONGEST])[0].answer in ("pos", "neg")
