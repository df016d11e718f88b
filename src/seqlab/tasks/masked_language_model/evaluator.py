"""Score a masked language model on a split, with a model of both neighboring tokens as the baseline."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqlab.baselines.neighbors import NeighborModel
from seqlab.metrics.slices import ScoreSlices
from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.examples import WorstMistakes
from seqlab.pages.sections.facts import Facts
from seqlab.tasks.evaluation import Evaluation, sliced_scores
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.masked_language_model.codec import MaskedLanguageModelCodec, MaskedSplit
from seqlab.tasks.masked_language_model.masked_text import decode_with_mask
from seqlab.tasks.masked_language_model.predictions import MaskedPredictions, predict_masked
from seqlab.tasks.masked_language_model.predictor import MaskedLanguageModelPredictor
from seqlab.tasks.masked_language_model.scores import score_items, score_masked, slices_by_token_frequency
from seqlab.tasks.text.detokenize import piece_text
from seqlab.tasks.text.token_counts import count_tokens

MAX_TOKENS = 500_000
"""Maximum number of tokens of a split that are scored."""
MAX_MISTAKES, CONTEXT = 25, 12
"""Number of mistakes in the report, and of context tokens on either side of each."""


class MaskedLanguageModelEvaluator(
    Evaluator[MaskedLanguageModelCodec, MaskedSplit, MaskedLanguageModelPredictor]
):
    """Computes loss and accuracy per masked token, by token frequency, with the worst mistakes."""

    def evaluate(self, predictor: MaskedLanguageModelPredictor, split: str) -> Evaluation:
        predictions = predict_masked(predictor.model, self.codec, self.splits[split], max_tokens=MAX_TOKENS)
        count = len(predictions.targets)
        facts: dict[str, Any] = {"masked_tokens": count}
        method, baseline, baseline_name = f"{count:,} masked tokens", None, ""
        slices: list[ScoreSlices] = []
        if "train" in self.splits:
            neighbors = self._fit_neighbors()
            baseline, baseline_name = (
                neighbors.predict(predictions.left, predictions.right, predictions.targets),
                "both neighbors",
            )
            facts["most_frequent"] = _unigram_facts(neighbors, predictions)
            method += "; unigram frequencies alone get {nats:.4f} nats and accuracy {accuracy:.4f}".format(
                **facts["most_frequent"]
            )
            counts = count_tokens(self.splits["train"].store["tokens"], self.codec.vocabulary_size)
            slices = slices_by_token_frequency(predictions, counts[predictions.targets])
        scores = score_masked(predictions, baseline=baseline, baseline_name=baseline_name, method=method)
        mistakes = WorstMistakes(self._worst_mistakes(self.splits[split], predictions))
        sections = [Facts(facts), mistakes, sliced_scores(slices, scores)]
        return Evaluation(split, scores, sections, score_items(predictions))

    def _fit_neighbors(self) -> NeighborModel:
        return NeighborModel.fit(
            self.splits["train"].store["tokens"].values,
            self.codec.vocabulary_size,
            candidate_ids=np.flatnonzero(self.codec.is_ordinary),
        )

    def _worst_mistakes(self, split: MaskedSplit, predictions: MaskedPredictions) -> list[WrongExample]:
        """Return the wrong predictions with the least probable targets, each with its context."""
        starts, tokenizer = split.spans.starts, self.codec.tokenizer
        return [
            WrongExample(
                where=f"{split.name}, token {starts[predictions.rows[index]] + predictions.positions[index]:,}",
                text=self._context(split, int(predictions.rows[index]), int(predictions.positions[index])),
                truth=piece_text(tokenizer, int(predictions.targets[index])),
                predicted=piece_text(tokenizer, int(predictions.guesses.best[index])),
                predicted_probability=float(np.exp(predictions.max_log_probs[index])),
                truth_probability=float(np.exp(predictions.guesses.log_probs[index])),
            )
            for index in predictions.worst_mistakes(MAX_MISTAKES).tolist()
        ]

    def _context(self, split: MaskedSplit, row: int, position: int) -> str:
        """Return the text around a masked token, within its sequence."""
        first, end = int(split.spans.starts[row]), int(split.spans.ends[row])
        start = max(first, first + position - CONTEXT)
        ids = split.store["tokens"].window(start, min(end, first + position + CONTEXT + 1)).tolist()
        return decode_with_mask(self.codec.tokenizer, ids, first + position - start)


def _unigram_facts(neighbors: NeighborModel, predictions: MaskedPredictions) -> dict[str, float]:
    """Return the loss and accuracy of unigram frequencies on the same tokens."""
    unigram = neighbors.predict_unigram(predictions.targets)
    return {
        "nats": -float(unigram.log_probs.mean()),
        "accuracy": float((unigram.best == predictions.targets).mean()),
    }
