"""choices.json: what was chosen on the validation data after training, such as a temperature or thresholds,
and belongs to the weights.
"""

from __future__ import annotations

import json
from pathlib import Path

from seqlab.core.errors import RunError
from seqlab.core.files import write_whole
from seqlab.runs.folder.layout import CHOICES
from seqlab.runs.folder.manifest import Manifest, score_again
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.codec import Codec
from seqlab.tokens.untrusted_json import read_json_object

LARGEST_FILE = 10_000_000


def write_calibration(folder: Path, calibration: Calibration, manifest: Manifest) -> None:
    """There is no file where a task chooses nothing."""
    if choices := calibration.to_json():
        write_whole(
            folder / CHOICES,
            json.dumps(
                {"run": manifest.run_id, "choices": choices}, ensure_ascii=False, indent=1, allow_nan=False
            ),
        )
    else:
        (folder / CHOICES).unlink(missing_ok=True)


def read_calibration(folder: Path, kind: type[Calibration], codec: Codec, manifest: Manifest) -> Calibration:
    """The choices of a run whose manifest is verified; the defaults where the manifest lists none."""
    path = folder / CHOICES
    if CHOICES not in manifest.files:
        return kind()
    content = read_json_object(path, largest=LARGEST_FILE)
    if content.get("run") != manifest.run_id:
        raise RunError("the choices belong to another run.", where=str(path), cure=score_again(folder))
    choices = content.get("choices")
    try:
        if not isinstance(choices, dict):
            raise ValueError("there are none")
        return kind.from_json(choices, codec)
    except ValueError as error:
        raise RunError(
            f"the choices cannot be right: {error}.", where=str(path), cure=score_again(folder)
        ) from error
