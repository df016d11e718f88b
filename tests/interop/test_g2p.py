"""Spelling to sound as g2p_en has it: the phonemes of the package's own program, and files that are not what
they seem.
"""

from __future__ import annotations

import importlib.util
import io
import random
import struct
import sys
import types
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqlab.core.errors import DataError
from seqlab.interop.families.g2p import ARRAYS, PHONEMES
from seqlab.interop.import_model import import_published_model
from tests.cli.running import run
from tests.interop.real_weights import g2p_file

SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "hal",
    "jen",
    "kid",
    "lom",
    "nu",
    "pre",
    "qui",
    "sto",
    "tchu",
    "ver",
    "wy",
    "yo",
    "phth",
    "ough",
    "tion",
]
HIDDEN, EMBEDDING = 5, 4
SHAPES: dict[str, tuple[int, ...]] = {
    "enc_emb": (29, EMBEDDING),
    "dec_emb": (74, EMBEDDING),
    "fc_w": (74, HIDDEN),
    "fc_b": (74,),
    **{
        f"{side}_{part}": shape
        for side in ("enc", "dec")
        for part, shape in (
            ("w_ih", (15, EMBEDDING)),
            ("w_hh", (15, HIDDEN)),
            ("b_ih", (15,)),
            ("b_hh", (15,)),
        )
    },
}


@pytest.mark.slow
def test_a_thousand_words_sound_as_in_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The truth is the package's own method `predict`, run as it is; only what it imports for whole texts is
    put aside.
    """
    path = g2p_file()
    theirs = package_program(path.parent, monkeypatch)
    chance = random.Random(4)
    words = sorted(word for word in theirs.homograph2features if len(word) < 16)[:300]
    words += ["".join(chance.choices(SYLLABLES, k=chance.randint(1, 6))) for _ in range(680)]
    words += [
        "don't",
        "co-op",
        "a",
        "",
        "naïve",
        "x" * 40,
        "zzyzx",
        "o'clock",
        "3rd",
        "pneumonoultramicroscopicsilicovolcanoconiosis",
    ] * 2
    assert len(words) == 1000
    run = import_published_model(path, out=tmp_path / "run")
    found = [prediction.answer.split() for prediction in run.predict(words)]
    expected = [theirs.predict(word) for word in words]
    assert found == expected
    assert len({tuple(phonemes) for phonemes in expected}) > 850
    assert max(map(len, expected)) == 20  # the published limit is met, and not passed
    assert run.predict(["Seqlab"])[0].answer == run.predict(["seqlab"])[0].answer
    assert theirs.phonemes[4:] == PHONEMES


def package_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The class of g2p_en without nltk's taggers and dictionaries, which it would download."""
    nltk = stub("nltk", pos_tag=None, data=types.SimpleNamespace(find=lambda _: None))
    stubs = [
        nltk,
        stub("nltk.corpus", cmudict=types.SimpleNamespace(dict=dict)),
        stub("nltk.tokenize", TweetTokenizer=lambda: types.SimpleNamespace(tokenize=str.split)),
        stub("g2p_en", __path__=[str(folder)]),
        stub("g2p_en.expand", normalize_numbers=str),
    ]
    for module in stubs:
        monkeypatch.setitem(sys.modules, module.__name__, module)
    spec = importlib.util.spec_from_file_location("g2p_en.g2p", folder / "g2p.py")
    assert spec is not None
    assert spec.loader is not None
    program = importlib.util.module_from_spec(spec)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what another package says about itself is not our mistake
        spec.loader.exec_module(program)
        return program.G2p()


def stub(name: str, **inside: Any) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update(inside)
    return module


def arrays(**changed: Any) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in SHAPES.items()} | changed


@pytest.mark.slow
def test_a_pair_of_another_size_is_imported_by_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez_compressed(tmp_path / "small.npz", **arrays())
    assert set(SHAPES) == set(ARRAYS)
    found = run(capsys, "import", str(tmp_path / "small.npz"), "--out", str(tmp_path / "run"))
    assert found.code == 0
    assert "GRU encoder-decoder of g2p_en: 1 layer, " in found.out
    assert "any length" in found.out
    answered = run(capsys, "predict", str(tmp_path / "run"), "abc")
    assert set(answered.out.split("\t")[0].split()) <= set(PHONEMES)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"fc_w": np.zeros((74, HIDDEN + 1), np.float32)},
            "wrong shape (1): fc_w is [74, 6], expected [74, 5]",
        ),
        ({"more": np.zeros(3)}, "do not belong to a known model"),
        ({"enc_emb": np.zeros(29, np.float32)}, "do not belong to a known model"),
        (
            {"fc_b": np.array([{"a": 1}] * 74, dtype=object)},
            "fc_b.npy contains object, not floating-point numbers",
        ),
        ({"fc_b": np.array(["x"] * 74)}, "not floating-point numbers"),
        ({"fc_b": np.full(74, np.nan, np.float32)}, "not finite, the first for bias"),
    ],
)
def test_arrays_that_are_not_such_a_pair_are_refused_with_words(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    np.savez(tmp_path / "odd.npz", allow_pickle=True, **arrays(**changed))
    with pytest.raises(DataError) as caught:
        import_published_model(tmp_path / "odd.npz", out=tmp_path / "run")
    assert said in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_damaged_and_hostile_files_are_refused_before_a_number_is_read(tmp_path: Path) -> None:
    path = tmp_path / "bad.npz"
    np.savez(path, **arrays())
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[len(whole) // 2] ^= 0xFF  # in the numbers: only the checksum can tell
    for content, said in (
        (whole[: len(whole) // 2], "cannot be read as .npz"),
        (b"", "cannot be read as .npz"),
        (b"PK\x03\x04" + b"\0" * 50, "cannot be read as .npz"),
        (bytes(flipped), "Bad CRC-32"),
        (zipped({"enc_emb.npy": b"\0" * 5_000_000}), "more than a file of this size can contain"),
        (zipped({"enc_emb.npy": header((1 << 40, 4))}), "does not contain as many numbers as its shape"),
        (zipped({"enc_emb.npy": b"\x93NUMPY\x09\x00" + b"\0" * 50}), "version 9.0 of the format"),
        (zipped({"run.py": b"print(1)"}), "something other than arrays"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError) as caught:
            import_published_model(path, out=tmp_path / "run")
        assert said in str(caught.value)
    assert not (tmp_path / "run").exists()


def zipped(members: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def header(shape: tuple[int, ...]) -> bytes:
    """An array that claims a shape and has no numbers."""
    words = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(words)) + words
