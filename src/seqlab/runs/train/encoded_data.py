"""The encoded data of a run: a codec, the encoded splits, and the objective over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from seqlab.core.errors import DataError
from seqlab.core.notify import Notify
from seqlab.runs.data import RunData
from seqlab.runs.run import Run
from seqlab.runs.train.scoring_forecast import ScoringRehearsal
from seqlab.runs.transfer.distillation import build_teacher
from seqlab.sources.base import Source
from seqlab.tasks.codec import Codec
from seqlab.tasks.objective import Objective
from seqlab.tasks.spec import find_spec
from seqlab.tasks.split import Split


@dataclass(frozen=True)
class EncodedData:
    """The encoded splits, with the objective that trains on them and the evaluator that scores them."""

    codec: Codec
    sources: dict[str, Source]
    """The parts of the data before encoding."""
    splits: dict[str, Split]
    objective: Objective[Any, Any]
    rehearsal: ScoringRehearsal

    def fingerprints(self) -> dict[str, str]:
        return {name: source.fingerprint() for name, source in self.sources.items()}

    def warnings(self) -> list[str]:
        """Return the notes from encoding each split."""
        return [f"{split.name}: {note}" for split in self.splits.values() for note in split.notes]


def encode_data(
    codec: Codec, opened: RunData, *, teacher: Run | None, device: torch.device, on_stage: Notify
) -> EncodedData:
    """Encode every part of the data. teacher: the run to distill."""
    parts = find_spec(codec.recipe.task).load_parts()
    teacher_model = build_teacher(codec.recipe, codec, teacher, device=device)
    splits = _encode_splits(codec, opened, on_stage=on_stage)
    objective = parts.objective(codec, splits, teacher=teacher_model)
    rehearsal = ScoringRehearsal(parts, codec, splits["train"], opened.parts["valid"], device=device)
    return EncodedData(codec, opened.parts, splits, objective, rehearsal)


def _encode_splits(codec: Codec, opened: RunData, *, on_stage: Notify) -> dict[str, Split]:
    if "valid" not in opened.parts:
        raise DataError(
            "there is no validation data to select the best model on.",
            where=opened.parts["train"].name,
            cure="Set data.valid_share=0.1 or data.valid=FILE.",
        )
    splits = {}
    for name, source in opened.parts.items():
        on_stage(f"encoding {name}")
        splits[name] = codec.encode_split(name, source)
        if rebuilt := splits[name].store.rebuilt:
            on_stage(f"the cached arrays of {name} were damaged ({', '.join(rebuilt)}) and have been rebuilt")
    return splits
