"""One program, five shapes of a job: only the task and the data are switched."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
import torch

from seqlab.batches.loader import Cursor
from seqlab.recipes.read import check
from seqlab.runs.data import open_data
from seqlab.tasks.spec import find_spec
from tests.tasks.encoded_task import EncodedTask, encode_task

STEPS = 12


class Shape(NamedTuple):
    """What is switched, and what comes in and out of the network: a label, a label per step, or a sequence of
    its own length.
    """

    recipe: dict[str, Any]
    answers: str


SMALL = {"kind": "recurrent", "hidden_size": 16}
PICTURES = {"kind": "image_convolutional", "hidden_size": 8}
SHAPES = {
    "fixed to fixed": Shape(
        {"task": "classification", "data": {"train": "digits"}, "model": PICTURES}, "label"
    ),
    "fixed to sequence": Shape(
        {"task": "captioning", "data": {"train": "shapes"}, "model": PICTURES}, "sequence"
    ),
    "sequence to label": Shape(
        {"task": "classification", "data": {"train": "languages"}, "model": SMALL}, "label"
    ),
    "sequence to sequence of another length": Shape(
        {"task": "translation", "data": {"train": "numbers"}, "model": SMALL}, "sequence"
    ),
    "sequence to label per step": Shape(
        {"task": "tagging", "data": {"train": "punctuation"}, "model": SMALL}, "steps"
    ),
}


def prepare(recipe: dict[str, Any]) -> EncodedTask:
    data = {**recipe["data"], "train_rows": 200}
    opened = open_data(check({**recipe, "data": data, "training": {"batch_size": 16}}, where="test"))
    train = opened.parts["train"]
    completed, _ = find_spec(opened.recipe.task).fill_defaults(opened.recipe, train)
    task = encode_task(completed, {"train": train})
    torch.manual_seed(3)
    return task


@pytest.mark.slow
@pytest.mark.spec(1)
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.long) if name == "fixed to sequence" else name for name in SHAPES],
)
def test_five_shapes_of_a_job_are_learned_by_the_same_lines(name: str) -> None:
    pytest.importorskip("sklearn")
    pytest.importorskip("babel")
    shape = SHAPES[name]
    task = prepare(shape.recipe)
    model = task.build_model().train()
    objective = task.objective()
    objective.fit_statistics(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    batch = objective.loader(Cursor()).take()
    losses = []
    for _ in range(STEPS):  # the same batch again and again: what is learned must show
        found = objective.loss(model, batch, step=0, carry=())
        optimizer.zero_grad()
        (found.total / found.count).backward()
        optimizer.step()
        losses.append(float(found.total.detach()) / found.count)
    assert losses[-1] < 0.9 * losses[0]
    batch_size, time = batch.is_token.shape
    (target,) = batch.targets.values()
    if shape.answers == "label":
        assert target.shape == (batch_size,)
    elif shape.answers == "steps":
        assert target.shape[:2] == (batch_size, time)
    else:
        assert target.shape[0] == batch_size
        assert target.shape[1] != time
    if name.startswith("fixed"):
        assert bool(batch.is_token.all())
    with torch.inference_mode():
        model.eval()
        given = next(iter(open_data(check(shape.recipe, where="test")).parts["train"].rows())).values
        question = given[task.recipe.data.source or task.recipe.data.text or "steps"]
        answer = task.predictor(model).predict([question], top=1)[0]
    if shape.answers == "label":
        assert answer.answer
        assert 0 < (answer.probability or 0) <= 1
    elif shape.answers == "steps":
        assert len(answer.tags) == len(answer.words)  # type: ignore[attr-defined] # of a tagged sentence
    else:
        assert isinstance(answer.answer, str)
