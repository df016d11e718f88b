"""What `seqlab import --list` shows: the models that are on this machine, and the files that can be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, suggest
from seqlab.cli.fit_table import fit_table

if TYPE_CHECKING:
    from pathlib import Path

    from seqlab.interop.offline_models import CarriedModel


def list_importable(*, as_json: bool) -> None:
    """List packages that carry weights, imported text encoders, and the supported files; reads no weights."""
    from seqlab.interop.offline_models import CARRIED_MODELS, READABLE, imported_encoders

    found = {model: model.find() for model in CARRIED_MODELS}
    encoders = list(imported_encoders())
    if as_json:
        return answer_json(
            {
                "models": [_as_json(model, path) for model, path in found.items()],
                "imported_encoders": [str(folder) for folder in encoders],
                "files": READABLE,
            }
        )
    for line in fit_table([_row(model, path) for model, path in found.items()]):
        answer(line)
    answer("\nimported text encoders: " + (", ".join(map(str, encoders)) or "none in runs/"))
    answer("\nfiles that can be imported, and the networks in them (nothing is downloaded):")
    for files, networks in READABLE.items():
        answer_sentences(f"  {files}: {', '.join(networks)}", hanging=4)
    installed = [model.import_command for model, path in found.items() if path]
    trains = [f"seqlab train FILE --from {quoted(folder)}" for folder in encoders]
    return suggest(trains or installed or [f"pip install {CARRIED_MODELS[0].package}"])


def _row(model: CarriedModel, path: Path | None) -> dict[str, str]:
    return {
        "model": model.name,
        "what it is": model.summary,
        "package": model.package,
        "installed": "yes" if path else "no",
    }


def _as_json(model: CarriedModel, path: Path | None) -> dict[str, object]:
    return {
        "name": model.name,
        "package": model.package,
        "summary": model.summary,
        "is_text_encoder": model.is_text_encoder,
        "path": str(path) if path else None,
        "command": model.import_command if path else f"pip install {model.package}",
    }
