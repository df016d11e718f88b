"""seqlab generate: a language model continues a prompt, printed token by token."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json, quoted, say
from seqlab.cli.options import AsJson, RunName
from seqlab.core.errors import UsageError

if TYPE_CHECKING:
    from seqlab.decoding.settings import DecodingSettings

EXAMPLES = """\b
Examples:
  seqlab generate runs/input-gru --prompt "KING" --tokens 300
  seqlab generate runs/input-gru --temperature 0.5 --seed 7
"""
LARGEST_SEED = 2**63 - 1
LONGEST_PROMPT = 40
"""Of a prompt that is repeated in the next command."""


def generate(
    run: RunName,
    prompt: Annotated[str, typer.Option(metavar="TEXT", help="Text to continue.")] = "",
    tokens: Annotated[
        int | None, typer.Option(metavar="NUMBER", help="Maximum number of new tokens.")
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="Sampling temperature: above 1 is more random, 0 is greedy."),
    ] = None,
    top_k: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="Sample from the k most likely tokens only; 0 keeps all."),
    ] = None,
    top_p: Annotated[
        float | None,
        typer.Option(
            metavar="NUMBER",
            help="Nucleus sampling: keep the most likely tokens up to this total probability.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(metavar="NUMBER", help="Random seed of the sampling.")] = None,
    as_json: AsJson = False,
) -> None:
    """Continue a prompt with a language model."""
    from seqlab.recipes.read import check

    options = {"max_tokens": tokens, "temperature": temperature, "top_k": top_k, "top_p": top_p, "seed": seed}
    settings: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    check({"decoding": settings}, where="options")  # before torch is imported
    if seed is not None and seed > LARGEST_SEED:
        raise UsageError(f"--seed {seed} is too large.", cure=f"Use a seed of at most {LARGEST_SEED}.")

    from seqlab.runs.run import Run

    loaded = Run.load(run)
    pieces = loaded.stream(prompt, **settings)
    if as_json:
        return answer_json({"run": str(loaded.folder), "prompt": prompt, "text": "".join(pieces)})
    answer(prompt, end="")
    for piece in pieces:
        answer(piece, end="")
    answer("")
    return say(f"next:\n  {_next(run, prompt, loaded.recipe.decoding.model_copy(update=settings))}")


def _next(run: str, prompt: str, decoding: DecodingSettings) -> str:
    """A command that gives another text; a greedy continuation is the same for every seed."""
    words = f"seqlab generate {quoted(run)}" + (f" --prompt {quoted(prompt)}" if _is_one_line(prompt) else "")
    return f"{words} --seed {decoding.seed + 1}" if decoding.temperature else f"{words} --temperature 0.8"


def _is_one_line(prompt: str) -> bool:
    return 0 < len(prompt) <= LONGEST_PROMPT and prompt.isprintable()
