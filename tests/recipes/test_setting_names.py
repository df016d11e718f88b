"""Arguments of networks and searches are reported under the names that a recipe has for them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch import nn

import seqlab
from seqlab.blocks.image import RowsToImage
from seqlab.core.errors import ArgumentError, RecipeError
from seqlab.decoding.build_search import build_search
from seqlab.decoding.search import SpecialTokens
from seqlab.models.classifier import build_classifier
from seqlab.models.encoder_decoder import build_encoder_decoder
from seqlab.recipes.read import check
from seqlab.recipes.recipe import Recipe
from seqlab.recipes.setting_names import naming_settings

PACKAGES = ("cells", "attention", "blocks", "models", "positions", "losses", "decoding", "nn")


def build_seq2seq(recipe: Recipe, **options: Any) -> nn.Module:
    sizes = {"num_source_tokens": 11, "num_target_tokens": 13, "source_pad_id": 0, "target_pad_id": 0}
    return build_encoder_decoder(recipe.model, recipe.decoder, **sizes, **options)  # type: ignore[arg-type]


def build_classes(recipe: Recipe) -> nn.Module:
    return build_classifier(
        recipe.model, embedding=nn.Identity, num_classes=3, num_features=8, bag=recipe.bag
    )


@pytest.mark.parametrize(
    ("sections", "build", "where", "facts"),
    [
        (
            {"model": {"kind": "transformer", "hidden_size": 12, "heads": 5}},
            build_seq2seq,
            "model.heads",
            ["12", "5", "1, 2, 3, 4, 6", "model.head_size="],
        ),
        (
            {"model": {"kind": "transformer", "hidden_size": 12, "heads": 6, "kv_heads": 4}},
            build_seq2seq,
            "model.kv_heads",
            ["1, 2, 3, 6"],
        ),
        (
            {"model": {"kind": "transformer", "hidden_size": 8, "heads": 2}, "decoder": {"heads": 3}},
            build_seq2seq,
            "decoder.heads",
            ["width 8", "1, 2, 4"],
        ),
        (
            {"model": {"kind": "transformer", "hidden_size": 9, "heads": 3, "positions": "rotary"}},
            build_seq2seq,
            "model.head_size",
            ["model.head_size=4", "model.positions=sinusoidal"],
        ),
        (
            {
                "model": {"kind": "recurrent", "bidirectional": True, "hidden_size": 6},
                "decoder": {"attention": "dot"},
            },
            build_seq2seq,
            "decoder.attention",
            ["decoder.projected=true"],
        ),
        (
            {"model": {"kind": "recurrent", "hidden_size": 6}},
            lambda recipe: build_seq2seq(recipe, shared=True),
            "decoder.shared_embedding",
            ["11 source tokens", "13 target tokens"],
        ),
        (
            {"model": {"kind": "vision_transformer", "patch_size": 3, "hidden_size": 8, "heads": 2}},
            build_classes,
            "model.patch_size",
            ["1, 2, 4, 8"],
        ),
        (
            {"model": {"kind": "n_gram_bag"}, "bag": {"n_grams": 2}},
            build_classes,
            "bag.n_grams",
            ["model.kind=recurrent", "bag.n_grams=0"],
        ),
        (
            {"model": {"kind": "image_convolutional"}},
            lambda _: RowsToImage.from_num_features(0, channels=1, height=0),
            "model.kind",
            ["model.kind=recurrent", "model.kind=transformer"],
        ),
    ],
)
def test_a_network_that_cannot_be_built_names_the_setting(
    sections: dict[str, Any], build: Callable[[Recipe], nn.Module], where: str, facts: list[str]
) -> None:
    recipe = check(sections, where="test", is_trained=True)  # contradictions are left to the network
    with pytest.raises(RecipeError) as caught, naming_settings(recipe):
        build(recipe)
    assert caught.value.where == where
    assert [fact for fact in facts if fact not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("search", "where", "facts"),
    [
        ({"beam": 12}, "decoding.beam", ["at most 9"]),
        (
            {"beam": 6, "beam_groups": 3, "max_tokens": 4, "min_tokens": 5},
            "decoding.min_tokens",
            ["at most 3"],
        ),
    ],
)
def test_a_search_that_cannot_be_built_names_the_setting(
    search: dict[str, Any], where: str, facts: list[str]
) -> None:
    recipe = Recipe().changed(
        "decoding", **{name: value for name, value in search.items() if name != "min_tokens"}
    )
    settings = recipe.decoding.model_copy(update=search)
    with pytest.raises(RecipeError) as caught, naming_settings(recipe, "decoding"):
        build_search(
            settings,
            SpecialTokens(start_id=0, end_id=1, suppressed_ids=()),
            vocabulary_size=9,
            max_target_tokens=3,
        )
    assert caught.value.where == where
    assert [fact for fact in facts if fact not in str(caught.value)] == []


@pytest.mark.parametrize(
    ("argument", "setting"),
    [
        ("beam_size", "decoding.beam"),
        ("coverage", "decoding.coverage_penalty"),
        ("groups", "decoding.beam_groups"),
        ("n_best", "decoding.n_best"),
        ("prefix", "decoding.prefix"),
    ],
)
def test_every_argument_of_a_search_has_its_setting(argument: str, setting: str) -> None:
    with pytest.raises(RecipeError) as caught, naming_settings(Recipe(), "decoding"):
        raise ArgumentError(argument, 0, "it does not fit.", cure=f"Use {argument}=1.")
    assert (caught.value.where, caught.value.cure) == (setting, f"Use {setting}=1.")


def test_an_argument_without_a_setting_is_reported_under_its_section() -> None:
    with pytest.raises(RecipeError) as caught, naming_settings(Recipe()):
        raise ArgumentError("color", "red", "there is no red.", cure="Use color=blue or dropout=0.")
    assert caught.value.where == "model"
    assert caught.value.cure == "Use color=blue or model.dropout=0."


def test_an_argument_error_is_a_value_error_with_all_facts() -> None:
    error = ArgumentError(
        "num_heads", 3, "8 features cannot be shared.", allowed="1, 2", cure="Or head_size=3."
    )
    assert isinstance(error, ValueError)
    assert str(error) == "num_heads=3: 8 features cannot be shared.\n  Allowed: 1, 2. Or head_size=3."


def test_network_code_knows_no_recipe_errors() -> None:
    """Settings files describe recipes; everything else knows arguments only."""
    root = Path(seqlab.__file__).parent
    offenders = [
        str(path.relative_to(root))
        for package in PACKAGES
        for path in (root / package).rglob("*.py")
        if "settings" not in (path.stem, path.parent.name)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and any(alias.name == "RecipeError" for alias in node.names)
    ]
    assert offenders == []
