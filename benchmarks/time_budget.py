"""Does `--minutes` hold? The wall time of whole commands, divided by their budget.

    python -m benchmarks.time_budget [MINUTES …]        1, 3 and 10 when left out: 84 minutes on a free machine

Every run is a process of its own: start-up, reading, training, scoring and the report count. The aim is a factor
of at most 1.1.
"""

from __future__ import annotations

import csv
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

AIM = 1.1
LABELS = {
    "sport": ["ball", "goal", "team"],
    "food": ["bread", "soup", "salt"],
    "travel": ["train", "map", "sea"],
}


def write_labels(folder: Path) -> Path:
    """8,000 short texts with one to three labels each."""
    rng, path = random.Random(1), folder / "topics.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["text", "labels"])
        for _ in range(8000):
            chosen = rng.sample(sorted(LABELS), rng.randint(1, 3))
            words = [rng.choice(LABELS[label]) for label in chosen] + rng.choices(
                ["a", "the", "of", "and"], k=12
            )
            rng.shuffle(words)
            table.writerow([" ".join(words), "|".join(chosen)])
    return path


def commands(folder: Path) -> dict[str, list[str]]:
    """One command for each kind of run, without its budget."""
    return {
        "classification": ["languages"],
        "tagging": ["python_tokens"],
        "language model": ["pydoc"],
        "translation, beam 5": ["dates", "decoding.beam=5"],
        "captioning": ["shapes"],
        "multi-label": [str(write_labels(folder)), "--task", "multi_label", "data.label_separator=|"],
    }


def measure(command: list[str], minutes: float, out: Path) -> float:
    """Seconds of one command."""
    words = [
        sys.executable,
        "-m",
        "seqlab",
        "train",
        *command,
        "--minutes",
        str(minutes),
        "--out",
        str(out),
        "-q",
    ]
    clock = perf_counter()
    subprocess.run(words, check=True, capture_output=True)
    return perf_counter() - clock


def main(budgets: list[float]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, command in commands(folder).items():
            for minutes in budgets:
                seconds = measure(command, minutes, folder / f"{kind}-{minutes}")
                factor = seconds / (60 * minutes)
                print(
                    f"{kind:<22}{minutes:6g} min{seconds:9.1f} s   {factor:.2f}{'' if factor <= AIM else '  too long'}",
                    flush=True,
                )


if __name__ == "__main__":
    main([float(word) for word in sys.argv[1:]] or [1.0, 3.0, 10.0])
