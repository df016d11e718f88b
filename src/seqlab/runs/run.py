"""A finished run: loaded, verified, ready to predict, score and continue."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from torch import nn

from seqlab.core.errors import RunError, UsageError
from seqlab.metrics.score import Score
from seqlab.metrics.text_likelihood import TextScore
from seqlab.recipes.read import check, override
from seqlab.recipes.recipe import Recipe
from seqlab.runs.data import open_data, open_further, with_columns
from seqlab.runs.ensemble import written_together
from seqlab.runs.folder.calibration import take_choices
from seqlab.runs.folder.layout import TOKENS, WEIGHTS, find_run, read_recipe
from seqlab.runs.folder.manifest import verify
from seqlab.runs.folder.results import Results, read_results
from seqlab.runs.survey.leaks import note_leaks
from seqlab.runs.survey.parts import survey_parts
from seqlab.runs.train.build import build_model
from seqlab.sources.in_memory import is_table, open_table
from seqlab.sources.views.joined_columns import names_of
from seqlab.tasks.base import Evaluation, Prediction, Task, shown
from seqlab.tasks.language_model.adapted_scores import adapted_scores
from seqlab.tasks.language_model.task import LanguageModelling
from seqlab.tasks.seq2seq.generated import Written
from seqlab.tasks.seq2seq.task import PairTask
from seqlab.tasks.spec import find_spec
from seqlab.tasks.translation.task import Translation
from seqlab.tasks.vectors import VectorPooling, embedding_table, sequence_vectors, step_vectors
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.device import choose_device
from seqlab.training.tensor_shapes import shapes_of

MORE = "new data"


class Run:
    """A trained model with its recipe, tokens and results."""

    def __init__(self, folder: Path, recipe: Recipe, task: Task, model: nn.Module) -> None:
        self.folder = folder
        self.recipe = recipe
        self.task = task
        self.model = model.eval()

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """Read a run folder after checking every file that matters."""
        folder = find_run(path)
        manifest = verify(folder)
        recipe = read_recipe(folder)
        task = find_spec(recipe.task).load_task().load(recipe, folder / TOKENS)
        take_choices(folder, task, manifest)
        if not (folder / WEIGHTS).is_file():
            raise RunError(
                "the run has no weights yet.",
                where=str(folder),
                cure=f"Finish it: seqlab train --resume {folder}",
            )
        weights = read_weights(
            folder / WEIGHTS,
            expected=shapes_of(lambda: build_model(task)),
            seal=manifest.run_id,
            verified=manifest.is_scored,
        )
        model = build_model(task)
        model.load_state_dict(weights)
        return cls(folder, recipe, task, model.to(choose_device(recipe.training)))

    @cached_property
    def results(self) -> Results:
        return read_results(self.folder)

    @property
    def num_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.model.parameters())

    def with_decoding(self, **settings: Any) -> Run:
        """The same model with other settings of the section `decoding`, such as `run.with_decoding(beam=5,
        length_penalty=0.6)`.
        """
        if not settings:
            return self
        spec = find_spec(self.recipe.task)
        if not (spec.generates or spec.continues_text):
            raise UsageError(
                f"a run of the task {self.recipe.task} generates no sequences.",
                where="decoding",
                cure="Leave it out.",
            )
        values = {f"decoding.{name}": value for name, value in settings.items()}
        recipe = check(override(self.recipe.model_dump(), [], values=values), where="")
        task = copy(self.task)
        task.recipe = recipe
        return Run(self.folder, recipe, task, self.model)

    def together(self, *others: Run | str | Path) -> Run:
        """Runs that write one target together, each token by the mean of their probabilities; the search and
        the data are those of this one.

        For example `run.together("runs/seed-2", "runs/seed-3").with_decoding(beam=5).predict(texts)`.
        """
        runs = [self, *(other if isinstance(other, Run) else Run.load(other) for other in others)]
        task, model = written_together([(run.task, run.model, str(run.folder)) for run in runs])
        return Run(self.folder, self.recipe, task, model)

    def search_tree(self, text: str, *, top: int = 1) -> tuple[Written, list[dict[str, Any]]]:
        """The answer to one text, and all candidates that a beam looked at, kept and left out, as plain data;
        `pages.beam_tree` draws them.
        """
        if not isinstance(self.task, Translation):
            raise UsageError(
                f"a run of the task {self.recipe.task} has no search tree.",
                where=str(self.folder),
                cure="Leave it out.",
            )
        answers, tree = self.task.tree(self.model, text, top=top)
        return Written.of(shown(text), answers, top=top), tree

    def predict(self, inputs: Any, *, top: int = 5, **decoding: Any) -> list[Prediction]:
        """Predict for texts, numeric sequences or images, in their order; a language model predicts the next
        token.

        Args:
            inputs: A list of inputs, or a table with the columns of the training data (a list of dicts or a
                DataFrame).
            top: How many of the best answers to give for each input.
            decoding: For runs that generate: settings of the decoding, such as `beam=5` or `temperature=0.7,
                samples=4`.
        """
        if isinstance(inputs, str):
            raise UsageError(
                "predict takes a list of inputs.", cure='For one text: run.predict(["the text"])'
            )
        if is_table(inputs) and not self._reads_objects:
            inputs = list(
                find_spec(self.recipe.task).read_inputs(open_table(inputs), self.recipe.data, Path())
            )
        run = self.with_decoding(**decoding)
        return run.task.predict(run.model, inputs, top=top)

    @property
    def _reads_objects(self) -> bool:
        """Whether one input is an object with a text for each of several columns."""
        return len(names_of(self.recipe.data.text, [])) > 1

    def vectors(
        self, texts: Sequence[Any], *, pooling: VectorPooling = "mean"
    ) -> Float[np.ndarray, "texts hidden"]:
        """One vector for each text (or numeric sequence): what the body of the network makes of its steps,
        pooled over them.
        """
        if isinstance(texts, str):
            raise UsageError("vectors takes a list of texts.", cure='For one text: run.vectors(["the text"])')
        return sequence_vectors(self.model, self.task.encode(texts), pooling=pooling)

    def word_vectors(self, text: Any = None) -> tuple[list[str], Float[np.ndarray, "pieces hidden"]]:
        """The pieces of a text and a vector for each: the same piece has another one in another text.

        Without a text: every known piece and its row of the embedding, which is the same wherever the piece
        stands.
        """
        if text is None:
            table, steps = embedding_table(self.model)
            return self.task.pieces(steps), table.weight.detach().float().cpu().numpy().copy()
        steps = self.task.encode([text])[0]
        return self.task.pieces(steps), step_vectors(self.model, steps)

    def evaluate(self, data: str | Path | None = None) -> Evaluation:
        """Scores on further data, or again on the run's own held-out part."""
        if not self.recipe.data.train:
            return self._evaluate_imported(data)
        opened = open_data(self.recipe)
        train = opened.parts["train"]
        for name in (
            "train",
            "valid",
        ):  # as training did: a baseline may choose something on the validation part
            if name in opened.parts:
                self.task.attach(name, opened.parts[name])
        split = MORE if data is not None else "test" if "test" in opened.parts else "valid"
        part = open_further(self.recipe, str(data)) if data is not None else opened.parts[split]
        if split != "valid":
            self.task.attach(split, part)
        evaluation = self.task.evaluate(self.model, split)
        looked_at = (
            opened.parts if data is None else {"train": train, split: part}
        )  # as training did, whose survey is kept
        note_leaks(evaluation, self.task, survey_parts(self.recipe, looked_at, more=data))
        return evaluation

    def _evaluate_imported(self, data: str | Path | None) -> Evaluation:
        """Imported weights have no data of their own, so there is nothing to learn a baseline from."""
        if data is None:
            cure = f"Name some: seqlab evaluate {self.folder} FILE"
            raise UsageError("these weights were imported without data.", where=str(self.folder), cure=cure)
        found = open_further(self.recipe, str(data))
        if find_spec(self.recipe.task).generates:
            self.task.recipe = with_columns(self.recipe, found)
        self.task.attach(MORE, found)
        return self.task.evaluate(self.model, MORE)

    def score(self, texts: Sequence[Any]) -> list[TextScore]:
        """How probable a language model thinks each text is, token by token; each text alone, whatever stands
        beside it.

        A run that translates or describes pictures takes pairs: how probable it thinks each target after its
        source, as in `run.score([("A dog runs.", "Ein Hund läuft.")])`.
        """
        if isinstance(texts, str):
            raise UsageError("score takes a list of texts.", cure='For one text: run.score(["the text"])')
        if isinstance(self.task, PairTask):
            if not all(
                isinstance(pair, tuple | list) and len(pair) == 2 and isinstance(pair[1], str)
                for pair in texts
            ):
                raise UsageError(
                    f"score takes pairs of a source and a target where the task is {self.recipe.task}.",
                    where=str(self.folder),
                    cure='For example: run.score([("the source", "the target")])',
                )
            return self.task.score(self.model, texts)
        if not isinstance(self.task, LanguageModelling):
            raise UsageError(
                f"a run of the task {self.recipe.task} gives no probability of a text.",
                where=str(self.folder),
                cure=(
                    "A language model that reads from left to right does, and for a target after its source a"
                    " run that translates."
                ),
            )
        return self.task.score(self.model, texts)

    def adapted_scores(
        self, data: str | Path | None = None, *, cache: bool = False, dynamic: bool = False
    ) -> list[Score]:
        """Perplexities of a language model that adapts to the text while it reads it: with a neural cache, or
        by dynamic evaluation.

        Separate from `evaluate`, where the model stays as it was trained. What an adaptation needs to know is
        chosen on the run's validation text.
        """
        if not isinstance(self.task, LanguageModelling) or not self.recipe.data.train:
            raise UsageError(
                "only a language model that was trained here, with a validation text, adapts to what it"
                " reads.",
                where=str(self.folder),
                cure="Leave out --cache and --dynamic.",
            )
        opened = open_data(self.recipe)
        split = MORE if data is not None else "test" if "test" in opened.parts else "valid"
        for name in {"valid", split}:
            self.task.attach(
                name, open_further(self.recipe, str(data)) if name == MORE else opened.parts[name]
            )
        return list(adapted_scores(self.task, self.model, split, cache=cache, dynamic=dynamic))

    def generate(self, prompt: str = "", **settings: Any) -> str:
        """A continuation of the prompt; settings are those of the recipe's section `decoding`."""
        return "".join(self.stream(prompt, **settings))

    def stream(self, prompt: str = "", **settings: Any) -> Iterator[str]:
        """The same, piece by piece as it is written."""
        if not isinstance(self.task, LanguageModelling):
            raise UsageError(
                f"a run of the task {self.recipe.task} does not continue text.",
                where=str(self.folder),
                cure=f"Ask it: seqlab predict {self.folder} TEXT",
            )
        return self.task.write(self.model, prompt, self.with_decoding(**settings).recipe.decoding)

    def __repr__(self) -> str:
        return (
            f"Run({str(self.folder)!r}: {self.recipe.task}, {self.recipe.model.kind}, {self.num_parameters:,}"
            " parameters)"
        )

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(score.describe())}</td></tr>"
            for score in self.results.values()
        )
        return f"<b>{escape(repr(self))}</b><table>{rows}</table>"
