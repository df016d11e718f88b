"""Fine-tuning: what a recipe inherits from the run it starts from, and what is rejected.

Does not import torch, so mistakes are reported at once.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from seqlab.core.errors import RecipeError, RunError, listed
from seqlab.core.settings import Settings
from seqlab.models.settings.bag import NGramBagSettings
from seqlab.models.settings.linear import LinearSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import max_known_length
from seqlab.recipes.contradictions import idle_start_settings
from seqlab.recipes.overrides import Raw
from seqlab.recipes.problems import format_value
from seqlab.recipes.recipe import Recipe
from seqlab.runs.folder.layout import WEIGHTS, find_run
from seqlab.tasks.spec import find_spec
from seqlab.training.settings import StartSettings

MAY_CHANGE: dict[str, tuple[str, ...]] = {
    "recurrent": (
        "dropout",
        "input_dropout",
        "locked_dropout",
        "pooling",
        "queries",
        "head_size",
        "padding_mask",
    ),
    "convolutional": ("dropout", "pooling", "queries"),
    "transformer": ("dropout", "sublayer_dropout", "attention_dropout", "pooling", "queries", "padding_mask"),
    "vision_transformer": ("dropout", "sublayer_dropout", "attention_dropout", "queries"),
    "image_convolutional": ("dropout", "pooling"),
}
"""Settings that do not affect the shapes of the weights: dropout, and how a classifier pools the features."""
HIGHEST_RATE, RATE_TIMES_SQUARE = 3e-3, 32.0
"""A rule that matches values known to work: 5e-5 for the 768 features of BERT, 2e-3 for 128, and the rate
of a new network for small ones.
"""
RECURRENT_RATE = 2e-3
"""For recurrent networks of any size: an LSTM with 256 units, pretrained on 25,000 reviews, learned their
labels far too slowly at 5e-4.
"""
LORA_FACTOR = 3
"""Adapters start at zero, so they can learn faster."""
LONGEST = 512


def find_source(start: StartSettings) -> Path:
    """Find the folder of the run to start from, which must have weights."""
    try:
        folder = find_run(start.run)
    except RunError as error:
        why = f"{error.what} {error.cure}".strip()
        raise RunError(
            why,
            where=f"start.run {start.run}",
            cure="Until its first checkpoint, this run needs the run that it starts from.",
        ) from error
    if not (folder / WEIGHTS).is_file():
        raise RunError(
            "the run to start from has no weights yet.",
            where=str(folder),
            cure=f"Finish it first: seqlab train --resume {folder}",
        )
    return folder


def with_kinds_of(raw: Raw, source: Recipe) -> Raw:
    """Fill in the source's kind of model and cell if the recipe does not set them."""
    model = raw.get("model")
    if not isinstance(model, dict) or "kind" in model:
        return raw
    cell = model.get("cell")
    if isinstance(cell, dict) and hasattr(source.model, "cell"):
        model = {**model, "cell": {"kind": source.model.cell.kind, **cell}}
    return {**raw, "model": {"kind": source.model.kind, **model}}


def reject_incompatible_settings(recipe: Recipe, source: Recipe) -> None:
    """Reject everything that is incompatible with the weights and tokens of the source, all at once."""
    mistakes = [*_wrong_start(recipe), *other_tokens(recipe, source), *_other_network(recipe, source)]
    if mistakes:
        raise RecipeError.of(mistakes, where=f"start.run {recipe.start.run}")


def reject_fine_tuning_settings(start: StartSettings) -> None:
    """Reject settings that apply only to fine-tuning if no run to start from is set."""
    if problems := idle_start_settings(start):
        raise RecipeError.of(list(map(str, problems)), where="")


def inherit_recipe(recipe: Recipe, source: Recipe, folder: Path) -> tuple[Recipe, list[str]]:
    """Copy tokens and network from the source into a recipe whose task is known; returns the reasons too."""
    _reject_incompatible_task(recipe, source)
    model_settings = recipe.model.model_fields_set if "model" in recipe.model_fields_set else set()
    model = keep_every_nth_layer(source.model, recipe.start.every)
    changed = {name: getattr(recipe.model, name) for name in model_settings if name in MAY_CHANGE[model.kind]}
    derived = {name: value for name, value in _reading(recipe, source).items() if name not in changed}
    recipe = recipe.model_copy(
        update={"model": model.model_copy(update={**changed, **derived}), "tokens": source.tokens}
    )
    recipe = with_words_of(recipe, source).changed("start", run=str(folder.resolve()))
    recipe, cut = _cut_to_positions(recipe)
    recipe = _with_training(recipe, source)
    weights = ", with new weights" if recipe.start.weights == "new" else ""
    origin = f"starting from {folder} with its tokens and {model.kind} network{weights}"
    layers = f", the first of every {recipe.start.every} layers" if recipe.start.every > 1 else ""
    read = (
        f"; {', '.join(f'model.{name}={format_value(value)}' for name, value in derived.items())}"
        if derived
        else ""
    )
    return recipe, [origin + layers + read, *cut]


def with_words_of(recipe: Recipe, source: Recipe) -> Recipe:
    """Copy the task settings that belong to the tokens, such as how a tagger encodes words."""
    return find_spec(recipe.task).inherit_settings(recipe, source)


def _with_training(recipe: Recipe, source: Recipe) -> Recipe:
    """Use a low learning rate unless only a new head is trained, and the windows of the source."""
    if recipe.start.freeze != "backbone" and recipe.start.weights == "learned":
        assert not isinstance(recipe.model, NGramBagSettings)  # refused before
        rate = (
            RECURRENT_RATE
            if isinstance(recipe.model, RecurrentSettings | LinearSettings)
            else min(HIGHEST_RATE, RATE_TIMES_SQUARE / recipe.model.hidden_size**2)
        )
        rate *= LORA_FACTOR if recipe.start.lora_rank else 1
        recipe = recipe.with_defaults("training", learning_rate=float(f"{rate:.1g}"))
    return find_spec(recipe.task).inherit_defaults(recipe, source)


def keep_every_nth_layer(model: Any, every: int) -> Any:
    """Return the settings of a network with only the first of every N layers."""
    sizes = getattr(model, "hidden_sizes", ())
    if every == 1:
        return model
    if not hasattr(model, "layers"):
        raise RecipeError(
            f"a {model.kind} network has only one layer.", where="start.every", cure="Set it to 1."
        )
    return model.model_copy(
        update={"hidden_sizes": sizes[::every]} if sizes else {"layers": len(range(0, model.layers, every))}
    )


def _reading(recipe: Recipe, source: Recipe) -> dict[str, Any]:
    """Choose the pooling of a classifier on a pretrained language model: the last step of a causal one, or
    the mean.
    """
    spec, before = find_spec(recipe.task), find_spec(source.task)
    if spec is before or not before.predicts_tokens:
        return {}
    if source.model.kind == "recurrent" and spec.answers_per_sequence:
        return {"pooling": "mean"}  # the last state is trained to predict one word, not to represent a text
    if source.model.kind != "transformer":
        return {}
    reading: dict[str, Any] = {"causal": True} if before.is_causal else {}
    if spec.answers_per_sequence:
        reading["pooling"] = "last" if before.is_causal else "mean"
    return reading


def _cut_to_positions(recipe: Recipe) -> tuple[Recipe, list[str]]:
    """Limit the texts of a classifier to the default length and to the known positions."""
    if (
        not find_spec(recipe.task).answers_per_sequence
        or not recipe.data.text
        or "max_length" in recipe.data.model_fields_set
    ):
        return recipe, []
    longest = min(max_known_length(recipe.model) or LONGEST, LONGEST)
    return recipe.changed("data", max_length=longest), [
        f"texts are truncated to {longest} tokens; set data.max_length=NUMBER to change it"
    ]


def _reject_incompatible_task(recipe: Recipe, source: Recipe) -> None:
    """Reject pretraining that does not fit the task, such as a bidirectional network for a language model."""
    spec, before = find_spec(recipe.task), find_spec(source.task)
    sees_ahead = (
        not before.is_causal
        and not getattr(source.model, "causal", False)
        and source.model.kind != "recurrent"
    )
    where = f"start.run {recipe.start.run}"
    if not recipe.has_same_task(source) and (spec.generates or before.generates):
        raise RecipeError(
            f"a {recipe.task} run cannot start from a {source.task} run: an encoder-decoder shares weights only"
            " with runs of the same task.",
            where=where,
            cure=f"Start from a run of the task {recipe.task}, or train without start.run.",
        )
    if spec.is_causal and sees_ahead:
        raise RecipeError(
            f"the network of this {source.task} run attends to later tokens, and a language model must be causal.",
            where=where,
            cure="Start from a run of the task language_model.",
        )
    if spec.needs_both_sides and before.is_causal:
        raise RecipeError(
            "a language model is causal, and a masked language model uses context on both sides.",
            where=where,
            cure="Start from a run of the task masked_language_model.",
        )
    if source.model.kind == "convolutional" and before.is_causal != spec.is_causal:
        raise RecipeError(
            f"the kernels of a convolutional language model cover earlier steps only, those of a {recipe.task} run"
            " cover both sides.",
            where=where,
            cure="Start from a recurrent network or a Transformer.",
        )


def _wrong_start(recipe: Recipe) -> list[str]:
    start, mistakes = recipe.start, []
    if start.weights == "new" and (
        start.freeze != "none" or start.freeze_layers or start.lora_rank or start.layer_decay < 1
    ):
        mistakes.append(
            "start.weights: new weights are random, so nothing can be frozen or adapted. Remove start.freeze,"
            " start.freeze_layers, start.lora_rank and start.layer_decay."
        )
    if start.freeze == "backbone" and start.freeze_layers:
        mistakes.append(
            "start.freeze_layers: start.freeze=backbone already freezes all layers. Remove one of them."
        )
    if start.lora_rank and (start.freeze != "none" or start.freeze_layers):
        mistakes.append(
            "start.lora_rank: with LoRA, everything but the adapters and the head is already frozen. Remove"
            " start.freeze and start.freeze_layers."
        )
    return mistakes


def other_tokens(recipe: Recipe, source: Recipe) -> list[str]:
    """Return mistakes in token settings, which are inherited from a run."""
    return [
        f"tokens.{name}: the run has {format_value(before)}, found {format_value(now)}. Its tokens are reused:"
        " remove this setting."
        for name, before, now in _differences(
            recipe.tokens, source.tokens, user_settings=recipe.tokens.model_fields_set
        )
    ]


def _other_network(recipe: Recipe, source: Recipe) -> list[str]:
    start, kind = recipe.start, source.model.kind
    if kind == "n_gram_bag":
        return [
            (
                "start.run: the run is a bag of n-grams, which cannot be fine-tuned. Start from a run with a network,"
                " or train from scratch."
            )
        ]
    mistakes = []
    if start.lora_rank and kind not in ("transformer", "vision_transformer"):
        mistakes.append(
            "start.lora_rank: LoRA adapts the projections of a Transformer, and this run has a"
            f" {kind} network. To train only some layers: start.freeze_layers=NUMBER"
        )
    if start.every > 1 and kind in ("convolutional", "image_convolutional"):
        mistakes.append(
            "start.every: the receptive field of a convolution depends on its depth, so layers cannot be skipped."
        )
    if "model" not in recipe.model_fields_set:
        return mistakes
    if recipe.model.kind != kind:
        return [
            *mistakes,
            (
                f"model.kind: the run has a {kind} network, found {format_value(recipe.model.kind)}. Remove it: the"
                " network of the run is used."
            ),
        ]
    model_settings = recipe.model.model_fields_set - {*MAY_CHANGE[kind], "kind"}
    was_causal = find_spec(source.task).is_causal
    if (
        "causal" in model_settings
        and was_causal
        and not recipe.has_same_task(source)
        and not getattr(recipe.model, "causal", True)
    ):
        mistakes.append(
            "model.causal: the run was trained with causal attention, so it must stay true. Remove it."
        )
    return mistakes + [
        f"model.{name}: the run has {format_value(before)}, found {format_value(now)}. Only these may differ:"
        f" {listed(MAY_CHANGE[kind])}."
        for name, before, now in _differences(
            recipe.model, keep_every_nth_layer(source.model, start.every), user_settings=model_settings
        )
        if not (name == "causal" and now and was_causal)  # a language model is causal without this setting
    ]


def _differences(now: Settings, before: Settings, *, user_settings: set[str]) -> list[tuple[str, Any, Any]]:
    """Return the settings of the user that differ from the source: name, before, now.

    In a nested section, too, only settings of the user count.
    """
    wrong: list[tuple[str, Any, Any]] = []
    for name in type(now).model_fields:
        if name not in user_settings:
            continue
        one, other = getattr(before, name), getattr(now, name)
        if isinstance(one, Settings) and isinstance(other, Settings) and type(one) is type(other):
            wrong += [
                (f"{name}.{part}", *pair)
                for part, *pair in _differences(other, one, user_settings=other.model_fields_set)
            ]
        elif one != other:
            wrong.append(
                (
                    name,
                    str(one) if isinstance(one, Settings) else one,
                    str(other) if isinstance(other, Settings) else other,
                )
            )
    return wrong
