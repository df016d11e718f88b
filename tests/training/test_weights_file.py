from __future__ import annotations

import contextlib
import json
import os
import random
import stat
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file
from torch import Tensor

from seqlab.core.errors import EnvironmentProblem, RunError
from seqlab.core.files import write_whole
from seqlab.training.checkpoints import weights_header
from seqlab.training.checkpoints.checkpoint import Checkpoint, Checkpoints
from seqlab.training.checkpoints.weights_file import read_weights, replace_weights, write_weights

DTYPES = [
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
    torch.bool,
    torch.complex64,
    torch.float8_e4m3fn,
    torch.float8_e5m2,
]


def assert_same(read: dict[str, Tensor], written: dict[str, Tensor]) -> None:
    assert read.keys() == written.keys()
    for name, tensor in written.items():
        assert (read[name].dtype, read[name].shape) == (tensor.dtype, tensor.shape)
        assert (
            read[name]
            .contiguous()
            .flatten()
            .view(torch.uint8)
            .equal(tensor.contiguous().flatten().view(torch.uint8))
        )


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_kind_of_number_comes_back_bit_for_bit(dtype: torch.dtype, tmp_path: Path) -> None:
    numbers = torch.tensor([0.0, 1.0, 3.0, 0.0, 1.0, 2.0]).reshape(2, 3).to(dtype)
    write_weights(tmp_path / "w", {"a": numbers})
    assert_same(read_weights(tmp_path / "w"), {"a": numbers})


def test_odd_tensors_come_back_too(tmp_path: Path) -> None:
    shared = torch.arange(6.0)
    tensors = {
        "count": torch.tensor(41.0),
        "empty": torch.zeros(0, 3),
        "turned": torch.arange(15.0).reshape(3, 5).T,
        "one": shared,
        "same": shared,
        "part": shared[2:4],
        "spread": torch.tensor([2.0]).expand(7),
        "nan": torch.tensor([float("nan"), -0.0, float("inf")]),
        'sha256":"': torch.ones(2),
    }
    write_weights(tmp_path / "w", tensors)
    assert_same(read_weights(tmp_path / "w"), tensors)


def test_no_tensors_at_all_are_a_file_too(tmp_path: Path) -> None:
    write_weights(tmp_path / "w", {})
    assert read_weights(tmp_path / "w") == {}


@pytest.mark.slow
@given(
    st.dictionaries(
        st.text(max_size=9).filter(lambda name: name != "__metadata__"),
        st.lists(st.floats(width=32), max_size=5),
        max_size=5,
    )
)
def test_any_names_and_numbers_come_back(
    tmp_path_factory: pytest.TempPathFactory, numbers: dict[str, list[float]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "w"
    tensors = {name: torch.tensor(values, dtype=torch.float32) for name, values in numbers.items()}
    try:
        write_weights(path, tensors)
    except UnicodeEncodeError:  # a lone surrogate is no name for a tensor
        return
    assert_same(read_weights(path), tensors)


def test_the_same_tensors_make_the_same_file(tmp_path: Path) -> None:
    tensors = {"b": torch.ones(3), "a": torch.zeros(2, dtype=torch.int64)}
    write_weights(tmp_path / "one", tensors, run_id="x")
    write_weights(tmp_path / "two", dict(reversed(tensors.items())), run_id="x")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_replacing_leaves_nothing_behind_and_a_failure_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.safetensors"
    replace_weights(path, {"a": torch.ones(2)})

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(EnvironmentProblem, match=r"no space left: needs .*, has .*B"):
        replace_weights(path, {"a": torch.zeros(2)})
    assert read_weights(path)["a"].tolist() == [1, 1]
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.safetensors"]


def test_a_plain_safetensors_file_without_our_checksum_is_refused(tmp_path: Path) -> None:
    save_file({"a": torch.ones(2)}, tmp_path / "w")
    with pytest.raises(RunError, match=r"w: the file is damaged: it carries no checksum"):
        read_weights(tmp_path / "w")


def test_weights_of_another_run_are_refused_although_they_fit(tmp_path: Path) -> None:
    write_weights(tmp_path / "w", {"a": torch.ones(2)}, run_id="abc")
    assert read_weights(tmp_path / "w", run_id="abc")["a"].tolist() == [1, 1]
    with pytest.raises(RunError, match="the weights belong to another run"):
        read_weights(tmp_path / "w", run_id="abcd")


def test_weights_that_do_not_fit_the_model_are_named(tmp_path: Path) -> None:
    write_weights(
        tmp_path / "w", {"a": torch.ones(2), "c": torch.ones(1), "d": torch.ones(1), "e": torch.ones(1)}
    )
    with pytest.raises(RunError) as caught:
        read_weights(
            tmp_path / "w", expected={"a": torch.ones(2, 1, device="meta"), "b": torch.ones(1, device="meta")}
        )
    assert "b is missing; c is not part of the model; d is not part of the model and 2 more" in str(
        caught.value
    )


def test_no_flipped_byte_and_no_truncation_is_ever_loaded(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    torch.manual_seed(1)
    write_weights(path, {"a": torch.randn(7, 5), "b": torch.arange(9)}, run_id="run")
    whole = path.read_bytes()
    chance = random.Random(11)
    damaged = []
    for _ in range(200):
        place, bit = chance.randrange(len(whole)), 1 << chance.randrange(8)
        damaged.append(whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :])
    damaged += [whole[: chance.randrange(len(whole))] for _ in range(50)]
    damaged += [whole + b"\0", b"", whole[:8], whole + whole]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(RunError) as caught:
            read_weights(path, run_id="run")
        assert str(path) in str(caught.value)
        assert caught.value.cure


def safetensors_file(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def entry(**changes: object) -> dict[str, object]:
    return {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4], **changes}}


HOSTILE: dict[str, Callable[[], bytes]] = {
    "pickle": lambda: b"\x80\x04cposix\nsystem\n(S'touch owned'\ntR.",
    "zip": lambda: b"PK\x03\x04" + b"\0" * 100,
    "header of a billion bytes": lambda: struct.pack("<Q", 10**9) + b"{}",
    "header of 2^63 bytes": lambda: struct.pack("<Q", 1 << 63) + b"{}",
    "shape of 10^18": lambda: safetensors_file(entry(shape=[10**18]), b"0000"),
    "shape whose product wraps around": lambda: safetensors_file(
        entry(shape=[1 << 32, 1 << 32, 1 << 32]), b"0000"
    ),
    "shape of many long numbers": lambda: safetensors_file(entry(shape=[10**4000] * 2000), b"0000"),
    "negative shape": lambda: safetensors_file(entry(shape=[-1, -1]), b"0000"),
    "endless shape": lambda: safetensors_file(
        b'{"a":{"dtype":"F32","shape":[1e999],"data_offsets":[0,4]}}', b"0000"
    ),
    "shape of words": lambda: safetensors_file(entry(shape=["1"]), b"0000"),
    "no shape": lambda: safetensors_file({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, b"0000"),
    "dtype that is none": lambda: safetensors_file(entry(dtype="F1"), b"0000"),
    "dtype that cannot be a key": lambda: safetensors_file(entry(dtype=[]), b"0000"),
    "offsets outside": lambda: safetensors_file(entry(data_offsets=[4, 8]), b"0000"),
    "offsets reversed": lambda: safetensors_file(entry(data_offsets=[4, 0]), b"0000"),
    "offsets of three": lambda: safetensors_file(entry(data_offsets=[0, 4, 8]), b"0000"),
    "overlapping tensors": lambda: safetensors_file({**entry(), "b": entry()["a"]}, b"0000"),
    "gap": lambda: safetensors_file(entry(data_offsets=[4, 8]), b"00000000"),
    "list": lambda: safetensors_file([1, 2]),
    "number": lambda: safetensors_file(b"5"),
    "no JSON": lambda: safetensors_file(b"\xff\xfe\x00"),
    "deep JSON": lambda: safetensors_file(b'{"a":' + b"[" * 500_000),
    "deep JSON that ends": lambda: safetensors_file(b'{"a":' + b"[" * 50_000 + b"]" * 50_000 + b"}"),
    "1.2 million tensors": lambda: safetensors_file(
        b"{"
        + b",".join(b'"%07d":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}' % n for n in range(1_200_000))
        + b"}"
    ),
    "more tensors than anybody has": lambda: safetensors_file(
        b"{" + b",".join(b'"%d":{}' % n for n in range(150_000)) + b"}"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_headers_are_refused_with_words(name: str, tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(HOSTILE[name]())
    with pytest.raises(RunError, match="the file is damaged: ") as caught:
        read_weights(path)
    assert len(str(caught.value)) < 1000


@given(header=st.binary(max_size=60), rest=st.binary(max_size=20))
def test_no_bytes_make_the_header_reader_fail_otherwise(
    tmp_path_factory: pytest.TempPathFactory, header: bytes, rest: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "w"
    path.write_bytes(safetensors_file(header, rest))
    with contextlib.suppress(RunError):
        weights_header.read_weights_header(path)


@pytest.mark.parametrize("umask", [0o022, 0o077, 0o002])
def test_weights_and_checkpoints_follow_the_umask_like_every_other_file(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        replace_weights(tmp_path / "weights", {"a": torch.ones(3)})
        Checkpoints(tmp_path / "checkpoints").save(Checkpoint(1, {"a": torch.ones(3)}))
        write_whole(tmp_path / "plain", "text")
    finally:
        os.umask(before)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 6
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o666 & ~umask}
