"""Embedding tables of imported pairs: one for source, target and output, or a table for each; always those
that the model was trained with.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from torch.testing import assert_close

from seqlab.batches.batch import pad
from seqlab.core.errors import DataError
from seqlab.interop.import_model import import_details, import_published_model
from seqlab.runs.run import Run
from tests.cli.running import run as command
from tests.interop import folders
from tests.interop.folders import NUM_BYTE_PIECES, transformers

SOURCES = ["the cat", "that hat, the bat sat at a mat", "a"]
PAD, START = 1, 2
SIZES: dict[str, Any] = {
    "vocab_size": NUM_BYTE_PIECES,
    "d_model": 12,
    "encoder_layers": 2,
    "decoder_layers": 1,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 20,
    "decoder_ffn_dim": 20,
    "max_position_embeddings": 48,
    "pad_token_id": PAD,
    "eos_token_id": 2,
    "bos_token_id": 0,
    "decoder_start_token_id": START,
    "forced_eos_token_id": None,
}
SHARED, SOURCE, TARGET = (
    "model.shared.weight",
    "model.encoder.embed_tokens.weight",
    "model.decoder.embed_tokens.weight",
)
OUTPUT = "lm_head.weight"
BART, MARIAN = transformers.BartForConditionalGeneration, transformers.MarianMTModel


def bart(**changes: Any) -> Any:
    return transformers.BartConfig(**SIZES | changes)


def marian(**changes: Any) -> Any:
    return transformers.MarianConfig(**SIZES | changes)


CASES: dict[str, tuple[Any, Any, int]] = {
    "bart, tied": (BART, bart(), 1),
    "bart, tied and scaled": (BART, bart(scale_embedding=True), 1),
    "bart, untied": (BART, bart(tie_word_embeddings=False), 3),
    "bart, untied and scaled": (BART, bart(tie_word_embeddings=False, scale_embedding=True), 3),
    "marian, tied": (MARIAN, marian(), 1),
    "marian, untied": (MARIAN, marian(tie_word_embeddings=False), 3),
    "marian, untied and scaled": (MARIAN, marian(tie_word_embeddings=False, scale_embedding=True), 3),
    "marian, tied, a table for each side": (MARIAN, marian(share_encoder_decoder_embeddings=False), 2),
    "marian, untied, a table for each side": (
        MARIAN,
        marian(share_encoder_decoder_embeddings=False, tie_word_embeddings=False),
        3,
    ),
}
"""Class, config, and how many tables differ."""


@pytest.mark.parametrize("name", CASES)
def test_logits_are_computed_with_the_tables_of_the_file(name: str, tmp_path: Path) -> None:
    theirs, run = imported(name, tmp_path)
    assert_same_logits(theirs, run)
    model = run.model
    assert (
        len(
            {
                table.data_ptr()
                for table in (model.embed_source.weight, model.embed_target.weight, model.output_weight)
            }
        )
        == CASES[name][2]
    )
    file = load_file(tmp_path / "published" / "model.safetensors")
    unread = file[SHARED].numel() if SOURCE in file and SHARED in file else 0
    rows_before_the_first = 2 * 2 * 12 if "bart" in name else 0
    assert (
        import_details(run)["parameters"]
        == sum(tensor.numel() for tensor in file.values()) - unread - rows_before_the_first
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][2] > 1])
def test_translations_use_the_tables_of_the_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs, run = imported(name, tmp_path)
    expected = translations(theirs, run)
    assert [prediction.answer for prediction in run.predict(SOURCES)] == expected
    printed = command(capsys, "predict", str(tmp_path / "run"), *SOURCES, "--json").json
    assert [answer["answer"] for answer in printed["predictions"]] == expected
    assert any(expected)


@pytest.mark.parametrize(
    ("kind", "config"), [(BART, bart(tie_word_embeddings=False)), (MARIAN, marian(tie_word_embeddings=False))]
)
def test_a_file_with_one_table_for_both_sides_and_one_for_the_output(
    kind: Any, config: Any, tmp_path: Path
) -> None:
    """As transformers 4 saved pairs whose output is not tied: encoder and decoder always shared a table."""
    folder = tmp_path / "published"
    folders.write_model(folder, kind, config)
    folders.write_bytes(folder, template="$A </s>", pad="<pad>")
    weights = load_file(folder / "model.safetensors")
    save_file(
        weights | {SOURCE: weights[SHARED].clone(), TARGET: weights[SHARED].clone()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    theirs = kind.from_pretrained(folder).eval()
    del weights[SOURCE], weights[TARGET]
    save_file(weights, folder / "model.safetensors")
    run = import_published_model(folder, out=tmp_path / "run")
    assert_same_logits(theirs, run)
    assert run.model.embed_source is run.model.embed_target
    assert run.model.output_weight is not run.model.embed_target.weight


@pytest.mark.parametrize("present", [SHARED, SOURCE, TARGET, OUTPUT])
def test_one_name_is_enough_where_all_tables_are_one(present: str, tmp_path: Path) -> None:
    folder = tmp_path / "published"
    theirs = folders.write_model(folder, BART, bart())
    folders.write_bytes(folder, template="$A </s>", pad="<pad>")
    weights = load_file(folder / "model.safetensors")
    weights[present] = weights.pop(SHARED)
    save_file(weights, folder / "model.safetensors")
    assert_same_logits(theirs, import_published_model(folder, out=tmp_path / "run"))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"decoder_vocab_size": NUM_BYTE_PIECES + 3}, "decoder_vocab_size"),
        ({"share_encoder_decoder_embeddings": "yes"}, "share_encoder_decoder_embeddings"),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings"),
        ({"scale_embedding": 3}, "scale_embedding"),
        ({"normalize_before": True}, "normalize_before"),
        ({"add_final_layer_norm": True}, "add_final_layer_norm"),
        ({"normalize_embedding": True}, "normalize_embedding"),
    ],
)
def test_settings_that_no_network_here_can_follow_are_rejected(
    changes: dict[str, Any], named: str, tmp_path: Path
) -> None:
    folder = tmp_path / "published"
    folders.write_model(folder, MARIAN, marian())
    folders.write_bytes(folder, template="$A </s>", pad="<pad>")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | changes))
    with pytest.raises(DataError, match=named):
        import_published_model(folder, out=tmp_path / "run")


def imported(name: str, folder: Path) -> tuple[nn.Module, Run]:
    kind, config, _ = CASES[name]
    theirs = folders.write_model(folder / "published", kind, config)
    theirs.final_logits_bias.normal_(std=0.3, generator=torch.Generator().manual_seed(1))
    theirs.save_pretrained(folder / "published")
    folders.write_bytes(folder / "published", template="$A </s>", pad="<pad>")
    again = kind.from_pretrained(folder / "published").eval()  # with what was really saved
    return again, import_published_model(folder / "published", out=folder / "run")


@torch.no_grad()
def assert_same_logits(theirs: nn.Module, run: Run) -> None:
    source, is_source = pad(run.codec.tokens.source.encode_many(SOURCES), value=PAD)
    targets = torch.randint(4, NUM_BYTE_PIECES, (3, 7), generator=torch.Generator().manual_seed(2))
    is_token = torch.ones_like(targets, dtype=torch.bool)
    expected = theirs(input_ids=source, attention_mask=is_source.long(), decoder_input_ids=targets).logits
    assert_close(run.model(source, is_source, targets, is_token), expected, rtol=1e-5, atol=1e-5)
    assert expected.std() > 0.1
    state, steps = run.model.encode(source, is_source), []
    for place in range(targets.shape[1]):
        logits, state = run.model.decode(targets[:, place : place + 1], is_token[:, place : place + 1], state)
        steps.append(logits)
    assert_close(torch.cat(steps, dim=1), expected, rtol=1e-5, atol=1e-5)


@torch.no_grad()
def translations(theirs: nn.Module, run: Run) -> list[str]:
    source, is_source = pad(run.codec.tokens.source.encode_many(SOURCES), value=PAD)
    written = theirs.generate(
        source,
        attention_mask=is_source.long(),
        num_beams=1,
        do_sample=False,
        max_new_tokens=46,
        bad_words_ids=[[PAD]],
        forced_eos_token_id=None,
    )
    return [run.codec.tokens.target.decode(row) for row in written.tolist()]
