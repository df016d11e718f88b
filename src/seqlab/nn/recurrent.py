"""The base of RNN, LSTM and GRU: torch's interface with any cell behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.rnn import PackedSequence

from seqlab.blocks.merge import MERGES, MergeName
from seqlab.blocks.scan import checked_scan
from seqlab.cells.base import Cell, State
from seqlab.cells.kernel_choice import kernel_beats_torch, packed_scan_beats_torch
from seqlab.cells.native.library import native_kernels
from seqlab.cells.step_layout import Packing, StepLayout
from seqlab.cells.tracing import is_captured, is_tracing, is_transformed
from seqlab.core.errors import UsageError, nearest
from seqlab.nn.chosen_cell import CellChoice, ChosenCell, Family, choose_cell
from seqlab.nn.fx_node import as_fx_node
from seqlab.nn.named_weights import NamedWeights
from seqlab.nn.packed_rows import PackedRows, live_of
from seqlab.nn.states import Hidden, States
from seqlab.nn.torch_layers import NotQuantized, adopt
from seqlab.nn.widths import layer_widths

TORCH_LAYERS: dict[Family, type[nn.RNNBase]] = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
"""torch's original classes, captured because a user may replace them in torch.nn with seqlab's."""
GetParameter = Callable[[str], Tensor]


class Recurrent(NotQuantized, nn.RNNBase):
    """Layers of one kind of cell with torch's constructor, parameters, inputs and outputs.

    A subclass also inherits from torch's own layer, whose forward pass runs if torch has the same equations
    and all sequences have the same length. Everything else is scanned here, over real steps only. Parameters
    are read at every call, so anything that replaces them (load_state_dict with assign, .to,
    parametrizations, functional_call) takes effect.
    """

    family: ClassVar[Family]

    def __init__(
        self,
        input_size: int,
        hidden_size: int | None,
        num_layers: int,
        *,
        torch_kwargs: Mapping[str, Any],
        proj_size: int = 0,
        device: torch.device | str | int | None,
        dtype: torch.dtype | None,
        cell: CellChoice | None,
        options: Mapping[str, Any],
        merge: MergeName,
        hidden_sizes: Sequence[int] | None,
        fast: bool,
    ) -> None:
        self._cells: list[list[NamedWeights]] = []
        self._shapes: list[torch.Size] = []
        where = type(self).__name__
        widths = layer_widths(hidden_size, num_layers, hidden_sizes, where=where)
        arguments: dict[str, Any] = {**torch_kwargs, "device": "meta", "dtype": dtype}
        if proj_size:
            arguments["proj_size"] = proj_size  # torch's RNN and GRU reject this argument
        sizes: tuple[Any, ...] = (input_size, widths[-1], num_layers if hidden_sizes is None else len(widths))
        # torch checks its own arguments and sets its own attributes; the parameters of the cell then replace
        # torch's.
        super().__init__(*sizes, **arguments)
        self._forget_torchs_parameters()
        if merge not in MERGES:
            raise UsageError(f"there is no merge called '{merge}'.", where=where, cure=nearest(merge, MERGES))
        if merge != "concat" and not self.bidirectional:
            raise UsageError(
                f"merge='{merge}' needs two directions.",
                where=where,
                cure="Add bidirectional=True, or remove merge.",
            )
        self.chosen = choose_cell(cell, family=self.family, where=where, extra_options=options)
        if self.chosen.name == "projected_lstm" and not proj_size:
            raise UsageError(
                "the cell projected_lstm needs proj_size.",
                where=where,
                cure="Pass it to the layer: proj_size=64.",
            )
        self.hidden_sizes = widths
        self.merge = merge
        self.fast = fast
        self._lay_out(device, dtype)
        self.reset_parameters()

    def _forget_torchs_parameters(self) -> None:
        for name in self._flat_weights_names:
            delattr(self, name)
        self._flat_weights_names, self._all_weights, self._flat_weights = [], [], []

    def _layers(self) -> Iterator[tuple[list[NamedWeights], list[dict[str, torch.Size]]]]:
        """The cells of each layer, the reverse direction after the forward one, and the names and shapes of
        their parameters.
        """
        size = self.input_size
        for number, width in enumerate(self.hidden_sizes):
            suffixes = [f"_l{number}", f"_l{number}_reverse"][: self._num_directions]
            layer = [
                NamedWeights.for_cell(self.chosen, size, width, bias=self.bias, suffix=suffix)
                for suffix in suffixes
            ]
            shapes = [weights.shapes for weights in layer]
            size = layer[0].template.output_size * (2 if self.bidirectional and self.merge == "concat" else 1)
            if self.merge == "learned":
                shapes.append(
                    {
                        f"weight_merge_l{number}": torch.Size([size, 2 * size]),
                        f"bias_merge_l{number}": torch.Size([size]),
                    }
                )
            yield layer, shapes

    def _lay_out(self, device: torch.device | str | int | None, dtype: torch.dtype | None) -> None:
        """Register a parameter for every name."""
        for layer, groups in self._layers():
            self._cells.append(layer)
            for group in groups:
                for name, shape in group.items():
                    self.register_parameter(
                        name, nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
                    )
                self._shapes.extend(group.values())
                self._flat_weights_names.extend(group)
                self._all_weights.append(list(group))
        self._init_flat_weights()

    def reset_parameters(self) -> None:
        """Initialize torch's cells as torch does, and all others as the cell does."""
        for number, layer in enumerate(self._cells):
            for weights in layer:
                weights.initialize(self._read)
            if self.merge == "learned":
                project = nn.Linear(2 * layer[0].template.output_size, layer[0].template.output_size)
                with torch.no_grad():
                    self._read(f"weight_merge_l{number}").copy_(project.weight)
                    self._read(f"bias_merge_l{number}").copy_(project.bias)

    def _read(self, name: str) -> Tensor:
        """The current value of a parameter; through getattr, because a parametrization computes it."""
        return getattr(self, name)

    def _reader(self) -> GetParameter:
        """The parameters as `_update_flat_weights` has read them, so that none is computed once more."""
        weights = dict(zip(self._flat_weights_names, self._flat_weights, strict=True))

        def read(name: str) -> Tensor:
            weight = weights[name]
            return self._read(name) if weight is None else weight  # a deleted one is an AttributeError

        return read

    def flatten_parameters(self) -> None:
        """Put all weights into one block of memory if torch's fused layer can use it; torch calls this
        method itself.
        """
        if self._cells and self._matches_torch:
            super().flatten_parameters()

    @property
    def _num_directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _matches_torch(self) -> bool:
        """Whether torch's own layer holds these parameters and computes this."""
        return self.chosen.matches_torch and self.merge == "concat" and len(set(self.hidden_sizes)) == 1

    def forward(
        self,
        input: Tensor | PackedSequence,  # noqa: A002 - torch's name
        hx: Hidden | None = None,
    ) -> tuple[Tensor | PackedSequence, Hidden]:
        """(output, last state), as torch.nn's layer of the same name returns them."""
        if (node := as_fx_node(self, input, hx)) is not None:
            return node
        if isinstance(input, Tensor) and input.is_nested:
            raise RuntimeError(
                f"{type(self).__name__} does not support nested tensors; pack the sequences with"
                " torch.nn.utils.rnn.pack_sequence(nested.unbind(), enforce_sorted=False)"
            )
        if self._is_left_to_torch(input):
            if isinstance(input, PackedSequence) and not is_captured():
                live_of(input)  # torch's layer trusts the sizes of a PackedSequence that was built by hand
            return super().forward(input, hx)
        self._update_flat_weights()
        rows = PackedRows.from_input(input, batch_first=self.batch_first, where=type(self).__name__)
        self.check_input(rows.original_input, rows.batch_sizes)
        states = States(self._cells, rows)
        outputs, last = self._scan(rows.rows, rows.packing, states.split(hx), self._reader())
        return rows.to_output(outputs), states.join(last)

    def _is_left_to_torch(self, input: Tensor | PackedSequence) -> bool:  # noqa: A002 - torch's own name
        """Whether torch's own layer runs this call. This is the one place that decides, before any kernel is
        looked up.

        A recorded call (trace, export, compile) must accept other lengths, and torch's layer does. Transforms
        of torch.func need the plain scan, because torch's layer supports few of them. Otherwise the faster of
        the two runs: torch's on a GPU; on a CPU, unless a scan was measured to beat it.
        """
        if not self._matches_torch:
            return False
        if is_captured():
            return True
        if not self.fast or is_transformed():
            return False
        steps = input.data if isinstance(input, PackedSequence) else input
        if steps.device.type != "cpu":
            return True
        if self.proj_size:
            return False
        has_kernel = self.family != "rnn" and native_kernels(steps) is not None
        if isinstance(input, PackedSequence):
            return not packed_scan_beats_torch(
                has_kernel=has_kernel,
                num_steps=input.batch_sizes.numel(),
                num_rows=steps.shape[0] if steps.dim() else 0,
                hidden_size=self.hidden_size,
            )
        return not (has_kernel and self._kernel_beats_torch(input))

    def _kernel_beats_torch(self, batch: Tensor) -> bool:
        axis = 1 if self.batch_first and batch.dim() == 3 else 0
        return kernel_beats_torch(
            "lstm" if self.family == "lstm" else "gru",
            num_steps=batch.shape[axis],
            num_sequences=batch.shape[1 - axis] if batch.dim() == 3 else 1,
            hidden_size=self.hidden_size,
        )

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:  # noqa: A002 - torch's name
        """Run torch's own check, which both paths need, and check the weights: torch's LSTM does not check
        their shapes on a CPU.
        """
        super().check_input(input, batch_sizes)
        if is_tracing():
            return
        dtype = input.dtype
        for number, (weight, shape) in enumerate(zip(self._flat_weights, self._shapes, strict=True)):
            if weight is not None and (
                weight.shape != shape
                or (weight.dtype != dtype and not torch.is_autocast_enabled(input.device.type))
            ):
                name = self._flat_weights_names[number]
                raise RuntimeError(
                    f"{name} is {weight.dtype} {list(weight.shape)}, expected {dtype} {list(shape)}"
                )

    def _scan(
        self,
        rows: Float[Tensor, "rows input"],
        packing: Packing,
        states: list[list[State]],
        get_parameter: GetParameter,
    ) -> tuple[Float[Tensor, "rows output"], list[list[State]]]:
        """Scan all layers, each direction separately: packed rows and (layer, direction) states in the
        packing's order, in and out.
        """
        last = []
        for number, (layer, layer_states) in enumerate(zip(self._cells, states, strict=True)):
            below = rows if number == 0 else F.dropout(rows, self.dropout, self.training)
            scanned = [
                self._scan_one(
                    weights.bind(get_parameter),
                    below,
                    state,
                    packing.layout(reverse=bool(reverse), device=rows.device),
                )
                for reverse, (weights, state) in enumerate(zip(layer, layer_states, strict=True))
            ]
            rows = self._merge(number, [outputs for outputs, _ in scanned], get_parameter)
            last.append([state for _, state in scanned])
        return rows, last

    def _scan_one(self, cell: Cell, rows: Tensor, state: State, layout: StepLayout) -> tuple[Tensor, State]:
        if layout.num_sequences == 0:  # an empty step has the right shapes
            return cell.materialize_weights().forward(rows, state)
        return checked_scan(cell, rows, state, layout, fast=self.fast)

    def _merge(self, number: int, directions: list[Tensor], get_parameter: GetParameter) -> Tensor:
        if len(directions) == 1:
            return directions[0]
        if self.merge == "learned":
            return F.linear(
                torch.cat(directions, dim=-1),
                get_parameter(f"weight_merge_l{number}"),
                get_parameter(f"bias_merge_l{number}"),
            )
        return MERGES[self.merge](directions[0].shape[1])(*directions)

    def to_torch(self) -> nn.Module:
        if not self._matches_torch:
            raise self.no_counterpart_error(
                f"the cell is {self.chosen}, merge={self.merge}, widths {self.hidden_sizes}"
            )
        names = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
        arguments = {name: getattr(self, name) for name in names}
        if self.family == "rnn":
            arguments["nonlinearity"] = self.nonlinearity
        if self.proj_size:
            arguments["proj_size"] = self.proj_size
        return adopt(TORCH_LAYERS[self.family](**arguments, device="meta"), self)

    def __getstate__(self) -> dict[str, Any]:
        """Plain data and tensors, so that torch.load needs to be allowed this class alone."""
        state: dict[str, Any] = super().__getstate__()  # type: ignore[no-untyped-call]  # torch's
        del state["_cells"], state["_shapes"]
        return {**state, "chosen": self.chosen.to_plain()}

    def __setstate__(self, d: dict[str, Any]) -> None:
        super().__setstate__(d)  # type: ignore[no-untyped-call]  # torch's
        self.chosen = ChosenCell.from_plain(d["chosen"])
        self._cells, self._shapes = [], []
        for layer, groups in self._layers():
            self._cells.append(layer)
            self._shapes.extend(shape for group in groups for shape in group.values())

    def extra_repr(self) -> str:
        parts = [super().extra_repr()]
        if len(set(self.hidden_sizes)) > 1:
            parts.append(f", hidden_sizes={self.hidden_sizes}")
        parts.append(self.chosen.describe())
        if self.merge != "concat":
            parts.append(f", merge={self.merge}")
        return "".join(parts if self.fast else [*parts, ", fast=False"])
