"""Translate texts, with attention maps and search trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from seqlab.core.errors import UsageError
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.recording import record_search
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.pages.sections.attention import AttentionExample
from seqlab.recipes.setting_names import naming_settings
from seqlab.tasks.inputs.tokens import readable_pieces
from seqlab.tasks.prediction import Prediction
from seqlab.tasks.seq2seq.generated_sequence import TextHypothesis
from seqlab.tasks.seq2seq.predictor import Seq2SeqPredictor, cross_attention
from seqlab.tasks.translation.codec import TranslationCodec
from seqlab.tasks.translation.pair_tokens import PairTokens


def copy_unknown_words(
    model: EncoderDecoder | Ensemble,
    tokens: PairTokens,
    source: Int[Tensor, " source"],
    words: Sequence[str],
    target: Sequence[int],
) -> str:
    """Decode a target, with unknown words copied from the source: names and numbers are the most frequent unknown
    words, and they are the same in many languages.

    Paper: Luong et al. 2015, "Addressing the Rare Word Problem in Neural Machine Translation",
    arXiv:1410.8206; here attention replaces their alignments. Without any attention to a word (a decoder
    without attention, a source without words), the unknown word is left out.

    words: the word that each source token is part of; empty if there is none, as for the end token.
    """
    unknown = tokens.target.vocabulary.unk_id
    if unknown not in target or not any(words):
        return tokens.decode(target)
    weights = cross_attention(model, source, [tokens.start_id, *target[:-1]])
    if weights is None:
        return tokens.decode(target)
    is_word = torch.tensor([bool(word) for word in words], device=weights.device)
    positions = weights.masked_fill(~is_word, -1.0).argmax(dim=-1).tolist()
    aligned = list(zip(target, positions, strict=True))[len(tokens.forced_ids) :]
    return tokens.target.decode_filled(
        [token for token, _ in aligned], [words[position] for token, position in aligned if token == unknown]
    )


class TranslationPredictor(Seq2SeqPredictor[TranslationCodec]):
    """Generates a target text for every source text."""

    def predict(self, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        texts, languages = self.codec.split_languages(inputs)
        translations = self.translate(texts, languages, top=top)
        return [
            self.to_prediction(text, hypotheses, top=top)
            for text, hypotheses in zip(texts, translations, strict=True)
        ]

    def translate(
        self, texts: Sequence[str], languages: Sequence[str] = (), *, top: int = 1
    ) -> list[list[TextHypothesis]]:
        """Return the `top` translations of each text, best first, or as many as the search can find.

        languages: the target language of each text, for a multilingual model.
        """
        sources = self.codec.encode_texts(texts, languages)
        return [
            [self.detokenize(hypothesis, text, source) for hypothesis in hypotheses]
            for text, source, hypotheses in zip(texts, sources, self.generate(sources, top=top), strict=True)
        ]

    def detokenize(self, hypothesis: Hypothesis, text: str, source: Int[Tensor, " source"]) -> TextHypothesis:
        """Decode a hypothesis, with unknown words copied from the source text if the settings ask for it."""
        tokens = self.codec.tokens
        if self.recipe.decoding.unknown != "copy":
            return self.to_text(hypothesis, tokens.decode(hypothesis.tokens))
        words = tokens.source_words(text, tagged=bool(self.recipe.data.language))
        return self.to_text(
            hypothesis, copy_unknown_words(self.network, tokens, source, words, hypothesis.tokens)
        )

    @torch.inference_mode()
    def search_tree(self, text: str, *, top: int) -> tuple[Prediction, list[dict[str, Any]]]:
        target_search = self.target_search.with_top(top)
        if not isinstance(target_search.search, BeamSearch):
            raise UsageError(
                "a search tree needs a beam search with a beam of at least 2.",
                where="decoding.beam",
                cure="For example --beam 3, or decoding.beam=3.",
            )
        (plain_text,), languages = self.codec.split_languages([text])
        (source,) = self.codec.encode_texts([plain_text], languages)
        with naming_settings(self.recipe, "decoding"):
            hypotheses, tree = record_search(self.decoder, source, target_search.search)
        translations = [
            self.detokenize(hypothesis, plain_text, source) for hypothesis in target_search.select(hypotheses)
        ]
        return (
            self.to_prediction(text, translations, top=top),
            tree.to_dicts(lambda token: readable_pieces(self.codec.tokens.target, np.array([token]))[0]),
        )

    def attend(self, text: str) -> AttentionExample | None:
        sources = self.codec.encode_inputs([text])
        ((best, *_),) = self.generate(sources)
        return self.attention_example(sources[0], best)

    def attention_example(
        self, source: Int[Tensor, " source"], hypothesis: Hypothesis
    ) -> AttentionExample | None:
        """Return the attention over a source while a hypothesis is generated; None if the decoder has no
        attention.
        """
        weights = self.attention(source, hypothesis.tokens)
        if weights is None:
            return None
        tokens = self.codec.tokens
        generated = np.array([*hypothesis.tokens, tokens.end_id])
        return AttentionExample(
            readable_pieces(tokens.source, source.numpy()), readable_pieces(tokens.target, generated), weights
        )
