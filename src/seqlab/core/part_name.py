"""A setting that takes the name of a registered part, so that parts of plug-ins can be chosen as well."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from seqlab.core.registry import Registry


class PartName(str):
    """The type of such a setting: a subclass for each registry. The value is still plain text.

    class TokenizerName(PartName):
        registry = tokenizers
        also = ("",)
    """

    registry: ClassVar[Registry[Any]]
    also: ClassVar[tuple[str, ...]] = ()
    """Additional allowed values that are not parts, such as "none"."""

    @classmethod
    def choices(cls) -> list[str]:
        return [*cls.registry.names(), *cls.also]

    @classmethod
    def check(cls, name: str) -> str:
        if name not in cls.also and name not in cls.registry:
            raise PydanticCustomError("unknown_part", "unknown part name")
        return str(name)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(cls.check, core_schema.str_schema())

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "enum": cls.choices()}
