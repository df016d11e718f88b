"""Write a finding to a folder: the HTML page, and its numbers as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from seqlab.core.files import write_whole
from seqlab.pages.study import render_study
from seqlab.studies.base import Finding, studies

PAGE, FINDING = "study.html", "finding.json"


def write_study(finding: Finding, folder: Path, *, name: str, seed: int, quick: bool) -> Path:
    """Write both files and return the page's path."""
    page = render_study(
        title=studies.summary(name),
        claim=finding.claim,
        conclusion=finding.conclusion,
        rows=finding.rows,
        curves=finding.curves,
        figures=finding.figures,
        notes=[
            *finding.notes,
            *(["A quick run, smaller and shorter than the full study."] if quick else []),
        ],
        command=study_command(name, seed=seed, quick=quick),
        created=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    )
    write_whole(folder / PAGE, page)
    write_whole(
        folder / FINDING,
        json.dumps(
            {"study": name, "seed": seed, "quick": quick, **finding.as_json()}, indent=1, ensure_ascii=False
        ),
    )
    return folder / PAGE


def study_command(name: str, *, seed: int, quick: bool) -> str:
    """
    >>> study_command("recall", seed=3, quick=True)
    'seqlab study recall --seed 3 --quick'
    """
    return f"seqlab study {name}" + (f" --seed {seed}" if seed else "") + (" --quick" if quick else "")
