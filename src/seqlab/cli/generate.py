"""seqlab generate: a language model continues a prompt, shown as it is written."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json, quoted, say
from seqlab.core.errors import UsageError

EXAMPLES = """\b
Examples:
  seqlab generate runs/input-gru --prompt "KING" --tokens 300
  seqlab generate runs/input-gru --temperature 0.5 --seed 7
"""
LARGEST_SEED = 2**63 - 1


def generate(
    run: Annotated[str, typer.Argument(help="The folder of a run, or its name below runs/.", metavar="RUN")],
    prompt: Annotated[str, typer.Option(help="The text to continue.")] = "",
    tokens: Annotated[int | None, typer.Option(help="At most this many new tokens.")] = None,
    temperature: Annotated[
        float | None, typer.Option(help="Below 1 safer, above 1 more random; 0 always takes the likeliest.")
    ] = None,
    top_k: Annotated[
        int | None, typer.Option(help="Choose among this many likeliest tokens; 0 considers all.")
    ] = None,
    top_p: Annotated[
        float | None, typer.Option(help="Choose among the likeliest tokens with this total probability.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Another seed, another text.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Continue a prompt with a language model."""
    from seqlab.recipes.read import check

    options = {"max_tokens": tokens, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    settings: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    check({"decoding": settings}, where="options")  # before torch is imported
    if seed is not None and seed > LARGEST_SEED:
        raise UsageError(f"--seed {seed} is too large.", cure=f"At most {LARGEST_SEED}.")

    from seqlab.runs.run import Run

    loaded = Run.load(run)
    pieces = loaded.stream(prompt, **settings)
    if as_json:
        return answer_json({"run": str(loaded.folder), "prompt": prompt, "text": "".join(pieces)})
    answer(prompt, end="")
    for piece in pieces:
        answer(piece, end="")
    answer("")
    say(f"next:\n  seqlab generate {quoted(run)} --seed {(seed or loaded.recipe.decoding.seed) + 1}")
    return None
