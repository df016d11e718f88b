"""A finished run, loaded and verified, ready to predict, score and generate."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from torch import nn

from seqlab.core.errors import RunError, UsageError, listed
from seqlab.metrics.score import Score
from seqlab.metrics.text_likelihood import TextScore
from seqlab.models.short_name import short_name
from seqlab.recipes.read import check, override
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.setting_names import naming_settings
from seqlab.runs.decoding_names import check_decoding_names, reject_sampling_settings
from seqlab.runs.folder.best_step import least_best_step
from seqlab.runs.folder.layout import TOKENS, WEIGHTS, find_run, read_recipe
from seqlab.runs.folder.manifest import read_manifest, score_again, verify
from seqlab.runs.folder.results import Results, read_calibration, read_results
from seqlab.runs.train.build import build_model
from seqlab.sources.tables import is_table, open_table, save_table
from seqlab.sources.views.joined_columns import names_of
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.codec import Codec
from seqlab.tasks.prediction import Prediction
from seqlab.tasks.spec import find_spec
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.device import choose_device
from seqlab.training.finite import non_finite_names
from seqlab.training.tensor_shapes import shapes_of

if TYPE_CHECKING:  # `seqlab predict` starts faster without what only vectors and scores need
    from seqlab.runs.reproduce.agreement import Reproduction
    from seqlab.sources.base import Source
    from seqlab.tasks.evaluation import Evaluation
    from seqlab.tasks.evaluator import Evaluator
    from seqlab.tasks.vectors import VectorPooling

NEW_DATA = "new data"
"""The name of a split that is not part of the run's own data."""


class Run:
    """A trained model with its recipe, codec and results.

    Everything that predictions need is prepared when the run is loaded and does not change afterwards, so
    several threads can call `predict`, `score` and `generate` of one run at the same time.
    """

    def __init__(
        self, folder: Path, recipe: Recipe, codec: Codec, model: nn.Module, calibration: Calibration
    ) -> None:
        self.folder = folder
        self.recipe = recipe
        self.codec = codec
        self.model = model.eval()
        self.spec = find_spec(recipe.task)
        self.predictor = self.spec.load_parts().predictor(codec, self.model, calibration)

    @classmethod
    def load(cls, path: str | Path) -> Run:
        """Load a run folder after verifying every file that predictions depend on."""
        folder = find_run(path)
        manifest = verify(folder)
        recipe = read_recipe(folder)
        parts = find_spec(recipe.task).load_parts()
        codec = parts.codec.load(recipe, folder / TOKENS)
        calibration = read_calibration(folder, parts.calibration, codec, manifest)
        if not (folder / WEIGHTS).is_file():
            raise RunError(
                "the run has no weights yet.",
                where=str(folder),
                cure=f"Finish it: seqlab train --resume {folder}",
            )
        weights = read_weights(
            folder / WEIGHTS,
            expected=shapes_of(lambda: build_model(codec)),
            run_id=manifest.run_id,
            least_step=0 if manifest.is_scored else least_best_step(folder, run_id=manifest.run_id),
            verified=manifest.is_scored,
        )
        model = build_model(codec)
        model.load_state_dict(weights)
        _reject_non_finite(model, folder)
        return cls(folder, recipe, codec, model.to(choose_device(recipe.training)), calibration)

    @cached_property
    def results(self) -> Results:
        return read_results(self.folder)

    @property
    def num_parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.model.parameters())

    def with_decoding(self, **settings: Any) -> Run:
        """Return the same model with other `decoding` settings: `run.with_decoding(beam=5,
        length_penalty=0.6)`.
        """
        if not settings:
            return self
        check_decoding_names(self.spec, settings)
        values = {f"decoding.{name}": value for name, value in settings.items()}
        raw = override(self.recipe.model_dump(), [], values=values)
        run = copy(self)
        run.recipe = check(raw, where="", is_trained=True)  # a mistake names the section itself
        run.predictor = self.predictor.with_recipe(run.recipe)
        run.codec = run.predictor.codec
        return run

    def ensemble(self, *others: Run | str | Path) -> Run:
        """Combine this run with others: each token is generated from the mean of their probabilities.

        All must have the same task and tokens. Decoding settings and data are those of this run. For
        example: `run.ensemble("runs/seed-2", "runs/seed-3").predict(texts, beam=5)`.
        """
        from seqlab.runs.ensemble import build_ensemble  # one run needs no encoder-decoder

        runs = [self, *(other if isinstance(other, Run) else Run.load(other) for other in others)]
        codec, model = build_ensemble([(run.codec, run.model, str(run.folder)) for run in runs])
        return Run(self.folder, self.recipe, codec, model, self.calibration)

    def search_tree(self, text: str, *, top: int = 1) -> tuple[Prediction, list[dict[str, Any]]]:
        """Predict one text and return all hypotheses of the beam search, kept and pruned, as plain data;
        `pages.beam_tree` draws them.
        """
        with naming_settings(self.recipe):
            return self.predictor.search_tree(text, top=top)

    def predict(self, inputs: Any, *, top: int = 5, **decoding: Any) -> list[Prediction]:
        """Predict texts, numeric sequences or images, in order; a language model predicts the next token.

        Args:
            inputs: A list of inputs, or a table with the columns of the training data (a list of dicts or a
                DataFrame).
            top: Number of best answers to return for each input; for a tagger, the number of tags per word.
            decoding: For runs that generate, `decoding` settings such as `beam=5` or
                `temperature=0.7, samples=4`.
        """
        _check_predict_arguments(inputs, top)
        check_decoding_names(self.spec, decoding, arguments=("inputs", "top"))
        reject_sampling_settings(self.spec, decoding)
        if is_table(inputs) and not self._reads_objects:
            inputs = list(self.spec.read_inputs(open_table(inputs), self.recipe.data, Path()))
        run = self.with_decoding(**decoding)
        with naming_settings(self.recipe):
            return run.predictor.predict(list(inputs), top=top)

    @property
    def _reads_objects(self) -> bool:
        """Whether one input is an object with texts from several columns."""
        return len(names_of(self.recipe.data.text, [])) > 1

    def vectors(
        self, texts: Sequence[Any], *, pooling: VectorPooling = "mean"
    ) -> Float[np.ndarray, "texts hidden"]:
        """Return one vector per text (or numeric sequence): the features of the backbone, pooled over the
        steps.
        """
        from seqlab.tasks.vectors import sequence_vectors

        if isinstance(texts, str):
            raise UsageError("vectors takes a list of texts.", cure='For one text: run.vectors(["the text"])')
        with naming_settings(self.recipe):
            return sequence_vectors(self.model, self.codec.encode(texts), pooling=pooling)

    def word_vectors(self, text: Any = None) -> tuple[list[str], Float[np.ndarray, "pieces hidden"]]:
        """Return the tokens of a text and a contextual vector for each.

        Without a text: every token of the vocabulary and its row of the embedding, which is independent of
        context.
        """
        from seqlab.tasks.vectors import embedding_table, step_vectors

        if text is None:
            table, steps = embedding_table(self.model)
            return self.codec.pieces(steps), table.weight.detach().float().cpu().numpy().copy()
        steps = self.codec.encode([text])[0]
        with naming_settings(self.recipe):
            return self.codec.pieces(steps), step_vectors(self.model, steps)

    def evaluate(self, data: Any = None) -> Evaluation:
        """Score the model on new data, or again on the run's own held-out data.

        Args:
            data: A file or folder, or a table in memory (rows, a DataFrame, a Hugging Face dataset), with the
                columns of the training data.
        """
        from seqlab.runs.evaluation import evaluate_split  # predictions need no scores
        from seqlab.runs.survey.data_survey import survey_parts
        from seqlab.runs.survey.leaks import note_leaks

        if not isinstance(data, str | Path | None):
            data = save_table(data)
        split, sources = self._open_sources(data)
        # a baseline may fit the training data and tune something on the validation data
        used = [name for name in dict.fromkeys(("train", "valid", split)) if name in sources]
        evaluator = self.evaluator({name: sources[name] for name in used})
        evaluation = evaluate_split(evaluator, self.predictor.with_recipe(evaluator.recipe), split)
        if data is None:
            evaluation = replace(evaluation, notes=(*evaluation.notes, *self._changed_data(sources)))
        if "train" in sources:
            surveyed = (
                sources if data is None else {name: sources[name] for name in ("train", split)}
            )  # the same parts as in training, whose survey is cached
            note_leaks(evaluation, evaluator, survey_parts(self.recipe, surveyed, more=data))
        return evaluation

    def _changed_data(self, sources: Mapping[str, Source]) -> list[str]:
        """A note if the run's own data is no longer what it was trained and scored on."""
        trained = read_manifest(self.folder).data
        changed = [
            name
            for name, source in sources.items()
            if name in trained and source.fingerprint() != trained[name]
        ]
        return [f"the data of {listed(changed)} has changed since the run was trained"] if changed else []

    def evaluator(self, sources: Mapping[str, Source]) -> Evaluator[Any, Any, Any]:
        """Return the evaluator of the run for some parts of the data, by name."""
        from seqlab.runs.data import with_columns

        codec = self.codec
        if self.is_imported:
            codec = replace(codec, recipe=with_columns(self.recipe, next(iter(sources.values()))))
        splits = {name: codec.encode_split(name, source) for name, source in sources.items()}
        return self.spec.load_parts().evaluator(codec, splits)

    @property
    def calibration(self) -> Calibration:
        """What was tuned on validation data after training."""
        return self.predictor.calibration

    @property
    def is_imported(self) -> bool:
        """Whether the weights were imported; such a run has no data, and its recipe no columns."""
        return not self.recipe.data.train

    def _open_sources(self, data: str | Path | None) -> tuple[str, dict[str, Source]]:
        """Return the name of the split to score, and the parts of the data: the run's own and `data`."""
        from seqlab.runs.data import open_data, open_further_data

        sources = {} if self.is_imported else open_data(self.recipe).parts
        if data is not None:
            return NEW_DATA, {**sources, NEW_DATA: open_further_data(self.recipe, str(data))}
        if self.is_imported:
            cure = f"Pass a file: seqlab evaluate {self.folder} FILE"
            raise UsageError("these weights were imported without data.", where=str(self.folder), cure=cure)
        return "test" if "test" in sources else "valid", sources

    def reproduce(
        self,
        *,
        out: str | Path = "",
        data: Mapping[str, str] | None = None,
        sources: Mapping[str, str] | None = None,
    ) -> Reproduction:
        """Retrain this run from its own recipe, data, seed and plan, and compare weights, losses and scores.

        Args:
            out: The folder of the repetition; by default in ``runs/``.
            data: Where train, valid or test are now, if they were moved: ``{"train": "new/a.csv"}``.
            sources: Where the runs or word vectors that it started from are now: ``{"start.run": "archive/read"}``.
        """
        from seqlab.runs.reproduce.reproduce import reproduce  # it trains, which predictions never need

        return reproduce(self.folder, out=str(out), data=data, sources=sources)

    def score(self, texts: Sequence[Any]) -> list[TextScore]:
        """Return the log-probability of each text, token by token; each text is scored independently.

        A translation or captioning run takes pairs and scores each target given its source, as in
        `run.score([("A dog runs.", "Ein Hund läuft.")])`.
        """
        if isinstance(texts, str):
            raise UsageError("score takes a list of texts.", cure='For one text: run.score(["the text"])')
        with naming_settings(self.recipe):
            return self.predictor.score(texts)

    def adapted_scores(
        self, data: str | Path | None = None, *, cache: bool = False, dynamic: bool = False
    ) -> list[Score]:
        """Return perplexities of a language model that adapts to the text as it reads it: with a neural cache, or
        by dynamic evaluation.

        Separate from `evaluate`, where the model does not change. The hyperparameters of an adaptation are
        tuned on the run's validation text.
        """
        if self.is_imported or not self.spec.continues_text:
            raise UsageError(
                "a neural cache and dynamic evaluation need a language model that was trained here, with a"
                " validation text.",
                where=str(self.folder),
                cure="Remove --cache and --dynamic.",
            )
        split, sources = self._open_sources(data)
        evaluator = self.evaluator({name: sources[name] for name in ("valid", split)})
        return evaluator.adapted_scores(self.model, split, cache=cache, dynamic=dynamic)

    def generate(self, prompt: str = "", **settings: Any) -> str:
        """Generate a continuation of the prompt; settings are those of the recipe's section `decoding`."""
        return "".join(self.stream(prompt, **settings))

    def stream(self, prompt: str = "", **settings: Any) -> Iterator[str]:
        """Like `generate`, but yield the text piece by piece as it is generated."""
        run = self.with_decoding(**settings)
        pieces = run.predictor.stream(prompt, run.recipe.decoding)  # raises at once for what is not supported

        def stream_pieces() -> Iterator[str]:
            with naming_settings(self.recipe):
                yield from pieces

        return stream_pieces()

    def __repr__(self) -> str:
        return (
            f"Run({str(self.folder)!r}: {self.recipe.task}, {short_name(self.recipe.model)}, {self.num_parameters:,}"
            " parameters)"
        )

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td style='text-align:left'>{escape(score.describe())}</td></tr>"
            for score in self.results.values()
        )
        return f"<b>{escape(repr(self))}</b><table>{rows}</table>"


def _reject_non_finite(model: nn.Module, folder: Path) -> None:
    """Reject weights that are not finite, which would predict NaN; training never saves such weights."""
    if name := next(non_finite_names(model.state_dict().items()), ""):
        raise RunError(
            f"the tensor {name} contains values that are not finite.",
            where=str(folder / WEIGHTS),
            cure=score_again(folder),
        )


def _check_predict_arguments(inputs: Any, top: Any) -> None:
    if isinstance(inputs, dict):
        raise UsageError(
            "predict takes a list of inputs, found one dict.", cure="For one row: run.predict([row])"
        )
    if isinstance(inputs, str | bytes) or not isinstance(inputs, Iterable):
        raise UsageError(
            f"predict takes a list of inputs, found {type(inputs).__name__}.",
            cure='For one text: run.predict(["the text"])',
        )
    if isinstance(top, bool) or not isinstance(top, int) or top < 1:
        raise UsageError(f"top: expected a whole number of at least 1, found {top!r}.")
