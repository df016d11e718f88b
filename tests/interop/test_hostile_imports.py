"""Small files that claim or make far more than they hold are refused before the memory is filled."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from seqlab.core.errors import DataError, RunError
from seqlab.interop.formats.tensor_files import PickledTensors
from seqlab.interop.import_model import import_published_model
from seqlab.tokens.hugging_face import HuggingFace
from tests.interop import folders
from tests.interop.folders import transformers

Change = Callable[[dict[str, Any]], None]


def bert_tokenizer() -> dict[str, Any]:
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": None,
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": None,
        "decoder": None,
        "model": {
            "type": "WordPiece",
            "unk_token": "[UNK]",
            "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100,
            "vocab": {"[UNK]": 0, "a": 1, "b": 2},
        },
    }


def replaces(pattern: dict[str, str], content: str, times: int = 1) -> Change:
    rule = {"type": "Replace", "pattern": pattern, "content": content}
    return lambda saved: saved.update(normalizer={"type": "Sequence", "normalizers": [rule] * times})


def template(count: int, ids: int) -> Change:
    token = {"SpecialToken": {"id": "[X]", "type_id": 0}}
    special = {"[X]": {"id": "[X]", "ids": [1] * ids, "tokens": ["a"] * ids}}
    single = [{"Sequence": {"id": "A", "type_id": 0}}, *[token] * count]
    processor = {"type": "TemplateProcessing", "single": single, "pair": single, "special_tokens": special}
    return lambda saved: saved.update(post_processor=processor)


HOSTILE: dict[str, tuple[Change, str]] = {
    "rules that double a text thirty times": (replaces({"String": "a"}, "aa", 30), "normalizer"),
    "one replacement that is very long": (replaces({"String": "a"}, "a" * 5000), "normalizer"),
    "an expression that matches everywhere": (replaces({"Regex": ""}, "a" * 80), "normalizer"),
    "a template of many tokens": (template(200, 1), "template"),
    "a template of few tokens with many ids": (template(3, 1000), "template"),
    "no piece for unknown text": (lambda saved: saved["model"]["vocab"].pop("[UNK]"), "unknown token"),
    "words that take time by their square": (
        lambda saved: saved["model"].update(max_input_chars_per_word=10**9),
        "max_input_chars_per_word",
    ),
    "more pieces than anyone has": (
        lambda saved: saved["model"]["vocab"].update({str(n): n + 3 for n in range(1_000_000)}),
        "1,000,003 tokens",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_tokenizer_that_would_flood_the_memory_is_refused(name: str, tmp_path: Path) -> None:
    change, words = HOSTILE[name]
    saved = bert_tokenizer()
    change(saved)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(saved), encoding="utf-8")
    with pytest.raises(RunError, match=rf"tokenizer\.json.*{words}"):
        HuggingFace.read(path, size=3, roles={})


def test_ordinary_rules_and_templates_are_read(tmp_path: Path) -> None:
    path, saved = tmp_path / "tokenizer.json", bert_tokenizer()
    replaces({"String": " "}, "▁", 3)(saved)
    template(2, 1)(saved)
    path.write_text(json.dumps(saved), encoding="utf-8")
    assert HuggingFace.read(path, size=3, roles={}).encode("a").tolist() == [1, 1, 1]


def test_a_panic_of_the_engine_is_an_error_with_words(tmp_path: Path) -> None:
    """The pattern is simple enough for the check and too much for the engine's own limit on retries."""
    path, saved = tmp_path / "tokenizer.json", bert_tokenizer()
    pattern = {"Regex": "(?:a|a)(?:a|a)?" * 12 + "b"}
    saved["pre_tokenizer"] = {"type": "Split", "pattern": pattern, "behavior": "Isolated", "invert": False}
    path.write_text(json.dumps(saved), encoding="utf-8")
    tokenizer = HuggingFace.read(path, size=3, roles={})
    with pytest.raises(DataError, match="tokenizer"):
        tokenizer.encode("a" * 300)


def split_at(pattern: str) -> Change:
    rule = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    return lambda saved: saved.update(pre_tokenizer=rule)


PROBED: dict[str, Change] = {
    "a pattern that exhausts the engine's retries": split_at("(?:a|a)(?:a|a)?" * 12 + "b"),
    "a pattern that takes time by the square of a text": split_at("a+(?<!a)"),
    "rules that make a text ninety times as long": replaces({"String": "a"}, "b" * 90),
}


@pytest.mark.parametrize("name", PROBED)
def test_a_foreign_tokenizer_is_tried_in_a_process_of_its_own(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within the static bounds, and refused before this process feels it: no panic is printed."""
    monkeypatch.setattr("seqlab.tokens.engine_probe.CPU_SECONDS", 2)
    path, saved = tmp_path / "tokenizer.json", bert_tokenizer()
    PROBED[name](saved)
    path.write_text(json.dumps(saved), encoding="utf-8")
    with pytest.raises(RunError, match=r"tokenizer\.json"):
        HuggingFace.read(path, size=3, roles={}, is_foreign=True)
    assert "panic" not in "".join(capfd.readouterr())


def test_an_ordinary_foreign_tokenizer_is_read(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(bert_tokenizer()), encoding="utf-8")
    assert HuggingFace.read(path, size=3, roles={}, is_foreign=True).encode("a b").tolist() == [1, 2]


def save_pickle(path: Path, tensors: dict[str, torch.Tensor]) -> Path:
    torch.save(tensors, path)
    return path


def test_a_tensor_with_strides_of_zero_is_refused(tmp_path: Path) -> None:
    path = save_pickle(tmp_path / "pytorch_model.bin", {"w": torch.zeros(1).expand(20_000, 20_000)})
    assert path.stat().st_size < 5_000
    with pytest.raises(DataError, match=r"pytorch_model\.bin.* 1\.6 GB"):
        PickledTensors(path)


def test_many_tensors_of_one_storage_are_refused_and_tied_ones_are_read(tmp_path: Path) -> None:
    shared = torch.ones(50_000)
    path = save_pickle(tmp_path / "pytorch_model.bin", {f"w{number}": shared for number in range(40)})
    with pytest.raises(DataError, match=r"pytorch_model\.bin.* 8\.0 MB"):
        PickledTensors(path)
    save_pickle(path, {"embedding": shared, "head": shared})
    assert PickledTensors(path).read("head").sum() == 50_000


def test_a_compressed_archive_is_not_one_of_torch(tmp_path: Path) -> None:
    path = tmp_path / "pytorch_model.bin"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("model/data.pkl", bytes(30_000_000))
    with pytest.raises(DataError, match=r"pytorch_model\.bin.* 30\.0 MB"):
        PickledTensors(path)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.bool, torch.int8, torch.float8_e4m3fn], ids=str)
def test_numbers_that_are_no_weights_are_refused_by_name(dtype: torch.dtype, tmp_path: Path) -> None:
    folder = tmp_path / "bert"
    folder.mkdir()
    folders.write_model(folder, transformers.BertForMaskedLM, folders.bert_config())
    folders.write_words(folder)
    tensors = load_file(folder / "model.safetensors")
    name = "bert.encoder.layer.0.output.dense.weight"
    save_file({**tensors, name: tensors[name].to(dtype)}, folder / "model.safetensors")
    with pytest.raises(DataError, match=rf"{name}.*{str(dtype).removeprefix('torch.')}"):
        import_published_model(folder, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
