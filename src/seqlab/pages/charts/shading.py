"""Boxes whose colour is as strong as a number, and the number inside."""

from __future__ import annotations

from seqlab.pages.html import Markup, tag

CONTRAST = 0.6  # the power that keeps a share of 5 % visible beside one of 90 %
TOO_DARK = 0.8
"""The strength from which dark letters are harder to read than light ones."""


def strength(share: float) -> float:
    """How opaque a share between 0 and 1 is drawn.

    >>> strength(0.0), round(strength(0.05), 2), strength(1.0), strength(1.7)
    (0.0, 0.17, 1.0, 1.0)
    """
    return float(min(1.0, max(0.0, share)) ** CONTRAST)


def box(x: float, y: float, width: float, height: float, *, share: float, colour: str = "c0") -> Markup:
    """A rounded box of that strength, one pixel inside its place."""
    style = f"fill: var(--{colour}); fill-opacity: {strength(share):.3f}"
    return tag("rect", x=x + 1, y=y + 1, width=width - 2, height=height - 2, rx=2, style=style)


def letters(written: str, x: float, y: float, *, share: float, size: float, mono: bool = False) -> Markup:
    """Words around their middle, readable on a box of that strength."""
    font = "; font-family: ui-monospace, Menlo, Consolas, 'DejaVu Sans Mono', monospace; white-space: pre" if mono else ""
    style = f"font-size: {size:g}px; fill: var(--{'strong' if strength(share) > TOO_DARK else 'ink'}){font}"
    return tag("text", written, x=x, y=y + 0.35 * size, text_anchor="middle", style=style)
