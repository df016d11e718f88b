"""Columns on disk come back as they were, and damage is noticed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqlab.batches import store_writer
from seqlab.batches.columns import STRUCT_CODES, Column, SequenceColumn, StepColumn, smallest_dtype
from seqlab.batches.store import Store, damaged_files
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.digests import with_digest, without_digest
from seqlab.core.errors import DataError
from tests.batches.small_store import FILES, FLOAT32, INT32, TOKENS, small_store

DTYPES = list(STRUCT_CODES)


def numbers(dtype: np.dtype[Any]) -> st.SearchStrategy[Any]:
    if dtype.kind == "f":
        return st.floats(width=8 * dtype.itemsize, allow_nan=False)  # type: ignore[arg-type]
    limits = np.iinfo(dtype)
    return st.sampled_from([limits.min, limits.max]) | st.integers(limits.min, limits.max)


def steps_of(column: Column, length: st.SearchStrategy[int]) -> st.SearchStrategy[list[Any]]:
    """One number or vector for each step, as plain lists."""
    one = numbers(column.dtype)
    step = st.lists(one, min_size=column.width, max_size=column.width) if column.width else one
    return length.flatmap(lambda size: st.lists(step, min_size=size, max_size=size))


@st.composite
def schemas(draw: st.DrawFn) -> list[Column]:
    names = draw(
        st.lists(
            st.sampled_from(["tokens", "tags", "label", "target", "future", "line"]),
            min_size=1,
            max_size=5,
            unique=True,
        )
    )
    kinds = st.sampled_from([StepColumn, SequenceColumn])
    return [
        draw(kinds)(name, np.dtype(draw(st.sampled_from(DTYPES))), draw(st.integers(0, 3))) for name in names
    ]


@st.composite
def corpora(draw: st.DrawFn) -> tuple[list[Column], list[dict[str, Any]]]:
    """Columns, and for each sequence what it has in each of them, as plain lists and numbers."""
    columns = draw(schemas())
    one = st.fixed_dictionaries(
        {
            column.name: steps_of(column, st.integers(0, 5))
            if isinstance(column, StepColumn)
            else steps_of(column, st.just(1)).map(lambda steps: steps[0])
            for column in columns
        }
    )
    return columns, draw(st.lists(one, max_size=6))


def as_given(column: Column, values: Any, wide: bool) -> Any:
    """In the type of the column, or in a larger one, as tokenizers and scales give them."""
    larger = np.dtype(
        np.float64 if column.dtype.kind == "f" else np.uint64 if column.dtype.kind == "u" else np.int64
    )
    if isinstance(column, SequenceColumn) and not column.width:
        return values
    shape = (len(values), *column.shape) if isinstance(column, StepColumn) else column.shape
    return np.array(values, larger if wide else column.dtype).reshape(shape)


def write(
    folder: Path, columns: list[Column], sequences: list[dict[str, Any]], chance: np.random.Generator
) -> None:
    """Some sequences at once, others in pieces that come in any order of the columns."""
    writer, steps = (
        StoreWriter(folder, columns),
        [column for column in columns if isinstance(column, StepColumn)],
    )
    for sequence in sequences:
        arrays = {
            column.name: as_given(column, sequence[column.name], bool(chance.integers(2)))
            for column in columns
        }
        if chance.integers(2):
            writer.append(**arrays)
            continue
        left = {column.name: arrays[column.name] for column in steps}
        while any(len(array) for array in left.values()):
            sizes = {name: int(chance.integers(0, len(array) + 1)) for name, array in left.items()}
            writer.extend(**{name: array[: sizes[name]] for name, array in left.items()})
            left = {name: array[sizes[name] :].astype(array.dtype) for name, array in left.items()}
        writer.end_sequence(
            **{column.name: arrays[column.name] for column in columns if isinstance(column, SequenceColumn)}
        )
    writer.finish(names=[column.name for column in columns], kind="ä")


def is_same(found: Any, expected: list[Any], column: Column, shape: tuple[int, ...]) -> bool:
    """Bit for bit."""
    wanted = np.array(expected, column.dtype).reshape(shape)
    return (
        np.asarray(found).dtype == column.dtype
        and np.shape(found) == wanted.shape
        and np.asarray(found).tobytes() == wanted.tobytes()
    )


@pytest.mark.slow
@settings(max_examples=120, deadline=None)  # each is written through to the disk
@given(corpora(), st.integers(0, 2**32 - 1), st.sampled_from([8, 100, 1 << 21]))
def test_columns_of_any_kind_come_back(
    tmp_path_factory: pytest.TempPathFactory,
    corpus: tuple[list[Column], list[dict[str, Any]]],
    seed: int,
    at_once: int,
) -> None:
    (columns, sequences), folder, chance = (
        corpus,
        tmp_path_factory.mktemp("store"),
        np.random.default_rng(seed),
    )
    with patch.object(store_writer, "WRITE_AT_ONCE", at_once):
        write(folder, columns, sequences, chance)
    store = Store(folder)
    assert len(store) == len(sequences)
    assert store.columns == columns
    assert store.facts == {"names": [column.name for column in columns], "kind": "ä"}
    for column in columns:
        stored, expected = store[column.name], [sequence[column.name] for sequence in sequences]
        assert len(stored) == len(expected)
        if isinstance(column, StepColumn):
            lengths, flat = (
                [len(values) for values in expected],
                [step for values in expected for step in values],
            )
            assert all(
                is_same(stored[row], values, column, (len(values), *column.shape))
                for row, values in enumerate(expected)
            )
        else:
            lengths, flat = [1] * len(expected), expected
            assert all(
                is_same(stored[row], values, column, column.shape) for row, values in enumerate(expected)
            )
            rows = chance.integers(-len(store), len(store), 4) if sequences else np.zeros(0, np.int64)
            assert is_same(stored[rows], [expected[row] for row in rows], column, (len(rows), *column.shape))
            assert is_same(stored[1:-1], expected[1:-1], column, (len(expected[1:-1]), *column.shape))
        assert [np.asarray(steps).tobytes() for steps in stored] == [
            np.asarray(stored[row]).tobytes() for row in range(len(store))
        ]
        assert stored.lengths.tolist() == lengths
        assert stored.offsets.tolist() == [sum(lengths[:row]) for row in range(len(lengths) + 1)]
        assert stored.num_steps == len(flat)
        assert is_same(stored.values, flat, column, (len(flat), *column.shape))
        start, end = sorted(chance.integers(0, len(flat) + 3, 2).tolist())
        assert is_same(
            stored.window(start, end), flat[start:end], column, (len(flat[start:end]), *column.shape)
        )


def test_rows_are_counted_from_either_end_and_no_further(tmp_path: Path) -> None:
    store = small_store(tmp_path)
    assert [store["source"][row].tolist() for row in (-1, -3, np.int64(0))] == [[4], [1, 2, 3], [1, 2, 3]]
    assert [store["future"][row].tolist() for row in (-1, np.int64(1))] == [[3.5, 4.5], [1.5, 2.5]]
    assert store["label"][-1] == 9
    for column in store.columns:
        for row in (3, -4, 1000):
            with pytest.raises(IndexError):
                store[column.name][row]
    with pytest.raises(IndexError):
        store["future"][np.array([0, 3])]


def test_several_rows_of_a_column_with_one_value_each(tmp_path: Path) -> None:
    store, rows, mask = small_store(tmp_path), np.array([2, 0, 2]), np.array([True, False, True])
    assert store["label"][rows].tolist() == [9, 7, 9]
    assert store["future"][rows].tolist() == [[3.5, 4.5], [0.5, -0.25], [3.5, 4.5]]
    assert (store["label"][mask].tolist(), store["future"][mask].tolist()) == (
        [7, 9],
        [[0.5, -0.25], [3.5, 4.5]],
    )
    assert (store["label"][::-1].tolist(), store["future"][::-2].tolist()) == (
        [9, 8, 7],
        [[3.5, 4.5], [0.5, -0.25]],
    )
    with pytest.raises(TypeError):  # sequences of different lengths are no array
        store["source"][rows]


def test_a_column_that_is_not_there_is_named_beside_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match=r"tokens.*source, target, label, future"):
        small_store(tmp_path)["tokens"]


@pytest.mark.parametrize("width", [0, 2])
def test_a_store_without_sequences_is_empty(tmp_path: Path, width: int) -> None:
    StoreWriter(
        tmp_path, [StepColumn("features", FLOAT32, width), SequenceColumn("target", FLOAT32, width)]
    ).finish()
    store = Store(tmp_path)
    for column in (store["features"], store["target"]):
        assert (len(store), len(column), column.num_steps, column.lengths.tolist(), list(column)) == (
            0,
            0,
            0,
            [],
            [],
        )
        assert column.window(0, 0).shape == column.values.shape == ((0, 2) if width else (0,))


def test_a_long_stream_may_come_in_pieces(tmp_path: Path) -> None:
    stream = np.random.default_rng(1).integers(0, 200, 3_000_000)
    writer = StoreWriter(tmp_path, [TOKENS])
    for number, piece in enumerate(np.array_split(stream, 7)):
        writer.extend(
            tokens=piece.astype(np.int32 if number % 2 else np.int64)
        )  # types may change on the way
    writer.end_sequence()
    writer.append(tokens=[1, 2])
    writer.finish()
    tokens = Store(tmp_path)["tokens"]
    assert tokens.lengths.tolist() == [3_000_000, 2]
    assert np.array_equal(tokens[0], stream)
    assert tokens.window(2_999_999, 3_000_002).tolist() == [stream[-1], 1, 2]


def test_arrays_that_are_not_contiguous_or_of_the_other_byte_order_come_back(tmp_path: Path) -> None:
    table = np.arange(24).reshape(4, 6)
    writer = StoreWriter(
        tmp_path, [TOKENS, StepColumn("features", FLOAT32, 2), SequenceColumn("future", INT32, 3)]
    )
    writer.append(
        tokens=table[:, 1], features=(table[:, ::3] / 2).astype(">f8"), future=table[0, ::2].astype(">i4")
    )
    writer.append(
        tokens=table[::-1, 0].astype(">i2"),
        features=np.asfortranarray(table[:, :2] / 4),
        future=table[1, ::-2],
    )
    writer.finish()
    store = Store(tmp_path)
    assert [store["tokens"][row].tolist() for row in range(2)] == [[1, 7, 13, 19], [18, 12, 6, 0]]
    assert [store["features"][row].tolist() for row in range(2)] == [
        (table[:, ::3] / 2).tolist(),
        (table[:, :2] / 4).tolist(),
    ]
    assert store["future"][:].tolist() == [[0, 2, 4], [11, 9, 7]]


def test_what_is_written_may_be_changed_afterwards(tmp_path: Path) -> None:
    """A loop may fill the same array again and again."""
    steps, future = np.zeros(3, np.int64), np.zeros(2, np.float32)
    writer = StoreWriter(tmp_path, [TOKENS, SequenceColumn("future", FLOAT32, 2)])
    for number in range(3):
        steps[:], future[:] = number, number
        writer.append(tokens=steps, future=future)
    writer.finish()
    store = Store(tmp_path)
    assert [store["tokens"][row].tolist() for row in range(3)] == [[0] * 3, [1] * 3, [2] * 3]
    assert store["future"][:].tolist() == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize(
    ("num_ids", "expected"),
    [
        (1, np.uint8),
        (256, np.uint8),
        (257, np.uint16),
        (65_536, np.uint16),
        (65_537, np.int32),
        (5_000_000, np.int32),
    ],
)
def test_ids_take_the_smallest_type_that_holds_the_largest(
    tmp_path: Path, num_ids: int, expected: type
) -> None:
    assert smallest_dtype(num_ids) == np.dtype(expected)
    writer = StoreWriter(tmp_path, [StepColumn("tokens", smallest_dtype(num_ids))])
    writer.append(tokens=np.array([0, num_ids - 1]))
    writer.finish()
    assert Store(tmp_path)["tokens"][0].tolist() == [0, num_ids - 1]


def test_what_is_handed_out_is_a_copy(tmp_path: Path) -> None:
    store = small_store(tmp_path)
    for taken in (
        store["source"][0],
        store["source"].window(0, 2),
        store["label"][np.array([0])],
        store["future"][0],
        store["future"][:],
    ):
        taken[:] = 99
    assert store["source"][0].tolist() == [1, 2, 3]
    assert (store["label"][0], store["future"][0].tolist()) == (7, [0.5, -0.25])
    for column in store.columns:
        with pytest.raises(ValueError, match="read-only"):
            store[column.name].values[:] = 1


def test_reads_that_the_system_cuts_short_are_continued(tmp_path: Path) -> None:
    """One call reads at most two gigabytes."""
    store, whole = small_store(tmp_path), os.preadv

    def short(handle: int, buffers: list[Any], offset: int) -> int:
        return whole(handle, [memoryview(buffers[0]).cast("B")[:3]], offset)

    with patch.object(os, "preadv", short):
        assert [store["target"][row].tolist() for row in range(3)] == [[400], [500, 600], []]
        assert store["future"][:].tolist() == [[0.5, -0.25], [1.5, 2.5], [3.5, 4.5]]


@pytest.mark.parametrize("name", [*FILES, "store.json"])
@pytest.mark.parametrize("damage", ["flip", "shorten", "lengthen", "lose", "folder"])
def test_a_damaged_file_is_named(tmp_path: Path, name: str, damage: str) -> None:
    small_store(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*FILES, "store.json"])
    assert damaged_files(tmp_path) == []
    path = tmp_path / name
    content = path.read_bytes()
    changed = {
        "flip": content[:-2] + bytes([content[-2] ^ 16]) + content[-1:],
        "shorten": content[:-1],
        "lengthen": content + b"}",
    }
    path.unlink()
    if damage == "folder":
        path.mkdir()
    elif damage != "lose":
        path.write_bytes(changed[damage])
    assert damaged_files(tmp_path) == [name]
    with pytest.raises(DataError) as caught:
        Store(tmp_path)
    assert name in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_an_index_of_another_format_or_with_other_columns_is_not_believed(tmp_path: Path) -> None:
    small_store(tmp_path)
    path = tmp_path / "store.json"
    whole = path.read_text()
    for before, after in (
        ('"format": 3', '"format": 2'),
        ('"int64"', '"int32"'),
        ('"sequences": 3', '"sequences": 2'),
        ('"width": 2', '"width": 1'),
    ):
        assert before in whole
        path.write_text(whole.replace(before, after, 1))
        assert damaged_files(tmp_path) == ["store.json"]
    content = without_digest(json.loads(whole))
    path.write_text(json.dumps(with_digest({**content, "format": 4})))  # of a later version
    assert damaged_files(tmp_path) == ["store.json"]
    path.write_text(json.dumps(with_digest(content)))
    assert damaged_files(tmp_path) == []
    path.write_text(
        json.dumps({"format": 1, "dtype": "uint8", "width": 0, "sequences": 1, "sizes": {}, "facts": {}})
    )
    assert damaged_files(tmp_path) == ["store.json"]
