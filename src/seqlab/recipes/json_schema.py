"""The JSON Schema of recipes (draft 2020-12), for completion and validation of TOML files in editors.

It is derived from the settings classes, so it includes every section, model kind and cell, also those of
installed plug-ins.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import Field, create_model
from pydantic.json_schema import GenerateJsonSchema

from seqlab.core.settings import Settings, sentence_of
from seqlab.models.aliases import MODEL_ALIASES
from seqlab.recipes.recipe import FORMAT, Recipe, task_settings
from seqlab.recipes.sections import DEFAULT_KINDS, KINDS, task_sections
from seqlab.recipes.task_registry import registered_tasks

Schema = dict[str, Any]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
REFERENCE = "#/$defs/{model}"


class _Untitled(GenerateJsonSchema):
    """Leaves out titles, which would only repeat the names of settings."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


def recipe_schema() -> Schema:
    """Build the JSON Schema of a recipe."""
    schema, definitions = _parts_of(_recipe_of_all_tasks())
    properties = schema["properties"]
    properties["format"] |= {"minimum": 1, "maximum": FORMAT}
    properties["task"]["enum"] = ["", *registered_tasks.names()]
    properties["model"] = {
        "description": properties["model"]["description"],
        **_one_of_kinds("model", definitions, short_names=MODEL_ALIASES),
    }
    recurrent = definitions["model.recurrent"]["properties"]
    recurrent["cell"] = {
        "description": recurrent["cell"]["description"],
        **_one_of_kinds("model.cell", definitions, short_names=KINDS["model.cell"]),
    }
    return {
        "$schema": DIALECT,
        "title": "seqlab recipe",
        "description": sentence_of(Recipe),
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "dependentSchemas": {name: _only_for(name) for name in task_sections()},
        "$defs": dict(sorted(definitions.items())),
    }


def _recipe_of_all_tasks() -> type[Recipe]:
    """Build a recipe class with the sections of all tasks; a recipe that is read has at most one of them."""
    sections: dict[str, Any] = {
        name: (settings, Field(default_factory=settings, description=sentence_of(settings)))
        for name in task_sections()
        for settings in [task_settings(name)]
    }
    return create_model("Recipe", __base__=Recipe, **sections)


def _only_for(task: str) -> Schema:
    """A recipe with the section of a task may not name another task."""
    return {"properties": {"task": {"enum": ["", task]}}}


def _one_of_kinds(section: str, definitions: dict[str, Schema], *, short_names: Iterable[str]) -> Schema:
    """The schema of a short name, or of the settings of one kind. Only the default kind may be left out.

    definitions: the schema of every kind is added to it.
    """
    kinds = KINDS[section]
    for kind, settings in kinds.items():
        schema, others = _parts_of(settings)
        required = {} if kind == DEFAULT_KINDS[section] else {"required": ["kind"]}
        definitions |= {**others, f"{section}.{kind}": schema | required}
    choices = [{"$ref": REFERENCE.format(model=f"{section}.{kind}")} for kind in kinds]
    return {"oneOf": [{"type": "string", "enum": list(short_names)}, *choices]}


def _parts_of(settings: type[Settings]) -> tuple[Schema, dict[str, Schema]]:
    """Return the schema of a settings class, and the definitions that it refers to.

    Models and cells are defined per kind, in place of the classes that pydantic knows.
    """
    schema = settings.model_json_schema(ref_template=REFERENCE, schema_generator=_Untitled)
    replaced = {kind.__name__ for kinds in KINDS.values() for kind in kinds.values()} | {"CellSettings"}
    definitions = schema.pop("$defs", {})
    schema.pop("title", None)
    return schema | {"description": sentence_of(settings)}, {
        name: {key: value for key, value in definition.items() if key != "title"}
        for name, definition in definitions.items()
        if name not in replaced
    }
