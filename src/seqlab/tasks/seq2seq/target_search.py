"""Build the search of a recipe over the target tokens of a codec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from seqlab.core.errors import RecipeError
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.build_search import build_search, select_n_best
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.search import Search, SpecialTokens
from seqlab.decoding.settings import DecodingSettings
from seqlab.recipes.setting_names import naming_settings
from seqlab.tasks.seq2seq.codec import Seq2SeqCodec, TargetTokens
from seqlab.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class TargetSearch:
    """A search, and how many hypotheses it keeps for each source."""

    settings: DecodingSettings
    codec: Seq2SeqCodec
    search: Search

    @classmethod
    def build(cls, settings: DecodingSettings, codec: Seq2SeqCodec) -> TargetSearch:
        tokens = codec.tokens
        with naming_settings(codec.recipe, "decoding"):
            search = build_search(
                settings,
                _special_tokens(settings, tokens),
                vocabulary_size=len(tokens.target.vocabulary),
                prefix=_prefix(settings, tokens),
                max_target_tokens=codec.max_positions - 2,
            )
        return cls(settings, codec, search)

    def with_top(self, top: int) -> TargetSearch:
        """Return the search for `top` hypotheses, or as many as possible; for sampling, all samples,
        because many may be equal.
        """
        settings = self.settings
        most = settings.samples if settings.temperature and top > 1 else min(top, settings.beam)
        if most <= settings.n_best:
            return self
        settings = settings.model_copy(update={"n_best": most})
        if isinstance(self.search, BeamSearch):  # its stopping rule depends on n_best
            return self.build(settings, self.codec)
        return replace(self, settings=settings)

    def select(self, hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
        """Return the best hypotheses of one source."""
        return select_n_best(self.settings, hypotheses)


def _special_tokens(settings: DecodingSettings, tokens: TargetTokens) -> SpecialTokens:
    if settings.unknown != "copy":
        return tokens.special_tokens
    return tokens.special_tokens.without_suppressing(_unknown_id(tokens.target.vocabulary))


def _prefix(settings: DecodingSettings, tokens: TargetTokens) -> list[int]:
    if not settings.prefix:
        return tokens.forced_ids
    return tokens.known_target_ids(settings.prefix, where="decoding.prefix")


def _unknown_id(vocabulary: Vocabulary) -> int:
    if not vocabulary.has_unknown:
        raise RecipeError(
            "the vocabulary has no token for unknown words, so none can be copied.",
            where="decoding.unknown",
            cure="Remove it.",
        )
    return vocabulary.unk_id
