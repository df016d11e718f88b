"""MultiheadAttention gives torch's outputs, weights and gradients, whatever the masks and the form of
input.
"""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from seqlab import nn
from seqlab.attention.recording import record_alignments

pytestmark = pytest.mark.slow  # a sweep over every variant: short each, long together

EMBED, HEADS, BATCH, TARGET, SOURCE = 6, 3, 4, 5, 7
OPTIONS: list[dict[str, Any]] = [
    {},
    {"bias": False},
    {"add_bias_kv": True},
    {"add_zero_attn": True, "add_bias_kv": True},
    {"kdim": 5, "vdim": 8},
    {"kdim": 5, "bias": False, "add_zero_attn": True},
]
MASKS = [
    "none",
    "padding",
    "bool",
    "float",
    "bool per head",
    "float per head",
    "padding and bool",
    "float padding",
    "float padding and float",
]


def pair(dtype: torch.dtype = torch.float32, **options: Any) -> tuple[Any, Any]:
    ours = nn.MultiheadAttention(EMBED, HEADS, dtype=dtype, **options)
    theirs = torch.nn.MultiheadAttention(EMBED, HEADS, dtype=dtype, **options)
    theirs.load_state_dict(ours.state_dict())
    with torch.no_grad():
        for one, other in zip(ours.parameters(), theirs.parameters(), strict=True):
            one.copy_(torch.randn_like(one) / 3)  # a bias of zero would hide where it is added
            other.copy_(one)
    return ours, theirs


def inputs(ours: Any, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    shapes = [(TARGET, BATCH, EMBED), (SOURCE, BATCH, ours.kdim), (SOURCE, BATCH, ours.vdim)]
    found = [torch.randn(shape, dtype=dtype) for shape in shapes]
    return [
        (steps.transpose(0, 1) if ours.batch_first else steps).contiguous().requires_grad_()
        for steps in found
    ]


def masks(kind: str, dtype: torch.dtype = torch.float32) -> dict[str, Tensor]:
    padding = torch.arange(SOURCE) >= torch.tensor([7, 4, 6, 1])[:, None]  # (batch, source)
    hidden = torch.rand(TARGET, SOURCE) > 0.6
    hidden[:, 0] = False  # torch has NaN where nothing is left
    found: dict[str, Tensor] = {}
    if "padding" in kind:
        found["key_padding_mask"] = (
            torch.zeros(BATCH, SOURCE, dtype=dtype).masked_fill(padding, -torch.inf)
            if "float padding" in kind
            else padding
        )
    mask = kind.removeprefix("float padding").removeprefix("padding").removeprefix(" and ")
    if mask.startswith("bool"):
        found["attn_mask"] = hidden
    if mask.startswith("float"):
        found["attn_mask"] = torch.randn(TARGET, SOURCE, dtype=dtype).masked_fill(hidden, -torch.inf)
    if mask.endswith("per head"):
        found["attn_mask"] = torch.stack(
            [found["attn_mask"].roll(number, 0) for number in range(BATCH * HEADS)]
        )
    return found


def compare(ours: Any, theirs: Any, given: list[Tensor], **arguments: Any) -> None:
    """Outputs, weights, and the gradients of inputs and parameters."""
    gradients = []
    results = []
    for module in (ours, theirs):
        output, weights = module(*given, **arguments)
        direction = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view(output.shape)
        loss = (output * direction).mean() + (0 if weights is None else weights.square().mean())
        gradients.append(torch.autograd.grad(loss, [*given, *module.parameters()]))
        results.append((output, weights))
    assert_close(results[0], results[1], rtol=0, atol=1e-6)
    assert_close(gradients[0], gradients[1], rtol=0, atol=1e-6)


@pytest.mark.spec(142)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("batch_first", [False, True], ids=["time first", "batch first"])
def test_the_start_and_the_names_are_torchs(options: dict[str, Any], batch_first: bool) -> None:
    torch.manual_seed(8)
    ours = nn.MultiheadAttention(EMBED, HEADS, batch_first=batch_first, **options)
    after_ours = torch.rand(1)
    torch.manual_seed(8)
    theirs = torch.nn.MultiheadAttention(EMBED, HEADS, batch_first=batch_first, **options)
    assert torch.equal(after_ours, torch.rand(1))
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert all(torch.equal(ours.state_dict()[name], value) for name, value in theirs.state_dict().items())
    assert repr(ours) == repr(theirs)
    assert isinstance(ours, torch.nn.MultiheadAttention)
    assert vars(ours).keys() - {"_parameters"} >= vars(theirs).keys() - {
        "bias_k",
        "bias_v",
        "_parameters",
    }  # torch's attributes


@pytest.mark.spec(142)
@pytest.mark.filterwarnings("ignore:Support for mismatched")  # torch's, for a bool and a float mask together
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("batch_first", [False, True], ids=["time first", "batch first"])
@pytest.mark.parametrize("need_weights", [False, True], ids=["output alone", "with weights"])
def test_outputs_weights_and_gradients_are_torchs(
    kind: str, options: dict[str, Any], batch_first: bool, need_weights: bool
) -> None:
    torch.manual_seed(1)
    ours, theirs = pair(batch_first=batch_first, **options)
    compare(ours, theirs, inputs(ours), need_weights=need_weights, **masks(kind))


@pytest.mark.filterwarnings("ignore:Support for mismatched")
@pytest.mark.parametrize("kind", [*MASKS, "padding and float"])
def test_in_double_precision_the_equality_is_that_of_double_precision(kind: str) -> None:
    torch.manual_seed(2)
    ours, theirs = pair(torch.float64)
    given = inputs(ours, torch.float64)
    arguments: dict[str, Any] = masks(kind, torch.float64)
    assert_close(ours(*given, **arguments), theirs(*given, **arguments), rtol=0, atol=1e-14)


@pytest.mark.parametrize("mode", ["train", "eval", "eval without gradients"])
@pytest.mark.parametrize("batch_first", [False, True], ids=["time first", "batch first"])
@pytest.mark.parametrize("average", [False, True], ids=["each head", "mean"])
def test_self_attention_in_every_mode(mode: str, batch_first: bool, average: bool) -> None:
    torch.manual_seed(3)
    options: Any = {"batch_first": batch_first}
    ours, theirs = nn.MultiheadAttention(8, 4, **options), torch.nn.MultiheadAttention(8, 4, **options)
    theirs.load_state_dict(ours.state_dict())
    steps = torch.randn(5, 5, 8)
    padding = torch.zeros(5, 5, dtype=torch.bool)
    padding[2, 3:] = True
    with torch.set_grad_enabled(not mode.endswith("gradients")):
        results = [
            module.train(mode == "train")(steps, steps, steps, padding, average_attn_weights=average)
            for module in (ours, theirs)
        ]
    assert results[0][1].shape == ((5, 5, 5) if average else (5, 4, 5, 5))
    assert_close(results[0], results[1], rtol=0, atol=1e-6)


def test_keys_that_are_the_values_take_one_product() -> None:
    torch.manual_seed(4)
    ours, theirs = pair()
    query, key, _ = inputs(ours)
    assert_close(ours(query, key, key), theirs(query, key, key), rtol=0, atol=1e-6)
    same = key.clone()
    assert_close(ours(query, key, same), theirs(query, key, same), rtol=0, atol=1e-6)


@pytest.mark.parametrize("kind", ["none", "padding", "bool", "float per head"])
def test_a_sequence_without_a_batch(kind: str) -> None:
    torch.manual_seed(5)
    ours, theirs = pair(batch_first=True)
    query, key, value = (steps[1].detach() for steps in inputs(ours))
    arguments: dict[str, Any] = masks(kind)
    if "key_padding_mask" in arguments:
        arguments["key_padding_mask"] = arguments["key_padding_mask"][1]
    if kind == "float per head":
        arguments["attn_mask"] = arguments["attn_mask"][:HEADS]
    found = ours(query, key, value, **arguments)
    assert found[0].shape == (TARGET, EMBED)
    assert_close(found, theirs(query, key, value, **arguments), rtol=0, atol=1e-6)


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("padded", [False, True])
def test_the_causal_hint_beside_a_mask_is_torchs(need_weights: bool, padded: bool) -> None:
    torch.manual_seed(6)
    ours, theirs = pair()
    steps = torch.randn(TARGET, BATCH, EMBED)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(TARGET)
    padding = (
        torch.zeros(BATCH, TARGET).masked_fill(torch.arange(TARGET) >= 3, -torch.inf) if padded else None
    )
    arguments: dict[str, Any] = {
        "attn_mask": mask,
        "key_padding_mask": padding,
        "need_weights": need_weights,
        "is_causal": True,
    }
    expected = theirs(steps, steps, steps, **arguments)
    assert_close(ours(steps, steps, steps, **arguments), expected, rtol=0, atol=1e-6)
    assert_close(
        ours(steps, steps, steps, **{**arguments, "attn_mask": None}), expected, rtol=0, atol=1e-6
    )  # the hint is enough


@pytest.mark.parametrize("need_weights", [False, True])
def test_the_same_seed_drops_the_same_weights(need_weights: bool) -> None:
    ours, theirs = pair(dropout=0.4)
    given, results = inputs(ours), []
    for module in (ours, theirs):
        torch.manual_seed(7)
        results.append(module(*given, need_weights=need_weights))
    assert_close(results[0], results[1], rtol=0, atol=1e-6)
    assert not torch.allclose(results[0][0], ours.eval()(*given)[0])


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_a_query_that_sees_nothing_gets_zeros_and_gives_no_gradient(kind: str, need_weights: bool) -> None:
    torch.manual_seed(9)
    ours, theirs = pair()
    query, key, value = inputs(ours)
    mask = torch.zeros(TARGET, SOURCE, dtype=torch.bool)
    mask[2] = True
    output, weights = ours(
        query,
        key,
        value,
        attn_mask=mask if kind == "bool" else torch.zeros(mask.shape).masked_fill(mask, -torch.inf),
        need_weights=need_weights,
    )
    assert_close(output[2], ours.out_proj.bias.expand(BATCH, EMBED))  # the output projection of nothing
    gradients = torch.autograd.grad(
        output.square().sum() + (weights.square().sum() if need_weights else 0),
        [query, key, value, *ours.parameters()],
    )
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert not gradients[0][2].any()
    assert gradients[0][1].any()
    if need_weights:
        assert not weights[:, 2].any()
        assert_close(weights[:, 0].sum(-1), torch.ones(BATCH))
        assert theirs(query, key, value, attn_mask=mask)[0][2].isnan().all()  # what torch does


def test_all_padding_gives_zeros() -> None:
    ours, _ = pair(batch_first=True, bias=False)
    padding = torch.zeros(BATCH, SOURCE, dtype=torch.bool)
    padding[1] = True
    output, weights = ours(*inputs(ours), key_padding_mask=padding)
    assert not output[1].any()
    assert not weights[1].any()
    assert output[0].any()


def test_weights_never_change_the_output() -> None:
    """The flash kernel's output, and the product of weights and values, which has higher derivatives."""
    ours, theirs = pair()
    given = inputs(ours)
    with_weights, without = ours(*given)[0], ours(*given, need_weights=False)[0]
    torch.testing.assert_close(with_weights, without)
    torch.testing.assert_close(with_weights, theirs(*given)[0])


def test_alignments_can_be_recorded() -> None:
    ours, _ = pair()
    given = inputs(ours)
    with record_alignments(ours) as alignments:
        _, weights = ours(*given, average_attn_weights=False)
    assert torch.equal(alignments[""][0], weights)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_copies_pickles_and_other_types_of_numbers(options: dict[str, Any]) -> None:
    ours, _ = pair(**options)
    given = inputs(ours)
    expected = ours(*given)[0]
    assert torch.equal(copy.deepcopy(ours)(*given)[0], expected)
    assert torch.equal(pickle.loads(pickle.dumps(ours))(*given)[0], expected)
    double = copy.deepcopy(ours).to(torch.float64)
    found = double(*(steps.double() for steps in given), **masks("float padding"))[0]  # a float32 mask
    assert found.dtype == torch.float64
    meta = nn.MultiheadAttention(EMBED, HEADS, device="meta", **options)
    meta.load_state_dict(ours.state_dict(), assign=True)
    assert torch.equal(meta(*given)[0], expected)
