"""A recipe -> the three parts of its data, with everything that was guessed spelled out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from seqlab.core.errors import DataError, RecipeError, closest, listed, shortened
from seqlab.datasets.base import datasets
from seqlab.recipes.read import shipped_recipes
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import PairSource, Source, TextSource
from seqlab.sources.columns import require_columns
from seqlab.sources.formats.csv_table import CsvTable
from seqlab.sources.formats.image_files import looks_like_file
from seqlab.sources.guess import guess
from seqlab.sources.label_lists import guess_separator
from seqlab.sources.open_source import format_of, is_there, open_parts, open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out
from seqlab.sources.views.frames import Frames
from seqlab.sources.views.hidden_column import HiddenColumn
from seqlab.sources.views.joined_columns import join_columns, names_of
from seqlab.sources.views.series import Series
from seqlab.sources.views.subsample import fewer_rows
from seqlab.sources.views.tagged_series import TaggedSeries
from seqlab.tasks.labeled.labeled_rows import STEPS, WHOLE, labelled_rows, names_in
from seqlab.tasks.tagging.rows import TaggedRows

LANGUAGE_MODELS = ("language_model", "masked_language_model")
"""Tasks that need text and no label."""
MADE_TO_MEASURE = {"gap": ["recall"], "length": ["copy", "reverse"]}
"""Settings that are chosen for some built-in datasets, and for which."""
PAIRS = ("translation", "captioning")
"""Tasks that read one column and write another."""
FOR_LINES = "; for train.en beside train.de: data.train=train data.source=en data.target=de"
FOR_BARE_TABLES = "; for a table without names of columns: data.header=false data.source=1 data.target=2"
LABELLED = {**WHOLE, "tagging": "a tag for every word"}
"""Tasks that need a column of labels, and what stands in it."""


SAMPLE = 1000
"""Rows that are looked at to guess."""


@dataclass(frozen=True)
class OpenedData:
    """The parts by name (train, and where there are any valid and test), the recipe with its guesses filled in, and why; what deserves a look."""

    recipe: Recipe
    parts: dict[str, Source]
    reasons: list[str]
    warnings: list[str] = field(default_factory=list)


def refuse_missing(recipe: Recipe) -> None:
    """Every file that the recipe names is there. Nothing is read, so this can be asked before anything slow."""
    if not recipe.data.train:
        raise RecipeError("no training data is named.", where="data.train", cure="For example: data.train=reviews.csv")
    if not _exists(recipe.data.train, recipe.data) and recipe.data.train not in datasets.names():
        raise _missing(recipe.data.train, what=[*datasets.names(), *shipped_recipes()])
    for path in (recipe.data.valid, recipe.data.test):
        if path and not _exists(path, recipe.data):
            raise _missing(path)
    _refuse_idle_measures(recipe)


def open_data(recipe: Recipe) -> OpenedData:
    """Open, guess, hold out what is missing, and learn from no more than is asked."""
    opened = _open(recipe)
    train, count = opened.parts["train"], recipe.data.train_rows
    if not count:
        return opened
    if isinstance(train, TextSource):
        raise RecipeError(
            "rows are drawn at random, and lines out of order are no text.",
            where="data.train_rows",
            cure="Leave it out; the beginning of a file: data.max_rows=NUMBER",
        )
    data = opened.recipe.data
    fewer = fewer_rows(train, count, seed=_seed(recipe), columns=[data.sequence or data.text or STEPS])
    return replace(opened, parts={**opened.parts, "train": fewer})


def _open(recipe: Recipe) -> OpenedData:
    refuse_missing(recipe)
    if recipe.data.train in datasets.names() and not _exists(recipe.data.train, recipe.data):
        return _open_built_in(recipe)
    recipe = _with_format(recipe)
    parts = open_parts(recipe.data.train, recipe.data)
    recipe, reasons = _guess(recipe, parts["train"])
    warnings = _lost_pair(recipe, parts["train"])
    parts |= _named_parts(recipe)
    parts = {name: _as_sequences(recipe, source) for name, source in parts.items()}
    _check_columns(recipe, parts)
    _refuse_constant_steps(recipe, parts["train"])
    return replace(_hold_out(recipe, parts, reasons), warnings=warnings)


def open_more(recipe: Recipe, path: str) -> Source:
    """Further data for a finished run, read the way its training data was. A folder with a test part offers that."""
    if not _exists(path, recipe.data):
        raise _missing(path)
    parts = open_parts(path, recipe.data)
    found = _as_sequences(recipe, parts.get("test") or parts["train"])
    _check_columns(recipe, {"more": found})
    return found


def _named_parts(recipe: Recipe) -> dict[str, Source]:
    """The validation and test data that a recipe names."""
    paths = {"valid": recipe.data.valid, "test": recipe.data.test}
    return {name: open_parts(path, recipe.data).get(name) or open_source(path, recipe.data) for name, path in paths.items() if path}


def _check_columns(recipe: Recipe, parts: dict[str, Source]) -> None:
    for source in parts.values():
        if recipe.task in PAIRS:
            require_columns(source, [name for name in (recipe.data.source, recipe.data.target, recipe.data.language) if name])
            continue
        require_columns(source, [recipe.data.label, *([recipe.data.text] if STEPS not in source.columns else [])])


def _exists(path: str, settings: DataSettings) -> bool:
    try:
        return is_there(path, settings)
    except OSError as error:
        raise DataError(f"cannot be looked at ({error.strerror}).", where=shortened(path), cure="Check the name and the permissions.") from error


def _missing(path: str, *, what: Sequence[str] = ()) -> DataError:
    """Not a file: say what is near, files in the folder as well as names that seqlab knows."""
    folder = Path(path).parent
    there = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    endings = sorted({ending for name in there if (ending := _language_behind(Path(path).name, name))})
    if not folder.is_dir():
        cure = f"There is no folder '{shortened(str(folder), 200)}' either."
    elif len(endings) > 1:
        sides = " ".join(f"data.{side}={ending}" for side, ending in zip(("source", "target"), endings, strict=False))
        cure = f"There is '{shortened(path)}' with the endings {listed(endings)}: for pairs of lines add {sides}, for example."
    elif close := closest(Path(path).name, [*there, *what]):
        cure = f"Did you mean '{close if close in what else folder / close}'?"
    else:
        cure = f"The folder holds: {listed(sorted(there))}."
    known = f" Without a file: seqlab train {'|'.join(datasets.names())}" if what else ""
    return DataError("there is no such file or folder.", where=shortened(path, 200), cure=cure + known)


def _language_behind(name: str, found: str) -> str:
    """The language with which the name of a file goes on, two letters.

    >>> _language_behind("corpus", "corpus.de.gz"), _language_behind("corpus", "corpus.csv"), _language_behind("corpus", "other.en")
    ('de', '', '')
    """
    ending = found.removeprefix(f"{name}.").split(".")[0] if found.startswith(f"{name}.") else ""
    return ending if len(ending) == 2 and ending.isalpha() else ""


def _refuse_idle_measures(recipe: Recipe) -> None:
    """Some built-in datasets are made to measure; files are as they are."""
    for setting, names in MADE_TO_MEASURE.items():
        value = getattr(recipe.data, setting)
        if value != getattr(DataSettings(), setting) and recipe.data.train not in names:
            raise RecipeError(
                f"a {setting} is chosen for the built-in dataset{'s' if len(names) > 1 else ''} {listed([repr(name) for name in names])} only.",
                where=f"data.{setting}",
                cure=f"seqlab train {names[0]} data.{setting}={value}",
            )


def _open_built_in(recipe: Recipe) -> OpenedData:
    dataset = datasets.get(recipe.data.train).configured(recipe.data)
    recipe = recipe.model_copy(update={"task": recipe.task or dataset.task})
    for name, value in dataset.settings.items():
        section, _, key = name.partition(".")
        if not getattr(getattr(recipe, section), key):
            recipe = recipe.changed(section, **{key: value})
    if recipe.task in PAIRS:
        recipe = recipe.changed("data", text=recipe.data.source)
    parts = {**dataset.splits(), **_named_parts(recipe)}
    _check_columns(recipe, parts)
    return OpenedData(recipe, parts, [f"built-in dataset '{recipe.data.train}': {dataset.sentence}"])


def _with_format(recipe: Recipe) -> Recipe:
    """A tagger's file that could be a table or plain text by its name holds tagged words, unless a format is named."""
    is_open = recipe.task == "tagging" and not recipe.data.format and Path(recipe.data.train).is_file()
    return recipe.changed("data", format="tagged") if is_open and format_of(Path(recipe.data.train)) in ("tsv", "text") else recipe


def _guess(recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
    """Fill in the task and the columns that the recipe leaves open."""
    if recipe.task in PAIRS or (not recipe.task and _is_of_pairs(recipe.data, train)):
        return _guess_sides(recipe, train)
    found = guess(train, settings=recipe.data)
    wanted = recipe.task or found.task
    data = {"text": found.text, "label": found.label if wanted in LABELLED else "", "sequence": found.sequence, "features": found.features}
    if wanted in LABELLED and not found.label:
        raise DataError(
            f"{wanted} needs {LABELLED[wanted]}, but no column looks like one.",
            where=train.name,
            cure="Name it with data.label=NAME, or use task=language_model.",
        )
    if wanted in LANGUAGE_MODELS and not found.text:
        raise DataError("a language model needs text, but no column looks like text.", where=train.name, cure="Name it with data.text=NAME.")
    reasons = found.reasons if wanted == found.task else [reason for reason in found.reasons if "task=" not in reason and "label" not in reason]
    recipe = recipe.model_copy(update={"task": wanted})
    if wanted == "multi_label" and not recipe.data.label_separator:
        mark = guess_separator(list(islice(train.rows(), SAMPLE)), found.label)
        data["label_separator"] = mark
        reasons = [*reasons, *([f"labels are separated by '{mark}'; another character: data.label_separator=X"] if mark else [])]
    return recipe.changed("data", **data), reasons


def _is_of_pairs(data: DataSettings, train: Source) -> bool:
    """A side is named, or the format has two by definition and nobody asks for one column."""
    return bool(data.source or data.target) or (isinstance(train, PairSource) and not (data.text or data.label))


def _lost_pair(recipe: Recipe, train: Source) -> list[str]:
    """A sentence where the first pair of a table may have been taken for the names of its columns."""
    sides = [recipe.data.source, recipe.data.target]
    if recipe.task not in PAIRS or not isinstance(train, CsvTable) or not set(sides) <= set(train.columns) or not train.starts_with_row(sides):
        return []
    names = " and ".join(repr(shortened(name)) for name in sides)
    return [f"train: the first line names the columns, but {names} read like a pair, which is then lost; without names: data.header=false"]


def with_sides(recipe: Recipe, source: Source) -> Recipe:
    """A recipe that says which columns of a source are read and written."""
    return _guess_sides(recipe, source)[0]


def _guess_sides(recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
    """What is read, and what is written: the columns that are named, else the two that there are. Names of picture files ask for captions."""
    files = _picture_columns(train) if recipe.task != "translation" else []
    task, reasons = recipe.task or ("captioning" if recipe.data.source in files else "translation"), list[str]()
    if not recipe.task and task == "captioning":
        reasons.append(f"column '{recipe.data.source}' names picture files: captioning; another task: task=NAME")
    elif not recipe.task and not (recipe.data.source or recipe.data.target):
        reasons.append("pairs by their format: translation; another task: task=NAME")
    if task == "captioning" and not recipe.data.source and len(files) == 1:
        recipe = recipe.changed("data", source=files[0])
    data = recipe.data
    free = [name for name in train.columns if name not in (data.source, data.target, data.language)]
    wanted = [name for name in ("source", "target") if not getattr(data, name)]
    if isinstance(train, TextSource) or len(free) < len(wanted) or (wanted and len(free) > len(wanted)):
        has = "is one text" if isinstance(train, TextSource) else f"has the columns {listed(train.columns)}"
        raise DataError(
            f"{task} needs a column to read and one to write, and this file {has}.",
            where=train.name,
            cure=_name_both(task, train),
        )
    found = dict(zip(wanted, free, strict=False))
    recipe = recipe.model_copy(update={"task": task}).changed("data", **found)
    if found:
        reasons.append(f"from column '{recipe.data.source}' to column '{recipe.data.target}'; others: data.source=NAME data.target=NAME")
    return recipe.changed("data", text=recipe.data.source), reasons


def _name_both(task: str, train: Source) -> str:
    """How to say what is read and what is written."""
    if isinstance(train, PairSource) and len(train.columns) > 1:
        return f"Name both: data.source={train.columns[0]} data.target={train.columns[1]}"
    if isinstance(train, CsvTable) and train.starts_with_row(train.columns):
        return "Name both: data.source=NAME data.target=NAME" + FOR_BARE_TABLES
    return "Name both: data.source=NAME data.target=NAME" + FOR_LINES * (task == "translation")


def _picture_columns(train: Source) -> list[str]:
    """Columns that name picture files, by their first cell."""
    first = next(iter(train.rows()), None)
    return [] if first is None else [name for name in train.columns if looks_like_file(first.values.get(name))]


def _as_sequences(recipe: Recipe, source: Source) -> Source:
    """Tables with one row per step are joined to one row per sequence. Other tables may have a column that is only called `steps`."""
    if recipe.task == "tagging" and recipe.data.sequence:
        return TaggedSeries(source, sequence=recipe.data.sequence, tags=recipe.data.label, features=recipe.data.features)
    if recipe.task == "tagging" and recipe.data.features:
        return Frames(source, column=recipe.data.features[0], tags=recipe.data.label)
    if not recipe.data.sequence:
        if recipe.task in WHOLE:
            source = join_columns(source, recipe.data.text)
        elif len(names := names_of(recipe.data.text, source.columns)) > 1:
            raise DataError(
                f"the task {recipe.task} reads one column, not {len(names)}.", where="data.text", cure=f"For example: data.text={names[0]}"
            )
        if STEPS in (recipe.data.text, recipe.data.label):
            raise DataError(f"a column called '{STEPS}' cannot be the text or the label.", where=source.name, cure="Rename it in the file.")
        return HiddenColumn(source, STEPS) if STEPS in source.columns else source
    return Series(source, sequence=recipe.data.sequence, label=recipe.data.label, features=recipe.data.features)


def _refuse_constant_steps(recipe: Recipe, train: Source) -> None:
    """Numbers that never change say nothing. The reading ends at the first one that does."""
    if not recipe.data.sequence:
        return
    steps = (tuple(step) for row in train.rows() for step in row.values[STEPS])
    first = next(steps, None)
    if first is not None and all(step == first for step in steps):
        raise DataError(
            f"every step has the same numbers ({listed([f'{name} {value:g}' for name, value in zip(recipe.data.features, first, strict=False)])}).",
            where=train.name,
            cure="There is nothing to learn from; other columns: data.features=NAME,NAME",
        )


def _refuse_unusable_rows(recipe: Recipe, train: Source) -> None:
    if recipe.task not in LABELLED:
        return
    checked = labelled_rows(train, recipe) if recipe.task in WHOLE else TaggedRows.of(recipe, train)
    for _ in checked.rows():
        pass


def _seed(recipe: Recipe) -> int:
    """What decides which rows are held out."""
    return recipe.training.seed if recipe.data.seed < 0 else recipe.data.seed


def _hold_out(recipe: Recipe, parts: dict[str, Source], reasons: list[str]) -> OpenedData:
    """Take validation and test parts from the training data where no file names them."""
    if recipe.task in LANGUAGE_MODELS and isinstance(parts["train"], TextSource) and recipe.data.split == "content":
        recipe = recipe.changed("data", split="tail")  # shuffled lines are no text
    shares = {name: 0.0 if name in parts else getattr(recipe.data, f"{name}_share") for name in ("valid", "test")}
    if not any(shares.values()):
        return OpenedData(recipe, parts, reasons)
    keys = [recipe.data.sequence or recipe.data.text or STEPS] if recipe.data.split == "content" else []
    try:
        splits = hold_out(
            parts["train"],
            how=recipe.data.split,
            valid_share=shares["valid"],
            test_share=shares["test"],
            seed=_seed(recipe),
            key_columns=keys,
            labels=names_in(recipe),
        )
    except DataError:
        _refuse_unusable_rows(recipe, parts["train"])  # a bad row explains more than a count
        raise
    taken = " and ".join(f"{share:.0%} for {name}" for name, share in shares.items() if share)
    how = {"content": "by content", "random": "at random", "tail": "from the end"}[recipe.data.split]
    reasons = [*reasons, f"held out {taken}, {how}; other data: data.valid=FILE data.test=FILE"]
    if splits.kept:
        reasons.append(f"labels with too few rows to hold any out stay in train: {listed(splits.kept)}")
    return OpenedData(recipe, {**splits.named(), **{name: part for name, part in parts.items() if name != "train"}}, reasons)
