"""What `make demo` shows: two models trained on built-in data, each beside its baseline, then put to use."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from seqlab.cli.console import say
from seqlab.cli.main import SHORT_WAIT, app

CLASSIFIER, WRITER = Path("runs/demo-languages"), Path("runs/demo-pydoc")

COMMANDS: list[tuple[str, list[str]]] = [
    ("Which language is this name from? A bidirectional LSTM reads it letter by letter.",
     ["train", "languages", "--minutes", "0.8", "--out", str(CLASSIFIER)]),
    ("Names it has not seen.",
     ["predict", str(CLASSIFIER), "wyspiarski", "Straßenbahn", "Schweizer", "gyümölcs", "nascimento"]),
    ("An LSTM learns to write Python's own documentation, one character at a time.",
     ["train", "pydoc", "--minutes", "1.5", "--out", str(WRITER)]),
    ("What comes next?",
     ["predict", str(WRITER), "the functio", "--top", "5"]),
    ("What it writes.",
     ["generate", str(WRITER), "--prompt", "The statement ", "--tokens", "300"]),
]  # fmt: skip


def main() -> None:
    """Run the commands one after the other, each shown as one would type it."""
    os.environ.setdefault("GOMP_SPINCOUNT", SHORT_WAIT)  # as the command does
    for folder in (CLASSIFIER, WRITER):
        shutil.rmtree(folder, ignore_errors=True)
    for story, words in COMMANDS:
        say(f"\n# {story}")
        say("$ seqlab " + " ".join(f'"{word}"' if " " in word else word for word in words))
        app(words, standalone_mode=False)
    say(f"\nOpen the reports in a browser: {CLASSIFIER / 'report.html'} and {WRITER / 'report.html'}")


if __name__ == "__main__":
    main()
