"""The items that the scores of all competitors are computed from."""

from __future__ import annotations

from seqlab.metrics.items import Items
from seqlab.runs.compare.competitor import Competitor

PER_CHARACTER = "bits_per_character"
FEW_UNKNOWN = 0.0005
"""Share of out-of-vocabulary tokens below which their effect on a score is negligible."""


def shared_items(competitors: list[Competitor]) -> tuple[dict[str, list[list[Items]]], list[str]]:
    """Return the items of every competitor's runs by score.

    Language models with different tokenizers are compared by bits per character, on equal blocks of text.
    """
    streams = [evaluation.stream for competitor in competitors for evaluation in competitor.evaluations]
    if (
        all(stream is not None for stream in streams)
        and len({len(stream.nats) for stream in streams if stream is not None}) > 1
    ):
        upto = min(float(stream.ends[-1]) for stream in streams if stream is not None)
        by_character: list[list[Items]] = [
            [
                evaluation.stream.character_items(num_characters=upto)
                for evaluation in competitor.evaluations
                if evaluation.stream
            ]
            for competitor in competitors
        ]
        return {PER_CHARACTER: by_character}, _about_tokens(competitors)
    shared = {}
    for score in competitors[0].first.scores:
        items = [
            [evaluation.items.get(score.name) for evaluation in competitor.evaluations]
            for competitor in competitors
        ]
        present = [[seed_items for seed_items in seeds if seed_items is not None] for seeds in items]
        counts = {seed_items.num_items for seeds in present for seed_items in seeds}
        if (
            all(len(seeds) == len(every) for seeds, every in zip(present, items, strict=True))
            and len(counts) == 1
        ):
            shared[score.name] = present
    return shared, []


def _about_tokens(competitors: list[Competitor]) -> list[str]:
    """Warn about what makes a comparison across tokenizers by bits per character unfair."""
    warnings = [
        (
            "the models have different tokenizers, so they are compared by bits per character, on equal blocks of"
            " text"
        )
    ]
    for competitor in competitors:
        stream = competitor.first.stream
        assert stream is not None  # the others are compared by the items of their scores
        share = stream.num_unknown / len(stream.nats)
        if share > FEW_UNKNOWN:
            warnings.append(
                f"{competitor.name}: {share:.1%} of the tokens are out of vocabulary, and their characters are not"
                " predicted, so its score is too optimistic"
            )
        if not stream.predicts_whitespace:
            warnings.append(
                f"{competitor.name}: whitespace between words is not predicted, so its score is too optimistic"
            )
        if competitor.runs[0].recipe.tokens.lowercase:
            warnings.append(
                f"{competitor.name}: the text is lowercased, which is easier to predict, so its score is too optimistic"
            )
    return warnings
