"""Encoders of the BERT family: the same features and the same guesses for masked tokens as where they come
from.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch.testing import assert_close

from seqlab.batches.batch import pad
from seqlab.interop.import_model import import_details, import_published_model
from tests.interop import folders
from tests.interop.folders import TEXTS, transformers

ENCODERS = {
    "bert": (transformers.BertForMaskedLM, folders.bert_config(), folders.write_words),
    "bert, other norm": (
        transformers.BertForMaskedLM,
        folders.bert_config(layer_norm_eps=0.01, type_vocab_size=1),
        folders.write_words,
    ),
    "bert with an output table of its own": (
        transformers.BertForMaskedLM,
        folders.bert_config(tie_word_embeddings=False),
        folders.write_words,
    ),
    "roberta": (
        transformers.RobertaForMaskedLM,
        folders.roberta_config(),
        lambda folder: folders.write_bytes(folder, template="<s> $A </s>", mask="<mask>"),
    ),
    "roberta with an output table of its own": (
        transformers.RobertaForMaskedLM,
        folders.roberta_config(tie_word_embeddings=False),
        lambda folder: folders.write_bytes(folder, template="<s> $A </s>", mask="<mask>"),
    ),
    "distilbert": (transformers.DistilBertForMaskedLM, folders.distilbert_config(), folders.write_words),
    "distilbert with an output table of its own": (
        transformers.DistilBertForMaskedLM,
        folders.distilbert_config(tie_word_embeddings=False),
        folders.write_words,
    ),
}
HEADLESS = {
    "bert": (transformers.BertModel, folders.bert_config(), folders.write_words),
    "distilbert, relu": (
        transformers.DistilBertModel,
        folders.distilbert_config(activation="relu"),
        folders.write_words,
    ),
}


@pytest.mark.parametrize("name", ENCODERS)
def test_masked_tokens_get_the_same_logits(name: str, tmp_path: Path) -> None:
    kind, config, write_tokenizer = ENCODERS[name]
    theirs = folders.write_model(tmp_path / "published", kind, config)
    engine = write_tokenizer(tmp_path / "published")
    run = import_published_model(tmp_path / "published", out=tmp_path / "run")
    tokens, is_token = _batch(run)
    engine.no_truncation()
    assert tokens[0][is_token[0]].tolist() == engine.encode(TEXTS[0]).ids
    expected = theirs(input_ids=tokens, attention_mask=is_token.long()).logits[is_token]
    found = run.model(tokens, is_token, is_token)
    assert_close(found, expected, rtol=1e-5, atol=1e-5)
    assert expected.std() > 0.1


@pytest.mark.parametrize("name", HEADLESS)
def test_an_encoder_without_a_head_has_the_same_features(name: str, tmp_path: Path) -> None:
    kind, config, write_tokenizer = HEADLESS[name]
    theirs = folders.write_model(tmp_path / "published", kind, config)
    write_tokenizer(tmp_path / "published")
    run = import_published_model(tmp_path / "published", out=tmp_path / "run")
    tokens, is_token = _batch(run)
    expected = theirs(input_ids=tokens, attention_mask=is_token.long()).last_hidden_state
    found, _ = run.model.backbone(run.model.embed(tokens), is_token)
    assert_close(found[is_token], expected[is_token], rtol=1e-5, atol=1e-5)
    assert any("no masked-token head" in note for note in import_details(run)["notes"])


def _batch(run: Any) -> tuple[torch.Tensor, torch.Tensor]:
    """Texts of different lengths, with the padding that the vocabulary has."""
    ids = run.codec.tokenizer.encode_many(TEXTS)
    return pad(ids, value=run.codec.tokenizer.vocabulary.pad_id)
