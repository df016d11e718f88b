"""Both sides of a pair as ids: what a source ends with, and which tokens each side has."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from seqlab.core.errors import RunError, UsageError
from seqlab.decoding.search import SpecialTokens
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.columns import text_of
from seqlab.tasks.seq2seq.target_tokens import SPECIALS, TARGET, Ids, TargetTokens, require_ends
from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.hugging_face import HuggingFace
from seqlab.tokens.published_vocabulary import PublishedVocabulary
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS

SOURCE = "source"
"""The folder of the tokenizer of the source side, where there are two."""


class PairTokens(TargetTokens):
    """A source is its tokens and the end token; a target is the start token, its tokens and the end token.

    With a language to write in, a token for it, such as <2de>, stands before the source: one model then
    serves many pairs of languages (Johnson et al. 2017, "Google's Multilingual Neural Machine Translation
    System", arXiv:1611.04558, section 3).
    """

    def __init__(self, source: Tokenizer, target: Tokenizer) -> None:
        super().__init__(target)
        self.source = source
        require_ends(source)

    @property
    def are_shared(self) -> bool:
        return self.source is self.target

    @property
    def tags(self) -> list[str]:
        """The languages that a source may ask for; none where the model writes one."""
        return sorted(piece[2:-1] for piece in self.source.vocabulary.specials if piece.startswith("<2"))

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> PairTokens:
        tokens, data = recipe.tokens, recipe.data
        tags = sorted({tag_of(text_of(row, data.language)) for row in train.rows()}) if data.language else []
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

    def read(self, texts: Sequence[str], languages: Sequence[str] = ()) -> list[Ids]:
        """Sources; `languages` names for each the one to write in, where the model knows several."""
        end = np.array([self.source.vocabulary.ids[EOS]], np.int32)
        encoded = [np.concatenate([ids, end]) for ids in self.source.encode_many(list(texts))]
        if not languages:
            return encoded
        return [
            np.concatenate([np.array([self._tag_id(language)], np.int32), ids])
            for language, ids in zip(languages, encoded, strict=True)
        ]

    def words_read(self, text: str, *, tagged: bool = False) -> list[str]:
        """For each token of `read` the word of the text in which it stands; empty for the end and for the tag
        of a language.
        """
        return [*([""] if tagged else []), *self.source.words_at(text), ""]

    def _tag_id(self, language: str) -> int:
        known = self.source.vocabulary.ids
        if tag_of(language) not in known:
            cure = f"It writes: {', '.join(self.tags)}." if self.tags else "It has one."
            raise RunError(f"the model has never written '{language[:40]}'.", where="language", cure=cure)
        return known[tag_of(language)]


class PublishedPairTokens(PairTokens):
    """Tokens of an imported model: vocabularies that add their own symbols, of which that of the target says
    by which token it starts.

    target: where the sides have a vocabulary each, that of what is written.
    """

    def __init__(self, source: Tokenizer, target: Tokenizer | None = None) -> None:
        target = source if target is None else target
        vocabulary = target.vocabulary
        assert isinstance(target, HuggingFace)
        assert isinstance(vocabulary, PublishedVocabulary)
        if not {"start", "eos"} <= vocabulary.roles.keys():
            raise RunError(
                "the tokens do not say with which one a translation starts and ends.",
                where="tokens",
                cure="Import the model again.",
            )
        self.source = source
        self.target = self._published = target
        self.start_id, self.end_id = vocabulary.roles["start"], vocabulary.roles["eos"]
        self.forced = [vocabulary.roles["forced_bos"]] if "forced_bos" in vocabulary.roles else []

    @property
    def special_tokens(self) -> SpecialTokens:
        return SpecialTokens(self.start_id, self.end_id, (self.target.vocabulary.pad_id,))

    def read(self, texts: Sequence[str], languages: Sequence[str] = ()) -> list[Ids]:
        return list(self.source.encode_many(list(texts)))

    def write(self, texts: Sequence[str]) -> list[Ids]:
        start = np.array([self.start_id], np.int32)
        return [np.concatenate([start, ids]) for ids in self._published.encode_targets(list(texts))]

    def words_read(self, text: str, *, tagged: bool = False) -> list[str]:
        return self.source.words_at(text)

    def cut(self, text: str, *, where: str) -> list[int]:
        if not self._published.cuts_targets:
            raise UsageError(
                "the model was imported without the file that cuts texts of its target language.",
                where=where,
                cure="Import it again, with target.spm in its folder.",
            )
        found = [int(token) for token in self._published.encode_targets([text])[0]]
        found = found[:-1] if found[-1:] == [self.end_id] else found
        return found if found[: len(self.forced)] == self.forced else [*self.forced, *found]


def tag_of(language: str) -> str:
    """
    >>> tag_of("de")
    '<2de>'
    """
    return f"<2{language.strip()}>"


def language_of(row: Row, column: str) -> list[str]:
    return [text_of(row, column)] if column else []
