"""The setting `model.cell` of a recipe: the options of a cell are the keyword-only parameters of its
constructor. No torch here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin

from pydantic import BeforeValidator, Field, SerializeAsAny, ValidationError, create_model
from pydantic_core import InitErrorDetails, PydanticKnownError

from seqlab.cells.registry import cells
from seqlab.core.constructor_options import options_in_source, options_of_class
from seqlab.core.settings import Settings


class CellSettings(Settings):
    """A cell and its options. Each cell has a class of its own, made from its constructor."""

    kind: str = Field(description="Cell type.")

    @classmethod
    def choices(cls) -> list[str]:
        return cells.names()


class CellKinds(Mapping[str, type[CellSettings]]):
    """The settings of every registered cell by its name, including those of plug-ins."""

    def __getitem__(self, name: str) -> type[CellSettings]:
        if name not in self:
            raise KeyError(name)
        return cell_settings(name)

    def __contains__(self, name: object) -> bool:
        return name in cells.names()

    def __iter__(self) -> Iterator[str]:
        return iter(cells.names())

    def __len__(self) -> int:
        return len(cells.names())


CELL_KINDS = CellKinds()


def cell_settings(name: str) -> type[CellSettings]:
    """The settings of a cell.

    >>> cell_settings("lstm")(forget_bias=0.5).model_dump()
    {'kind': 'lstm', 'bias': True, 'forget_bias': 0.5, 'candidate': 'tanh'}
    """
    return _settings_of(name, cells.built_in_module(name) or cells.get(name))


@cache
def _settings_of(name: str, part: str | type) -> type[CellSettings]:
    """part: the module of a built-in cell, which is not imported, or the class of another, which a notebook
    may define again.
    """
    options = options_in_source(part, name) if isinstance(part, str) else options_of_class(part)
    fields: dict[str, Any] = {
        option: (_stated(annotation), default)
        for option, (annotation, default) in options.items()
        if isinstance(default, bool | int | float | str | tuple)
    }
    kind: Any = (Literal[name], Field(name, description="Cell type."))
    return create_model(
        f"{name}_settings", __base__=CellSettings, __doc__=cells.summary(name), kind=kind, **fields
    )


def named_cell(name: str) -> CellSettings:
    """A cell with the defaults of its options."""
    return cell_settings(name).model_validate({})


def _stated(annotation: Any) -> Any:
    """What of a parameter's type a recipe can state: no functions, and tuples for sequences."""
    if get_origin(annotation) is Annotated:
        kind, *metadata = get_args(annotation)
        return Annotated[(_stated(kind), *metadata)]
    if get_origin(annotation) is Union or type(annotation).__name__ == "UnionType":
        stated = [part for part in get_args(annotation) if get_origin(part) is not Callable]
        return Union[tuple(stated)]  # noqa: UP007  # built from its parts
    if get_origin(annotation) is Sequence:
        entry: Any = get_args(annotation)[0]
        return tuple[entry, ...]
    return annotation


def _find_settings(value: Any) -> Any:
    """`cell = "lstm"` is short for `cell = { kind = "lstm" }`."""
    if isinstance(value, str):
        value = {"kind": value}
    if not isinstance(value, Mapping):
        return value
    if (kind := value.get("kind")) not in CELL_KINDS:
        tags = {"discriminator": "kind", "tag": str(kind), "expected_tags": ", ".join(CELL_KINDS)}
        raise PydanticKnownError("union_tag_invalid", tags)
    try:
        return cell_settings(str(kind)).model_validate(value)
    except (
        ValidationError
    ) as error:  # the place of a mistake names the cell, as that of a model names its kind
        lines = [{**entry, "loc": (kind, *entry["loc"])} for entry in error.errors()]
        raise ValidationError.from_exception_data(error.title, cast(list[InitErrorDetails], lines)) from None


AnyCellSettings = Annotated[SerializeAsAny[CellSettings], BeforeValidator(_find_settings)]
