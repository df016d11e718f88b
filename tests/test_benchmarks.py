"""The tools of the benchmarks; what they measure is not tested, since a slow machine must not fail the
tests.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as command
from benchmarks import ngram
from benchmarks.timing import Timing, interleaved, verdict


def test_candidates_take_turns_and_the_warm_up_is_not_counted() -> None:
    calls: list[str] = []
    timings = interleaved(
        {"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeats=2, warm_up=1
    )
    assert calls == ["a", "b", "a", "b", "a", "b"]
    assert [len(timing.wall) for timing in timings.values()] == [2, 2]


def test_the_work_of_child_processes_counts() -> None:
    busy = [sys.executable, "-S", "-c", "import time\nwhile time.process_time() < 0.2: pass"]
    timings = interleaved({"busy": lambda: subprocess.run(busy, check=True)}, repeats=1, warm_up=0)
    assert timings["busy"].best_cpu >= 0.19


def test_best_median_and_spread() -> None:
    timing = Timing("x", wall=(3.0, 1.0, 2.0), cpu=(1.0, 1.5, 1.2))
    assert (timing.best_wall, timing.median_wall, timing.best_cpu, timing.spread) == (1.0, 2.0, 1.0, 0.5)


def test_the_verdict_says_whether_the_target_is_met() -> None:
    assert verdict(1.5, 1.69, unit="nats") == "1.500 nats (target at most 1.69: met)"
    assert verdict(1.75, 1.69, unit="nats") == "1.750 nats (target at most 1.69: MISSED)"


def test_benchmarks_are_the_files_with_a_main(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(
        '"""Takes long.\n\nMore."""\ndef main(arguments): ...\n', encoding="utf-8"
    )
    (tmp_path / "fast.py").write_text(
        '"""Takes no time."""\nQUICK = True\ndef main(arguments): ...\n', encoding="utf-8"
    )
    (tmp_path / "helper.py").write_text('"""Helps."""\n', encoding="utf-8")
    found = [(b.name, b.sentence, b.is_quick) for b in command.find(tmp_path)]
    assert found == [("fast", "Takes no time.", True), ("slow", "Takes long.", False)]


def test_the_list_names_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert {"ngram", "startup"} <= set(names)
    assert "timing" not in names


def test_an_unknown_name_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["ngrm"]) == 2
    assert "Did you mean 'ngram'?" in capsys.readouterr().err


def test_the_ngram_benchmark_scores_the_last_tenth_of_a_text(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("ab" * 500, encoding="utf-8")
    results = ngram.measure(tmp_path / "text.txt", orders=(1, 3))
    assert [result.order for result in results] == [1, 3]
    assert results[0].nats == pytest.approx(0.6931, abs=0.01)
    assert results[1].nats < 0.05
