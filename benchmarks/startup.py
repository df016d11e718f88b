"""How long a user waits before anything happens: `seqlab --help` and `import seqlab`, in fresh processes.

python -m benchmarks.startup [REPEATS]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.timing import Timing, interleaved, verdict

QUICK = True
HELP_TARGET = 0.3
IMPORT_TARGET = 0.15


def measure(*, repeats: int = 7) -> dict[str, Timing]:
    """Both commands, and an interpreter that does nothing, which no package can beat."""
    return interleaved(
        {
            "python -c pass": lambda: _run([sys.executable, "-c", "pass"]),
            "import seqlab": lambda: _run([sys.executable, "-c", "import seqlab"]),
            "seqlab --help": lambda: _run(_help_command()),
        },
        repeats=repeats,
    )


def main(arguments: list[str]) -> None:
    timings = measure(repeats=int(arguments[0]) if arguments else 7)
    for timing in timings.values():
        print(timing.line())
    print("import seqlab:", verdict(timings["import seqlab"].best_wall, IMPORT_TARGET, unit="s wall"))
    print("seqlab --help:", verdict(timings["seqlab --help"].best_wall, HELP_TARGET, unit="s wall"))


def _help_command() -> list[str]:
    """The installed command as a user types it; without one, its entry point."""
    installed = Path(sys.executable).with_name("seqlab")
    if installed.exists():
        return [str(installed), "--help"]
    return [
        sys.executable,
        "-c",
        "import sys; from seqlab.cli.main import main; sys.argv = ['seqlab', '--help']; main()",
    ]


def _run(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{result.stderr}")


if __name__ == "__main__":
    main(sys.argv[1:])
