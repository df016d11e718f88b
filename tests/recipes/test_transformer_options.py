"""Every value of every option of a Transformer trains from a recipe, and what cannot be right is refused
before anything is written.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

import seqlab
from seqlab.core.errors import SeqlabError
from seqlab.core.settings import choices_of
from seqlab.models.settings.transformer import TransformerSettings
from tests.runs.toy_runs import write_data

pytestmark = pytest.mark.slow  # trainings and commands: short each, long together

NAMES = ("norm", "norm_kind", "positions", "activation")
CHOICES: list[tuple[str, ...]] = [
    (f"model.{name}={choice}",)
    for name in NAMES
    for choice in choices_of(TransformerSettings.model_fields[name].annotation)
]
TOGETHER = [
    (
        "model.norm=pre",
        "model.norm_kind=rms",
        "model.positions=rotary",
        "model.activation=silu",
        "model.gated=true",
        "model.kv_heads=1",
    ),
    (
        "model.norm=post",
        "model.norm_kind=layer",
        "model.positions=sinusoidal",
        "model.activation=relu",
        "model.sublayer_dropout=false",
    ),
    ("model.norm=rezero", "model.positions=alibi", "model.activation=gelu_tanh", "model.head_size=5"),
    ("model.norm=shared_rezero", "model.positions=learned", "model.activation=gelu", "model.window=4"),
    ("model.norm=lecture", "model.positions=relative", "model.window=3", "model.causal=true"),
    (
        "model.positions=none",
        "model.qkv_bias=false",
        "model.bias=false",
        "model.embedding_norm=true",
        "model.embedding_scale=true",
    ),
]
ALONE = [
    ("model.gated=true", "model.activation=silu"),
    ("model.kv_heads=1",),
    ("model.kv_heads=2", "model.heads=4", "model.positions=rotary"),
    ("model.head_size=5",),
    ("model.head_size=6", "model.heads=3", "model.positions=rotary"),
    ("model.window=1",),
    ("model.window=4", "model.positions=relative"),
    ("model.window=4", "model.causal=true"),
    ("model.sublayer_dropout=false", "model.norm=post", "model.norm_eps=1e-6"),
    ("model.attention_dropout=0.1",),
    ("model.qkv_bias=false", "model.bias=false", "model.embedding_norm=true", "model.embedding_scale=true"),
    ("model.norm=shared_rezero", "model.norm_kind=rms"),
    ("model.norm=lecture", "model.norm_kind=rms", "model.gated=true"),
]


def _words(options: tuple[str, ...]) -> str:
    return " ".join(options)


SMALL = (
    "model.layers=1",
    "model.hidden_size=8",
    "model.heads=2",
    "training.threads=1",
    "tokens.kind=characters",
)
TEXT = {
    "classifier": ("data.text=text", "data.label=label"),
    "language_model": ("language_model.window=12", "training.batch_size=3"),
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {kind: write_data(kind, tmp_path_factory.mktemp(kind)) for kind in TEXT}


def start(data: dict[str, Path], out: Path, kind: str, options: Sequence[str]) -> seqlab.Run:
    return seqlab.train(data[kind], *SMALL, *TEXT[kind], *options, model="transformer", steps=2, out=out)


def test_all_choices_are_tried_together_with_others() -> None:
    assert {choice for (choice,) in CHOICES} <= {option for options in TOGETHER for option in options}


@pytest.mark.parametrize(
    "options",
    [*TOGETHER, *(pytest.param(options, marks=pytest.mark.long) for options in CHOICES + ALONE)],
    ids=_words,
)
def test_a_classifier_trains_with_every_value(
    options: tuple[str, ...], data: dict[str, Path], tmp_path: Path
) -> None:
    run = start(data, tmp_path / "run", "classifier", options)
    again = seqlab.load(tmp_path / "run")  # the written recipe builds the same network
    asked = dict(option.removeprefix("model.").split("=") for option in options)
    assert {name: str(getattr(again.recipe.model, name)).lower() for name in asked} == {
        name: _plain(value) for name, value in asked.items()
    }
    assert 0 <= run.results["accuracy"].value <= 1


@pytest.mark.parametrize("options", [TOGETHER[0], TOGETHER[3]], ids=_words)
def test_a_language_model_trains_with_them_too(
    options: tuple[str, ...], data: dict[str, Path], tmp_path: Path
) -> None:
    run = start(data, tmp_path / "run", "language_model", options)
    assert run.results["perplexity"].value > 1


REFUSED = {
    ("model.heads=3",): ("model.heads", "by 3", "1, 2, 4"),
    ("model.kv_heads=3", "model.heads=4"): ("model.kv_heads", "3 key-value heads", "1, 2, 4"),
    ("model.kv_heads=4",): ("model.kv_heads", "4 key-value heads", "1, 2"),
    ("model.positions=rotary", "model.head_size=5"): ("model.head_size=6", "5", "model.positions=sinusoidal"),
    ("model.positions=rotary", "model.heads=8"): ("model.head_size=2", "1", "model.positions=sinusoidal"),
    ("model.norm=prenorm",): ("model.norm", "pre, post, rezero, shared_rezero or lecture"),
    ("model.norm_kind=batch",): ("model.norm_kind", "layer or rms"),
    ("model.positions=sinus",): ("model.positions", "'sinusoidal'"),
    ("model.activation=swiglu",): ("model.activation", "relu, gelu, gelu_tanh or silu"),
    ("model.window=-1",): ("model.window", "at least 0"),
    ("model.norm_eps=0",): ("model.norm_eps", "more than 0"),
    ("model.dropout=1",): ("model.dropout", "less than 1"),
}
"""The facts of each message: the setting, what was found, what is allowed or helps."""


@pytest.mark.parametrize(("options", "facts"), REFUSED.items(), ids=map(" ".join, REFUSED))
def test_what_cannot_be_right_is_refused_with_a_reason(
    options: tuple[str, ...], facts: tuple[str, ...], data: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(SeqlabError) as caught:
        start(data, tmp_path / "run", "classifier", options)
    for fact in facts:
        assert fact in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_a_window_of_text_longer_than_a_learned_table_is_refused(
    data: dict[str, Path], tmp_path: Path
) -> None:
    with pytest.raises(SeqlabError, match=r"12 steps, .* 9 positions"):
        start(data, tmp_path / "run", "language_model", ["model.positions=learned", "model.max_positions=9"])


def _plain(value: str) -> str:
    try:
        number = float(value)
    except ValueError:
        return value
    return str(int(number)) if "." not in value and "e" not in value else str(number)
