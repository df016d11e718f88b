"""Words of a large vocabulary: how they are counted, sampled and scored."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seqlab.batches.loader import Cursor
from seqlab.core.errors import RecipeError
from seqlab.models.language_model import LanguageModel
from seqlab.recipes.read import check
from seqlab.runs.data import open_data
from seqlab.tasks.language_model import objective as objective_module
from seqlab.tasks.language_model.spec import LanguageModelSettings
from seqlab.tasks.spec import find_spec
from tests.tasks.encoded_streams import encode_recipe, split_log_probs, tokens_of
from tests.tasks.encoded_task import EncodedTask

WIKI = " \n = Title = \n \n the <unk> , he said . \n"


def make(folder: Path, text: str, *, label_smoothing: float = 0.0, **settings: Any) -> EncodedTask:
    path = folder / "wiki.txt"
    path.write_text(text)
    model = {"kind": "recurrent", "hidden_size": 6, "embedding_size": 6, "dropout": 0.0}
    raw = {
        "data": {"train": str(path), "valid": str(path), "test": str(path)},
        "tokens": {"kind": "whitespace"},
        "model": model,
        "language_model": {"window": 4, "reset_at_documents": False, **settings},
        "training": {"batch_size": 3, "label_smoothing": label_smoothing},
    }
    task = encode_recipe({"task": "language_model", **raw})
    torch.manual_seed(5)
    return task


def test_wikitext_is_counted_as_published_results_count_it(tmp_path: Path) -> None:
    task = make(tmp_path, WIKI)
    pieces = [task.codec.tokenizer.vocabulary.pieces[token] for token in tokens_of(task, "train").values]
    assert pieces == [
        "<eos>",
        "=",
        "Title",
        "=",
        "<eos>",
        "<eos>",
        "the",
        "<unk>",
        ",",
        "he",
        "said",
        ".",
        "<eos>",
    ]
    assert tokens_of(task, "train").values[7] == task.codec.tokenizer.vocabulary.unk_id
    model = task.build_model().eval()
    logits, _ = model(
        torch.tensor([[int(token) for token in tokens_of(task, "test").values[:-1]]]),
        torch.ones(1, 12, dtype=torch.bool),
    )
    expected = logits[0].log_softmax(dim=-1)[
        torch.arange(12), torch.from_numpy(tokens_of(task, "test").values[1:].astype(np.int64))
    ]
    np.testing.assert_allclose(
        split_log_probs(task, model, "test", max_tokens=100), expected.detach().numpy(), rtol=1e-4
    )  # <unk> and <eos> like any word


def test_a_text_with_unknown_words_written_out_is_read_word_by_word_over_line_ends_without_being_asked(
    tmp_path: Path,
) -> None:
    (tmp_path / "wiki.txt").write_text(WIKI)
    (tmp_path / "plain.txt").write_text("He said it. Write &lt;unk> or x<unk>y for it.\n")
    found = {}
    for name in ("wiki", "plain"):
        opened = open_data(
            check(
                {"data": {"train": str(tmp_path / f"{name}.txt"), "valid_share": 0.0, "test_share": 0.0}},
                where="test",
            )
        )
        found[name] = find_spec("language_model").fill_defaults(opened.recipe, opened.parts["train"])
    assert found["plain"][0].tokens.kind == "characters"
    recipe, reasons = found["wiki"]
    assert recipe.tokens.kind == "whitespace"
    assert not recipe.section(LanguageModelSettings).reset_at_documents
    assert (
        "tokens are whitespace (the text has <unk> for rare words); set tokens.kind=NAME to change it"
        in reasons
    )
    assert (recipe.model.hidden_size, recipe.section(LanguageModelSettings).window) == (
        400,
        35,
    )  # as in the recipe `words`


def loss_of(task: EncodedTask, model: LanguageModel) -> float:
    objective = task.objective()
    batch = objective.loader(Cursor()).take()
    total: torch.Tensor = objective.loss(model, batch, step=0, carry=()).total
    return total.item()


def test_a_large_vocabulary_is_sampled_and_a_sample_of_all_words_is_the_full_softmax(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "a b c d e f g h\nh g a b\n" * 4
    full = make(tmp_path, text)
    assert full.objective().sampled_softmax is None
    monkeypatch.setattr(objective_module, "LARGE_VOCABULARY", 8)
    sampled = make(tmp_path, text, softmax_samples=100)
    part = make(tmp_path, text, softmax_samples=5)
    sampled_softmax = part.objective().sampled_softmax
    assert sampled_softmax is not None
    assert sampled_softmax.inclusion_probs.sum().item() == pytest.approx(5)
    model = sampled.build_model()
    assert loss_of(sampled, model) == pytest.approx(loss_of(full, model), rel=1e-5)
    assert loss_of(part, model) != pytest.approx(loss_of(full, model), rel=1e-3)


def test_words_start_as_likely_as_they_are_frequent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(objective_module, "LARGE_VOCABULARY", 3)
    task = make(tmp_path, "a a a b\n" * 5)
    shares = dict(
        zip(task.codec.tokenizer.vocabulary.pieces, task.build_model().bias.exp().tolist(), strict=True)
    )
    assert shares["a"] == pytest.approx(
        15.5 / 27.5
    )  # 15 + 5 + 5 tokens, and a half for each of <unk>, <pad>, <eos>, a, b
    assert shares["<pad>"] == pytest.approx(0.5 / 27.5)


def test_what_needs_every_probability_cannot_sample(tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="need the probability of every token"):
        make(tmp_path, WIKI, softmax="sampled", label_smoothing=0.1)


@pytest.mark.long
def test_wikitext2_has_the_published_number_of_tokens(shared_data: Path) -> None:
    folder = shared_data / "wikitext2"
    data = {
        "train": str(folder / "train.txt.xz"),
        "valid": str(folder / "valid.txt.xz"),
        "test": str(folder / "test.txt.xz"),
    }
    task = encode_recipe({"task": "language_model", "data": data, "tokens": {"kind": "whitespace"}})
    assert [tokens_of(task, name).num_steps for name in ("train", "valid", "test")] == [
        2_088_628,
        217_646,
        245_569,
    ]
    assert len(task.codec.tokenizer.vocabulary) == 33_278 + 1  # <pad> is never a target
