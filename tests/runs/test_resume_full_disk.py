"""A full disk loses nothing: the run says what is missing, keeps the last good checkpoint, and goes on when
there is space again.
"""

from __future__ import annotations

import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqlab.core.errors import EnvironmentProblem
from tests.runs import toy_runs
from tests.runs.test_resume_after_kill import die_at_call, start_with
from tests.runs.toy_runs import CLASSIFIER, fingerprint, finish, go_on, leftovers, newest_checkpoint, start


@pytest.mark.slow
def test_a_checkpoint_beyond_the_limit_on_files_ends_with_code_3_and_resumes_to_the_same_bits(
    tmp_path: Path,
) -> None:
    data = toy_runs.write_data("classifier", tmp_path)
    assert finish(start, data, tmp_path / "whole", CLASSIFIER) == 0
    folder = tmp_path / "run"
    at_third_checkpoint = (("pathlib:Path", "rename", 3), {"after": True})
    assert finish(start_with, die_at_call, *at_third_checkpoint, data, folder, CLASSIFIER) == -signal.SIGKILL
    before = newest_checkpoint(folder)
    contents = {path: path.read_bytes() for path in before.iterdir()}
    limit = (before / "tensors.safetensors").stat().st_size - 1000

    resumed = subprocess.run(
        [sys.executable, "-m", "seqlab.cli.main", "train", "--resume", str(folder)],
        capture_output=True,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert resumed.returncode == 3, resumed.stderr
    message = resumed.stderr[resumed.stderr.index("EnvironmentProblem: ") :]
    assert "ulimit -f" in message
    assert "no space" not in message
    assert len(message.splitlines()) <= 12
    assert "Traceback" not in resumed.stderr
    assert newest_checkpoint(folder) == before
    assert {path: path.read_bytes() for path in before.iterdir()} == contents
    assert leftovers(folder) == []

    assert finish(go_on, data, folder, CLASSIFIER) == 0
    assert fingerprint(folder) == fingerprint(tmp_path / "whole")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own that can be made larger; only root may have one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", folder], capture_output=True
    ).returncode:
        pytest.skip("mounting needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def start_and_say_why_not(*run: object) -> None:
    try:
        start(*run)
    except EnvironmentProblem as error:
        sys.exit(error.exit_code if "no space left: needs " in str(error) else 1)


@pytest.mark.slow
def test_a_disk_that_fills_up_on_the_way_is_survived(small_disk: Path, tmp_path: Path) -> None:
    data = toy_runs.write_data("classifier", tmp_path)
    assert finish(start, data, tmp_path / "whole", CLASSIFIER) == 0
    folder = small_disk / "run"
    assert finish(start_and_say_why_not, data, folder, CLASSIFIER) == 3
    subprocess.run(["mount", "-o", "remount,size=20m", small_disk], check=True)
    assert finish(go_on, data, folder, CLASSIFIER) == 0
    assert fingerprint(folder) == fingerprint(tmp_path / "whole")
    assert leftovers(folder) == []
