"""Small networks of every task, ready for their training loss."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor
from seqlab.losses import full_softmax
from seqlab.runs.data import open_data
from seqlab.runs.find_recipe import find_recipe
from seqlab.tasks.objective import Objective
from seqlab.tasks.spec import find_spec
from seqlab.tasks.teacher import Teacher
from tests.golden.cases import CASES
from tests.golden.data import write
from tests.tasks.encoded_task import EncodedTask, encode_task


@dataclass(frozen=True)
class LossCase:
    """A golden case, with what is different here."""

    golden: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_chunked: bool = False
    """Whether the logits of all steps are too many to be held at once."""
    has_teacher: bool = False
    step: int = 0
    """The number of the update: what scheduled sampling depends on."""
    may_leave_out: bool = False
    """Whether some parameters are not used by every batch."""


SMOOTHED = {"training.label_smoothing": 0.1}
LOSSES: dict[str, LossCase] = {
    "classification, lstm": LossCase("lstm_dropout_kinds"),
    "classification, two directions": LossCase("bigru_learned_merge"),
    "classification, transformer": LossCase("transformer_post_learned", SMOOTHED),
    "classification, network and bag": LossCase("bag_beside_gru"),
    "classification, weights and teacher": LossCase("class_weights", has_teacher=True),
    "classification, images": LossCase("images_convolutional"),
    "classification, vision transformer": LossCase("images_by_patches"),
    "multi_label": LossCase("label_sets"),
    "regression": LossCase("regression_series"),
    "regression, text": LossCase("regression_text"),
    "tagging": LossCase("tagger", SMOOTHED),
    "tagging, teacher": LossCase("tagger", has_teacher=True),
    "tagging, transformer": LossCase("tagger_transformer"),
    "tagging, crf": LossCase("tagger_crf"),
    "tagging, crf and pieces": LossCase("tagger_pieces", {"tagging.crf": True}),
    "tagging, crf and teacher": LossCase("tagger_series_crf", has_teacher=True),
    "forecasting, lstm": LossCase("forecasting_lstm"),
    "forecasting, transformer": LossCase("forecasting_transformer"),
    "forecasting, linear": LossCase("forecasting_linear"),
    "forecasting, recursive": LossCase("forecasting_recursive"),
    "language_model, lstm": LossCase("language_model_lstm"),
    "language_model, chunked": LossCase("language_model_average", SMOOTHED, is_chunked=True),
    "language_model, transformer": LossCase("language_model_transformer"),
    "language_model, sampled softmax": LossCase("sampled_softmax"),
    "language_model, detached": LossCase("language_model_detached"),
    "language_model, detached and teacher": LossCase("language_model_detached", has_teacher=True),
    "language_model, documents": LossCase("language_model_whitespace"),
    "language_model, learned initial state": LossCase(
        "language_model_lstm", {"model.initial_state": "learned"}, may_leave_out=True
    ),
    "masked_language_model": LossCase("pretraining"),
    "masked_language_model, teacher": LossCase("pretraining_bilstm", has_teacher=True),
    "translation, recurrent": LossCase("translation_additive"),
    "translation, no attention": LossCase("translation_no_attention"),
    "translation, hard attention": LossCase("translation_hard"),
    "translation, transformer": LossCase("translation_transformer"),
    "translation, chunked": LossCase("translation_transformer", is_chunked=True),
    "translation, scheduled sampling": LossCase("scheduled_sampling", step=9),
    "translation, scheduled sampling of sequences": LossCase("scheduled_sampling_sequences", step=7),
    "captioning, transformer": LossCase("captioning"),
    "captioning, recurrent": LossCase("captioning_recurrent"),
}


def build(name: str, folder: Path) -> tuple[Objective[Any, Any], nn.Module]:
    """The objective of a case with its training split, and a new network in training mode, with numbers of
    double precision.
    """
    loss_case = LOSSES[name]
    case = CASES[loss_case.golden]
    settings = {**case.all_settings(), **loss_case.settings}
    words = [
        f"{setting}={str(value).lower() if isinstance(value, bool) else value}"
        for setting, value in settings.items()
    ]
    folder.mkdir(parents=True, exist_ok=True)
    opened = open_data(find_recipe(str(write(case.data, folder)), words, task=case.task, model=case.model)[0])
    train = opened.parts["train"]
    recipe, _ = find_spec(opened.recipe.task).fill_defaults(opened.recipe, train)
    task = encode_task(recipe, {"train": train})
    torch.manual_seed(5)
    model = _new_model(task)
    teacher = Teacher(_new_model(task), weight=0.4, temperature=2.0) if loss_case.has_teacher else None
    return task.objective(teacher=teacher), model.train()


def _new_model(task: EncodedTask) -> nn.Module:
    model = task.build_model()
    task.objective().fit_statistics(model)
    for parameter in model.parameters():  # some start at zero, where gradients may vanish by accident
        nn.init.normal_(parameter, std=0.3)
    return model.double()


def batches(objective: Objective[Any, Any], count: int) -> list[Batch]:
    """The first batches of training, with inputs of double precision."""
    loader = objective.loader(Cursor())
    return [_in_double(loader.take()) for _ in range(count)]


def _in_double(batch: Batch) -> Batch:
    inputs = batch.inputs.double() if batch.inputs.is_floating_point() else batch.inputs
    return Batch(inputs, batch.is_token, batch.targets, batch.rows, continues=batch.continues)


@contextmanager
def chunks(name: str) -> Iterator[None]:
    """A case that is chunked holds so few logits at once that its loss is computed in several chunks."""
    before = full_softmax.MAX_LOGITS
    full_softmax.MAX_LOGITS = 100 if LOSSES[name].is_chunked else before
    try:
        yield
    finally:
        full_softmax.MAX_LOGITS = before
