"""seqlab study: a well-known claim, tested in a small experiment."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, say, suggest
from seqlab.cli.fit_table import ANY_WIDTH, fit_table
from seqlab.cli.options import AsJson
from seqlab.core.errors import UsageError

if TYPE_CHECKING:
    from seqlab.studies.base import Finding

EXAMPLES = """\b
Examples:
  seqlab list studies
  seqlab study recall
  seqlab study vanishing --quick
"""


def study(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the study (see: seqlab list studies).")
    ] = "",
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller and shorter, a few seconds: shows the trend only.")
    ] = False,
    seed: Annotated[int, typer.Option(metavar="NUMBER", min=0, help="Random seed of data and weights.")] = 0,
    threads: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="Number of threads.")] = 1,
    out: Annotated[
        str, typer.Option(metavar="FOLDER", help="Folder of the page; runs/studies/NAME by default.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Test a well-known claim in a small experiment."""
    from seqlab.core.errors import listed
    from seqlab.studies.base import studies

    if not name:
        raise UsageError(
            "the name of a study is missing.",
            cure=f"Run: seqlab study NAME. Available: {listed(studies.names())}.",
        )
    sentence = studies.summary(name) if name in studies.names() else ""
    run = studies.get(name)  # rejects a wrong name before torch is imported

    import torch

    from seqlab.studies.kit.write_study import write_study

    torch.set_num_threads(threads)
    say(f"… {sentence}")
    finding = run(seed=seed, quick=quick)
    page = write_study(finding, Path(out or f"runs/studies/{name}"), name=name, seed=seed, quick=quick)
    if as_json:
        return answer_json(
            {"study": name, "seed": seed, "quick": quick, "page": str(page), **finding.as_json()}
        )
    _show(finding, page)
    others = [other for other in studies.names() if other != name]
    return suggest(
        [
            *([f"seqlab study {quoted(name)}"] if quick else []),
            f"seqlab study {others[0]}",
            "seqlab list studies",
        ]
    )


def _show(finding: Finding, page: Path) -> None:
    from seqlab.pages.study import format_value

    rows = [{name: format_value(row[name]) for name in finding.columns} for row in finding.rows]
    numbers = [
        name for name in finding.columns if not any(isinstance(row[name], str) for row in finding.rows)
    ]
    width = None if sys.stdout.isatty() else ANY_WIDTH
    for line in fit_table(rows, width=width, numbers=numbers):
        answer(line)
    answer_sentences(f"claim: {finding.claim}")
    answer_sentences(f"found: {finding.conclusion}")
    answer(f"page: {page}")
