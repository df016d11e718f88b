"""A stream of any length through `seqlab predict`: answers in order, soon, and never much of it in memory."""

from __future__ import annotations

import io
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from seqlab.cli import inputs as cli_inputs
from seqlab.runs.run import Run
from tests.cli.running import run
from tests.cli.tiny_pairs import train_tiny, write_pairs

pytestmark = pytest.mark.slow  # a training, thousands of lines, and a process of its own
AT_ONCE = 16
LINES = ["abc"[number % 3] * (1 + number % 5) for number in range(200)]


@pytest.fixture(scope="module")
def capitals(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return train_tiny(
        write_pairs(tmp_path_factory.mktemp("stream")), "run", "decoding.max_tokens=2", steps=1
    ).with_decoding(beam=2)


def test_no_more_is_read_than_a_few_parts_ahead_of_the_answers(capitals: Run) -> None:
    watched = Watched(400)
    for part in cli_inputs.available_chunks(iter(watched), at_once=AT_ONCE):
        watched.answered += len(capitals.predict(part, top=1))
    assert watched.answered == 400
    assert (
        watched.ahead <= 6 * AT_ONCE
    )  # a full queue, the part in work, and the one line that waits for a place


class Watched:
    """Lines, and how many of them were at most read and not yet answered."""

    def __init__(self, lines: int) -> None:
        self.lines, self.answered, self.ahead = lines, 0, 0

    def __iter__(self) -> Iterator[str]:
        for number in range(self.lines):
            self.ahead = max(self.ahead, number + 1 - self.answered)
            yield "abc"[number % 3] * (1 + number % 5)


def test_a_long_file_is_answered_line_by_line_in_order(
    capitals: Run, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["abc"[number % 3] * (1 + number % 7) for number in range(700)]
    monkeypatch.setattr(
        "sys.stdin", io.TextIOWrapper(io.BytesIO("".join(word + "\n" for word in asked).encode()))
    )
    monkeypatch.setattr("seqlab.cli.predict.available_chunks", counted := Counted())
    found = run(capsys, "predict", str(capitals.folder), "--beam", "2")
    lines = [line.split("\t") for line in found.out.splitlines()]
    assert [line[2] for line in lines] == asked
    assert len(lines) == len(asked)
    assert max(counted.parts) <= cli_inputs.AT_ONCE
    answers = {line[2]: line[0] for line in lines}
    assert all(
        answers[line[2]] == line[0] for line in lines
    )  # the same text has the same answer wherever it stands


class Counted:
    """As `available_chunks`, with the sizes of its parts."""

    def __init__(self) -> None:
        self.parts: list[int] = []

    def __call__(self, inputs: Iterator[str]) -> Iterator[list[str]]:
        for part in cli_inputs.available_chunks(inputs):
            self.parts.append(len(part))
            yield part


def test_answers_come_before_the_stream_ends_and_a_long_one_takes_no_more_memory(capitals: Run) -> None:
    command = [sys.executable, "-m", "seqlab.cli.main", "predict", str(capitals.folder), "--beam", "2"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        ask(process, ["abc"])  # would wait for ever if more lines were needed for an answer
        ask(process, ["ca"])
        for _ in range(3):
            ask(process, LINES)
        after_few = kilobytes(process.pid)
        for _ in range(20):
            ask(process, LINES)
        assert kilobytes(process.pid) < after_few + 4_000
        rest, _ = process.communicate()
        assert rest == ""
    assert process.returncode == 0


def ask(process: subprocess.Popen[str], words: list[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write("".join(word + "\n" for word in words))
    process.stdin.flush()
    assert [process.stdout.readline().rstrip("\n").split("\t")[2] for _ in words] == words


def kilobytes(pid: int) -> int:
    """Memory that a process holds at the moment, where the system tells."""
    status = Path(f"/proc/{pid}/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found[1]) if found else 0


def _heed_interrupts() -> None:
    """A shell starts background jobs with interrupts ignored, and their children inherit that."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("ending", ["interrupt", "closed output"])
def test_a_stream_that_is_still_open_ends_quietly(capitals: Run, ending: str) -> None:
    """A reader thread that holds the lock of standard input would make Python abort at its end."""
    with subprocess.Popen(
        [sys.executable, "-m", "seqlab", "predict", str(capitals.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_heed_interrupts,  # noqa: PLW1509 - sets one signal, no threads are involved
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(b"abc\n")
        process.stdin.flush()
        assert process.stdout.readline()
        if ending == "interrupt":
            process.send_signal(signal.SIGINT)
        else:
            process.stdout.close()
            process.stdin.write(b"abc\n")
            process.stdin.flush()
        assert process.wait(timeout=60) == (130 if ending == "interrupt" else 0)
        assert b"Fatal" not in process.stderr.read()
        process.stdin.close()
