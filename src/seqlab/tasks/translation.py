"""Turn one text into another with an imported encoder-decoder: translation, summaries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from seqlab.batches.padding import pad
from seqlab.batches.store import Store
from seqlab.core.errors import RunError, UsageError
from seqlab.decoding.greedy_pairs import Translator, decode_greedily
from seqlab.models.decoder import Writing
from seqlab.models.encoder_decoder import EncoderDecoder, build_encoder_decoder
from seqlab.models.settings import TransformerSettings
from seqlab.recipes.recipe import Recipe
from seqlab.tasks.base import Prediction, shown, tasks
from seqlab.tasks.only_predicts import OnlyPredicts
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.published_vocabulary import PublishedVocabulary
from seqlab.tokens.saving import load_tokenizer, save_tokenizer

TOGETHER = 16
"""Texts that are translated side by side."""


@tasks.register("translation")
class Translation(OnlyPredicts):
    """Reads a text with the encoder, then writes the likeliest tokens one after the other.

    Both sides share one vocabulary. The decoder begins after the token with the role `start`; where there is a `forced_bos`, that is
    its first word, whatever the model thinks.
    """

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        vocabulary = tokenizer.vocabulary
        if not isinstance(vocabulary, PublishedVocabulary) or not {"start", "eos"} <= vocabulary.roles.keys():
            raise RunError("the tokens do not say with which one a translation starts and ends.", where="tokens", cure="Import the model again.")
        if not isinstance(recipe.model, TransformerSettings):
            raise RunError(f"a {recipe.model.kind} model is no encoder-decoder here.", where="model.kind", cure="Import the model again.")
        self.recipe = recipe
        self.settings = recipe.model
        self.tokenizer = tokenizer
        self.roles = vocabulary.roles
        self.stores: dict[str, Store] = {}
        self.notes: list[str] = []

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_tokenizer(folder))

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder)

    def build_model(self) -> EncoderDecoder:
        size, pad_id = len(self.tokenizer.vocabulary), self.tokenizer.vocabulary.pad_id
        return build_encoder_decoder(
            self.settings, self.recipe.decoder, num_source_tokens=size, num_target_tokens=size, source_pad_id=pad_id, target_pad_id=pad_id, shared=True
        )

    def predict(self, model: nn.Module, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        texts = [str(text) for text in inputs]
        return [prediction for start in range(0, len(texts), TOGETHER) for prediction in self._predict(model, texts[start : start + TOGETHER])]

    @torch.inference_mode()
    def _predict(self, model: nn.Module, texts: list[str]) -> list[Prediction]:
        assert isinstance(model, EncoderDecoder)
        tokens, is_token = pad(self._encode(texts), value=self.tokenizer.vocabulary.pad_id)
        device = next(model.parameters()).device
        tokens, is_token = tokens.to(device), is_token.to(device)
        forced = self.roles.get("forced_bos")
        start_id = self.roles["start"]
        translator: Translator = model if forced is None else _AfterStart(model, start_id)
        written = decode_greedily(
            translator,
            tokens,
            is_token,
            start_id=start_id if forced is None else forced,
            end_id=self.roles["eos"],
            max_tokens=self._longest,
            never_ids=[self.tokenizer.vocabulary.pad_id],
        )
        shares = self._shares(model, tokens, is_token, written)
        found = [self.tokenizer.decode(ids) for ids in written]
        return [Prediction(shown(text), words, share, [(words, share)]) for text, words, share in zip(texts, found, shares, strict=True)]

    @property
    def _longest(self) -> int:
        """Tokens that a translation may have: start and first word take a place too."""
        return min(self.recipe.decoding.max_tokens, self.settings.max_positions - 2)

    def _encode(self, texts: list[str]) -> list[np.ndarray[Any, Any]]:
        encoded = self.tokenizer.encode_many(texts)
        for text, ids in zip(texts, encoded, strict=True):
            if len(ids) > self.settings.max_positions:
                raise UsageError(
                    f"a text of {len(ids)} tokens, but the model reads {self.settings.max_positions} at once.",
                    where=repr(shown(text)),
                    cure="Give it sentence by sentence.",
                )
        return list(encoded)

    def _shares(self, model: EncoderDecoder, source: Tensor, is_source: Tensor, written: list[list[int]]) -> list[float]:
        """The probability of each whole translation, with its end where it has one."""
        before = [self.roles["start"], *([self.roles["forced_bos"]] if "forced_bos" in self.roles else [])]
        rows = [np.array([*before, *ids, *([self.roles["eos"]] if len(ids) < self._longest else [])], np.int64) for ids in written]
        targets, is_token = pad(rows, value=self.tokenizer.vocabulary.pad_id)
        targets, is_token = targets.to(source.device), is_token.to(source.device)
        logits = model(source, is_source, targets[:, :-1], is_token[:, :-1])
        picked = logits.float().log_softmax(dim=-1).gather(-1, targets[:, 1:, None]).squeeze(-1)  # (batch, target - 1)
        is_free = is_token[:, 1:].clone()
        is_free[:, : len(before) - 1] = False
        return [float(share) for share in (picked * is_free).sum(dim=1).exp()]


class _AfterStart:
    """A model that has read its start token already, so that the first word may be forced."""

    def __init__(self, model: EncoderDecoder, start_id: int) -> None:
        self._model = model
        self._start_id = start_id

    def start(self, source: Int[Tensor, "batch source"], source_is_token: Bool[Tensor, "batch source"]) -> Writing:
        first = torch.full((len(source), 1), self._start_id, device=source.device)
        _, writing = self._model.decode(first, torch.ones_like(first, dtype=torch.bool), self._model.start(source, source_is_token))
        return writing

    def decode(self, targets: Any, is_token: Any, writing: Writing) -> tuple[Any, Writing]:
        return self._model.decode(targets, is_token, writing)
