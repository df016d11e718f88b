"""Encode both sides of a pair as token ids."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seqlab.core.errors import RunError, UsageError
from seqlab.decoding.search import SpecialTokens
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source, text_of
from seqlab.tasks.seq2seq.codec import SPECIALS, TARGET, Ids, TargetTokens, require_start_and_end
from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.hugging_face import HuggingFace
from seqlab.tokens.published_vocabulary import PublishedVocabulary
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS

SOURCE = "source"
"""The folder of the source tokenizer, if there are two."""


class PairTokens(TargetTokens):
    """A source is its tokens and the end token; a target is the start token, its tokens and the end token.

    In a multilingual model, every source starts with a tag for its target language, such as <2de>, so that
    one model serves many language pairs (Johnson et al. 2017, "Google's Multilingual Neural Machine
    Translation System", arXiv:1611.04558, section 3).
    """

    def __init__(self, source: Tokenizer, target: Tokenizer) -> None:
        super().__init__(target)
        self.source = source
        require_start_and_end(source)

    @property
    def tokenizers(self) -> dict[str, Tokenizer]:
        return {"source": self.source, "target": self.target}

    @property
    def are_shared(self) -> bool:
        return self.source is self.target

    @property
    def tags(self) -> list[str]:
        """The target languages of a multilingual model; empty for other models."""
        return sorted(piece[2:-1] for piece in self.source.vocabulary.specials if piece.startswith("<2"))

    @classmethod
    def fit(cls, recipe: Recipe, train: Source) -> PairTokens:
        tokens, data = recipe.tokens, recipe.data
        tags = (
            sorted({language_tag(text_of(row, data.language)) for row in train.rows()})
            if data.language
            else []
        )
        kinds = (tokens.kind, tokens.target_kind or tokens.kind)
        sizes = (tokens.size, tokens.target_size or tokens.size)
        if tokens.shared:
            texts = (text_of(row, column) for row in train.rows() for column in (data.source, data.target))
            both = tokenizers.get(kinds[0]).fit(texts, tokens, specials=[*SPECIALS, *tags])
            return cls(both, both)
        sides = []
        for column, kind, size, specials in zip(
            (data.source, data.target), kinds, sizes, ([*SPECIALS, *tags], SPECIALS), strict=True
        ):
            settings = tokens.model_copy(update={"kind": kind, "size": size})
            sides.append(
                tokenizers.get(kind).fit(
                    (text_of(row, column) for row in train.rows()), settings, specials=specials
                )
            )
        return cls(*sides)

    @classmethod
    def load(cls, folder: Path) -> PairTokens:
        if (folder / SOURCE).is_dir():
            source, target = load_tokenizer(folder / SOURCE), load_tokenizer(folder / TARGET)
            return (
                PublishedPairTokens(source, target)
                if isinstance(target.vocabulary, PublishedVocabulary)
                else cls(source, target)
            )
        both = load_tokenizer(folder)
        return (
            PublishedPairTokens(both) if isinstance(both.vocabulary, PublishedVocabulary) else cls(both, both)
        )

    def save(self, folder: Path) -> None:
        if self.are_shared:
            return save_tokenizer(self.source, folder)
        save_tokenizer(self.source, folder / SOURCE)
        return save_tokenizer(self.target, folder / TARGET)

    def encode_sources(self, texts: Sequence[str], languages: Sequence[str] = ()) -> list[Ids]:
        """Encode sources. languages: the target language of each text, for a multilingual model."""
        end = np.array([self.source.vocabulary.ids[EOS]], np.int32)
        encoded = [np.concatenate([ids, end]) for ids in self.source.encode_many(list(texts))]
        if not languages:
            return encoded
        return [
            np.concatenate([np.array([self._tag_id(language)], np.int32), ids])
            for language, ids in zip(languages, encoded, strict=True)
        ]

    def source_words(self, text: str, *, tagged: bool = False) -> list[str]:
        """Return the word that each token of `encode_sources` is part of; empty for the end token and the
        language tag.
        """
        return [*([""] if tagged else []), *self.source.words_at(text), ""]

    def _tag_id(self, language: str) -> int:
        known = self.source.vocabulary.ids
        if language_tag(language) not in known:
            cure = (
                f"Available: {', '.join(self.tags)}."
                if self.tags
                else "The model has only one target language."
            )
            raise RunError(
                f"the model does not know the target language '{language[:40]}'.", where="language", cure=cure
            )
        return known[language_tag(language)]


class PublishedPairTokens(PairTokens):
    """Tokens of an imported model: its vocabularies add their own special tokens, and the target vocabulary names the
    start token.

    target: the target tokenizer, if its vocabulary differs from the source.
    """

    def __init__(self, source: Tokenizer, target: Tokenizer | None = None) -> None:
        target = source if target is None else target
        vocabulary = target.vocabulary
        assert isinstance(target, HuggingFace)
        assert isinstance(vocabulary, PublishedVocabulary)
        if not {"start", "eos"} <= vocabulary.roles.keys():
            raise RunError(
                "the vocabulary does not name the start and end token of a translation.",
                where="tokens",
                cure="Import the model again.",
            )
        self.source = source
        self.target = self._published = target
        self.start_id, self.end_id = vocabulary.roles["start"], vocabulary.roles["eos"]
        self.forced_ids = [vocabulary.roles["forced_bos"]] if "forced_bos" in vocabulary.roles else []

    @property
    def special_tokens(self) -> SpecialTokens:
        return SpecialTokens(self.start_id, self.end_id, (self.target.vocabulary.pad_id,))

    def encode_sources(self, texts: Sequence[str], languages: Sequence[str] = ()) -> list[Ids]:
        return list(self.source.encode_many(list(texts)))

    def encode_targets(self, texts: Sequence[str]) -> list[Ids]:
        start = np.array([self.start_id], np.int32)
        return [np.concatenate([start, ids]) for ids in self._published.encode_targets(list(texts))]

    def source_words(self, text: str, *, tagged: bool = False) -> list[str]:
        return self.source.words_at(text)

    def target_ids(self, text: str, *, where: str) -> list[int]:
        if not self._published.cuts_targets:
            raise UsageError(
                "the model was imported without the tokenizer file of its target language.",
                where=where,
                cure="Import it again, with target.spm in its folder.",
            )
        ids = [int(token) for token in self._published.encode_targets([text])[0]]
        ids = ids[:-1] if ids[-1:] == [self.end_id] else ids
        return ids if ids[: len(self.forced_ids)] == self.forced_ids else [*self.forced_ids, *ids]


def language_tag(language: str) -> str:
    """
    >>> language_tag("de")
    '<2de>'
    """
    return f"<2{language.strip()}>"


def row_language(row: Row, column: str) -> list[str]:
    """Return the target language of a row for `encode_sources`; empty if there is no language column."""
    return [text_of(row, column)] if column else []
