"""Generate HTML with automatic escaping.

`tag` escapes every plain string it is given, so forgetting to escape is not possible; only what `tag`, `text`
and `join` return is not escaped. An f-string or `+` makes a plain string again, which is escaped again:
the mistake is visible, and harmless.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

MAX_TEXT_CHARACTERS = 4000
MAX_ATTRIBUTE_CHARACTERS = 300
CONTROL_NAMES = (
    *("NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI"),
    *(
        "DLE",
        "DC1",
        "DC2",
        "DC3",
        "DC4",
        "NAK",
        "SYN",
        "ETB",
        "CAN",
        "EM",
        "SUB",
        "ESC",
        "FS",
        "GS",
        "RS",
        "US",
    ),
)
VOID = frozenset({"br", "hr", "img", "meta"})

# Characters that a reader cannot see, that reorder their neighbors, or that cannot be written in UTF-8 or
# XML at all.
# The joiners U+200C and U+200D stay: Persian, Hindi and emoji are written with them.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"
)


class Markup(str):
    """HTML that needs no escaping."""

    __slots__ = ()


def make_visible(value: str) -> str:
    """Make every hidden character visible: control codes by name, the rest by code point.

    >>> make_visible("a\\x1b[31m b\\u202ec"), make_visible("\\ud800")
    ('a‹ESC›[31m b‹U+202E›c', '‹U+D800›')
    """
    return _HIDDEN.sub(lambda match: _visible_form(ord(match[0])), value)


def _visible_form(code: int) -> str:
    return f"‹{CONTROL_NAMES[code]}›" if code < len(CONTROL_NAMES) else f"‹U+{code:04X}›"


def shorten(value: str, limit: int) -> str:
    """
    >>> shorten("abcdefgh", 3)
    'abc … (first 3 of 8 characters)'
    """
    if len(value) <= limit:
        return value
    return f"{value[:limit]} … (first {limit:,} of {len(value):,} characters)"


def text(value: str, *, limit: int = MAX_TEXT_CHARACTERS) -> Markup:
    """User text as HTML: shortened, made visible, escaped."""
    if isinstance(value, Markup):
        return value
    return Markup(html.escape(make_visible(shorten(value, limit)), quote=True))


def join(parts: Iterable[str], separator: str = "") -> Markup:
    """Concatenate several pieces."""
    return Markup(text(separator).join(text(part) for part in parts))


def tag(name: str, /, *children: str, **attributes: str | float | bool | None) -> Markup:
    """One element. `class_` is class, `stroke_width` is stroke-width; an attribute that is None or False is
    left out.

    >>> tag("p", "1 < 2", tag("br"), class_="note")
    '<p class="note">1 &lt; 2<br></p>'
    """
    attribute_text = "".join(
        _attribute(key, value)
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    if name in VOID:
        return Markup(f"<{name}{attribute_text}>")
    return Markup(f"<{name}{attribute_text}>{join(children)}</{name}>")


def _attribute(key: str, value: str | float | bool) -> str:
    name = key.rstrip("_").replace("_", "-")
    return f' {name}="{_attribute_value(value)}"'


def _attribute_value(value: str | float | bool) -> str:
    if value is True:
        return ""
    if isinstance(value, float):
        return f"{value:.2f}".rstrip("0").rstrip(".")
    # Markup is what `tag` returned; only our own long values (paths of charts) are made with it.
    return text(value, limit=MAX_ATTRIBUTE_CHARACTERS) if isinstance(value, str) else str(value)
