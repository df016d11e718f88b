"""A language model over a stream: what is carried from window to window, where gradients end, where documents
begin.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor
from seqlab.core.errors import RecipeError
from seqlab.decoding.settings import DecodingSettings
from seqlab.models.language_model import LanguageModel
from seqlab.tasks.language_model.spec import LanguageModelSettings
from tests.tasks.encoded_streams import encode_recipe, split_log_probs, tokens_of
from tests.tasks.encoded_task import EncodedTask

LINES = [
    "the cat sat on the mat",
    "a dog",
    "the log",
    "birds sing at dawn and at dusk",
    "no",
    "the end of the day",
]
LSTM = {"kind": "recurrent", "cell": "lstm", "hidden_size": 9, "embedding_size": 128, "dropout": 0.0}


def make(
    folder: Path, *, tokens: str = "words", model: dict[str, Any] = LSTM, **settings: Any
) -> EncodedTask:
    path = folder / "text.txt"
    path.write_text("\n".join(LINES * 12) + "\n")
    return encode_recipe(
        {
            "data": {"train": str(path)},
            "tokens": {"kind": tokens},
            "model": model,
            "language_model": {"window": 8, **settings},
            "training": {"batch_size": 3},
        }
    )


def model_of(task: EncodedTask) -> LanguageModel:
    torch.manual_seed(5)
    model: LanguageModel = task.build_model().double().eval()
    return model


def batch_of(tokens: torch.Tensor) -> Batch:
    inputs = tokens[:, :-1]
    return Batch(
        inputs,
        torch.ones_like(inputs, dtype=torch.bool),
        {"next_tokens": tokens[:, 1:]},
        torch.zeros(len(tokens), dtype=torch.int64),
    )


def documents_of(task: EncodedTask) -> list[torch.Tensor]:
    """Every line as the model is to read it: from the end token before it to its own."""
    end = [task.codec.end_id]
    return [torch.tensor(end + task.codec.tokenizer.encode(line).tolist() + end) for line in LINES]


def loss_alone(model: LanguageModel, document: torch.Tensor) -> float:
    logits, _ = model(document[None, :-1], torch.ones(1, len(document) - 1, dtype=torch.bool))
    return F.cross_entropy(logits[0], document[1:], reduction="sum").item()


@pytest.mark.spec(88)
def test_documents_side_by_side_cost_what_each_costs_alone(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = model_of(task)
    documents = documents_of(task)
    stream = torch.cat([documents[0], *(document[1:] for document in documents[1:])])
    alone = [loss_alone(model, document) for document in documents]
    assert task.objective().loss(
        model, batch_of(stream[None]), step=0, carry=()
    ).total.item() == pytest.approx(sum(alone), rel=1e-10)
    without = make(tmp_path, reset_at_documents=False)
    assert without.objective().loss(
        model_of(without), batch_of(stream[None]), step=0, carry=()
    ).total.item() != pytest.approx(sum(alone), rel=1e-4)


@pytest.mark.spec(88)
def test_windows_that_cut_documents_cost_what_each_document_costs_alone(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = model_of(task)
    documents = documents_of(task)
    stream = torch.cat([documents[0], *(document[1:] for document in documents[1:])])
    total, carry = 0.0, ()
    for start in range(0, len(stream) - 1, 4):
        batch = batch_of(stream[None, start : start + 5])
        loss = task.objective().loss(
            model,
            Batch(batch.inputs, batch.is_token, batch.targets, batch.rows, continues=start > 0),
            step=0,
            carry=carry,
        )
        total, carry = total + loss.total.item(), loss.carry
    assert total == pytest.approx(sum(loss_alone(model, document) for document in documents), rel=1e-10)


@pytest.mark.spec(88)
def test_an_epoch_starts_from_the_initial_state_and_only_later_windows_from_the_one_before(
    tmp_path: Path,
) -> None:
    """Two epochs of a stream that knows no documents, against the network over each window by hand."""
    task = make(tmp_path, tokens="characters", reset_at_documents=False, window=16)
    model, objective = model_of(task), task.objective()
    loader = objective.loader(Cursor())
    carry, state, starts = (), None, []
    while loader.cursor.epoch < 2:
        is_first = loader.cursor.batch == 0
        batch = loader.take()
        loss = objective.loss(model, batch, step=0, carry=carry)
        logits, state = model(batch.inputs, batch.is_token, None if is_first else state)
        expected = F.cross_entropy(logits.flatten(0, 1), batch["next_tokens"].flatten(), reduction="sum")
        assert loss.total.item() == pytest.approx(expected.item(), rel=1e-8)
        carry, state = loss.carry, tuple(part.detach() for part in state)
        starts.append(is_first)
    assert starts.count(True) == 2
    assert len(starts) > 6


@pytest.mark.spec(88)
def test_scoring_starts_every_document_anew_too(tmp_path: Path) -> None:
    task = make(tmp_path, window=64)
    model = model_of(task)
    values = tokens_of(task, "valid").values.astype(np.int64)
    scored = split_log_probs(task, model, "valid")
    borders = np.flatnonzero(values == task.codec.end_id).tolist()
    assert len(borders) > 4
    for start, stop in pairwise(borders):
        expected = loss_alone(model, torch.from_numpy(values[start : stop + 1]))
        assert -scored[start:stop].sum() == pytest.approx(expected, rel=1e-5)


def test_a_prompt_is_read_as_the_beginning_of_a_document(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = model_of(task)
    ranking = dict(task.predictor(model).predict(["the cat"], top=10_000)[0].ranking)
    tokens = torch.tensor([[task.codec.end_id, *task.codec.tokenizer.encode("the cat").tolist()]])
    logits, _ = model(tokens, torch.ones_like(tokens, dtype=torch.bool))
    expected = logits[0, -1].softmax(-1)
    mat = int(task.codec.tokenizer.encode("mat")[0])
    assert ranking["mat"] == pytest.approx(expected[mat].item(), rel=1e-5)


@pytest.mark.slow
def test_what_is_written_after_the_end_of_a_line_does_not_depend_on_that_line(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = model_of(task)
    settings = DecodingSettings(max_tokens=120, temperature=0)
    with torch.no_grad():
        model.bias[task.codec.end_id] = 5.0  # lines end soon
        model.weight[task.codec.end_id] *= 20
    first, second = (
        "".join(task.predictor(model).stream(prompt, settings)).partition("\n")
        for prompt in ("the cat", "birds sing at dawn")
    )
    assert first[1] == second[1] == "\n"
    length = min(len(first[2]), len(second[2]))
    assert length > 20
    assert first[2][:length] == second[2][:length]


def test_a_text_without_documents_is_one_stream(tmp_path: Path) -> None:
    task = make(tmp_path, tokens="characters")
    assert not task.recipe.section(LanguageModelSettings).reset_at_documents
    assert task.build_model().start_id is None
    assert make(tmp_path).recipe.section(LanguageModelSettings).reset_at_documents


@pytest.mark.spec(88)
@pytest.mark.parametrize("every", [1, 3, 8])
def test_detaching_every_k_steps_lets_no_gradient_flow_further_back(tmp_path: Path, every: int) -> None:
    task = make(tmp_path, tokens="characters", bptt_steps=every)
    model = model_of(task)
    batch = task.objective().loader(Cursor()).take()
    steps: list[torch.Tensor] = []
    model.embed.register_forward_hook(lambda *call: _keep(steps, call[2]))
    logits, _ = model(batch.inputs, batch.is_token, detach_every=every)
    assert logits.shape[1] == 8
    for t in range(8):
        gradients = torch.autograd.grad(logits[0, t].sum(), steps, retain_graph=True, allow_unused=True)
        reached = [place for place, part in enumerate(_by_step(gradients, steps)) if part]
        assert reached == list(range(t // every * every, t + 1))
    cut = F.cross_entropy(logits.flatten(0, 1), batch["next_tokens"].flatten(), reduction="sum")
    ours = torch.autograd.grad(
        task.objective().loss(model, batch, step=0, carry=()).total, list(model.parameters())
    )
    for found, expected in zip(ours, torch.autograd.grad(cut, list(model.parameters())), strict=True):
        torch.testing.assert_close(found, expected)


def _keep(steps: list[torch.Tensor], embedded: torch.Tensor) -> None:
    steps.append(embedded)


def _by_step(gradients: tuple[torch.Tensor | None, ...], steps: list[torch.Tensor]) -> list[bool]:
    """For every step of the first row whether a gradient reached it."""
    reached: list[bool] = []
    for gradient, piece in zip(gradients, steps, strict=True):
        found = torch.zeros_like(piece) if gradient is None else gradient
        reached += [bool(part.any()) for part in found[0]]
    return reached


@pytest.mark.spec(88)
@pytest.mark.parametrize("tokens", ["characters", "words"])
def test_detaching_changes_gradients_and_neither_the_loss_nor_the_state(tmp_path: Path, tokens: str) -> None:
    whole, cut = make(tmp_path, tokens=tokens), make(tmp_path, tokens=tokens, bptt_steps=3)
    results = []
    for task in (whole, cut):
        model, objective = model_of(task), task.objective()
        loader = objective.loader(Cursor())
        first = objective.loss(model, loader.take(), step=0, carry=())
        second = objective.loss(model, loader.take(), step=0, carry=first.carry)
        second.total.backward()
        results.append(
            (second.total.item(), second.carry, model.backbone.stack.layers[0].cell.recurrent.grad)
        )
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-12)
    torch.testing.assert_close(results[0][1], results[1][1], rtol=0, atol=1e-12)
    assert not torch.allclose(results[0][2], results[1][2])


def test_detaching_as_often_as_the_window_is_long_is_what_happens_anyway(tmp_path: Path) -> None:
    gradients = []
    for every in (0, 8, 100):
        task = make(tmp_path, tokens="characters", bptt_steps=every)
        model = model_of(task)
        task.objective().loss(
            model, task.objective().loader(Cursor()).take(), step=0, carry=()
        ).total.backward()
        gradients.append([parameter.grad for parameter in model.parameters()])
    torch.testing.assert_close(gradients[0], gradients[1], rtol=0, atol=0)
    torch.testing.assert_close(gradients[0], gradients[2], rtol=0, atol=0)


@pytest.mark.spec(88)
def test_without_carrying_every_window_starts_from_the_initial_state(tmp_path: Path) -> None:
    task = make(tmp_path, tokens="characters", stateful=False)
    model = model_of(task)
    loader = task.objective().loader(Cursor())
    for _ in range(3):
        batch = loader.take()
        assert not batch.continues
        loss = task.objective().loss(model, batch, step=0, carry=())
        assert loss.carry == ()
        logits, _ = model(batch.inputs, batch.is_token)
        assert loss.total.item() == pytest.approx(
            F.cross_entropy(logits.flatten(0, 1), batch["next_tokens"].flatten(), reduction="sum").item(),
            rel=1e-10,
        )


@pytest.mark.spec(88)
def test_without_carrying_scores_need_no_more_than_a_window_either(tmp_path: Path) -> None:
    task = make(tmp_path, tokens="characters", stateful=False)
    model = model_of(task)
    values = torch.from_numpy(tokens_of(task, "valid").values.astype(np.int64))
    scored = split_log_probs(task, model, "valid", max_tokens=60)
    for place in range(59):
        first = max(0, place // 4 * 4 - 4)
        logits, _ = model(values[None, first : place + 1], torch.ones(1, place + 1 - first, dtype=torch.bool))
        assert scored[place] == pytest.approx(
            logits[0, -1].log_softmax(-1)[values[place + 1]].item(), abs=1e-5
        )


def test_cutting_the_gradient_of_a_model_without_a_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecipeError) as caught:
        make(tmp_path, model={"kind": "transformer", "hidden_size": 8}, bptt_steps=4)
    assert "language_model.bptt_steps: " in str(caught.value)
    assert "a transformer model" in str(caught.value)
