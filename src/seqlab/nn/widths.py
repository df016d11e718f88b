"""The width of each layer."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.core.errors import UsageError


def layer_widths(
    hidden_size: int | None, num_layers: int, hidden_sizes: Sequence[int] | None, *, where: str
) -> tuple[int, ...]:
    """One width per layer, from `hidden_sizes` or from torch's two arguments; both are allowed if they agree.

    >>> layer_widths(5, 2, None, where="LSTM"), layer_widths(None, 1, [3, 5], where="LSTM")
    ((5, 5), (3, 5))
    """
    if hidden_sizes is None:
        if hidden_size is None:
            raise TypeError(
                f"{where}() needs hidden_size, the size of all layers, or hidden_sizes, one size per layer"
            )
        return (hidden_size,) * max(num_layers, 1)  # without layers, torch raises its own error
    widths = tuple(hidden_sizes)
    if not widths or not all(isinstance(width, int) and width > 0 for width in widths):
        raise UsageError(
            f"hidden_sizes is {list(widths)}.",
            where=where,
            cure="Use an integer of at least 1 for each layer, such as [256, 128].",
        )
    if hidden_size not in (None, widths[-1]):
        raise UsageError(
            f"hidden_size is {hidden_size}, but hidden_sizes ends with {widths[-1]}.",
            where=where,
            cure="Remove hidden_size, or set it to the last size.",
        )
    if num_layers not in (1, len(widths)):
        raise UsageError(
            f"num_layers is {num_layers}, but hidden_sizes has {len(widths)} sizes.",
            where=where,
            cure="Remove num_layers.",
        )
    return widths
