"""Encoder-decoders: the same logits, at once and step by step, and the same translations as where they come
from.
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

from seqlab.core.errors import RecipeError, UsageError
from seqlab.interop.import_model import import_published_model
from seqlab.runs.run import Run
from tests.interop import folders
from tests.interop.folders import NUM_BYTE_PIECES, transformers

pytestmark = pytest.mark.slow  # short each, long together

SOURCES = ["the cat", "that hat, the bat sat at a mat", "a"]
PAD, START = 1, 2
SIZES: dict[str, Any] = {
    "vocab_size": NUM_BYTE_PIECES,
    "d_model": 12,
    "encoder_layers": 2,
    "decoder_layers": 3,
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
PAIRS: dict[str, tuple[Any, Any]] = {
    "marian": (
        transformers.MarianMTModel,
        transformers.MarianConfig(**SIZES, scale_embedding=True, activation_function="silu"),
    ),
    "marian, not scaled": (
        transformers.MarianMTModel,
        transformers.MarianConfig(**SIZES, activation_function="relu"),
    ),
    "bart": (transformers.BartForConditionalGeneration, transformers.BartConfig(**SIZES)),
    "bart with a forced first word": (
        transformers.BartForConditionalGeneration,
        transformers.BartConfig(**SIZES),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_gives_the_same_logits_at_once_and_step_by_step(name: str, tmp_path: Path) -> None:
    theirs, run = imported(name, tmp_path)
    source, is_source = batch(run)
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


@pytest.mark.parametrize("name", PAIRS)
def test_a_pair_writes_the_same_translation(name: str, tmp_path: Path) -> None:
    theirs, run = imported(name, tmp_path)
    source, is_source = batch(run)
    with torch.no_grad():
        written = theirs.generate(
            source,
            attention_mask=is_source.long(),
            num_beams=1,
            do_sample=False,
            max_new_tokens=46,
            bad_words_ids=[[PAD]],
            forced_eos_token_id=None,
        ).tolist()
    expected = [run.codec.tokens.source.decode(row) for row in written]
    found = run.predict(SOURCES)
    assert [prediction.answer for prediction in found] == expected
    assert any(expected)
    assert all(0 <= prediction.probability <= 1 for prediction in found)


def test_the_table_of_sines_is_computed_where_it_was_not_published(tmp_path: Path) -> None:
    folder = tmp_path / "published"
    theirs = folders.write_model(folder, *PAIRS["marian"])
    folders.write_bytes(folder, template="$A </s>")
    weights = load_file(folder / "model.safetensors")
    sines = theirs.model.encoder.embed_positions.create_weight()
    for side in ("encoder", "decoder"):
        weights.pop(f"model.{side}.embed_positions.weight", None)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    run = import_published_model(folder, out=tmp_path / "run")
    for side in (run.model.encoder, run.model.decoder):
        assert_close(side.positions.table.data, sines, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", ["marian", "bart with a forced first word"])
def test_the_probability_is_that_of_the_whole_translation(name: str, tmp_path: Path) -> None:
    theirs, run = imported(name, tmp_path)
    source, is_source = batch(run)
    for row, answer in enumerate(run.predict(SOURCES)):
        with torch.no_grad():
            written = theirs.generate(
                source[row : row + 1, : is_source[row].sum()],
                num_beams=1,
                do_sample=False,
                max_new_tokens=46,
                bad_words_ids=[[PAD]],
                forced_eos_token_id=None,
                output_logits=True,
                return_dict_in_generate=True,
            )
        chosen = written.sequences[0, 1:]
        shares = torch.stack(written.logits)[:, 0].log_softmax(-1)[torch.arange(len(chosen)), chosen]
        free = shares[1:] if "forced" in name else shares
        assert answer.hypotheses[0].log_prob == pytest.approx(
            free.double().sum().item(), rel=1e-4
        )  # the probability itself is tiny


def test_a_text_that_is_too_long_is_refused_with_words(tmp_path: Path) -> None:
    _, run = imported("bart", tmp_path)
    with pytest.raises(UsageError, match=r"101 tokens, but .* at most 48"):
        run.predict(["x" * 100])


@torch.no_grad()
def test_a_prefix_is_the_beginning_of_a_target_and_does_not_end_it(tmp_path: Path) -> None:
    _, run = imported("bart with a forced first word", tmp_path)
    tokens = run.codec.tokens
    prefix = [0, *tokens.target.encode("the cat").tolist()[:-1]]
    for beam in (1, 3):
        predictor = run.with_decoding(beam=beam, prefix="the cat", max_tokens=12).predictor
        ((answer,),) = predictor.translate(["that hat sat"])
        assert answer.hypothesis.tokens[: len(prefix)] == prefix
        assert len(answer.hypothesis.tokens) == 12
        assert answer.text.startswith("the cat")
    assert tokens.end_id not in prefix
    with pytest.raises(
        RecipeError,
        match=r"decoding.unknown: .*no token for unknown words",
    ):
        run.with_decoding(unknown="copy").predict(["the cat"])


def test_a_given_target_has_the_probability_that_its_own_library_gives_it(tmp_path: Path) -> None:
    theirs, run = imported("bart with a forced first word", tmp_path)
    source, target = (
        torch.tensor([run.codec.tokens.target.encode(text).tolist()]) for text in ("the cat", "a hat")
    )
    with torch.no_grad():
        given = torch.cat([torch.tensor([[START, 0]]), target[:, :-1]], dim=1)
        expected = (
            theirs(input_ids=source, decoder_input_ids=given)
            .logits[0, 1:]
            .log_softmax(-1)
            .gather(1, target[0, :, None])
        )
    (found,) = run.score([("the cat", "a hat")])
    assert [token.log_prob for token in found.tokens] == pytest.approx(expected[:, 0].tolist(), abs=1e-4)
    assert found.log_prob == pytest.approx(float(expected.sum()), abs=1e-4)


def test_a_pair_is_scored_on_data_of_ones_own(tmp_path: Path) -> None:
    _, run = imported("marian", tmp_path)
    answers = [prediction.answer for prediction in run.predict(SOURCES)]
    wanted = [answers[0], *("something else" for _ in SOURCES[1:])]
    (tmp_path / "pairs.tsv").write_text(
        "from\tto\n"
        + "".join(
            f"{text}\t{json.dumps(target)[1:-1]}\n" for text, target in zip(SOURCES, wanted, strict=True)
        )
    )
    evaluation = run.evaluate(tmp_path / "pairs.tsv")
    assert evaluation.scores[0].name == "bleu"
    assert len(evaluation.answers) == len(SOURCES)


def imported(name: str, folder: Path) -> tuple[nn.Module, Run]:
    kind, config = PAIRS[name]
    theirs = folders.write_model(folder / "published", kind, config)
    theirs.final_logits_bias.normal_(std=0.3, generator=torch.Generator().manual_seed(1))
    theirs.generation_config.forced_bos_token_id = (
        0 if "forced" in name else None
    )  # which newer versions no longer take from the config
    theirs.save_pretrained(folder / "published")
    folders.write_bytes(folder / "published", template="$A </s>", pad="<pad>")
    again = kind.from_pretrained(folder / "published").eval()  # with what was really saved
    return again, import_published_model(folder / "published", out=folder / "run")


def batch(run: Run) -> tuple[torch.Tensor, torch.Tensor]:
    from seqlab.batches.batch import pad

    return pad(run.codec.tokens.source.encode_many(SOURCES), value=PAD)


def test_settings_of_pairs_that_cannot_be_followed_are_listed_together(tmp_path: Path) -> None:
    from seqlab.core.errors import DataError

    folder = tmp_path / "published"
    folders.write_model(folder, *PAIRS["bart"])
    folders.write_bytes(folder, template="$A </s>")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(
        json.dumps(config | {"normalize_before": True, "decoder_ffn_dim": 8, "activation_function": "mish"})
    )
    with pytest.raises(DataError) as refused:
        import_published_model(folder, out=tmp_path / "run")
    for words in (
        "normalize_before: True is not supported",
        "decoder_ffn_dim: 8, but encoder_ffn_dim: 20",
        "activation_function: 'mish'",
    ):
        assert words in str(refused.value)
    assert not (tmp_path / "run").exists()
