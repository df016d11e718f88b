"""Arguments and options that several commands share, each declared once."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object to standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Hide progress.")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="Folder of a run, or its name in runs/.")]
Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A file or folder, a built-in dataset, or a recipe (shipped name or .toml)."
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Settings by dotted name, such as training.epochs=10."),
]
TaskName = Annotated[
    str,
    typer.Option(
        "--task", metavar="NAME", help="Task (see: seqlab list tasks); inferred from the data by default."
    ),
]
ModelName = Annotated[
    str,
    typer.Option(
        "--model",
        metavar="NAME",
        help="Model: rnn, lstm, gru, bilstm, cnn, transformer, … (see: seqlab list models).",
    ),
]
StartRun = Annotated[str, typer.Option("--from", metavar="RUN", help="Fine-tune a finished or imported run.")]
Decoding = Annotated[
    list[str] | None,
    typer.Option(
        "--decoding",
        metavar="NAME=VALUE",
        help="Other decoding settings (see: seqlab explain decoding); repeatable.",
    ),
]
EnsembleRuns = Annotated[
    list[str] | None,
    typer.Option(
        "--with", metavar="RUN", help="Ensemble with this run, which needs the same vocabulary; repeatable."
    ),
]
Beam = Annotated[
    int,
    typer.Option(
        "--beam",
        metavar="NUMBER",
        help="Beam size: hypotheses kept at every step; the recipe's by default.",
        show_default=False,
    ),
]
