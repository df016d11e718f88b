"""Folders that are not whole, not sound, or of a kind that seqlab's blocks cannot be: refused with words, and
nothing is left behind.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from seqlab.core.errors import DataError, RunError, SeqlabError
from seqlab.interop.import_model import import_details, import_published_model
from tests.interop import folders
from tests.interop.folders import transformers


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    folders.write_model(folder, transformers.BertForMaskedLM, folders.bert_config())
    folders.write_words(folder)
    return folder


@pytest.fixture
def bert(published: Path, tmp_path: Path) -> Path:
    """A copy that a test may spoil."""
    import shutil

    return Path(shutil.copytree(published, tmp_path / "bert"))


def refused(folder: Path, words: str, *, kind: type[SeqlabError] = DataError) -> str:
    with pytest.raises(kind, match=words) as error:
        import_published_model(folder, out=folder.parent / "run")
    assert not (folder.parent / "run").exists()
    assert len(f"{kind.__name__}: {error.value}".splitlines()) <= 12
    return str(error.value)


def change_config(folder: Path, **changes: Any) -> None:
    path = folder / "config.json"
    config = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({name: value for name, value in config.items() if value != "gone"}))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"model_type": "t5"},
            r"model_type 't5' is not supported.\n  Available: bart, bert, camembert",
        ),
        ({"model_type": "gone"}, "model_type is missing"),
        ({"model_type": ["bert"]}, "model_type .* is not supported"),
        ({"model_type": "berd"}, "Did you mean 'bert'"),
        ({"hidden_act": "mish"}, "hidden_act: 'mish' is not supported; allowed: gelu, gelu_new"),
        ({"hidden_act": "relu"}, "hidden_act: 'relu' is not supported .the masked-token head"),
        (
            {"position_embedding_type": "relative_key"},
            "position_embedding_type: 'relative_key' is not supported",
        ),
        ({"hidden_size": "12"}, "hidden_size: expected a whole number of at least 1, found '12'"),
        ({"hidden_size": True}, "hidden_size: expected a whole number of at least 1, found True"),
        ({"num_hidden_layers": 0}, "num_hidden_layers: expected a whole number of at least 1, found 0"),
        ({"num_hidden_layers": 10**12}, "num_hidden_layers: expected a whole number"),
        ({"num_hidden_layers": 500}, "layers"),
        ({"layer_norm_eps": float("nan")}, "layer_norm_eps: expected a number"),
        ({"hidden_dropout_prob": 3}, "dropout"),
        ({"vocab_size": "gone"}, "vocab_size: expected a whole number of at least 1, found nothing"),
        ({"num_attention_heads": 5}, "not divisible by 5"),
        ({"num_hidden_layers": 2}, r"unexpected \(16\): bert.encoder.layer.2.attention"),
        ({"num_hidden_layers": 4}, r"missing \(16\): bert.encoder.layer.3.attention"),
        (
            {"intermediate_size": 21, "type_vocab_size": 5},
            (
                r"wrong shape \(10\): bert.embeddings.token_type_embeddings.weight is \[2, 12\],"
                r" expected \[5"
            ),
        ),
        ({"vocab_size": 19}, r"bert.embeddings.word_embeddings.weight is \[20, 12\], expected \[19, 12\]"),
    ],
)
def test_a_config_that_cannot_be_followed_is_refused(changes: dict[str, Any], words: str, bert: Path) -> None:
    change_config(bert, **changes)
    refused(bert, words)


def test_all_mistakes_of_a_config_are_in_one_message(bert: Path) -> None:
    change_config(bert, hidden_size=-3, hidden_act="mish", is_decoder=True, max_position_embeddings="many")
    message = refused(bert, "seqlab does not support this model")
    for name in ("hidden_size", "hidden_act", "is_decoder", "max_position_embeddings"):
        assert f"  - {name}: " in message


def test_settings_that_nobody_asked_for_are_named(bert: Path, tmp_path: Path) -> None:
    change_config(bert, a_new_trick=0.5)
    run = import_published_model(bert, out=tmp_path / "run")
    assert "ignored in the config: a_new_trick" in import_details(run)["notes"]


def test_missing_and_strange_tensors_are_all_listed(bert: Path) -> None:
    weights = load_file(bert / "model.safetensors")
    for name in [name for name in weights if "layer.1" in name]:
        weights.pop(name)
    weights["bert.encoder.layer.0.q_norm.weight"] = torch.ones(3)
    save_file(weights, bert / "model.safetensors")
    message = refused(bert, r"missing \(16\)")
    assert "and 10 more" in message
    assert "unexpected (1): bert.encoder.layer.0.q_norm.weight" in message


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: data[:100], "the file is damaged: its header"),
        (
            lambda data: (1 << 62).to_bytes(8, "little") + data[8:],
            "its header claims 4611686018427387904 bytes",
        ),
        (lambda data: data[:-4], "its header does not describe the file"),
        (lambda data: data[:0], "its header claims 0 bytes"),
        (lambda data: data[:8] + b"[" + data[9:], "its header cannot be read"),
    ],
)
def test_damaged_weights_are_refused_from_their_header(
    spoil: Callable[[bytes], bytes], words: str, bert: Path
) -> None:
    path = bert / "model.safetensors"
    path.write_bytes(spoil(path.read_bytes()))
    assert "Download the model again" in refused(bert, words)


def test_numbers_that_are_not_finite_are_refused(bert: Path) -> None:
    weights = load_file(bert / "model.safetensors")
    weights["bert.encoder.layer.1.output.dense.bias"][2] = torch.inf
    save_file(weights, bert / "model.safetensors")
    refused(
        bert,
        "1 tensors contain values that are not finite, the first for backbone.layers.1.feed_forward.contract.bias",
    )


def test_a_model_in_several_files_is_the_same_model(bert: Path, tmp_path: Path) -> None:
    whole = import_published_model(bert, out=tmp_path / "whole")
    weights = load_file(bert / "model.safetensors")
    names = sorted(weights)
    (bert / "model.safetensors").unlink()
    parts = {"a.safetensors": names[::2], "b.safetensors": names[1::2]}
    for file, part in parts.items():
        save_file({name: weights[name] for name in part}, bert / file)
    index = {"metadata": {}, "weight_map": {name: file for file, part in parts.items() for name in part}}
    (bert / "model.safetensors.index.json").write_text(json.dumps(index))
    again = import_published_model(bert, out=tmp_path / "again")
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], tensor), name


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("../a.safetensors", "a file that is not in its folder: '../a.safetensors'"),
        ("gone.safetensors", "not in its folder"),
        ("/etc/passwd", "not in its folder"),
    ],
)
def test_an_index_that_leads_elsewhere_is_refused(file: str, words: str, bert: Path) -> None:
    (bert / "model.safetensors").rename(bert / "a.safetensors")
    (bert / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"x": file}}))
    refused(bert, words)


def test_an_index_that_names_what_is_not_there_is_refused(bert: Path) -> None:
    (bert / "model.safetensors").rename(bert / "a.safetensors")
    (bert / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"x": "a.safetensors"}}))
    refused(bert, "the index lists 1 tensors that its files do not contain: x")


def test_the_older_format_is_read_without_running_anything(bert: Path, tmp_path: Path) -> None:
    whole = import_published_model(bert, out=tmp_path / "whole")
    weights = load_file(bert / "model.safetensors")
    (bert / "model.safetensors").unlink()
    old = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"
        ): tensor
        for name, tensor in weights.items()
    }
    torch.save(old, bert / "pytorch_model.bin")
    again = import_published_model(bert, out=tmp_path / "again")
    for name, tensor in whole.model.state_dict().items():
        assert torch.equal(again.model.state_dict()[name], tensor), name


class Evil:
    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        return Path.write_text, (Path("ran"), "it ran")


@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_that_would_run_something_is_refused(zipped: bool, bert: Path) -> None:
    (bert / "model.safetensors").unlink()
    if zipped:
        torch.save({"x": Evil()}, bert / "pytorch_model.bin")
    else:
        (bert / "pytorch_model.bin").write_bytes(pickle.dumps(Evil()))
    refused(bert, "something other than tensors")
    assert not Path("ran").exists()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"{", "is not valid JSON"),
        (b"[]", "contains a list"),
        (b"\xff", "is not UTF-8"),
        (b"[" * 100_000, "JSON that no tokenizer needs|is not valid JSON"),
    ],
)
def test_a_config_that_is_no_config_is_refused(content: bytes, words: str, bert: Path) -> None:
    (bert / "config.json").write_bytes(content)
    assert "Download the model again" in refused(bert, words)


def test_a_huge_config_is_refused_without_reading_it(bert: Path) -> None:
    with (bert / "config.json").open("wb") as file:
        file.truncate(10_000_000_000)
    refused(bert, "is 10.0 GB, larger than")


def test_what_is_missing_is_said(bert: Path, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there is no such file or folder\.\n  Did you mean '.*bert'"):
        import_published_model(tmp_path / "brt")
    with pytest.raises(DataError, match=r"there is no published model here\.\n  Did you mean '.*bert'"):
        import_published_model(tmp_path)
    (bert / "tokenizer.json").unlink()
    refused(bert, "there is no supported tokenizer here.\n  Expected tokenizer.json, or vocab.txt")
    (bert / "model.safetensors").unlink()
    refused(bert, "there are no weights here.\n  Expected model.safetensors")


def test_nobodys_run_is_written_over(bert: Path, tmp_path: Path) -> None:
    import_published_model(bert, out=tmp_path / "run")
    with pytest.raises(RunError, match="already contains a run"):
        import_published_model(bert, out=tmp_path / "run")


def test_a_tokenizer_with_more_ids_than_the_weights_know_is_refused(bert: Path) -> None:
    saved = json.loads((bert / "tokenizer.json").read_text())
    saved["model"]["vocab"]["elephant"] = 20
    (bert / "tokenizer.json").write_text(json.dumps(saved))
    refused(bert, "the tokenizer has ids up to 20, but the weights have 20")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"rope_parameters": {"rope_type": "llama3", "rope_theta": 5e5}},
            "rope_parameters: 'llama3' is not supported",
        ),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, "rope_scaling: 'linear' is not supported"),
        (
            {"rope_parameters": {"rope_type": "default", "rope_theta": -1}},
            "rope_theta: expected a number above 1",
        ),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor: 0.5 is not supported"),
        ({"hidden_act": "gelu_10"}, "hidden_act: 'gelu_10' is not supported; allowed"),
        ({"num_key_value_heads": 3}, r"k_proj.weight is \[8, 24\], expected \[12, 24\]"),
    ],
)
def test_a_llama_that_turns_otherwise_is_refused(changes: dict[str, Any], words: str, tmp_path: Path) -> None:
    folder = tmp_path / "llama"
    folders.write_model(folder, transformers.LlamaForCausalLM, folders.llama_config())
    folders.write_bytes(folder)
    change_config(folder, **changes)
    refused(folder, words)


def test_layers_of_several_kinds_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "qwen"
    config = folders.qwen2_config(use_sliding_window=True, sliding_window=5, max_window_layers=1)
    folders.write_model(folder, transformers.Qwen2ForCausalLM, config)
    folders.write_bytes(folder)
    refused(folder, "layer_types: mixing layer types .full_attention, sliding_attention.")
