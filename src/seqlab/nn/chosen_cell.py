"""The argument `cell=`: which cell a layer with torch's interface scans through time."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError
from torch import Tensor

from seqlab.cells.base import Cell, cells
from seqlab.cells.settings import CELL_KINDS
from seqlab.core.errors import ArgumentError, UsageError, listed, nearest
from seqlab.core.settings import expected

Family = Literal["rnn", "lstm", "gru"]
CellChoice = str | type[Cell] | Mapping[str, Any]
"""A name ("peephole_lstm", or "peephole" inside an LSTM), a class of cells, or {"kind": name or class,
option: value, ...}.
"""
Nonlinearity = str | Callable[[Tensor], Tensor]

NUM_STATE_TENSORS: dict[Family, int] = {"rnn": 1, "lstm": 2, "gru": 1}
ARGUMENT_NAMES = {"activation": "nonlinearity"}
"""Options that layers take as an argument of another name: torch's."""
STATES = {1: "only a hidden state", 2: "a hidden state and a cell state"}


@dataclass(frozen=True)
class ChosenCell:
    """A cell class, its registered name (None for a user-defined class), and the requested options."""

    family: Family
    """The family of the layer, which determines its torch counterpart."""
    kind: type[Cell]
    name: str
    options: Mapping[str, Any]

    def build(self, input_size: int, hidden_size: int, *, bias: bool) -> Cell:
        return self.kind(input_size, hidden_size, bias=bias, **self.options)

    @property
    def matches_torch(self) -> bool:
        """Whether torch's layer of this family has the same equations with the same parameters."""
        if self.name == "projected_lstm":
            return self.family == "lstm"
        requested = self.options.get
        has_torchs_options = (
            requested("activation", "tanh") in ("tanh", "relu")
            and requested("candidate", "tanh") == "tanh"
            and requested("keep", "old") == "old"
        )
        return self.name == self.family and has_torchs_options

    @property
    def initializes_like_torch(self) -> bool:
        """Whether to initialize like torch: true for torch's cells with any activation, unless a forget
        bias is requested.
        """
        return self.name in (*NUM_STATE_TENSORS, "projected_lstm") and "forget_bias" not in self.options

    def to_plain(self) -> Any:
        """Names and options in place of a registered class, for a pickle that needs no other class."""
        return (self.family, self.name, dict(self.options)) if self.name else self

    @classmethod
    def from_plain(cls, plain: Any) -> ChosenCell:
        if isinstance(plain, ChosenCell):
            return plain
        family, name, options = plain
        return cls(family, cells.get(name), name, options)

    def describe(self) -> str:
        """What a layer's repr adds about its cell: nothing if it is torch's own."""
        if self.name == "rnn" == self.family:
            return f", nonlinearity={_word(self.options['activation'])}" if self.options else ""
        is_torchs_own = self.name == "projected_lstm" or (self.name == self.family and not self.options)
        return "" if is_torchs_own else f", cell={self}"

    def __str__(self) -> str:
        options = ", ".join(f"{name}={_word(value)}" for name, value in self.options.items())
        return (self.name or self.kind.__name__) + (f"({options})" if options else "")


def choose_cell(
    choice: CellChoice | None, *, family: Family, where: str, extra_options: Mapping[str, Any] | None = None
) -> ChosenCell:
    """The cell requested for a layer named `where` (of torch's family); `extra_options` are options passed
    as separate arguments.
    """
    requested = (
        dict(choice) if isinstance(choice, Mapping) else {"kind": family if choice is None else choice}
    )
    if "kind" not in requested:
        raise UsageError(
            f"cell= has no 'kind', only {listed(sorted(requested))}.",
            where=where,
            cure='Write {"kind": "lstm", ...}.',
        )
    name, kind = _find(requested.pop("kind"), family=family, where=where)
    arguments = {option: ARGUMENT_NAMES.get(option, option) for option in extra_options or {}}
    for option, value in (extra_options or {}).items():
        if option in requested and requested[option] != value:
            raise UsageError(
                f"{arguments[option]} is {value!r} in the arguments and {requested[option]!r} in cell=.",
                where=where,
                cure="Set it in one place only.",
            )
        requested[option] = value
    _check_options(kind, name, requested, arguments, where=where)
    if kind.num_state_tensors != NUM_STATE_TENSORS[family]:
        raise UsageError(
            f"the cell {name or kind.__name__} has {STATES[kind.num_state_tensors]}, but {where} needs"
            f" {STATES[NUM_STATE_TENSORS[family]]}.",
            where=where,
            cure=(
                f"Use this cell with seqlab.nn.{'LSTM' if kind.num_state_tensors == 2 else 'GRU'}, or"
                f" choose one of: {listed(_fitting(family))}."
            ),
        )
    return ChosenCell(family, kind, name, requested)


def _find(requested: Any, *, family: Family, where: str) -> tuple[str, type[Cell]]:
    """(registered name, class); a name may leave out the family, which the layer implies."""
    if inspect.isclass(requested) and issubclass(requested, Cell):
        return next((name for name in cells.names() if cells.get(name) is requested), ""), requested
    if not isinstance(requested, str):
        raise UsageError(
            f"cell= must be a name, a Cell class or a dict with a 'kind', not {type(requested).__name__}.",
            where=where,
        )
    names = cells.names()
    for name in (requested, f"{requested}_{family}"):
        if name in names:
            return name, cells.get(name)
    raise UsageError(
        f"there is no cell called '{requested}'.", where=where, cure=nearest(requested, _fitting(family))
    )


def _check_options(
    kind: type[Cell], name: str, options: Mapping[str, Any], arguments: Mapping[str, str], *, where: str
) -> None:
    """arguments: the names of those options that are arguments of the layer."""
    known = [
        option
        for option, parameter in inspect.signature(kind).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    ]
    if "bias" in options:
        raise UsageError(
            "bias is not an option of cell=.", where=where, cure="Pass it to the layer: bias=False."
        )
    for option in options:
        if option not in known:
            cure = f"Supported options: {listed([other for other in known if other != 'bias'])}."
            raise UsageError(
                f"the cell {name or kind.__name__} has no option '{arguments.get(option, option)}'.",
                where=where,
                cure=cure,
            )
    if name in CELL_KINDS:
        _check_values(name, options, arguments, where=where)


def _check_values(name: str, options: Mapping[str, Any], arguments: Mapping[str, str], *, where: str) -> None:
    """Validate option values as a recipe would; functions are allowed only in Python."""
    settings = CELL_KINDS[name]
    plain = {
        option: value
        for option, value in options.items()
        if option in settings.model_fields and not callable(value)
    }
    try:
        settings.model_validate({"kind": name, **plain})
    except ValidationError as error:
        option = str(error.errors()[0]["loc"][0])
        raise ArgumentError(
            arguments.get(option, option),
            options[option],
            f"{where} with the cell {name} expects {expected(settings.model_fields[option])}.",
        ) from None


def _fitting(family: Family) -> list[str]:
    return [name for name in cells.names() if cells.get(name).num_state_tensors == NUM_STATE_TENSORS[family]]


def _word(value: Any) -> str:
    return getattr(value, "__name__", type(value).__name__) if callable(value) else str(value)
