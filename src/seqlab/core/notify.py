"""Callbacks for messages to the user. Only the commands print, so other packages receive a function to call.

on_stage   what a command is doing, as it starts
on_note    what the user should know before slow work starts, and before an error that comes later
"""

from __future__ import annotations

from collections.abc import Callable

Notify = Callable[[str], None]


def ignore(message: str) -> None:
    """Drop the message."""
