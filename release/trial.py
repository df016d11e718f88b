"""Installs a wheel into a fresh environment and runs it."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

COMMANDS = (["--version"], ["list", "tasks"], ["list", "recipes"])


def trial_problems(wheel: Path, *, version: str) -> list[str]:
    """What goes wrong when the command of an installed wheel is used."""
    with tempfile.TemporaryDirectory() as folder:
        scripts = _install(wheel, Path(folder))
        outputs = {" ".join(words): _run([str(scripts / "seqlab"), *words], folder) for words in COMMANDS}
        place = _run([str(scripts / "python"), "-c", "import seqlab; print(seqlab.__file__)"], folder)
        facts = {
            f"seqlab --version does not print {version}": version in outputs["--version"],
            "seqlab list tasks does not know classification": "classification" in outputs["list tasks"],
            "seqlab list recipes does not know imdb": "imdb" in outputs["list recipes"],
            # Otherwise the sources of this folder were tried, and not the wheel.
            f"seqlab was imported from {place}": Path(place).resolve().is_relative_to(Path(folder).resolve()),
        }
    return [f"{wheel.name}: {problem}" for problem, holds in facts.items() if not holds]


def _install(wheel: Path, folder: Path) -> Path:
    """The programs of a new environment with the wheel. Its dependencies are those of this environment: they
    are large, and no part of the release.
    """
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)  # noqa: S603 - ours
    paths = sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)}, scheme="venv")
    # Paths of a .pth file come after the environment's own, and .pth files there (the editable seqlab) have no effect.
    dependencies = Path(paths["purelib"]) / "dependencies.pth"
    dependencies.write_text(sysconfig.get_paths()["purelib"], encoding="utf-8")
    python = Path(paths["scripts"]) / "python"
    options = ["install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", str(python), *options], check=True)  # noqa: S603 - ours
    return Path(paths["scripts"])


def _run(command: list[str], folder: str) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ended = subprocess.run(  # noqa: S603 - ours
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    return ended.stdout.strip() if ended.returncode == 0 else ended.stderr.strip()
