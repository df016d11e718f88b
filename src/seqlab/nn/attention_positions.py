"""The argument `positions=`: positional encodings applied inside attention."""

from __future__ import annotations

from types import SimpleNamespace

from seqlab.core.errors import ArgumentError, UsageError, nearest
from seqlab.positions.base import PositionalEncoding, positional_encodings

PositionsChoice = str | PositionalEncoding
"""A name ("rotary", "alibi", ...), or positions built by the user."""
DEFAULTS = SimpleNamespace(rotary_base=10000.0, max_positions=1024)
"""The defaults of the recipe section `model`; for other values, build the positions and pass the module."""


def choose_positions(
    choice: PositionsChoice, *, hidden_size: int, num_heads: int, head_size: int, where: str
) -> PositionalEncoding:
    if isinstance(choice, str):
        if choice not in positional_encodings.names():
            raise UsageError(
                f"there is no positional encoding called '{choice}'.",
                where=where,
                cure=nearest(choice, _inner()),
            )
        kind = positional_encodings.get(choice)
        sizes = {"hidden_size": hidden_size, "num_heads": num_heads, "head_size": head_size}
        positions = _built(kind, sizes, where=where) if _acts_inside(kind) else None
    elif isinstance(choice, PositionalEncoding):
        positions = choice if _acts_inside(type(choice)) else None
    else:
        raise UsageError(
            f"positions= must be a name or a positions module, not {type(choice).__name__}.", where=where
        )
    if positions is None:
        word = choice if isinstance(choice, str) else type(choice).__name__
        raise UsageError(
            f"positions '{word}' have no effect inside attention: they are added to the inputs.",
            where=where,
            cure=f"Add them to the input of the first layer, or choose one of: {', '.join(_inner())}.",
        )
    return positions


def _built(kind: type[PositionalEncoding], sizes: dict[str, int], *, where: str) -> PositionalEncoding:
    try:
        return kind.from_settings(**sizes, causal=False, settings=DEFAULTS)
    except ArgumentError as error:  # in this package the argument is called head_dim
        raise UsageError(
            error.what, where=where, cure="Use a different head_dim or different positions."
        ) from None


def _inner() -> list[str]:
    return [name for name in positional_encodings.names() if _acts_inside(positional_encodings.get(name))]


def _acts_inside(kind: type[PositionalEncoding]) -> bool:
    return (
        kind.apply_rotary is not PositionalEncoding.apply_rotary or kind.bias is not PositionalEncoding.bias
    )
