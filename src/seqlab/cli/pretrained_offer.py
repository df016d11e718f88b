"""After training from scratch: a pretrained text encoder that is on this machine, and the commands to fine-tune it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from seqlab.cli.console import quoted, say
from seqlab.core.shell_words import setting_word

if TYPE_CHECKING:
    from seqlab.recipes.recipe import Recipe
    from seqlab.runs.run import Run

SCALARS = (str, int, float, bool)
NOT_COPIED = ("train", "max_length")
"""The file is an argument, and how long texts may be depends on the network."""


def offer_pretrained(run: Run) -> None:
    """Name an encoder that could be fine-tuned instead, if the run reads text and none was used."""
    from seqlab.interop.offline_models import suits_text_encoder

    lengths = run.results.raw.get("data", {}).get("train", {}).get("lengths", {})
    median_words = lengths.get("words", {}).get("median", 0)
    if suits_text_encoder(run.recipe, median_words=median_words) and (offer := _find_offer()):
        found, source, first = offer
        command = " ".join(["seqlab train", *_data_words(run.recipe), f"--from {quoted(source)}"])
        lines = [
            f"{found}. On small data, fine-tuning it often beats training from scratch:",
            *filter(None, [first, command]),
        ]
        say("\n  ".join(lines))


def _find_offer() -> tuple[str, Path, str] | None:
    """What was found, the run to start from, and the command that imports it first, if it is not a run yet."""
    from seqlab.interop.offline_models import CARRIED_MODELS, imported_encoders

    if (run := next(imported_encoders(), None)) is not None:
        return f"an imported text encoder is in {run}", run, ""
    encoders = (model for model in CARRIED_MODELS if model.is_text_encoder and model.find())
    if (model := next(encoders, None)) is None:
        return None
    return f"{model.name}, a pretrained {model.summary}, is installed", model.run_folder, model.import_command


def _data_words(recipe: Recipe) -> list[str]:
    """The data of a recipe as it is typed: the file, and the settings that differ from the defaults."""
    data = recipe.data
    changed = {
        name: getattr(data, name)
        for name, field in type(data).model_fields.items()
        if name not in NOT_COPIED
        and isinstance(field.default, SCALARS)
        and getattr(data, name) != field.default
    }
    settings = [setting_word(f"data.{name}", _near(str(value))) for name, value in changed.items()]
    return [quoted(_near(data.train)), f"--task {recipe.task}", *settings]


def _near(value: str) -> str:
    """A path below the current folder, relative to it; anything else as it is."""
    here = f"{Path.cwd()}{os.sep}"
    return value.removeprefix(here)
