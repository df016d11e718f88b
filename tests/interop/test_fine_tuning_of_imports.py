"""Imported weights are runs like any other: a classifier starts from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForMaskedLM, GPT2LMHeadModel

from seqlab.interop.import_model import import_published_model
from tests.interop.folders import bert_config, gpt2_config, write_bytes, write_model, write_words
from tests.runs.source_runs import fine_tune


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bert", "gpt2"])
def test_a_classifier_starts_from_imported_weights(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / kind
    folder.mkdir()
    if kind == "bert":
        write_words(folder)
        write_model(folder, BertForMaskedLM, bert_config())
    else:
        write_bytes(folder)
        write_model(folder, GPT2LMHeadModel, gpt2_config())
    source = import_published_model(folder, out=tmp_path / "imported")
    run = fine_tune(tmp_path, source, "start.freeze=backbone", steps=4)
    assert run.recipe.model.causal == (kind == "gpt2")
    assert run.recipe.model.pooling == ("last" if kind == "gpt2" else "mean")
    before = source.model.state_dict()
    assert all(
        torch.equal(tensor, before[name])
        for name, tensor in run.model.state_dict().items()
        if name.startswith(("embed.", "backbone."))
    )
    texts = ["red one", "a longer text of several words"]
    assert run.vectors(texts) == pytest.approx(source.vectors(texts), abs=1e-5)
    assert np.isfinite(run.vectors(texts)).all()
    adapted = fine_tune(
        tmp_path, source, "start.lora_rank=2", "start.layer_decay=0.8", steps=4, name="adapted"
    )
    assert (
        adapted.results.raw["training"]["trained_parameters"] < adapted.results.raw["training"]["parameters"]
    )
