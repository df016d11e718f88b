"""Encoder, decoder and both together give torch's numbers, while training and evaluating, with every kind of
mask.
"""

from __future__ import annotations

import copy
import io
import pickle
from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from seqlab import nn

MODEL, HEADS, INNER, BATCH, TARGET, SOURCE = 6, 3, 7, 4, 5, 9
LAYER_OPTIONS = [
    {"batch_first": batch_first, "norm_first": norm_first, "bias": bias, "activation": activation}
    for (batch_first, norm_first, bias), activation in zip(
        product([False, True], repeat=3), ["relu", "gelu", torch.tanh] * 3, strict=False
    )
]
IDS = [
    " ".join(str(getattr(value, "__name__", value)) for value in options.values())
    for options in LAYER_OPTIONS
]
MASKS = ["none", "padding", "bool", "float", "bool per head", "causal", "causal and padding"]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:enable_nested_tensor is True"),
]  # what torch's encoder says of nearly every layer


def pair(name: str, *given: Any, dtype: torch.dtype = torch.float32, **options: Any) -> tuple[Any, Any]:
    """Ours and torch's, with the same parameters, none of them zero or one."""
    torch.manual_seed(1)
    sizes = (
        {"nhead": HEADS, "dim_feedforward": INNER, "dropout": 0.0, "dtype": dtype, **options}
        if not given
        else options
    )
    ours, theirs = (getattr(module, name)(*(given or (MODEL,)), **sizes) for module in (nn, torch.nn))
    for parameter in ours.parameters():
        torch.nn.init.normal_(parameter, std=0.4)
    theirs.load_state_dict(ours.state_dict())
    return ours, theirs


def steps(time: int, *, batch_first: bool, dtype: torch.dtype = torch.float32, size: int = MODEL) -> Tensor:
    return torch.randn(
        (BATCH, time, size) if batch_first else (time, BATCH, size), dtype=dtype
    ).requires_grad_()


def mask(kind: str, target: int, source: int) -> Tensor | None:
    hidden = torch.rand(target, source) > 0.6
    hidden[:, 0] = False
    if kind.startswith("causal"):
        return torch.nn.Transformer.generate_square_subsequent_mask(target)
    if kind == "bool":
        return hidden
    if kind == "float":
        return torch.randn(target, source).masked_fill(hidden, -torch.inf)
    return (
        torch.stack([hidden.roll(number, 0) for number in range(BATCH * HEADS)])
        if kind == "bool per head"
        else None
    )


def padding(kind: str, time: int) -> Tensor | None:
    found = torch.arange(time) >= torch.tensor([time, 2, time - 1, 1])[:, None]
    if kind == "causal and padding":  # of the same type as the mask: torch warns of mixed ones
        return torch.zeros(BATCH, time).masked_fill(found, -torch.inf)
    return found if kind == "padding" else None


def compare(ours: Any, theirs: Any, given: list[Tensor], **arguments: Any) -> None:
    outputs, gradients = [], []
    for module in (ours, theirs):
        output = module(*given, **arguments)
        direction = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view(output.shape)
        gradients.append(
            torch.autograd.grad(
                (output * direction).mean(), [*given, *module.parameters()], allow_unused=True
            )
        )
        outputs.append(output)
    assert_close(outputs[0], outputs[1], rtol=0, atol=1e-6)
    assert_close(gradients[0], gradients[1], rtol=0, atol=1e-6)


@pytest.mark.spec(162)
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("options", LAYER_OPTIONS, ids=IDS)
def test_an_encoder_layer_is_torchs(options: dict[str, Any], kind: str) -> None:
    ours, theirs = pair("TransformerEncoderLayer", **options)
    arguments = {
        "src_mask": mask(kind, SOURCE, SOURCE),
        "src_key_padding_mask": padding(kind, SOURCE),
        "is_causal": kind.startswith("causal"),
    }
    for training in (True, False):
        compare(
            ours.train(training),
            theirs.train(training),
            [steps(SOURCE, batch_first=options["batch_first"])],
            **arguments,
        )


@pytest.mark.spec(162)
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("options", LAYER_OPTIONS, ids=IDS)
def test_a_decoder_layer_is_torchs(options: dict[str, Any], kind: str) -> None:
    ours, theirs = pair("TransformerDecoderLayer", **options)
    arguments = {
        "tgt_mask": mask(kind, TARGET, TARGET),
        "tgt_key_padding_mask": padding(kind, TARGET),
        "tgt_is_causal": kind.startswith("causal"),
        "memory_mask": None if kind.startswith("causal") else mask(kind, TARGET, SOURCE),
        "memory_key_padding_mask": padding("padding" if kind.endswith("padding") else kind, SOURCE),
    }
    batch_first = options["batch_first"]
    compare(
        ours,
        theirs,
        [steps(TARGET, batch_first=batch_first), steps(SOURCE, batch_first=batch_first)],
        **arguments,
    )


@pytest.mark.spec(162)
@pytest.mark.parametrize("norm_first", [False, True], ids=["post", "pre"])
@pytest.mark.parametrize("batch_first", [False, True], ids=["time first", "batch first"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("training", [False, True], ids=["eval", "train"])
def test_a_whole_transformer_is_torchs(
    norm_first: bool, batch_first: bool, dtype: torch.dtype, training: bool
) -> None:
    options: Any = {
        "norm_first": norm_first,
        "batch_first": batch_first,
        "num_encoder_layers": 2,
        "num_decoder_layers": 2,
    }
    ours, theirs = pair("Transformer", dtype=dtype, **options)
    arguments = {
        "tgt_mask": nn.Transformer.generate_square_subsequent_mask(TARGET, dtype=dtype),
        "src_key_padding_mask": padding("padding", SOURCE),
        "memory_key_padding_mask": padding("padding", SOURCE),
    }
    given = [steps(time, batch_first=batch_first, dtype=dtype) for time in (SOURCE, TARGET)]
    compare(ours.train(training), theirs.train(training), given, **arguments)
    if dtype == torch.float64:
        assert_close(ours(*given, **arguments), theirs(*given, **arguments), rtol=0, atol=1e-13)


@pytest.mark.spec(162)
def test_the_defaults_are_torchs() -> None:
    ours, theirs = nn.Transformer(device="meta"), torch.nn.Transformer(device="meta")
    assert {name: value.shape for name, value in ours.state_dict().items()} == {
        name: value.shape for name, value in theirs.state_dict().items()
    }
    assert repr(ours) == repr(theirs)  # widths, eps, dropout, and how many layers
    assert (ours.d_model, ours.nhead, ours.batch_first) == (512, 8, False)
    assert ours.encoder.layers[0].norm_first is theirs.encoder.layers[0].norm_first is False
    assert ours.encoder.layers[0].activation is theirs.encoder.layers[0].activation
    assert sum(parameter.numel() for parameter in ours.parameters()) == 44_140_544


@pytest.mark.parametrize("options", LAYER_OPTIONS, ids=IDS)
def test_the_start_is_torchs_number_for_number(options: dict[str, Any]) -> None:
    sizes: Any = {
        "d_model": MODEL,
        "nhead": HEADS,
        "num_encoder_layers": 2,
        "num_decoder_layers": 1,
        "dim_feedforward": INNER,
        **options,
    }
    torch.manual_seed(8)
    ours = nn.Transformer(**sizes)
    after_ours = torch.rand(1)
    torch.manual_seed(8)
    theirs = torch.nn.Transformer(**sizes)
    assert torch.equal(after_ours, torch.rand(1))
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert all(torch.equal(ours.state_dict()[name], value) for name, value in theirs.state_dict().items())


def test_the_same_seed_drops_the_same_values() -> None:
    ours, theirs = pair("Transformer", num_encoder_layers=2, num_decoder_layers=2, dropout=0.3)
    given, outputs = [steps(time, batch_first=False) for time in (SOURCE, TARGET)], []
    for module in (ours, theirs):
        torch.manual_seed(5)
        outputs.append(module(*given))
    assert_close(outputs[0], outputs[1], rtol=0, atol=1e-6)
    assert not torch.allclose(outputs[0], ours.eval()(*given))


@pytest.mark.filterwarnings(
    "ignore:The PyTorch API of nested tensors"
)  # torch's own fast path says so, once in a process
@pytest.mark.parametrize("norm_first", [False, True], ids=["post", "pre"])
def test_evaluating_without_gradients_equals_torchs_fast_path_at_real_steps(norm_first: bool) -> None:
    options: Any = {
        "nhead": 2,
        "dim_feedforward": INNER,
        "dropout": 0.1,
        "batch_first": True,
        "norm_first": norm_first,
    }
    layer = nn.TransformerEncoderLayer(MODEL, **options)
    theirs = torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(MODEL, **options), 2, torch.nn.LayerNorm(MODEL)
    ).eval()
    ours = nn.TransformerEncoder(layer, 2, torch.nn.LayerNorm(MODEL)).eval()
    ours.load_state_dict(theirs.state_dict())
    hidden, given = padding("padding", SOURCE), steps(SOURCE, batch_first=True)
    assert hidden is not None
    with torch.no_grad():
        found, expected = ours(given, src_key_padding_mask=hidden), theirs(given, src_key_padding_mask=hidden)
    assert_close(found[~hidden], expected[~hidden], rtol=0, atol=1e-6)
    ours.train().load_state_dict(theirs.state_dict())
    assert_close(
        ours.eval()(given, src_key_padding_mask=hidden), found
    )  # at padded steps too: no second path


def test_seqlabs_layer_serves_in_torchs_own_stack() -> None:
    """torch's encoder packs padded batches while evaluating; seqlab's layer takes the packed form too."""
    options: Any = {"nhead": 2, "dim_feedforward": INNER, "dropout": 0.1, "batch_first": True}
    ours = torch.nn.TransformerEncoder(nn.TransformerEncoderLayer(MODEL, **options), 2).eval()
    theirs = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(MODEL, **options), 2).eval()
    ours.load_state_dict(theirs.state_dict())
    hidden, given = padding("padding", SOURCE), steps(SOURCE, batch_first=True)
    assert ours.use_nested_tensor
    with torch.no_grad():
        assert_close(
            ours(given, src_key_padding_mask=hidden),
            theirs(given, src_key_padding_mask=hidden),
            rtol=0,
            atol=1e-6,
        )


def test_torchs_layer_serves_in_seqlabs_stack() -> None:
    options: Any = {"nhead": HEADS, "dim_feedforward": INNER, "dropout": 0.0}
    for kind, memory in (("Encoder", []), ("Decoder", [steps(SOURCE, batch_first=False)])):
        layer = getattr(torch.nn, f"Transformer{kind}Layer")(MODEL, **options)
        ours, theirs = (
            getattr(module, f"Transformer{kind}")(layer, 2, torch.nn.LayerNorm(MODEL))
            for module in (nn, torch.nn)
        )
        compare(ours, theirs, [steps(TARGET, batch_first=False), *memory])


@pytest.mark.parametrize("batch_first", [False, True], ids=["time first", "batch first"])
@pytest.mark.parametrize("given_as", ["bool", "float", "hint"])
def test_a_causal_mask_is_recognised(
    batch_first: bool, given_as: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[bool] = []
    layer = nn.TransformerEncoderLayer(MODEL, HEADS, INNER, batch_first=batch_first)
    encoder = nn.TransformerEncoder(layer, 1)

    def attend(steps: Tensor, *_: Tensor, is_causal: bool, **__: Any) -> tuple[Tensor, None]:
        seen.append(is_causal)
        return steps, None

    monkeypatch.setattr(encoder.layers[0].self_attn, "forward", attend)
    float_mask = nn.Transformer.generate_square_subsequent_mask(TARGET)
    masks = {"bool": float_mask < 0, "float": float_mask, "hint": None}
    encoder(
        steps(TARGET, batch_first=batch_first),
        masks[given_as],
        is_causal=True if given_as == "hint" else None,
    )
    encoder(steps(TARGET, batch_first=batch_first), torch.zeros(TARGET, TARGET))
    encoder(steps(TARGET, batch_first=batch_first), torch.zeros(BATCH * HEADS, TARGET, TARGET))
    encoder(steps(TARGET, batch_first=batch_first))
    assert seen == [True, False, False, False]


def test_one_sequence_without_a_batch() -> None:
    ours, theirs = pair("Transformer", num_encoder_layers=1, num_decoder_layers=1, batch_first=True)
    given = [torch.randn(time, MODEL) for time in (SOURCE, TARGET)]
    hidden = torch.arange(SOURCE) > 6
    arguments = {
        "src_key_padding_mask": hidden,
        "memory_key_padding_mask": hidden,
        "tgt_mask": nn.Transformer.generate_square_subsequent_mask(TARGET),
    }
    found = ours(*given, **arguments)
    assert found.shape == (TARGET, MODEL)
    assert_close(found, theirs(*given, **arguments), rtol=0, atol=1e-6)


def test_a_target_grows_token_by_token_as_the_whole_says() -> None:
    """A causal decoder's answer for a prefix is the beginning of its answer for all."""
    torch.manual_seed(2)
    model = nn.Transformer(MODEL, HEADS, 1, 2, INNER, batch_first=True).eval()
    source, target = torch.randn(2, SOURCE, MODEL), torch.randn(2, TARGET, MODEL)
    whole = model(source, target, tgt_is_causal=True)
    for length in range(1, TARGET + 1):
        assert_close(model(source, target[:, :length], tgt_is_causal=True), whole[:, :length])


def test_custom_parts_are_used() -> None:
    class Twice(torch.nn.Module):
        def forward(self, src: Tensor, **_: Any) -> Tensor:
            return 2 * src

    ours, theirs = (
        module.Transformer(MODEL, HEADS, 1, 1, INNER, 0.0, custom_encoder=Twice())
        for module in (nn, torch.nn)
    )
    theirs.load_state_dict(ours.state_dict())
    compare(ours, theirs, [steps(SOURCE, batch_first=False), steps(TARGET, batch_first=False)])
    assert isinstance(nn.Transformer(MODEL, HEADS, 1, 1, custom_decoder=Twice()).decoder, Twice)


def test_rows_that_see_nothing_stay_finite_through_a_stack() -> None:
    torch.manual_seed(3)
    model = nn.Transformer(MODEL, HEADS, 2, 2, INNER, 0.0, batch_first=True)
    hidden = torch.zeros(BATCH, SOURCE, dtype=torch.bool)
    hidden[1] = True  # a sequence of padding alone
    given = [steps(time, batch_first=True) for time in (SOURCE, TARGET)]
    output = model(*given, src_key_padding_mask=hidden, memory_key_padding_mask=hidden)
    output.sum().backward()
    assert output.isfinite().all()
    assert all(
        parameter.grad is not None and parameter.grad.isfinite().all() for parameter in model.parameters()
    )


def test_whoever_overrides_torchs_blocks_is_heard() -> None:
    """A trick that is often used to see the weights."""

    class Shown(nn.TransformerEncoderLayer):
        weights: Tensor | None = None

        def _sa_block(
            self,
            x: Tensor,
            attn_mask: Tensor | None,
            key_padding_mask: Tensor | None,
            is_causal: bool = False,
        ) -> Tensor:
            x, self.weights = self.self_attn(
                x, x, x, attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal
            )
            return self.dropout1(x)

    layer = Shown(MODEL, HEADS, INNER)
    layer(steps(SOURCE, batch_first=False))
    assert layer.weights is not None
    assert layer.weights.shape == (BATCH, SOURCE, SOURCE)


def test_a_torch_model_is_swapped_by_its_import() -> None:
    class Translator(torch.nn.Module):
        def __init__(self, layers: Any) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(11, MODEL)
            self.transformer = layers.Transformer(MODEL, HEADS, 2, 2, INNER, 0.0, batch_first=True)
            self.again = layers.MultiheadAttention(MODEL, HEADS, batch_first=True)
            self.head = torch.nn.Linear(MODEL, 11)

        def forward(self, source: Tensor, target: Tensor) -> Tensor:
            causal = self.transformer.generate_square_subsequent_mask(target.shape[1])
            hidden = source == 0
            features = self.transformer(
                self.embed(source), self.embed(target), tgt_mask=causal, src_key_padding_mask=hidden
            )
            return self.head(features + self.again(features, features, features, need_weights=False)[0])

    losses = []
    source, target = torch.randint(1, 11, (7, SOURCE)), torch.randint(11, (7, TARGET))
    source[2, 4:] = 0
    for layers in (nn, torch.nn):
        torch.manual_seed(4)
        model = Translator(layers)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(source, target).flatten(0, 1), target.flatten())
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    assert losses[:5] == pytest.approx(losses[5:], abs=1e-5)
    assert losses[4] < losses[0]


@pytest.mark.parametrize("name", ["TransformerEncoderLayer", "TransformerDecoderLayer", "Transformer"])
def test_copies_pickles_state_dicts_and_types_of_numbers(name: str) -> None:
    sizes: Any = {"d_model": MODEL, "nhead": HEADS, "dim_feedforward": INNER, "dropout": 0.0}
    ours, theirs = getattr(nn, name)(**sizes), getattr(torch.nn, name)(**sizes)
    assert isinstance(ours, getattr(torch.nn, name))
    given = [steps(SOURCE, batch_first=False)] * (1 if name.endswith("EncoderLayer") else 2)
    expected = ours(*given)
    assert torch.equal(copy.deepcopy(ours)(*given), expected)
    assert torch.equal(pickle.loads(pickle.dumps(ours))(*given), expected)
    file = io.BytesIO()
    torch.save(ours.state_dict(), file)
    file.seek(0)
    theirs.load_state_dict(torch.load(file, weights_only=True))
    assert_close(theirs(*given), expected, rtol=0, atol=1e-6)
    torch.manual_seed(9)
    ours.load_state_dict(getattr(torch.nn, name)(**sizes).state_dict())
    assert not torch.equal(ours(*given), expected)
    assert copy.deepcopy(ours).double()(*(steps.double() for steps in given)).dtype == torch.float64
    assert repr(ours) == repr(theirs)
