"""seqlab import: pretrained weights become a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json, answer_sentences, quoted, say, suggest
from seqlab.cli.importable import list_importable
from seqlab.cli.options import AsJson

if TYPE_CHECKING:
    from seqlab.runs.run import Run

EXAMPLES = """\b
Examples:
  seqlab import --list
  seqlab import all-MiniLM-L6-v2 --out runs/minilm
  seqlab import downloads/all-MiniLM-L6-v2
  seqlab import SmolLM2-135M-Instruct.Q4_1.gguf --out runs/smollm
  seqlab import site-packages/g2p_en/checkpoint20.npz
"""


def import_model(
    path: Annotated[
        str,
        typer.Argument(
            help="A folder with config.json and model.safetensors, a .gguf file, g2p_en's .npz file, or the name of a"
            " model that --list shows as installed.",
            metavar="PATH",
        ),
    ] = "",
    out: Annotated[str, typer.Option(metavar="FOLDER", help="Run folder; runs/NAME by default.")] = "",
    show_list: Annotated[
        bool,
        typer.Option("--list", help="List what can be imported without a download, and the supported files."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Import pretrained weights as a run.

    Supported: BERT-like encoders, GPT-2, Llama-like decoders, Marian, BART and the grapheme-to-phoneme model
    of g2p_en. Nothing is downloaded.
    """
    from seqlab.core.errors import UsageError

    if show_list:
        return list_importable(as_json=as_json)
    if not path:
        raise UsageError(
            "no model to import.",
            cure="Pass the folder or file of a downloaded model; seqlab import --list shows what is installed.",
        )
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
        f" vocabulary of {facts['vocabulary']:,}"
    )
    reads = f"context of {facts['context']:,} tokens" if facts["context"] else "inputs of any length"
    answer(f"{facts['family']}: {size}, {reads}")
    answer(f"run: {run.folder} (task {run.recipe.task})")
    for note in facts["notes"]:
        answer_sentences(f"  note: {note}")
    return suggest(_uses(run, facts))


def _uses(run: Run, facts: dict[str, Any]) -> list[str]:
    """Commands to run next."""
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
