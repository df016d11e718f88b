"""Find the step of the best weights of a run that was interrupted before scoring, so no manifest lists them
yet.
"""

from __future__ import annotations

from pathlib import Path

from seqlab.runs.folder.layout import CHECKPOINTS, JOURNAL
from seqlab.training.checkpoints.checkpoint import Checkpoints
from seqlab.training.journal import read_journal


def least_best_step(folder: Path, *, run_id: str) -> int:
    """Return the latest best step in the newest checkpoint or the journal.

    The weights are written before both, so after a kill they may be newer, but never older.
    """
    progress = Checkpoints(folder / CHECKPOINTS, run_id=run_id).newest_state().get("progress")
    saved = progress.get("best_step") if isinstance(progress, dict) else 0
    bests = [event["step"] for event in read_journal(folder / JOURNAL) if event.get("best") is True]
    return max([saved if isinstance(saved, int) else 0, *bests[-1:]])
