"""Default tokens, network and batches for translation, from the first pairs."""

from __future__ import annotations

from itertools import islice
from statistics import mean

from seqlab.cells.settings import named_cell
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import text_of
from seqlab.tasks.translation.rows import PairRows

SAMPLE = 1000
SHORT = 40
"""Mean length in characters below which pairs are words, dates or numbers, whose tokens are characters."""
SYMBOLS = 3
"""A target whose whitespace-separated pieces have at most this many characters is a sequence of symbols,
such as phonemes.
"""


def with_defaults(recipe: Recipe, pairs: PairRows) -> tuple[Recipe, list[str]]:
    rows, data, reasons = list(islice(pairs.rows(), SAMPLE)), recipe.data, []
    sources, targets = (
        [text_of(row, column) for row in rows] or [""] for column in (data.source, data.target)
    )
    if not recipe.tokens.kind:
        is_short = max(mean(map(len, sources)), mean(map(len, targets))) < SHORT
        recipe = recipe.changed("tokens", kind="characters" if is_short else "bpe")
        why = "short pairs" if is_short else "pairs of sentences"
        reasons.append(f"tokens are {recipe.tokens.kind} ({why}); set tokens.kind=NAME to change it")
        if is_short and not recipe.tokens.target_kind and _are_symbols(targets):
            recipe = recipe.changed("tokens", target_kind="whitespace")
            reasons.append(
                "target tokens are separated by whitespace; set tokens.target_kind=NAME to change it"
            )
    is_by_character = recipe.tokens.kind in ("characters", "bytes")
    if "model" not in recipe.model_fields_set:
        network = (
            RecurrentSettings(
                cell=named_cell("gru"),
                bidirectional=True,
                hidden_size=192,
                embedding_size=96,
                dropout=0.2,
            )
            if is_by_character
            else TransformerSettings(
                layers=3, hidden_size=256, heads=4, feedforward_size=512, dropout=0.2, embedding_scale=True
            )
        )
        recipe = recipe.model_copy(update={"model": network})
        reasons.append(f"a {network.kind} encoder-decoder; use --model NAME to change it")
    if isinstance(recipe.model, TransformerSettings):
        recipe = recipe.with_defaults("training", label_smoothing=0.1, learning_rate=2e-3)
    else:
        recipe = recipe.with_defaults("training", learning_rate=2e-3)
    if not recipe.training.batch_size and not recipe.training.batch_tokens:
        recipe = recipe.changed(
            "training", **({"batch_size": 64} if is_by_character else {"batch_tokens": 4096})
        )
    return recipe, reasons


def _are_symbols(targets: list[str]) -> bool:
    """
    >>> _are_symbols(["AH B AE N", "K AE T"]), _are_symbols(["2001-02-03"]), _are_symbols(["zwei kleine Hunde"])
    (True, False, False)
    """
    pieces = [piece for target in targets for piece in target.split()]
    return len(pieces) > len(targets) and mean(map(len, pieces)) <= SYMBOLS
