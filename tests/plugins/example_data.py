"""Small data for the examples of docs/guides/extend.md, under the names that the page uses."""

from __future__ import annotations

import os
import random
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples" / "plugins"
PAGE = ROOT / "docs" / "guides" / "extend.md"
QUICK = ["training.steps=4", "training.batch_size=8", "training.threads=1", "model.hidden_size=8", "--quiet"]
LABELS = ("billing", "delivery")


def write_data(folder: Path) -> None:
    chance = random.Random(5)
    words = {
        "billing": ["chargedTwice", "refund_me", "invoice"],
        "delivery": ["lateBox", "no_parcel", "mail"],
    }
    rows = [
        (" ".join(chance.choices(words[label], k=chance.randint(2, 5))) + f" {number}", label)
        for number in range(120)
        for label in [LABELS[number % 3 == 0]]
    ]
    lines = [f"{text},{label}" for text, label in rows]
    (folder / "reviews.csv").write_text("text,label\n" + "\n".join(lines) + "\n", encoding="utf-8")
    lines = [f"{text},{number % 5 + 1}" for number, (text, _) in enumerate(rows)]
    (folder / "ratings.csv").write_text("text,stars\n" + "\n".join(lines) + "\n", encoding="utf-8")
    lines = [f"{label} | {text}" for text, label in rows]
    (folder / "help.tickets").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = [f"{text}\t{text[::-1]}" for text, _ in rows]
    (folder / "pairs.tsv").write_text("source\ttarget\n" + "\n".join(lines) + "\n", encoding="utf-8")


def documented_commands() -> dict[str, list[str]]:
    """The commands of the page by the example that they load."""
    page = PAGE.read_text(encoding="utf-8").replace("\\\n", " ")  # a backslash continues a command
    lines = re.findall(r"^seqlab (.*)$", page, re.MULTILINE)
    commands = [shlex.split(line) for line in lines]
    return {Path(words[words.index("--plugin") + 1]).stem: words for words in commands}


def seqlab(*words: str, folder: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    """Run the command in a folder; `path` is searched for installed packages."""
    environment = {
        **os.environ,
        "SEQLAB_CACHE": str(folder / "cache"),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": path,
    }
    command = [sys.executable, "-m", "seqlab.cli.main", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
