"""`python -m benchmarks [NAME …]`: what is measured, and the measurements asked for.

A benchmark is a module of this folder with `main(arguments)`. One that says `QUICK = True` runs when no name
is given; `--list` only lists. To give a benchmark arguments, run it by itself: `python -m benchmarks.ngram
PATH`.
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path


@dataclass(frozen=True)
class Benchmark:
    """A module of this folder, read without importing it."""

    name: str
    sentence: str
    is_quick: bool


def find(folder: Path = Path(__file__).parent) -> list[Benchmark]:
    """Every file that defines `main(arguments)` at its top level, by name."""
    found = []
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if path.stem.startswith("__") or not any(
            isinstance(node, ast.FunctionDef) and node.name == "main" for node in tree.body
        ):
            continue
        found.append(
            Benchmark(path.stem, (ast.get_docstring(tree) or "").partition("\n")[0], _says_quick(tree))
        )
    return found


def main(arguments: list[str]) -> int:
    benchmarks = {benchmark.name: benchmark for benchmark in find()}
    names = [argument for argument in arguments if argument != "--list"]
    unknown = [name for name in names if name not in benchmarks]
    if unknown:
        close = get_close_matches(unknown[0], benchmarks, n=1)
        hint = f"Did you mean '{close[0]}'? " if close else ""
        print(
            f"there is no benchmark called '{unknown[0]}'. {hint}Available: {', '.join(benchmarks)}.",
            file=sys.stderr,
        )
        return 2
    if not names:
        for benchmark in benchmarks.values():
            print(
                f"{benchmark.name:<16}"
                f" {benchmark.sentence}{'' if benchmark.is_quick else '  [only when named]'}"
            )
    if "--list" in arguments:
        return 0
    for name in names or [benchmark.name for benchmark in benchmarks.values() if benchmark.is_quick]:
        print(f"\n== {name}: {benchmarks[name].sentence}", flush=True)
        import_module(f"benchmarks.{name}").main([])
    return 0


def _says_quick(tree: ast.Module) -> bool:
    return any(
        isinstance(node, ast.Assign)
        and any(isinstance(target, ast.Name) and target.id == "QUICK" for target in node.targets)
        and isinstance(node.value, ast.Constant)
        and node.value.value is True
        for node in tree.body
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
