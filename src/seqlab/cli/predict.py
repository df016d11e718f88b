"""seqlab predict: answers for arguments, a file, or a stream on standard input, in their order."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from seqlab.cli.console import answer, answer_json, say

AT_ONCE = 256


def predict(
    run: Annotated[str, typer.Argument(help="The folder of a run, or its name below runs/.")],
    texts: Annotated[list[str] | None, typer.Argument(metavar="[TEXT]...", help="Texts; standard input, one per line, when left out.")] = None,
    file: Annotated[str, typer.Option("--file", "-f", help="A file in the format of the training data, or with one text per line.")] = "",
    top: Annotated[int, typer.Option(min=1, max=1000, help="How many answers to show for each text.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Predict labels, or with a language model the next token."""
    from seqlab.runs.run import Run

    loaded = Run.load(run)
    inputs = iter(texts) if texts else _from_file(loaded, file) if file else _from_stdin()
    collected = []
    while part := list(islice(inputs, AT_ONCE if not sys.stdin.isatty() or texts or file else 1)):
        for prediction in loaded.predict(part, top=max(top, 1)):
            if as_json:
                collected.append(
                    {"input": prediction.input, "answer": prediction.answer, "probability": prediction.probability, "ranking": prediction.ranking}
                )
            elif top == 1:
                answer(f"{prediction.answer}\t{prediction.probability:.4f}\t{_line(prediction.input)}")
            else:
                answer(_line(prediction.input))
                for name, share in prediction.ranking:
                    answer(f"  {share:8.4f}  {name!r}" if loaded.recipe.task == "language_model" else f"  {share:8.4f}  {name}")
    if as_json:
        answer_json({"run": str(loaded.folder), "predictions": collected})


def _from_stdin() -> Iterator[str]:
    if sys.stdin.isatty():
        say("type a text and press Enter; Ctrl-D ends")
    for line in sys.stdin:
        if text := line.rstrip("\r\n"):
            yield text


def _from_file(loaded: object, path: str) -> Iterator[str]:
    """The text column of a table, or the lines of a text."""
    from seqlab.runs.run import Run
    from seqlab.sources.open import open_source

    assert isinstance(loaded, Run)
    source = open_source(Path(path), loaded.recipe.data.model_copy(update={"format": "", "sequence": ""}))
    column = loaded.recipe.data.text if loaded.recipe.data.text in source.columns else source.columns[0]
    return (str(row.values[column]) for row in source.rows())


def _line(text: str) -> str:
    return " ".join(text.split())
