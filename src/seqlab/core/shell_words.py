"""Settings as they are typed into a shell."""

from __future__ import annotations

import shlex


def setting_word(name: str, value: str) -> str:
    """A setting with a value that may have spaces.

    >>> setting_word("data.label", "stars"), setting_word("data.label", "Your age?")
    ('data.label=stars', "data.label='Your age?'")
    """
    return f"{name}={shlex.quote(value)}"
