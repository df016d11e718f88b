"""What `make demo` shows: two models trained on built-in data, each beside its baseline, then put to use."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from seqlab.cli.console import say
from seqlab.cli.main import SHORT_WAIT, app

CLASSIFIER, TRANSLATOR = Path("runs/demo-languages"), Path("runs/demo-dates")

COMMANDS: list[tuple[str, list[str]]] = [
    ("Which language is this name from? A bidirectional LSTM reads it character by character.",
     ["train", "languages", "--minutes", "0.8", "--out", str(CLASSIFIER)]),
    ("Names it has not seen.",
     ["predict", str(CLASSIFIER), "wyspiarski", "Straßenbahn", "Schweizer", "gyümölcs", "nascimento"]),
    ("Dates of thirty languages into ISO 8601: an encoder, a decoder, and attention in between.",
     ["train", "dates", "--minutes", "1.5", "--out", str(TRANSLATOR)]),
    ("Days it has not seen.",
     ["predict", str(TRANSLATOR), "3. März 2019", "mercredi 14 octobre 1987", "5 de junio de 2044"]),
    ("A misspelled date, with its top four hypotheses.",
     ["predict", str(TRANSLATOR), "dimanche 27 fevrier 2011", "--beam", "4", "--top", "4"]),
]  # fmt: skip


def main() -> None:
    """Run the commands one after the other, each shown as one would type it."""
    os.environ.setdefault("GOMP_SPINCOUNT", SHORT_WAIT)  # as the command does
    for folder in (CLASSIFIER, TRANSLATOR):
        shutil.rmtree(folder, ignore_errors=True)
    for story, words in COMMANDS:
        say(f"\n# {story}")
        say("$ seqlab " + " ".join(f'"{word}"' if " " in word else word for word in words))
        app(words, standalone_mode=False)
    say(
        f"\nOpen the reports in a browser: {CLASSIFIER / 'report.html'} and {TRANSLATOR / 'report.html'}"
        " (includes an attention heat map)"
    )


if __name__ == "__main__":
    main()
