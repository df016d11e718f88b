"""Import a published model as a run: its network in seqlab's blocks, its complete tokenizer, and a
manifest of all files.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from seqlab.core.errors import DataError, RecipeError, closest
from seqlab.core.files import write_whole
from seqlab.interop.families.g2p import read_g2p
from seqlab.interop.families.published_model import PublishedModel
from seqlab.interop.families.registry import describe_published_model
from seqlab.interop.formats.config import ConfigReader
from seqlab.interop.formats.gguf import read_gguf
from seqlab.interop.formats.json_files import REDOWNLOAD_HINT, read_json
from seqlab.interop.formats.tensor_files import PublishedTensors, open_tensors
from seqlab.interop.formats.tokenizer_files import read_tokenizer
from seqlab.interop.offline_models import locate_model
from seqlab.interop.tensor_map import check_tensors, required_tensors
from seqlab.interop.two_vocabularies import needs_two_vocabularies, read_two_vocabularies
from seqlab.interop.unused_tensors import check_unused
from seqlab.recipes.recipe import Recipe, recipe_class
from seqlab.recipes.setting_names import naming_settings
from seqlab.runs.folder.layout import RECIPE, TOKENS, WEIGHTS, new_folder, reject_existing_run
from seqlab.runs.folder.lock import clear_false_start, locked
from seqlab.runs.folder.manifest import begin_manifest, complete_manifest
from seqlab.runs.folder.results import provenance, write_results
from seqlab.runs.run import Run
from seqlab.tasks.spec import find_spec
from seqlab.tasks.text.spec import WindowSettings
from seqlab.tasks.translation.pair_tokens import PairTokens
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.tokenizer_folder import save_tokenizer
from seqlab.tokens.vocabulary import EOS
from seqlab.training.checkpoints.weights_file import replace_weights
from seqlab.training.finite import non_finite_names
from seqlab.training.tensor_shapes import shapes_of

GENERIC_NAMES = ("model", "models", "main", "snapshot", "onnx", "weights")
"""Generic folder names; the parent folder's name says more."""


MAX_WINDOW = 512
"""Maximum window length for training and scoring; most machines do not have the memory
for more.
"""


EXPECTED = (
    "Pass the folder of a downloaded model, with config.json and model.safetensors, or a .gguf or .npz file."
)


@dataclass(frozen=True)
class OpenedModel:
    """A published model on disk: its description, its tensors, and its tokenizer or those of both sides."""

    published: PublishedModel
    tensors: PublishedTensors
    tokenizer: Tokenizer | PairTokens
    where: str


def import_published_model(path: str | Path, *, out: str | Path = "") -> Run:
    """Read the folder (or the .gguf or .npz file) of a published model and write it as a run, ready to
    predict, generate or be trained on. The path may be the name of a model that an installed package carries.

    Only numbers and settings are read: code in a file is never executed.
    """
    where = locate_model(path)
    name = _name(where) if where == Path(path) else str(path)
    new_folder(str(out), name=name)  # an existing folder is reported before reading
    opened = open_published_model(where)
    published = opened.published
    recipe = _recipe(published)
    _check_recipe(recipe, opened)
    weights = _build(opened)
    folder = new_folder(str(out), name=name)
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder):
        reject_existing_run(folder)  # another process may have created it in the meantime
        clear_false_start(folder)
        _save_tokens(opened, folder / TOKENS)
        manifest = begin_manifest(folder, recipe=recipe.to_toml(), data={})
        replace_weights(folder / WEIGHTS, weights, run_id=manifest.run_id)
        _write_results(folder, published, weights, source=opened.where)
        complete_manifest(folder, manifest)
        write_whole(folder / RECIPE, recipe.to_toml())  # last: a folder with a recipe is a run
    return Run.load(folder)


def open_published_model(path: Path) -> OpenedModel:
    """Inspect the model at a path without reading its weights."""
    if path.is_file() and path.suffix == ".gguf":
        config, tensors, build_tokenizer = read_gguf(path)
        published = _describe(config, tensors, where=str(path))
        return OpenedModel(published, tensors, build_tokenizer(published.vocabulary_size), str(path))
    if path.is_file() and path.suffix == ".npz":
        published, arrays, tokens = read_g2p(path)
        return OpenedModel(published, arrays, tokens, str(path))
    if path.is_file() and (path.parent / "config.json").is_file():
        path = path.parent
    if not (path / "config.json").is_file():
        raise _not_found_error(path)
    values = read_json(path / "config.json")
    tensors = open_tensors(path)
    published = _describe(ConfigReader(values, where=str(path / "config.json")), tensors, where=str(path))
    tokenizer = _tokenizer(path, published, values)
    vocabulary = tokenizer.target.vocabulary if isinstance(tokenizer, PairTokens) else tokenizer.vocabulary
    ends = values.get("eos_token_id")
    if isinstance(ends, list) and len(ends) > 1:
        published.notes.append(
            f"the model has {len(ends)} end tokens; only '{vocabulary.pieces[vocabulary.ids[EOS]]}' is"
            " used here"
        )
    return OpenedModel(published, tensors, tokenizer, str(path))


def _tokenizer(folder: Path, published: PublishedModel, config: Mapping[str, Any]) -> Tokenizer | PairTokens:
    """One tokenizer for all texts, or one for each side."""
    if needs_two_vocabularies(folder, published):
        return read_two_vocabularies(folder, published, ids=config)
    return read_tokenizer(folder, family=published.family, size=published.vocabulary_size, ids=config)


def _describe(config: ConfigReader, tensors: PublishedTensors, *, where: str) -> PublishedModel:
    """The model according to the config, after checking that the tensors match."""
    published = describe_published_model(config, tensors.shapes)
    check_tensors(
        published.weights,
        tensors.shapes,
        unused=published.unused,
        where=where,
        name_in_file=tensors.name_in_file,
    )
    return published


def _not_found_error(path: Path) -> DataError:
    if not path.exists():
        names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
        close = closest(path.name, names)
        return DataError(
            "there is no such file or folder.",
            where=str(path)[:200],
            cure=f"Did you mean '{path.parent / close}'?" if close else EXPECTED,
        )
    inside = sorted(entry.parent.name for entry in path.glob("*/config.json")) if path.is_dir() else []
    cure = f"Did you mean '{path / inside[0]}'?" if inside else EXPECTED
    return DataError("there is no published model here.", where=str(path)[:200], cure=cure)


def _recipe(published: PublishedModel) -> Recipe:
    """A recipe that builds the same network.

    Generation uses the full context length; training and scoring use shorter windows.
    """
    recipe = recipe_class(published.task).model_validate(
        {
            "task": published.task,
            "model": published.model.model_dump(),
            "decoder": published.decoder.model_dump(),
            **published.sections,
        }
    )
    spec = find_spec(published.task)
    recipe = recipe.changed("training", batch_size=8)
    if issubclass(spec.settings, WindowSettings):
        window = max(2, min(published.context or MAX_WINDOW, MAX_WINDOW))
        recipe = recipe.changed(spec.name, window=window)
    if spec.continues_text:
        recipe = recipe.changed("decoding", context=published.context)
    return recipe.changed("data", text="text")


def _check_recipe(recipe: Recipe, opened: OpenedModel) -> None:
    """Check that the network built from the recipe has exactly the tensors that will be written."""
    with tempfile.TemporaryDirectory() as folder:
        _save_tokens(opened, Path(folder))
        parts = find_spec(recipe.task).load_parts()
        codec = parts.codec.load(recipe, Path(folder))
    try:
        with naming_settings(recipe):
            expected = shapes_of(lambda: parts.build_model(codec))
    except RecipeError as error:  # sizes that fit no network, such as heads that do not divide a width
        raise DataError(error.what, where=opened.where, cure=REDOWNLOAD_HINT) from error
    assert set(expected) == set(opened.published.weights), sorted(
        set(expected) ^ set(opened.published.weights)
    )


def _save_tokens(opened: OpenedModel, folder: Path) -> None:
    if isinstance(opened.tokenizer, PairTokens):
        opened.tokenizer.save(folder)
    else:
        save_tokenizer(opened.tokenizer, folder)


def _build(opened: OpenedModel) -> dict[str, Tensor]:
    published, tensors = opened.published, opened.tensors
    check_unused(
        published.unused,
        tensors.shapes,
        used=required_tensors(published.weights),
        read=tensors.read,
        where=opened.where,
    )
    weights = {name: tensors.build(spec) for name, spec in published.weights.items()}
    broken = list(non_finite_names(weights.items()))
    if broken:
        raise DataError(
            f"{len(broken)} tensors contain values that are not finite, the first for {broken[0]}.",
            where=opened.where,
            cure=REDOWNLOAD_HINT,
        )
    return weights


def _write_results(
    folder: Path, published: PublishedModel, weights: Mapping[str, Tensor], *, source: str
) -> None:
    facts = provenance(seed=0, device=torch.device("cpu"), data={})
    imported = {
        "family": published.family,
        "layers": published.model.layers,
        "parameters": _count(published, weights),
        "vocabulary": published.vocabulary_size,
        "context": published.context,
        "source": Path(source).name,
        "headless": published.headless,
        "notes": published.notes,
    }
    write_results(
        folder,
        [],
        training={"parameters": imported["parameters"], "imported": imported},
        provenance=facts,
        warnings=published.notes,
    )


def _count(published: PublishedModel, weights: Mapping[str, Tensor]) -> int:
    """The number of published parameters: a shared table counts once, and unpublished zeros do not count."""
    return sum(
        {spec.parts: weights[name].numel() for name, spec in published.weights.items() if spec.parts}.values()
    )


def import_details(run: Run) -> dict[str, Any]:
    """The import information of a run; empty for a run that was trained with seqlab."""
    details = run.results.raw.get("training", {}).get("imported", {})
    return details if isinstance(details, dict) else {}


def _name(path: Path) -> str:
    """A name for the run: that of the folder or file without generic parts."""
    if path.suffix == ".gguf":
        return path.stem
    path = path.resolve() if path.is_dir() else path.resolve().parent
    chosen = path.parent if path.name.lower() in GENERIC_NAMES else path
    return re.sub(r"^models--", "", chosen.name)
