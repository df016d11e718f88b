"""seqlab import: weights that somebody else has trained, as a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json, quoted, say, suggest

if TYPE_CHECKING:
    from seqlab.runs.run import Run

EXAMPLES = """\b
Examples:
  seqlab import downloads/all-MiniLM-L6-v2
  seqlab import SmolLM2-135M-Instruct.Q4_1.gguf --out runs/smollm
  seqlab import site-packages/g2p_en/checkpoint20.npz
"""


def import_model(
    path: Annotated[
        str,
        typer.Argument(
            help="A folder with config.json and model.safetensors, a .gguf file, or the .npz of g2p_en.",
            metavar="PATH",
        ),
    ],
    out: Annotated[str, typer.Option(help="Folder of the run; runs/NAME when left out.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Import a published model: BERT-like encoders, GPT-2, Llama-like decoders, Marian and BART, spelling to
    sound of g2p_en.
    """
    from seqlab.interop.import_model import import_details, import_published_model

    say(f"reading {path}")
    run = import_published_model(path, out=out)
    facts = import_details(run)
    if as_json:
        return answer_json(
            {"run": str(run.folder), "task": run.recipe.task, **facts, "next": _uses(run, facts)}
        )
    size = (
        f"{facts['layers']} layer{'s' if facts['layers'] > 1 else ''}, {facts['parameters']:,} parameters,"
        f" {facts['vocabulary']:,} tokens"
    )
    reads = f"reads {facts['context']:,} at once" if facts["context"] else "reads texts of any length"
    answer(f"{facts['family']}: {size}, {reads}")
    answer(f"run: {run.folder} (task {run.recipe.task})")
    for note in facts["notes"]:
        answer(f"  note: {note}")
    return suggest(_uses(run, facts))


def _uses(run: Run, facts: dict[str, Any]) -> list[str]:
    """What one would type next."""
    from seqlab.tasks.spec import find_spec

    spec, folder = find_spec(run.recipe.task), quoted(run.folder)
    questions = (
        []
        if facts["headless"]
        else spec.example_commands(run.folder, run.recipe, run.codec.example_input())[:1]
    )
    if spec.generates:
        return questions
    vectors = [] if spec.continues_text else [f'seqlab predict {folder} --vectors "some text"']
    return [*questions, *vectors, f"seqlab train FILE --from {folder}"]
