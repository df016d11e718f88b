"""Score a language model on a split, with n-gram models of the training text as baselines."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import nn

from seqlab.baselines.ngram import NGram
from seqlab.baselines.simple_language_models import simple_language_models
from seqlab.core.errors import UsageError
from seqlab.metrics.likelihood import perplexity
from seqlab.metrics.score import Score
from seqlab.metrics.slices import ScoreSlices
from seqlab.metrics.token_stream import TokenStream
from seqlab.models.language_model import LanguageModel
from seqlab.pages.sections.facts import Facts
from seqlab.pages.sections.language_models import LanguageModelLine, LanguageModels
from seqlab.tasks.evaluation import Evaluation, sliced_scores
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.language_model.adapted_scores import adapted_scores
from seqlab.tasks.language_model.codec import LanguageModelCodec
from seqlab.tasks.language_model.context_policy import ContextPolicy
from seqlab.tasks.language_model.log_likelihood import context_lengths, stream_log_probs
from seqlab.tasks.language_model.predictor import LanguageModelPredictor
from seqlab.tasks.language_model.scores import (
    MAX_TOKENS,
    baseline_nats,
    make_token_stream,
    score_stream,
    slices_by_context,
    slices_by_frequency,
)
from seqlab.tasks.split import Split
from seqlab.tasks.text.token_counts import count_tokens


class LanguageModelEvaluator(Evaluator[LanguageModelCodec, Split, LanguageModelPredictor]):
    """Computes the loss per token and per character, by token frequency and by context length."""

    @cached_property
    def policy(self) -> ContextPolicy:
        return ContextPolicy.from_recipe(self.recipe)

    def evaluate(self, predictor: LanguageModelPredictor, split: str) -> Evaluation:
        store = self.splits[split].store
        tokens = store["tokens"]
        log_probs = stream_log_probs(
            predictor.model,
            tokens,
            window=self.policy.window,
            carries_state=self.policy.carries_state,
            max_tokens=MAX_TOKENS,
        )
        count = len(log_probs)
        characters = round(
            store.facts["characters"] * count / tokens.num_steps
        )  # the first token is read, not predicted
        targets = tokens.window(1, count + 1)
        stream = make_token_stream(self.codec.tokenizer, targets, log_probs, characters=characters)
        baselines = self._baselines(split, count)
        scores = score_stream(stream, baselines=baselines, num_tokens=tokens.num_steps, characters=characters)
        nats = {name: float(token_nats.mean()) for name, token_nats in baselines.items()}
        nats["this network"] = -float(log_probs.sum(dtype=np.float64)) / count
        sections = [
            Facts({"tokens": count, "characters": characters}),
            LanguageModels(
                [LanguageModelLine(name, mean, perplexity(mean, 1)) for name, mean in nats.items()]
            ),
            sliced_scores(self._slices(stream, split, targets), scores),
        ]
        return Evaluation(split, scores, sections, stream.items(), stream=stream)

    def _baselines(self, split: str, count: int) -> dict[str, NDArray[np.float64]]:
        """Return the loss in nats of the baselines on the scored tokens."""
        if "train" not in self.splits:
            return {}
        return baseline_nats(self._simple_models, self.splits[split].store["tokens"].values[: count + 1])

    @cached_property
    def _simple_models(self) -> dict[str, NGram]:
        train = self.splits["train"].store["tokens"].values
        return simple_language_models(train, self.codec.vocabulary_size)

    def _slices(self, stream: TokenStream, split: str, targets: NDArray[Any]) -> list[ScoreSlices]:
        if "train" not in self.splits:
            return []
        counts = count_tokens(self.splits["train"].store["tokens"], self.codec.vocabulary_size)[targets]
        policy = self.policy
        lengths = context_lengths(
            self.splits[split].store["tokens"].window(0, len(targets)),
            window=policy.window,
            carries_state=policy.carries_state,
            start_id=self.codec.end_id if policy.resets_at_documents else None,
        )
        return slices_by_frequency(stream, counts) + slices_by_context(stream, lengths, window=policy.window)

    def adapted_scores(self, model: nn.Module, split: str, *, cache: bool, dynamic: bool) -> list[Score]:
        """Return perplexities with a neural cache or dynamic evaluation, tuned on the validation text."""
        if not self.policy.carries_state:
            raise UsageError(
                "a neural cache and dynamic evaluation need a model that carries its state through the text; a"
                f" {self.recipe.model.kind} network does not.",
                cure="Use a recurrent language model, or remove --cache and --dynamic.",
            )
        assert isinstance(model, LanguageModel)
        valid, tokens = (self.splits[name].store["tokens"] for name in ("valid", split))
        return list(
            adapted_scores(model, valid, None if split == "valid" else tokens, cache=cache, dynamic=dynamic)
        )
