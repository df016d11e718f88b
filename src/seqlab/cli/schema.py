"""seqlab schema: the JSON Schema of recipes, for editors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from seqlab.cli.console import answer, say

EXAMPLES = """\b
Examples:
  seqlab schema --out recipe.schema.json

Start a recipe with the line  #:schema ./recipe.schema.json  and editors with Taplo (Even Better TOML in
VS Code) complete and validate its settings.
"""


def schema(
    out: Annotated[
        str, typer.Option(metavar="FILE", help="Write the schema to this file instead of standard output.")
    ] = "",
) -> None:
    """Print the JSON Schema of recipes, for editor completion."""
    from seqlab.core.files import write_whole
    from seqlab.recipes.json_schema import recipe_schema

    text = json.dumps(recipe_schema(), indent=2, ensure_ascii=False)
    if not out:
        return answer(text)
    write_whole(Path(out), f"{text}\n")
    return say(f"Wrote {out}. Start a recipe in the same folder with: #:schema ./{Path(out).name}")
