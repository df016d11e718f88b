"""How a file is understood when nothing but its name is given, beside the truth."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tests.messy.first_contact
import tests.messy.json_exports
import tests.messy.json_files
import tests.messy.known_layouts
import tests.messy.line_files
import tests.messy.pairs
import tests.messy.second_contact
import tests.messy.service_exports
import tests.messy.tables  # noqa: F401 (the files register themselves)
from seqlab.core.errors import SeqlabError
from seqlab.runs.data import open_data
from seqlab.runs.find_recipe import find_recipe
from tests.messy.truth import MESSY_FILES, MessyFile, Truth

__all__ = ["MESSY_FILES", "Understood", "understand"]


@dataclass(frozen=True)
class Understood:
    """What was guessed, and what is wrong with it (empty: nothing)."""

    file: MessyFile
    truth: Truth
    wrong: str
    sentences: tuple[str, ...] = ()


def understand(file: MessyFile, folder: Path) -> Understood:
    """Write a file, open it as `seqlab train FILE` does, and compare task, columns and rows with the truth."""
    path = folder / file.name
    truth = file.write(path)
    try:
        opened = open_data(find_recipe(str(path), [])[0])
        rows = sum(1 for part in opened.parts.values() for _ in part.rows())
    except SeqlabError as error:
        return Understood(file, truth, str(error).replace(str(folder), "").partition("\n")[0])
    recipe = opened.recipe
    columns = {name: getattr(recipe.data, name) for name in truth.columns}
    expected = {"task": truth.task, **truth.columns, "rows": truth.rows}
    found = {"task": recipe.task, **columns, "rows": rows}
    wrong = ", ".join(
        f"{name} {found[name]!r}, not {value!r}" for name, value in expected.items() if found[name] != value
    )
    return Understood(file, truth, wrong, (*opened.reasons, *opened.warnings))
