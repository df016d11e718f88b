"""Parts held out of one source: exact counts, no shared rows, the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from seqlab.core.errors import DataError
from seqlab.sources.base import Source, TextSource
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.splitting import hold_out

DATA = Path(__file__).parents[2].parent / "shared" / "data"
WAYS: list[Literal["content", "random", "tail"]] = ["content", "random", "tail"]


def table(path: Path, texts: list[str]) -> Source:
    path.write_text("text,n\n" + "".join(f'"{text}",{i}\n' for i, text in enumerate(texts)))
    return open_source(path, DataSettings())


def numbers(source: Source | None) -> list[int]:
    assert source is not None
    return [int(row.values["n"]) for row in source.rows()]


@pytest.mark.parametrize("how", WAYS)
def test_parts_cover_all_rows_once_and_keep_their_order(
    how: Literal["content", "random", "tail"], tmp_path: Path
) -> None:
    source = table(tmp_path / "t.csv", [f"film {i}" for i in range(97)])
    splits = hold_out(source, how=how, valid_share=0.2, test_share=0.1, seed=3, key_columns=["text"])
    parts = [numbers(splits.train), numbers(splits.valid), numbers(splits.test)]
    assert [len(part) for part in parts] == [68, 19, 10]  # 97 * 0.2 = 19.4 and 97 * 0.1 = 9.7, rounded
    assert sorted(chain(*parts)) == list(range(97))
    assert all(part == sorted(part) for part in parts)
    assert (how == "tail") == (parts[2] == list(range(87, 97)) and parts[1] == list(range(68, 87)))


@pytest.mark.parametrize("how", ["content", "random"])
def test_a_part_held_out_has_two_labels_if_train_can_spare_one(
    how: Literal["content", "random"], tmp_path: Path
) -> None:
    """Four of five rows are `b`: of 40 splits, several would have a part without an `a`."""
    source = table(tmp_path / "t.csv", [f"film {i}" for i in range(40)])
    moved = 0
    for seed in range(40):
        parts = [
            {"a" if number % 5 == 0 else "b": 1 for number in numbers(part)}
            for part in hold_out(
                source, how=how, valid_share=0.1, test_share=0.1, seed=seed, key_columns=["text"]
            )
            .named()
            .values()
        ]
        moved += any(len(part) == 1 for part in parts)
        splits = hold_out(
            source,
            how=how,
            valid_share=0.1,
            test_share=0.1,
            seed=seed,
            key_columns=["text"],
            labels=lambda row: ["a" if int(row.values["n"]) % 5 == 0 else "b"],
        )
        found = [numbers(part) for part in splits.named().values()]
        assert [{number % 5 == 0 for number in part} for part in found] == [{True, False}] * 3
        assert sorted(chain(*found)) == list(range(40))
    assert moved > 10


def test_equal_rows_move_together_and_a_label_that_train_cannot_spare_stays(tmp_path: Path) -> None:
    source = table(tmp_path / "t.csv", ["rare", "rare", *(f"film {i}" for i in range(28))])
    for seed in range(20):
        splits = hold_out(
            source,
            how="content",
            valid_share=0.1,
            test_share=0.1,
            seed=seed,
            key_columns=["text"],
            labels=lambda row: ["a" if row.values["text"] == "rare" else "b"],
        )
        assert {0, 1} <= set(numbers(splits.train))


def test_another_seed_gives_other_parts_and_another_valid_share_leaves_test_alone(tmp_path: Path) -> None:
    source = table(tmp_path / "t.csv", [f"film {i}" for i in range(200)])
    for how in ("content", "random"):
        first, again, other = (
            numbers(hold_out(source, how=how, valid_share=0.1, test_share=0.1, seed=seed).test)
            for seed in (1, 1, 2)
        )
        assert first == again != other
    wide = hold_out(source, how="content", valid_share=0.4, test_share=0.1, seed=1)
    assert numbers(wide.test) == numbers(
        hold_out(source, how="content", valid_share=0.1, test_share=0.1, seed=1).test
    )


@given(texts=st.lists(st.sampled_from("abcdefghijklmnop"), min_size=30, max_size=80))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_equal_content_never_stands_in_two_parts(texts: list[str], tmp_path: Path) -> None:
    assume(max(Counter(texts).values()) < 0.3 * len(texts))  # else a part may take them all
    splits = hold_out(
        table(tmp_path / "t.csv", texts),
        how="content",
        valid_share=0.15,
        test_share=0.15,
        seed=0,
        key_columns=["text"],
    )
    words = [{row.values["text"] for row in part.rows()} for part in splits.named().values()]
    assert sum(len(part) for part in words) == len(set(texts))
    wanted, most = int(0.15 * len(texts) + 0.5), max(Counter(texts).values())
    assert all(wanted <= len(numbers(part)) < wanted + most for part in (splits.valid, splits.test))


def test_key_columns_are_kept_apart(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "".join(f"{'x' * i},{'x' * (40 - i)}\n" for i in range(40)))
    splits = hold_out(
        open_source(path, DataSettings()), how="content", valid_share=0.25, test_share=0, seed=0
    )
    assert sum(1 for _ in splits.train.rows()) == 30  # joined without borders all rows would be equal


def test_too_few_rows_are_refused_with_words(tmp_path: Path) -> None:
    source = table(tmp_path / "t.csv", ["a", "b", "c"])
    with pytest.raises(DataError, match="3 rows are too few: none would be left for testing") as caught:
        hold_out(source, how="random", valid_share=0.4, test_share=0.1, seed=0)
    assert "data.test=FILE" in str(caught.value)
    with pytest.raises(DataError, match="none would be left for training"):
        hold_out(
            table(tmp_path / "same.csv", ["a"] * 50),
            how="content",
            valid_share=0.1,
            test_share=0,
            seed=0,
            key_columns=["text"],
        )
    with pytest.raises(DataError, match="leave nothing to train on"):
        hold_out(source, how="tail", valid_share=0.5, test_share=0.5, seed=0)


def test_a_file_that_grows_while_in_use_is_noticed(tmp_path: Path) -> None:
    source = table(tmp_path / "t.csv", [f"film {i}" for i in range(20)])
    splits = hold_out(source, how="random", valid_share=0.5, test_share=0, seed=0)
    with (tmp_path / "t.csv").open("a") as file:
        file.write("one more,20\n")
    with pytest.raises(DataError, match="number of rows changed"):
        list(splits.train.rows())


@pytest.mark.parametrize(
    ("text", "valid"),
    [("line\n" * 100, "line\n" * 10), ("x" * 30_000, "x" * 3000), ("ab\r\n" * 50, "ab\r\n" * 5)],
)
def test_text_is_cut_at_a_line_end_near_the_share(text: str, valid: str, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_bytes(text.encode())
    splits = hold_out(
        open_source(tmp_path / "t.txt", DataSettings()), how="tail", valid_share=0.1, test_share=0, seed=0
    )
    assert isinstance(splits.train, TextSource)
    assert isinstance(splits.valid, TextSource)
    assert "".join(splits.train.chunks(7)) + "".join(splits.valid.chunks(7)) == text
    assert "".join(splits.valid.chunks(7)) == valid
    rows = list(splits.valid.rows())
    assert [row.values["text"] for row in rows] == valid.split()
    assert rows[0].line == 1 + (text.count("\n") - valid.count("\n"))


def test_lines_of_a_text_can_be_held_out_by_content(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("".join(f"line {i}\n" for i in range(50)))
    splits = hold_out(
        open_source(tmp_path / "t.txt", DataSettings()), how="content", valid_share=0.1, test_share=0, seed=0
    )
    assert isinstance(splits.valid, TextSource)
    assert "".join(splits.valid.chunks(9)).count("\n") == 5


@pytest.mark.slow
def test_parts_do_not_depend_on_the_process(tmp_path: Path) -> None:
    table(tmp_path / "t.csv", [f"film {i}" for i in range(60)])
    program = (
        "import sys; from pathlib import Path\nfrom seqlab.sources.open_source import open_source; from"
        " seqlab.sources.settings import DataSettings\nfrom seqlab.sources.splitting import hold_out\nfor how"
        " in ('content', 'random'):\n    parts = hold_out(open_source(sys.argv[1], DataSettings()), how=how,"
        " valid_share=.2, test_share=.2, seed=5)\n    print([row.values['n'] for row in parts.test.rows()],"
        " parts.test.fingerprint())\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path / "t.csv")],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@pytest.mark.long
@pytest.mark.spec(25)
@pytest.mark.skipif(not (DATA / "imdb").is_dir(), reason="the IMDB reviews are not here")
def test_imdb_has_its_rows_and_nine_tenths_of_train_are_22500() -> None:
    train, test = (
        open_source(DATA / "imdb" / f"{part}.jsonl.xz", DataSettings()) for part in ("train", "test")
    )
    assert (
        Counter(row.values["label"] for row in train.rows())
        == Counter(row.values["label"] for row in test.rows())
        == {0: 12_500, 1: 12_500}
    )
    splits = hold_out(train, how="random", valid_share=0.1, test_share=0, seed=0)
    lines = [{row.line for row in part.rows()} for part in splits.named().values()]
    assert [len(part) for part in lines] == [22_500, 2_500]
    assert not lines[0] & lines[1]
