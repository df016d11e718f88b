"""Boxes shaded by a number, with the number inside."""

from __future__ import annotations

from seqlab.pages.html import Markup, tag

CONTRAST = 0.6  # the exponent that keeps a share of 5% visible next to one of 90%
LIGHT_TEXT_OPACITY = 0.8
"""Above this opacity, dark text is harder to read than light text."""


def opacity(share: float) -> float:
    """The opacity of a share between 0 and 1.

    >>> opacity(0.0), round(opacity(0.05), 2), opacity(1.0), opacity(1.7)
    (0.0, 0.17, 1.0, 1.0)
    """
    return float(min(1.0, max(0.0, share)) ** CONTRAST)


def shaded_box(x: float, y: float, width: float, height: float, *, share: float, color: str = "c0") -> Markup:
    """A rounded box with this opacity, inset by one pixel."""
    style = f"fill: var(--{color}); fill-opacity: {opacity(share):.3f}"
    return tag("rect", x=x + 1, y=y + 1, width=width - 2, height=height - 2, rx=2, style=style)


def shaded_text(text: str, x: float, y: float, *, share: float, size: float, mono: bool = False) -> Markup:
    """Centered text, readable on a box with this opacity."""
    font = (
        "; font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre"
        if mono
        else ""
    )
    style = (
        f"font-size: {size:g}px; fill:"
        f" var(--{'strong' if opacity(share) > LIGHT_TEXT_OPACITY else 'ink'}){font}"
    )
    return tag("text", text, x=x, y=y + 0.35 * size, text_anchor="middle", style=style)
