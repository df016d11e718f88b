"""seqlab generate: a language model continues a prompt, shown as it is written."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json


def generate(
    run: Annotated[str, typer.Argument(help="The folder of a run, or its name below runs/.")],
    prompt: Annotated[str, typer.Option(help="The text to continue.")] = "",
    tokens: Annotated[int, typer.Option(min=1, help="At most this many new tokens.")] = 0,
    temperature: Annotated[float, typer.Option(min=0, help="Below 1 bolder, above 1 more random; 0 always takes the likeliest.")] = -1,
    top_k: Annotated[int, typer.Option(min=0, help="Choose among this many likeliest tokens.")] = -1,
    top_p: Annotated[float, typer.Option(max=1, help="Choose among the likeliest tokens with this total probability.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another text.")] = -1,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Continue a prompt."""
    from seqlab.runs.run import Run

    loaded = Run.load(run)
    chosen: dict[str, Any] = {"max_tokens": tokens or None, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    settings = {name: value for name, value in chosen.items() if value is not None and value >= 0}
    pieces = loaded.stream(prompt, **settings)
    if as_json:
        return answer_json({"run": str(loaded.folder), "prompt": prompt, "text": "".join(pieces)})
    answer(prompt, end="")
    for piece in pieces:
        answer(piece, end="")
    answer("")
    return None
