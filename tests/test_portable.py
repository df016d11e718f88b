"""seqlab on a system without the modules and functions that only POSIX has."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runs import toy_runs
from tests.runs.toy_runs import CLASSIFIER

WITHOUT_POSIX = """
import os, sys, warnings

for name in ("preadv", "pread", "sched_getaffinity", "geteuid", "getuid", "fork", "O_NOFOLLOW", "O_DIRECTORY"):
    if hasattr(os, name):
        delattr(os, name)

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name in ("fcntl", "resource"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

for name in ("fcntl", "resource"):
    sys.modules.pop(name, None)
sys.meta_path.insert(0, Blocker())
warnings.filterwarnings("ignore", "only soft file lock is available")

from seqlab.cli.main import main
sys.argv = ["seqlab", *sys.argv[1:]]
main()
"""


def test_no_module_of_seqlab_imports_what_only_posix_has_on_its_first_lines() -> None:
    only_posix = ("fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "posix", "syslog")
    source = Path(__file__).parents[1] / "src"
    offenders = [
        f"{path.relative_to(source)}: {line}"
        for path in sorted(source.rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith(tuple(f"{word} {name}" for word in ("import", "from") for name in only_posix))
        and line.split()[1].partition(".")[0] in only_posix
    ]
    assert offenders == []


@pytest.mark.slow
def test_a_model_is_trained_and_used_without_fcntl_and_resource(tmp_path: Path) -> None:
    data = toy_runs.write_data("classifier", tmp_path)
    environment = {**os.environ, "SEQLAB_CACHE": str(tmp_path / "cache"), "OMP_NUM_THREADS": "1"}

    def seqlab(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", WITHOUT_POSIX, *arguments]
        return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)

    trained = seqlab("train", str(data), "--out", "run", *CLASSIFIER)
    assert trained.returncode == 0, trained.stderr
    assert "of memory" not in trained.stderr + trained.stdout
    assert "thread" in trained.stderr + trained.stdout
    predicted = seqlab("predict", "run", "abcab")
    assert predicted.returncode == 0, predicted.stderr
    assert "low" in predicted.stdout or "high" in predicted.stdout
