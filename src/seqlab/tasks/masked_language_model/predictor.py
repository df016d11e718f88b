"""Predict the tokens behind masks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from seqlab.core.errors import UsageError
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.excerpt import excerpt
from seqlab.tasks.inputs.text import text_input
from seqlab.tasks.masked_language_model.codec import MaskedLanguageModelCodec
from seqlab.tasks.masked_language_model.masked_text import encode_masked_text, mark_mask
from seqlab.tasks.masked_language_model.spec import MaskedLanguageModelSettings
from seqlab.tasks.prediction import Prediction, TokenPrediction
from seqlab.tasks.predictor import Predictor
from seqlab.tasks.text.detokenize import piece_text


class MaskedLanguageModelPredictor(Predictor[MaskedLanguageModelCodec, Calibration]):
    """Fills every mask of a text independently; the other masks stay masked."""

    def __init__(self, codec: MaskedLanguageModelCodec, model: nn.Module, calibration: Calibration) -> None:
        super().__init__(codec, model, calibration)
        self._is_special = torch.from_numpy(~codec.is_ordinary)
        self._num_candidates = int(codec.is_ordinary.sum())
        self._has_head = bool(model.get_parameter("norm.weight").any())
        """Whether the weights include a head; some are published without one."""

    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """Predict candidates for each mask of each text with their probabilities, highest first."""
        if not self._has_head:
            raise UsageError(
                "these weights were published without a head that predicts masked tokens.",
                cure="To get their vectors: seqlab predict RUN TEXT --vectors",
            )
        texts = [text_input(text, number) for number, text in enumerate(inputs, start=1)]
        return [prediction for text in texts for prediction in self._fill(text, top)]

    @torch.inference_mode()
    def _fill(self, text: str, top: int) -> list[TokenPrediction]:
        masked = encode_masked_text(text, self.codec.tokenizer)
        predictions = []
        for number, position in enumerate(masked.positions):
            best = self._token_probs(masked.ids, position).topk(min(top, self._num_candidates))
            ranking = [
                (piece_text(self.codec.tokenizer, token), share)
                for token, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
            ]
            predictions.append(TokenPrediction(excerpt(mark_mask(text, number)), *ranking[0], ranking))
        return predictions

    def _token_probs(self, ids: Sequence[int], position: int) -> Float[Tensor, " vocab"]:
        """Return the probability of every ordinary token at a position, given a window around it."""
        window, device = (
            self.recipe.section(MaskedLanguageModelSettings).window,
            next(self.model.parameters()).device,
        )
        start = max(0, min(position - window // 2, len(ids) - window))
        tokens = torch.tensor([ids[start : start + window]], device=device)
        is_target = torch.arange(tokens.shape[1], device=device).unsqueeze(0) == position - start
        logits = self.model(tokens, torch.ones_like(is_target), is_target)[0].float().cpu()  # (vocab,)
        return logits.masked_fill(self._is_special, -torch.inf).softmax(dim=-1)
