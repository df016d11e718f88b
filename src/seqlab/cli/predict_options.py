"""The arguments and options of `seqlab predict`."""

from __future__ import annotations

from typing import Annotated

import typer

Texts = Annotated[
    list[str] | None,
    typer.Argument(metavar="TEXT", help="Inputs; read from standard input, one per line, by default."),
]
File = Annotated[
    str,
    typer.Option(
        "--file",
        "-f",
        metavar="FILE",
        help="Predict for a file in the format of the training data, or with one text per line.",
    ),
]
Top = Annotated[int, typer.Option(metavar="NUMBER", help="Number of answers per input.")]
Score = Annotated[
    bool,
    typer.Option(
        "--score",
        help="Report log-probabilities: of each text (language model) or of each SOURCE<tab>TARGET (translation).",
    ),
]
Tree = Annotated[
    str,
    typer.Option(
        metavar="FILE", help="Draw the beam search of one input as an image (.svg) or page (.html)."
    ),
]
Vectors = Annotated[
    bool, typer.Option("--vectors", help="Print a vector for each input, one JSON object per line.")
]
Pooling = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="With --vectors: how to pool the steps of a text: mean (default), first, last or max.",
    ),
]
Out = Annotated[
    str,
    typer.Option(
        metavar="FILE",
        help=(
            "With --file: write the table (.csv, .tsv, .json, .jsonl) with prediction columns. With --vectors: write"
            " one .npy array. With --score: write an .html page that colors each token by its surprisal."
        ),
    ),
]
