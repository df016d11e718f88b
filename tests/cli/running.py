"""Running the command inside the test process: torch is imported once, and a test takes milliseconds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from seqlab.cli.main import main


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object that standard output holds, and nothing else."""
        found = json.loads(self.out)
        assert isinstance(found, dict)
        assert self.out.count("\n") == 1
        return found


def run(capsys: pytest.CaptureFixture[str], *words: str) -> Outcome:
    """Type `seqlab WORDS`."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        main(words)
    captured = capsys.readouterr()
    return Outcome(int(ended.value.code or 0), captured.out, captured.err)
