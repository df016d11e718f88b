"""Names of settings in other libraries."""

from __future__ import annotations

import pytest

from seqlab.core.errors import SeqlabError
from seqlab.recipes.sections import dotted_names, section_names, settings_of
from seqlab.recipes.synonyms import SYNONYMS
from seqlab.runs.find_recipe import find_recipe

SETTINGS = {
    f"{section}.{name}"
    for section in section_names()
    for kind in settings_of(section)
    for name in kind.model_fields
}


def test_every_synonym_stands_for_a_setting_and_is_none_itself() -> None:
    assert sorted(set(SYNONYMS.values()) - SETTINGS) == []
    assert sorted(set(SYNONYMS) & {name.rpartition(".")[2] for name in SETTINGS}) == []


@pytest.mark.parametrize("word", ["lr=0.1", "training.lr=0.1", "model.lr=0.1"])
def test_a_name_of_another_library_is_answered_with_ours(word: str) -> None:
    with pytest.raises(SeqlabError, match=r"training\.learning_rate"):
        find_recipe("languages", [word])


@pytest.mark.parametrize(
    ("keyword", "setting"),
    [
        ("lr", "training.learning_rate"),
        ("early_stopping", "training.patience"),
        ("num_layers", "model.layers"),
        ("learning_rat", "training.learning_rate"),
        ("hiden_size", "model.hidden_size"),
        ("modle", "model"),
        ("tsak", "task"),
        ("verbos", "verbose"),
    ],
)
def test_an_unknown_keyword_is_answered_with_the_dotted_name(keyword: str, setting: str) -> None:
    named, mistakes = dotted_names({keyword: 1, "learning_rate": 0.1})
    assert named == {"training.learning_rate": 0.1}
    assert keyword in mistakes[0]
    assert setting in mistakes[0]
