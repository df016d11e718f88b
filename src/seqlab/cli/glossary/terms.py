"""Terms of the field: what they mean, their equation, and the settings, command and page that belong to them.

A file NAME.toml in this folder holds the terms of one topic. Its first line is a comment, the title of the
topic. `part_names.toml` holds other names of registered parts.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
PART_NAMES = "part_names"


@dataclass(frozen=True)
class Term:
    """One term.

    page: the path of a page of the documentation in the repository. also: other names that lead to the term.
    """

    name: str
    meaning: str
    command: str
    page: str
    equation: str = ""
    settings: tuple[str, ...] = ()
    also: tuple[str, ...] = ()

    @property
    def equations(self) -> list[str]:
        """The lines of the equation."""
        return self.equation.strip("\n").splitlines()


@cache
def terms_by_topic() -> dict[str, dict[str, Term]]:
    """The terms of every topic, by the topic's title and the term's name."""
    topics = {}
    for path in sorted(FOLDER.glob("*.toml")):
        if path.stem != PART_NAMES:
            text = path.read_text(encoding="utf-8")
            title = text.partition("\n")[0].removeprefix("#").strip()
            topics[title] = {name: _term(name, fields) for name, fields in tomllib.loads(text).items()}
    return topics


def all_terms() -> dict[str, Term]:
    """Every term by its name."""
    return {name: term for terms in terms_by_topic().values() for name, term in terms.items()}


def find_term(topic: str) -> Term | None:
    """A term however it is spelled: upper case, hyphens, underscores and spaces do not matter.

    >>> [find_term(topic).name for topic in ("Early-Stopping", "KV_cache", "fine tuning", "BPTT")]
    ['early stopping', 'KV cache', 'fine-tuning', 'backpropagation through time']
    >>> find_term("lstm")
    """
    return _terms_by_spelling().get(spelling(topic))


def find_part_name(topic: str) -> tuple[str, str] | None:
    """The kind and the name of the part that is also called `topic`.

    >>> find_part_name("RoPE"), find_part_name("rotary")
    (('positions', 'rotary'), None)
    """
    return _parts_by_spelling().get(spelling(topic))


def known_names() -> set[str]:
    """Every name that `find_term` or `find_part_name` answers, as it is written in the files."""
    names = {name for term in all_terms().values() for name in (term.name, *term.also)}
    return names | {other for parts in part_names().values() for others in parts.values() for other in others}


@cache
def _terms_by_spelling() -> dict[str, Term]:
    terms = all_terms().values()
    return {spelling(name): term for term in terms for name in (*term.also, term.name)}


@cache
def _parts_by_spelling() -> dict[str, tuple[str, str]]:
    return {
        spelling(other): (kind, name)
        for kind, parts in part_names().items()
        for name, others in parts.items()
        for other in others
    }


@cache
def part_names() -> dict[str, dict[str, list[str]]]:
    """Other names of parts, by their kind and name."""
    return tomllib.loads((FOLDER / f"{PART_NAMES}.toml").read_text(encoding="utf-8"))


def _term(name: str, fields: Mapping[str, Any]) -> Term:
    values: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()
    }
    return Term(name, **values)


def spelling(word: str) -> str:
    """What all ways to write a word have in common."""
    return " ".join(word.casefold().replace("-", " ").replace("_", " ").split())
