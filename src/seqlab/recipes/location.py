"""Where in a recipe something stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from seqlab.core.settings import Settings
from seqlab.recipes.sections import KINDS, is_section


@dataclass(frozen=True)
class Place:
    """A section by its dotted name, the class of settings chosen there by its kind, and what follows: a
    setting, an entry of a list.
    """

    section: str
    chosen: type[Settings] | None
    rest: tuple[str | int, ...]

    @classmethod
    def of(cls, path: Sequence[str | int]) -> Place:
        """Of a path as pydantic writes it, where the kinds stand between the names.

        >>> place = Place.of(["model", "recurrent", "cell", "lstm", "forget_bias"])
        >>> place.section, place.chosen.__name__, place.rest
        ('model.cell', 'lstm_settings', ('forget_bias',))
        """
        section, rest, chosen = str(path[0]), tuple(path[1:]), None
        while rest:
            if chosen is None and rest[0] in KINDS.get(section, {}):
                chosen, rest = KINDS[section][str(rest[0])], rest[1:]
            elif is_section(f"{section}.{rest[0]}") and (
                chosen is None or str(rest[0]) in chosen.model_fields
            ):
                section, chosen, rest = f"{section}.{rest[0]}", None, rest[1:]
            else:
                break
        return cls(section, chosen, rest)
