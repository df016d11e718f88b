"""The rows of the compatibility table: what PyTorch's tools make of a layer, as the tensors that come out."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils.rnn import PackedSequence, pack_sequence

from seqlab import nn
from tests.nn.compatibility.layers import COLUMNS, IN, RECURRENT, batch_axis, draw, inputs_of
from tests.nn.compatibility.models import Inside1, Inside2, Inside3, Packed

Layer = torch.nn.Module
Behavior = Callable[[Layer, str], Any]
OTHER_SIZES = ((3, 5), (2, 5), (4, 5))


class DoesNotApplyError(Exception):
    """The behavior means nothing for this layer."""


def inside(layer: Layer, name: str) -> Layer:
    return (Inside1, Inside2, Inside3)[len(inputs_of(name)) - 1](layer)


def tensors(result: Any) -> list[Tensor]:
    if isinstance(result, Tensor):
        return [result]
    if isinstance(result, dict):
        return tensors(list(result.values()))
    return [part for each in result or () for part in tensors(each)]


def total(result: Any) -> Tensor:
    return torch.stack([part.pow(3).sum() for part in tensors(result)]).sum()


def first_output(
    layer: Layer, name: str, batch: int = 2, time: int = 3
) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    first, *rest = inputs_of(name, batch, time)
    return lambda steps: tensors(layer(steps, *rest))[0], first


def packed_output(layer: Layer, name: str) -> tuple[Callable[[Tensor], Tensor], Tensor]:
    if name not in RECURRENT:
        raise DoesNotApplyError
    packed = pack_sequence([draw(4, IN), draw(2, IN, seed=1), draw(1, IN, seed=2)])
    sizes = packed.batch_sizes
    return lambda rows: layer(PackedSequence(rows, sizes))[0].data, packed.data


def second(function: Callable[[Tensor], Tensor], given: Tensor) -> Any:
    given.requires_grad_()
    (slope,) = torch.autograd.grad(function(given).pow(3).sum(), given, create_graph=True)
    return torch.autograd.grad(slope.square().sum(), given)


def loss_of(layer: Layer, name: str) -> tuple[Callable[..., Tensor], dict[str, Tensor]]:
    def loss(parameters: dict[str, Tensor], *inputs: Tensor) -> Tensor:
        return total(torch.func.functional_call(layer, parameters, inputs or inputs_of(name)))

    return loss, {key: value.detach() for key, value in layer.named_parameters()}


def forward(layer: Layer, name: str) -> Any:
    return layer(*inputs_of(name))


def gradients(layer: Layer, name: str) -> Any:
    return torch.autograd.grad(total(layer(*inputs_of(name))), list(layer.parameters()))


def jacobian(make: Any) -> Behavior:
    return lambda layer, name: torch.autograd.functional.jacobian(*make(layer, name), vectorize=True)


def forward_mode(layer: Layer, name: str) -> Any:
    function, given = first_output(layer, name)
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(function(forward_ad.make_dual(given, torch.ones_like(given)))).tangent


def func_grad(layer: Layer, name: str) -> Any:
    loss, parameters = loss_of(layer, name)
    return torch.func.grad(loss)(parameters)


def func_jvp(layer: Layer, name: str) -> Any:
    loss, parameters = loss_of(layer, name)
    return torch.func.jvp(loss, (parameters,), (parameters,))


def vmap(layer: Layer, name: str) -> Any:
    stacked = [torch.stack([part, part + 1]) for part in inputs_of(name)]
    return torch.vmap(lambda *parts: tensors(layer(*parts))[0])(*stacked)


def per_sample_gradients(layer: Layer, name: str) -> Any:
    loss, parameters = loss_of(layer, name)
    stacked = [torch.stack([part, part + 1]) for part in inputs_of(name)]
    return torch.vmap(torch.func.grad(loss), in_dims=(None, *[0] * len(stacked)))(parameters, *stacked)


def transform(kind: Any) -> Behavior:
    def act(layer: Layer, name: str) -> Any:
        function, given = first_output(layer, name)
        return kind(
            function if kind is not torch.func.hessian else lambda steps: function(steps).pow(3).sum()
        )(given)

    return act


def traced(layer: Layer, name: str) -> Any:
    trace = torch.jit.trace(layer, inputs_of(name), check_trace=False)
    return [trace(*inputs_of(name, batch, time, 7)) for batch, time in (*OTHER_SIZES, (2, 8))]


def traced_packed(layer: Layer, name: str) -> Any:
    packed_output(layer, name)
    trace = torch.jit.trace(Packed(layer), (draw(5, 3, IN), torch.tensor([5, 2, 3])), check_trace=False)
    return [trace(draw(5, 3, IN), torch.tensor([1, 5, 4])), trace(draw(4, 2, IN), torch.tensor([4, 1]))]


def scripted(layer: Layer, name: str) -> Any:
    script = torch.jit.script(inside(layer, name))
    return [script(*inputs_of(name, batch, time, 7)) for batch, time in OTHER_SIZES]


def exported(*, strict: bool, dynamic: bool) -> Behavior:
    def act(layer: Layer, name: str) -> Any:
        axis = {batch_axis(name): torch.export.Dim("batch", min=2, max=100)}
        axes = tuple(axis for _ in inputs_of(name)) if dynamic else None
        module = torch.export.export(layer, inputs_of(name), strict=strict, dynamic_shapes=axes).module()
        found = [module(*inputs_of(name, batch, 5, 7)) for batch in ((3, 2, 7) if dynamic else (3,))]
        weights = [weight for _, weight in sorted(module.named_parameters())]  # exported in another order
        slopes = torch.autograd.grad(total(module(*inputs_of(name))), weights)
        return [*tensors(found), *slopes]

    return act


def compiled(layer: Layer, name: str) -> Any:
    torch.compiler.reset()
    fast = torch.compile(layer, backend="aot_eager")
    slopes = torch.autograd.grad(total(fast(*inputs_of(name))), list(layer.parameters()))
    return [*tensors(fast(*inputs_of(name, 2, 8, 7))), *slopes]


def compiled_packed(layer: Layer, name: str) -> Any:
    packed_output(layer, name)
    torch.compiler.reset()
    fast = torch.compile(Packed(layer), backend="eager")
    return [fast(draw(5, 3, IN), torch.tensor([1, 5, 4])), fast(draw(4, 2, IN), torch.tensor([4, 1]))]


def symbolic(layer: Layer, name: str) -> Any:
    graph = torch.fx.symbolic_trace(inside(layer, name))
    return [graph(*inputs_of(name, batch, time, 7)) for batch, time in OTHER_SIZES]


def proxied(layer: Layer, name: str) -> Any:
    call = lambda *parts: layer(*parts)  # noqa: E731, PLW0108 - make_fx reads the signature
    return make_fx(call)(*inputs_of(name))(*inputs_of(name, seed=5))


def quantized(layer: Layer, name: str) -> Any:
    model = nn.to_torch(inside(layer.float().eval(), name))
    found = torch.ao.quantization.quantize_dynamic(model)
    converted = [type(part).__module__.startswith("torch.ao") for part in found.modules()]
    return [torch.tensor(converted).sum(), *tensors(found(*(part.float() for part in inputs_of(name))))]


def pickled(layer: Layer, name: str) -> Any:
    return pickle.loads(pickle.dumps(layer))(*inputs_of(name))


def copied(layer: Layer, name: str) -> Any:
    return copy.deepcopy(layer)(*inputs_of(name))


def loaded_weights(layer: Layer, name: str) -> Any:
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    builders = {key: build for column in COLUMNS.values() for key, build in column.items()}
    other = builders[name](torch.nn)  # into torch's class
    other.load_state_dict(torch.load(file, weights_only=True))
    return other(*inputs_of(name))


def loaded_module(layer: Layer, name: str) -> Any:
    file = io.BytesIO()
    torch.save(layer, file)
    file.seek(0)
    allowed = [*{type(part) for part in layer.modules()}, torch.nn.functional.relu]
    with torch.serialization.safe_globals(allowed):
        return torch.load(file, weights_only=True)(*inputs_of(name))


def autocast(layer: Layer, name: str) -> Any:
    with torch.autocast("cpu", torch.bfloat16):
        return layer.float()(*(part.float() for part in inputs_of(name)))


def cast(dtype: torch.dtype) -> Behavior:
    return lambda layer, name: layer.to(dtype)(*(part.to(dtype) for part in inputs_of(name)))


def on_meta(layer: Layer, name: str) -> Any:
    found = tensors(layer.to("meta")(*(part.to("meta") for part in inputs_of(name))))
    return [torch.tensor(part.shape) for part in found]


def nested(layer: Layer, name: str) -> Any:
    width = inputs_of(name)[0].shape[-1]
    sequences = torch.nested.nested_tensor([draw(4, width), draw(2, width, seed=1)])
    with torch.no_grad():
        found = tensors(layer.eval()(*[sequences] * len(inputs_of(name))))
    return [part.to_padded_tensor(0.0) if part.is_nested else part for part in found]


FAST: dict[str, Behavior] = {
    "outputs": forward,
    "gradients": gradients,
    "second derivatives (`create_graph=True`)": lambda layer, name: second(*first_output(layer, name)),
    "second derivatives, packed": lambda layer, name: second(*packed_output(layer, name)),
    "`jacobian(vectorize=True)`": jacobian(first_output),
    "`jacobian(vectorize=True)`, packed": jacobian(packed_output),
    "forward-mode differentiation": forward_mode,
    "`torch.func.grad`": func_grad,
    "`torch.func.jvp`": func_jvp,
    "`torch.func.jacrev`": transform(torch.func.jacrev),
    "`torch.func.jacfwd`": transform(torch.func.jacfwd),
    "`torch.func.hessian`": transform(torch.func.hessian),
    "`torch.vmap`": vmap,
    "gradients per example (`vmap` of `grad`)": per_sample_gradients,
    "`torch.jit.trace`, called with other batch sizes and lengths": traced,
    "`torch.jit.trace` of pack, layer, pad, called with other lengths": traced_packed,
    "`torch.jit.script`": scripted,
    "`torch.fx.symbolic_trace` of a model with the layer": symbolic,
    "`make_fx`": proxied,
    "`quantize_dynamic(nn.to_torch(model))`": quantized,
    "`pickle`": pickled,
    "`copy.deepcopy`": copied,
    "`torch.load(weights_only=True)` of a state dict, into torch's class": loaded_weights,
    "`torch.load` of a whole module, `safe_globals` with its own class": loaded_module,
    "`torch.autocast`": autocast,
    "bfloat16": cast(torch.bfloat16),
    "float16": cast(torch.float16),
    '`device="meta"`': on_meta,
    "nested tensors": nested,
}
SLOW: dict[str, Behavior] = {
    "`torch.export.export`": exported(strict=False, dynamic=False),
    "`torch.export.export`, dynamic batch size": exported(strict=False, dynamic=True),
    "`torch.export.export(strict=True)`": exported(strict=True, dynamic=False),
    "`torch.export.export(strict=True)`, dynamic batch size": exported(strict=True, dynamic=True),
    "`torch.compile`": compiled,
    "`torch.compile`, packed sequences of other lengths": compiled_packed,
}
ROUNDED = {"`torch.autocast`", "bfloat16", "float16", "`quantize_dynamic(nn.to_torch(model))`"}
"""Behaviors that compute with few digits."""
