"""An old name of a setting is answered with the new one."""

from __future__ import annotations

import pytest

from seqlab.core.errors import RecipeError
from seqlab.recipes.read import check, override
from seqlab.recipes.renamed_settings import RENAMED
from seqlab.recipes.sections import dotted_names, section_names, settings_help

NAMES = {entry.name for section in section_names() for entry in settings_help(section)}


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_every_old_name_is_answered_with_one_that_exists(old: str, new: str) -> None:
    assert old not in NAMES
    assert set(new.split(" or ")) <= NAMES
    with pytest.raises(RecipeError) as caught:
        check(override({}, [f"{old}=1"]), where="my.toml")
    for fact in ("my.toml", old, new):
        assert fact in str(caught.value)


@pytest.mark.parametrize(
    ("assignment", "new"),
    [
        ("search.beam=5", "decoding.beam"),
        ("search.max_tokens=5", "decoding.max_tokens"),
        ("decoding.length_alpha=0.6", "decoding.length_penalty"),
        ("masked_language_model.share=0.3", "masked_language_model.mlm_probability"),
    ],
)
def test_settings_of_a_section_with_another_name_are_answered(assignment: str, new: str) -> None:
    with pytest.raises(RecipeError, match=new):
        check(override({}, [assignment]), where="")


def test_a_recipe_of_the_first_format_is_answered_with_all_new_names() -> None:
    raw = {"format": 1, "search": {"beam": 5, "no_repeat": 3}, "training": {"average": 0.9}}
    with pytest.raises(RecipeError) as caught:
        check(raw, where="old.toml")
    for fact in ("decoding.beam", "decoding.no_repeat_ngram", "training.ema_decay"):
        assert fact in str(caught.value)
    assert check({"format": 1, "training": {"steps": 3}}, where="").format == 2


def test_an_old_keyword_is_answered() -> None:
    _, mistakes = dotted_names({"accumulate": 4})
    assert "training.gradient_accumulation" in mistakes[0]
