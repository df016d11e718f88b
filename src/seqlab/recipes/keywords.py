"""Settings by keyword: `learning_rate=1e-3` instead of `training.learning_rate=1e-3`, where only one section
has the name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqlab.core.errors import UsageError, nearest
from seqlab.recipes.recipe import SECTIONS

MAIN = ("data", "tokens", "model", "training")
"""A name in one of these sections means that section, also where a special section such as `decoder` has the
name too.
"""


def dotted_names(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The same settings under their dotted names.

    >>> dotted_names({"learning_rate": 0.1, "text": "review", "model.dropout": 0.3})
    {'training.learning_rate': 0.1, 'data.text': 'review', 'model.dropout': 0.3}
    >>> dotted_names({"hidden_size": 64})
    {'model.hidden_size': 64}
    """
    return {_dotted(name): value for name, value in settings.items()}


def _dotted(name: str) -> str:
    if "." in name:
        return name
    sections = [
        section for section, kinds in SECTIONS.items() if any(name in kind.model_fields for kind in kinds)
    ]
    main = [section for section in sections if section in MAIN]
    if len(chosen := main or sections) == 1:
        return f"{chosen[0]}.{name}"
    if not sections:
        known = {field for kinds in SECTIONS.values() for kind in kinds for field in kind.model_fields}
        raise UsageError(f"there is no setting called '{name}'.", cure=nearest(name, sorted(known)))
    choices = " or ".join(f'**{{"{section}.{name}": …}}' for section in sections)
    raise UsageError(
        f"'{name}' is a setting of several sections: {', '.join(sections)}.",
        cure=f"Give the dotted name: {choices}",
    )
