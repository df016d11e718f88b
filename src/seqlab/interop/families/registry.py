"""The supported families of published models."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pydantic import ValidationError

from seqlab.core.errors import DataError, RecipeError, nearest
from seqlab.interop.families.bert import read_bert, read_distilbert, read_roberta
from seqlab.interop.families.gpt2 import read_gpt2
from seqlab.interop.families.llama import read_llama
from seqlab.interop.families.published_model import PublishedModel
from seqlab.interop.families.seq2seq import read_bart, read_marian
from seqlab.interop.formats.config import ConfigReader
from seqlab.interop.tensor_map import Shape

FamilyReader = Callable[[ConfigReader, Mapping[str, Shape]], PublishedModel]
FAMILIES: dict[str, FamilyReader] = {
    "bert": read_bert,
    "roberta": read_roberta,
    "xlm-roberta": read_roberta,
    "camembert": read_roberta,
    "distilbert": read_distilbert,
    "gpt2": read_gpt2,
    "llama": read_llama,
    "mistral": read_llama,
    "qwen2": read_llama,
    "marian": read_marian,
    "bart": read_bart,
}
"""By the `model_type` of a config.json."""


def describe_published_model(config: ConfigReader, shapes: Mapping[str, Shape]) -> PublishedModel:
    """The model that the config describes, or an error that lists everything unsupported."""
    kind = config.raw("model_type")
    if not isinstance(kind, str) or kind not in FAMILIES:
        problem = "is missing" if kind is None else f"{repr(kind)[:60]} is not supported"
        raise DataError(
            f"model_type {problem}.",
            where=config.where,
            cure=nearest(str(kind)[:60], FAMILIES),
        )
    try:
        published = FAMILIES[kind](config, shapes)
    except (ValidationError, RecipeError) as error:
        config.raise_problems()  # an invalid value explains more
        invalid = error.errors()[0] if isinstance(error, ValidationError) else None
        what = f"{invalid['loc'][0]}: {invalid['msg']}" if invalid else str(error)
        raise DataError(
            f"seqlab does not support this model ({what}).",
            where=config.where,
            cure="Choose another model.",
        ) from error
    config.raise_problems()
    if unread := config.unread_keys():
        published.notes.append(f"ignored in the config: {', '.join(unread)}")
    return published
