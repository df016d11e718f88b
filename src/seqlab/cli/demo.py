"""`make demo`: train two models on built-in data, score them against their baselines, and use them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from seqlab.cli.console import say
from seqlab.cli.main import SHORT_WAIT, app

CLASSIFIER, TRANSLATOR = Path("runs/demo-languages"), Path("runs/demo-dates")

COMMANDS: list[tuple[str, list[str]]] = [
    ("Which language is a word from? A bidirectional LSTM reads it character by character.",
     ["train", "languages", "--minutes", "0.8", "--out", str(CLASSIFIER)]),
    ("Words the model has never seen.",
     ["predict", str(CLASSIFIER), "wyspiarski", "Straßenbahn", "Schweizer", "gyümölcs", "nascimento"]),
    ("Dates in thirty languages to ISO 8601: an encoder-decoder with attention.",
     ["train", "dates", "--minutes", "1.5", "--out", str(TRANSLATOR)]),
    ("Dates the model has never seen.",
     ["predict", str(TRANSLATOR), "3. März 2019", "mercredi 14 octobre 1987", "5 de junio de 2044"]),
    ("A misspelled date, with its top four hypotheses.",
     ["predict", str(TRANSLATOR), "dimanche 27 fevrier 2011", "--beam", "4", "--top", "4"]),
]  # fmt: skip


def main() -> None:
    """Run the commands one after the other, printing each as you would type it."""
    os.environ.setdefault("GOMP_SPINCOUNT", SHORT_WAIT)  # as the command does
    for folder in (CLASSIFIER, TRANSLATOR):
        shutil.rmtree(folder, ignore_errors=True)
    for story, arguments in COMMANDS:
        say(f"\n# {story}")
        say("$ seqlab " + " ".join(f'"{word}"' if " " in word else word for word in arguments))
        app(arguments, standalone_mode=False)
    say(
        f"\nOpen the reports in a browser: {CLASSIFIER / 'report.html'} and {TRANSLATOR / 'report.html'}"
        " (with an attention heat map)"
    )


if __name__ == "__main__":
    main()
