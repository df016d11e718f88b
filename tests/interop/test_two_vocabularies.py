"""Marian models whose sides have a vocabulary each: every side is cut, numbered and embedded with its own."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
from torch import nn
from torch.testing import assert_close

from seqlab.batches.batch import pad
from seqlab.core.errors import DataError
from seqlab.interop.import_model import import_published_model
from seqlab.runs.run import Run
from tests.cli.running import run as command
from tests.interop import folders
from tests.interop.folders import transformers
from tests.interop.test_tokenizer_files import learn_pieces

SOURCES = ["the cat sat", "a dog, the mat: größer!", "the"]
TARGETS = ["die katze", "ein hund und die matten", "saß"]
ENGLISH = ["cat", "mat", "dog", "sat", "größer"]
GERMAN = ["katze", "katzen", "hund", "matte", "saß", "sitzt", "vogel"]
EOS, UNK = 0, 1


@pytest.fixture(scope="module", params=[True, False], ids=["tied", "untied"])
def published(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    sizes = []
    for side, words, ids in (("source", ENGLISH, "vocab.json"), ("target", GERMAN, "target_vocab.json")):
        lines = [f"the {word} and a {other}, die {word}: ein {other}!" for word in words for other in words]
        shutil.copy(learn_pieces(tmp_path_factory.mktemp(side), lines), folder / f"{side}.spm")
        model = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        own = [model.id_to_piece(place) for place in range(3, model.get_piece_size())]
        pieces = ["</s>", "<unk>", *sorted(own, reverse=side == "target"), "<pad>"]
        (folder / ids).write_text(json.dumps({piece: place for place, piece in enumerate(pieces)}))
        sizes.append(len(pieces))
    assert sizes[0] != sizes[1]
    config = transformers.MarianConfig(
        vocab_size=sizes[0],
        decoder_vocab_size=sizes[1],
        share_encoder_decoder_embeddings=False,
        tie_word_embeddings=request.param,
        d_model=12,
        encoder_layers=2,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=20,
        decoder_ffn_dim=20,
        max_position_embeddings=48,
        pad_token_id=min(sizes) - 1,
        eos_token_id=EOS,
        bos_token_id=None,
        decoder_start_token_id=sizes[1] - 1,
        forced_eos_token_id=None,
    )
    folders.write_model(folder, transformers.MarianMTModel, config)
    (folder / "tokenizer_config.json").write_text(
        json.dumps({"separate_vocabs": True, "eos_token": "</s>", "pad_token": "<pad>"})
    )
    return folder


def both(folder: Path, out: Path) -> tuple[nn.Module, Run]:
    return transformers.MarianMTModel.from_pretrained(folder).eval(), import_published_model(folder, out=out)


def their_tokenizer(folder: Path) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it recommends a package that tidies punctuation
        return transformers.MarianTokenizer.from_pretrained(folder)


def test_each_side_is_cut_and_numbered_as_by_its_own_library(published: Path, tmp_path: Path) -> None:
    theirs = their_tokenizer(published)
    tokens = import_published_model(published, out=tmp_path / "run").codec.tokens
    start = len(json.loads((published / "target_vocab.json").read_text())) - 1
    assert [ids.tolist() for ids in tokens.encode_sources(SOURCES)] == [
        theirs(text)["input_ids"] for text in SOURCES
    ]
    written = [theirs(text_target=text)["input_ids"] for text in TARGETS]
    assert [ids.tolist() for ids in tokens.encode_targets(TARGETS)] == [[start, *ids] for ids in written]
    assert [tokens.target.decode(ids) for ids in written] == TARGETS
    assert (
        tokens.encode_targets(["die katze"])[0].tolist()[1:]
        != tokens.encode_sources(["die katze"])[0].tolist()
    )


@pytest.mark.slow
@torch.no_grad()
def test_logits_and_translations_are_those_of_its_own_library(
    published: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs, run = both(published, tmp_path / "run")
    source, is_source = pad(
        run.codec.tokens.encode_sources(SOURCES), value=run.codec.tokens.source.vocabulary.pad_id
    )
    size = theirs.config.decoder_vocab_size
    targets = torch.randint(2, size, (3, 7), generator=torch.Generator().manual_seed(2))
    targets[0, 3] = size - 1  # a row that the table of the source does not have, or has for another piece
    is_token = torch.ones_like(targets, dtype=torch.bool)
    expected = theirs(input_ids=source, attention_mask=is_source.long(), decoder_input_ids=targets).logits
    assert_close(run.model(source, is_source, targets, is_token), expected, rtol=1e-5, atol=1e-5)
    never = run.codec.tokens.target.vocabulary.pad_id
    written = theirs.generate(
        source,
        attention_mask=is_source.long(),
        num_beams=1,
        do_sample=False,
        max_new_tokens=46,
        bad_words_ids=[[never]],
        forced_eos_token_id=None,
    )
    answers = [run.codec.tokens.target.decode(row) for row in written.tolist()]
    assert [prediction.answer for prediction in run.predict(SOURCES)] == answers
    printed = command(capsys, "predict", str(tmp_path / "run"), *SOURCES, "--json").json
    assert [answer["answer"] for answer in printed["predictions"]] == answers
    assert any(answers)


@torch.no_grad()
def test_a_given_translation_has_the_probability_that_its_own_library_gives_it(
    published: Path, tmp_path: Path
) -> None:
    theirs, run = both(published, tmp_path / "run")
    source, (target,) = (
        run.codec.tokens.encode_sources(SOURCES[:1])[0],
        run.codec.tokens.encode_targets(TARGETS[:1]),
    )
    logits = theirs(
        input_ids=torch.tensor([source.tolist()]), decoder_input_ids=torch.tensor([target[:-1].tolist()])
    ).logits[0]
    expected = logits.log_softmax(-1).gather(1, torch.tensor(target[1:].tolist())[:, None]).sum()
    assert run.score([(SOURCES[0], TARGETS[0])])[0].log_prob == pytest.approx(float(expected), abs=1e-4)
    run = run.with_decoding(prefix="die katze", max_tokens=9)
    ((answer,),) = run.predictor.translate(SOURCES[:1])
    assert answer.text.startswith("die katze")


def test_two_vocabularies_with_one_table_are_rejected(published: Path, tmp_path: Path) -> None:
    """What vocab.json and target_vocab.json number alike would be looked up in the same row."""
    folder = tmp_path / "shared"
    config = transformers.MarianConfig.from_pretrained(published)
    config.update(
        {
            "decoder_vocab_size": config.vocab_size,
            "share_encoder_decoder_embeddings": True,
            "tie_word_embeddings": True,
        }
    )
    config.update({"decoder_start_token_id": config.vocab_size - 1})
    folders.write_model(folder, transformers.MarianMTModel, config)
    for name in ("source.spm", "target.spm", "vocab.json", "target_vocab.json", "tokenizer_config.json"):
        shutil.copy(published / name, folder / name)
    with pytest.raises(DataError) as error:
        import_published_model(folder, out=tmp_path / "run")
    assert all(
        name in str(error.value)
        for name in ("tokenizer_config.json", "separate_vocabs", "share_encoder_decoder_embeddings")
    )


def drop(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def change(file: str, **values: Any) -> Callable[[Path], None]:
    return lambda folder: (
        (folder / file).write_text(json.dumps(json.loads((folder / file).read_text()) | values)) and None
    )


@pytest.mark.parametrize(
    ("spoil", "named"),
    [
        (drop("target_vocab.json"), "target_vocab.json"),
        (drop("target.spm"), "target.spm"),
        (change("tokenizer_config.json", separate_vocabs=False), "separate_vocabs"),
        (change("config.json", share_encoder_decoder_embeddings=True), "decoder_vocab_size"),
        (change("target_vocab.json", more=10**6), "target_vocab.json"),
    ],
)
def test_half_of_two_vocabularies_is_rejected(
    spoil: Callable[[Path], None], named: str, published: Path, tmp_path: Path
) -> None:
    folder = Path(shutil.copytree(published, tmp_path / "spoiled"))
    spoil(folder)
    with pytest.raises(DataError, match=named):
        import_published_model(folder, out=tmp_path / "run")
    assert not (tmp_path / "run").exists()
