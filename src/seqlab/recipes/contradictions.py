"""Settings that contradict each other, whatever the data is. Does not import torch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from seqlab.core.errors import RecipeError
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.task_registry import registered_tasks
from seqlab.training.settings import StartSettings


@dataclass(frozen=True)
class Contradiction:
    """Settings that cannot be combined: their dotted names, the first of which should change, and a sentence."""

    names: tuple[str, ...]
    sentence: str

    def __str__(self) -> str:
        return f"{self.names[0]}: {self.sentence}"

    def is_about(self, names: Iterable[str]) -> bool:
        """Whether a setting or section of that name takes part."""
        return any(
            setting == name or setting.startswith(f"{name}.") for setting in self.names for name in names
        )


def find_contradictions(recipe: Recipe) -> list[Contradiction]:
    """All contradictions that are known before the data is read.

    The sizes of a model that is fine-tuned, or starts from word vectors, are only known later.
    """
    found = idle_start_settings(recipe.start)
    if "model" in recipe.model_fields_set and not (recipe.start.run or recipe.start.vectors):
        found += _heads(recipe) + _decoder_heads(recipe)
    return found + (registered_tasks.get(recipe.task)().contradictions(recipe) if recipe.task else [])


def contradiction_in(check: Callable[[], object]) -> list[Contradiction]:
    """The error of a check as a contradiction, if it raises one."""
    try:
        check()
    except RecipeError as error:
        names = tuple((error.where or error.what.partition(":")[0]).split(" and "))
        what = error.what.removeprefix(f"{names[0]}: ")
        return [Contradiction(names, f"{what} {error.cure}".strip())]
    return []


def idle_start_settings(start: StartSettings) -> list[Contradiction]:
    """Settings that apply only to fine-tuning if no run to start from is set.

    An embedding that starts from a file can be frozen, too.
    """
    if start.run and start.vectors:
        return [
            Contradiction(
                ("start.vectors", "start.run"),
                "start.run and start.vectors cannot be combined: the run already has an embedding. Remove one of them.",
            )
        ]
    meant = ("run", "vectors", "digest", *(("freeze",) if start.freeze == "embedding" else ()))
    allowed = meant if start.vectors else ("run",)
    return [
        Contradiction(
            (f"start.{name}", "start.run"),
            "applies only to fine-tuning, and no run to start from is set. Set one: --from RUN, or start.run=RUN",
        )
        for name, field in type(start).model_fields.items()
        if not start.run and getattr(start, name) != field.default and name not in allowed
    ]


def _heads(recipe: Recipe) -> list[Contradiction]:
    """Heads that do not divide the width, key-value heads that do not divide the heads, odd rotary heads."""
    model = recipe.model
    if not isinstance(model, TransformerSettings):
        return []
    found = []
    if not model.head_size and model.hidden_size % model.heads:
        found.append(
            Contradiction(
                ("model.heads", "model.hidden_size", "model.head_size"),
                f"hidden_size {model.hidden_size} is not divisible by {model.heads}. Allowed:"
                f" {_divisors(model.hidden_size, at_most=2 * model.heads)}. For heads of any size, set"
                " model.head_size=NUMBER",
            )
        )
    elif model.positions == "rotary" and (model.head_size or model.hidden_size // model.heads) % 2:
        size = model.head_size or model.hidden_size // model.heads
        found.append(
            Contradiction(
                ("model.head_size", "model.positions", "model.heads", "model.hidden_size"),
                f"rotary positions rotate pairs of features, and heads of size {size} are odd. Use"
                f" model.head_size={size + 1}, or model.positions=sinusoidal.",
            )
        )
    if model.kv_heads and model.heads % model.kv_heads:
        found.append(
            Contradiction(
                ("model.kv_heads", "model.heads"),
                f"{model.heads} heads cannot be divided evenly among {model.kv_heads} key-value heads. Allowed:"
                f" {_divisors(model.heads, at_most=model.heads)}.",
            )
        )
    return found


def _decoder_heads(recipe: Recipe) -> list[Contradiction]:
    """Heads of a Transformer decoder that do not divide its own width."""
    decoder, model = recipe.decoder, recipe.model
    kind = decoder.kind or model.kind
    if kind not in ("transformer", "vision_transformer") or getattr(model, "head_size", False):
        return []
    heads, width = decoder.heads, decoder.hidden_size
    if isinstance(model, TransformerSettings):
        heads, width = heads or model.heads, width or model.hidden_size
    is_its_own = bool(decoder.heads or decoder.hidden_size)
    if not is_its_own or not heads or not width or width % heads == 0:
        return []
    return [
        Contradiction(
            ("decoder.heads", "decoder.hidden_size", "model.heads", "model.head_size"),
            f"a decoder of width {width} cannot be split evenly into {heads} heads. Allowed:"
            f" {_divisors(width, at_most=2 * heads)}.",
        )
    ]


def _divisors(number: int, *, at_most: int) -> str:
    return ", ".join(str(divisor) for divisor in range(1, min(number, at_most) + 1) if number % divisor == 0)
