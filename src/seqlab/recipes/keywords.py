"""Settings by keyword: `learning_rate=1e-3` instead of `training.learning_rate=1e-3`, where the section is
clear.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from seqlab.core.errors import UsageError, nearest
from seqlab.recipes.renamed import new_names_of_keyword
from seqlab.recipes.sections import section_names, sections_with, settings_of, task_sections

MAIN = ("data", "tokens", "model", "training")
"""A name in one of these sections means that section, also where a special section such as `decoder` has the
name too.
"""


def dotted_names(settings: Mapping[str, Any], *, task: str = "") -> dict[str, Any]:
    """The same settings under their dotted names. A name that the section of the task has means that section.

    >>> dotted_names({"learning_rate": 0.1, "text": "review", "model.dropout": 0.3})
    {'training.learning_rate': 0.1, 'data.text': 'review', 'model.dropout': 0.3}
    >>> dotted_names({"window": 64}, task="language_model")
    {'language_model.window': 64}
    """
    return {
        name if "." in name else f"{_section(name, task)}.{name}": value for name, value in settings.items()
    }


def _section(name: str, task: str) -> str:
    own = task_sections()
    having = [section for section in sections_with(name) if section == task or not task or section not in own]
    if task in having:
        return task
    main = [section for section in having if section in MAIN or section in own]
    if len(chosen := main or having) == 1:
        return chosen[0]
    if not having:
        raise _unknown(name, task)
    choices = " or ".join(f'**{{"{section}.{name}": …}}' for section in having)
    raise UsageError(
        f"'{name}' is a setting of several sections: {', '.join(having)}.",
        cure=f"Give the dotted name: {choices}" + ("" if task else ", or the task."),
    )


def _unknown(name: str, task: str) -> UsageError:
    if renamed := new_names_of_keyword(name):
        return UsageError(f"'{name}' has another name now.", cure=f"Use {' or '.join(renamed)}.")
    if others := sections_with(name):
        return UsageError(
            f"'{name}' has no effect on the task {task}: it is a setting of {' and '.join(others)}.",
            cure="Leave it out.",
        )
    known = {
        field for section in section_names() for kind in settings_of(section) for field in kind.model_fields
    }
    return UsageError(f"there is no setting called '{name}'.", cure=nearest(name, sorted(known)))
