"""The rows of the compatibility table: what PyTorch's tools make of a layer, as the tensors that come out."""

from __future__ import annotations

import copy
import io
import pickle
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.autograd import forward_ad
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn.utils import parametrizations, prune
from torch.nn.utils.rnn import PackedSequence, pack_sequence
from torch.utils.checkpoint import checkpoint

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
    # long enough for a scan and for the kernels
    packed = pack_sequence([draw(24, IN), draw(3, IN, seed=1), draw(1, IN, seed=2)])
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


def packed_gradients(layer: Layer, name: str) -> Any:
    function, rows = packed_output(layer, name)
    output = function(rows.requires_grad_())
    return [output, *torch.autograd.grad(total(output), [rows, *layer.parameters()])]


def flattened(layer: Layer, name: str) -> Any:
    packed_output(layer, name)
    layer.flatten_parameters()
    return gradients(layer, name)


def functional_call(layer: Layer, name: str) -> Any:
    doubled = {key: 2 * value for key, value in layer.named_parameters()}
    return torch.func.functional_call(layer, doubled, inputs_of(name))


def changed_outputs(layer: Layer, name: str, *, batch: int = 33, time: int = 50) -> Any:
    """Large enough for the kernels in C++."""
    outputs = tensors(layer(*inputs_of(name, batch, time)))
    outputs[0].mul_(2)
    return torch.autograd.grad(total(outputs), list(layer.parameters()))


def changed_packed_outputs(layer: Layer, name: str) -> Any:
    function, rows = packed_output(layer, name)
    return torch.autograd.grad(total(function(rows).mul_(2)), list(layer.parameters()))


def checkpointed(layer: Layer, name: str) -> Any:
    outputs = checkpoint(layer, *inputs_of(name), use_reentrant=False)
    return torch.autograd.grad(total(outputs), list(layer.parameters()))


def hooked(layer: Layer, name: str) -> Any:
    """What the hooks see, in the order of the calls, and the outputs and gradients that they change."""
    seen: list[Tensor] = []

    def before(_: Layer, given: tuple[Tensor, ...]) -> Any:
        seen.extend(given)
        return tuple(2 * part for part in given)

    def after(_: Layer, __: Any, found: Any) -> None:
        seen.extend(tensors(found))

    def backward(_: Layer, inward: Any, outward: Any) -> None:
        seen.extend(part for part in (*inward, *outward) if part is not None)

    layer.register_forward_pre_hook(before)
    layer.register_forward_hook(after)
    layer.register_full_backward_hook(backward)
    inputs = [part.requires_grad_() for part in inputs_of(name)]
    slopes = torch.autograd.grad(total(layer(*inputs)), [*inputs, *layer.parameters()], allow_unused=True)
    return [*seen, *(slope for slope in slopes if slope is not None)]


def matrices(layer: Layer) -> Iterator[tuple[Layer, str]]:
    """(module, name) of every parameter with two axes."""
    for part in list(layer.modules()):
        for name, value in list(part.named_parameters(recurse=False)):
            if value.dim() == 2:
                yield part, name


def changed_matrices(change: Callable[..., Any], *, training: bool = True) -> Behavior:
    """Outputs and gradients after every matrix of the layer has been changed or parametrized."""

    def act(layer: Layer, name: str) -> Any:
        for number, (part, weight) in enumerate(matrices(layer)):
            torch.manual_seed(number)
            change(part, weight)
        outputs = tensors(layer.train(training)(*inputs_of(name)))
        return [*outputs, *torch.autograd.grad(total(outputs), list(layer.parameters()))]

    return act


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


def onnx_outputs(model: Layer, inputs: list[tuple[Tensor, ...]], **options: Any) -> Any:
    """Export `model` with the first inputs, then run the file with all of them."""
    import onnxruntime  # only these rows need it

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/layer.onnx"
        torch.onnx.export(model.eval(), inputs[0], path, verbose=False, **options)
        session = onnxruntime.InferenceSession(path)
    names = [entry.name for entry in session.get_inputs()]
    feeds = [dict(zip(names, (part.numpy() for part in given), strict=True)) for given in inputs]
    return [[torch.from_numpy(output) for output in session.run(None, feed)] for feed in feeds]


def onnx(layer: Layer, name: str) -> Any:
    inputs = [tuple(part.float() for part in inputs_of(name, batch, 5, 7)) for batch in (3, 2, 7)]
    axes = {batch_axis(name): torch.export.Dim("batch", min=2, max=100)}
    return onnx_outputs(layer.float(), inputs, dynamo=True, dynamic_shapes=tuple(axes for _ in inputs[0]))


def legacy_onnx(layer: Layer, name: str) -> Any:
    inputs = [tuple(part.float() for part in inputs_of(name, batch, 5, 7)) for batch in (3, 2, 7)]
    names = [f"input{number}" for number in range(len(inputs[0]))]
    axes = {each: {batch_axis(name): "batch"} for each in names}
    return onnx_outputs(layer.float(), inputs, dynamo=False, input_names=names, dynamic_axes=axes)


def legacy_onnx_packed(layer: Layer, name: str) -> Any:
    packed_output(layer, name)
    axes = {"steps": {0: "time", 1: "batch"}, "lengths": {0: "batch"}}
    inputs = [
        (draw(time, len(lengths), IN).float(), torch.tensor(lengths))
        for time, lengths in ((5, [5, 3, 2]), (7, [7, 1]))
    ]
    model = Packed(layer.float(), enforce_sorted=True)  # the exporter knows no sorting
    return onnx_outputs(model, inputs, dynamo=False, input_names=list(axes), dynamic_axes=axes)


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


def assigned_weights(layer: Layer, name: str) -> Any:
    doubled = {key: 2 * value for key, value in layer.state_dict().items()}
    layer.load_state_dict(doubled, assign=True)
    return layer(*inputs_of(name))


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
    "outputs and gradients, packed": packed_gradients,
    "`flatten_parameters`": flattened,
    "outputs changed in place before the backward pass": changed_outputs,
    "packed outputs changed in place before the backward pass": changed_packed_outputs,
    "forward and backward hooks": hooked,
    "`torch.utils.checkpoint`": checkpointed,
    "second derivatives (`create_graph=True`)": lambda layer, name: second(*first_output(layer, name)),
    "second derivatives, packed": lambda layer, name: second(*packed_output(layer, name)),
    "`jacobian(vectorize=True)`": jacobian(first_output),
    "`jacobian(vectorize=True)`, packed": jacobian(packed_output),
    "forward-mode differentiation": forward_mode,
    "`torch.func.functional_call`": functional_call,
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
    "`load_state_dict(assign=True)`": assigned_weights,
    "`prune.l1_unstructured`": changed_matrices(partial(prune.l1_unstructured, amount=0.3)),
    "`utils.weight_norm`": changed_matrices(torch.nn.utils.weight_norm),
    "`utils.spectral_norm`": changed_matrices(torch.nn.utils.spectral_norm),
    "`parametrizations.weight_norm`": changed_matrices(parametrizations.weight_norm),
    "`parametrizations.orthogonal`": changed_matrices(parametrizations.orthogonal),
    "`parametrizations.spectral_norm`, evaluation": changed_matrices(
        parametrizations.spectral_norm, training=False
    ),
    "`parametrizations.spectral_norm`, training": changed_matrices(parametrizations.spectral_norm),
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
    "`torch.onnx.export(dynamo=True)`, dynamic batch size": onnx,
    "`torch.onnx.export(dynamo=False)`, dynamic batch size": legacy_onnx,
    "`torch.onnx.export(dynamo=False)` of pack, layer, pad, run with other lengths": legacy_onnx_packed,
    "`torch.compile`": compiled,
    "`torch.compile`, packed sequences of other lengths": compiled_packed,
}
LIMITS = {
    **dict.fromkeys(
        ("`torch.autocast`", "bfloat16", "float16", "`quantize_dynamic(nn.to_torch(model))`"), 2e-2
    ),
    **dict.fromkeys((row for row in SLOW if "onnx" in row), 1e-5),
}
"""The largest difference of behaviors that compute with few digits."""
DIFFERS = {"`parametrizations.spectral_norm`, training"}
"""Behaviors that may differ from torch's, for the reason that the page gives."""
