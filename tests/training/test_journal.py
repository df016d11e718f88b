from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqlab.core.errors import EnvironmentProblem, RunError
from seqlab.training.journal import Journal, read_journal


def steps_of(path: Path) -> list[tuple[str, int]]:
    return [(event["event"], event["step"]) for event in read_journal(path)]


def test_a_journal_that_is_not_there_has_no_events(tmp_path: Path) -> None:
    assert read_journal(tmp_path / "journal.jsonl") == []


def test_numbers_that_json_does_not_have_become_null_at_any_depth(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).write(
        "step", step=1, loss=float("nan"), more={"norm": float("inf"), "all": [1.5, float("-inf")]}
    )
    event = json.loads(path.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert (event["loss"], event["more"]) == (None, {"norm": None, "all": [1.5, None]})


def test_what_happened_after_the_point_of_a_resume_does_not_count(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    for event, step in [
        ("started", 0),
        ("step", 1),
        ("step", 2),
        ("step", 3),
        ("not_finite", 4),
        ("resumed", 2),
        ("step", 3),
        ("step", 4),
    ]:
        journal.write(event, step=step)
    assert steps_of(tmp_path / "journal.jsonl") == [
        ("started", 0),
        ("step", 1),
        ("step", 2),
        ("resumed", 2),
        ("step", 3),
        ("step", 4),
    ]


def test_a_run_that_goes_on_has_not_ended(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    for event, step in [
        ("started", 0),
        ("step", 1),
        ("interrupted", 1),
        ("resumed", 1),
        ("finished", 1),
        ("resumed", 1),
        ("finished", 1),
    ]:
        journal.write(event, step=step)
    assert [event for event, _ in steps_of(tmp_path / "journal.jsonl")] == [
        "started",
        "step",
        "resumed",
        "resumed",
        "finished",
    ]


def test_a_torn_line_swallows_neither_the_resume_nor_what_follows(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    for step in (1, 2, 3):
        journal.write("step", step=step)
    for torn in range(1, 40):
        path.write_bytes(path.read_bytes().rstrip(b"\n")[:-1] if torn == 1 else path.read_bytes()[:-torn])
        journal.repair()
        journal.write("resumed", step=1)
        journal.write("step", step=2)
        assert steps_of(path)[:2] == [("step", 1), ("resumed", 1)]
        assert steps_of(path)[-1] == ("step", 2)


def test_text_with_any_kind_of_line_end_stays_one_event(tmp_path: Path) -> None:
    sample = "a\u2028b\u0085c\x0bd\x1ee\rf\ng"
    Journal(tmp_path / "journal.jsonl").write("validated", step=1, sample=sample)
    assert [event["sample"] for event in read_journal(tmp_path / "journal.jsonl")] == [sample]


def test_half_a_character_does_not_stop_training(tmp_path: Path) -> None:
    Journal(tmp_path / "journal.jsonl").write("validated", step=1, sample="x\ud800y")
    assert [event["sample"] for event in read_journal(tmp_path / "journal.jsonl")] == ["x?y"]


@pytest.mark.parametrize(
    "line",
    [
        "5",
        "null",
        "[]",
        '"text"',
        "{}",
        '{"event": 3, "step": 1}',
        '{"event": "step", "step": "1"}',
        "[" * 100_000,
        "\x00",
    ],
)
def test_lines_that_are_no_events_are_passed_over(line: str, tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    Journal(path).write("step", step=1)
    assert steps_of(path) == [("step", 1)]


def test_a_full_disk_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(EnvironmentProblem, match="no space left: needs"):
        Journal(tmp_path / "journal.jsonl").write("step", step=1)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("warnings", 5),
        ("warnings", [["no text"]]),
        ("loss", "low"),
        ("gradient_norm", [1.0]),
        ("seconds", {}),
        ("valid_loss", "low"),
        ("valid_accuracy", [1]),
        pytest.param("loss", 10**400, id="loss-400 digits"),
        ("sample", 3),
        ("step", -1),
        ("step", True),
    ],
)
def test_a_fact_of_the_wrong_type_is_refused_with_file_and_line(
    name: str, value: object, tmp_path: Path
) -> None:
    path = tmp_path / "journal.jsonl"
    Journal(path).write("started", step=0, warnings=["a warning"])
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"event": "step", "step": 1, "loss": 0.5, name: value}) + "\n")
    with pytest.raises(RunError, match=rf"journal\.jsonl, line 2: {name} is") as caught:
        read_journal(path)
    assert caught.value.cure


def test_a_huge_journal_is_refused_without_reading_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with path.open("wb") as file:
        file.truncate(31_000_000)
    with pytest.raises(RunError, match=r"journal\.jsonl.* 31\.0 MB") as caught:
        read_journal(path)
    assert "move it away" in caught.value.cure
