"""Tokenizers out of their older files: the same ids as the engines and models that they come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sentencepiece

from seqlab.core.errors import DataError, UsageError
from seqlab.interop.formats.sentencepiece import read_marian_tokenizer, read_sentencepiece_model
from seqlab.interop.formats.tokenizer_files import read_tokenizer
from seqlab.tasks.translation.pair_tokens import PublishedPairTokens
from seqlab.tokens.hugging_face import HuggingFace
from seqlab.tokens.vocabulary import EOS, MASK, PAD, UNK
from tests.interop.folders import BYTE_PIECES, MERGES, NUM_BYTE_PIECES, NUM_WORDS, WORDS, transformers

TEXTS = ["The cats sat on the mat.", "", "a [MASK], dog", "Thé CAT", "unseen wörds 🦁"]


def test_a_vocabulary_of_words_alone_is_berts_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join(WORDS) + "\n")
    tokenizer = read_tokenizer(tmp_path, family="BERT", size=NUM_WORDS, ids={})
    theirs = transformers.BertTokenizerFast(vocab=str(tmp_path / "vocab.txt"))
    for text in TEXTS:
        assert tokenizer.encode(text).tolist() == theirs(text)["input_ids"]
    assert [tokenizer.vocabulary.ids[name] for name in (PAD, UNK, EOS, MASK)] == [0, 1, 3, 4]
    assert tokenizer.decode(tokenizer.encode("The cats sat.")) == "the cats sat."


def test_case_is_kept_where_the_settings_say_so(tmp_path: Path) -> None:
    (tmp_path / "vocab.txt").write_text("\n".join([*WORDS, "The"]) + "\n")
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"do_lower_case": False, "mask_token": {"content": "[MASK]"}})
    )
    tokenizer = read_tokenizer(tmp_path, family="BERT", size=NUM_WORDS + 1, ids={})
    assert tokenizer.split("The the") == ["[CLS]", "The", "the", "[SEP]"]


@pytest.mark.parametrize(("family", "around"), [("GPT-2", ([], [])), ("RoBERTa", (["<s>"], ["</s>"]))])
def test_pieces_and_merges_alone_are_a_byte_level_tokenizer(
    family: str, around: tuple[list[str], list[str]], tmp_path: Path
) -> None:
    (tmp_path / "vocab.json").write_text(
        json.dumps({piece: place for place, piece in enumerate(BYTE_PIECES)})
    )
    (tmp_path / "merges.txt").write_text(
        "#version: 0.2\n" + "\n".join(" ".join(merge) for merge in MERGES) + "\n"
    )
    tokenizer = read_tokenizer(tmp_path, family=family, size=NUM_BYTE_PIECES, ids={"eos_token_id": 2})
    first, last = around
    assert tokenizer.split("that the") == [*first, "th", "at", "Ġthe", *last]
    for text in ("that the", " wörds 🦁\n\n", ""):
        assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.vocabulary.ids[EOS] == 2


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({}, "there is no supported tokenizer here"),
        ({"vocab.txt": "the\ncat\n"}, r"the tokens \[UNK\], \[CLS\], \[SEP\] are missing"),
        ({"vocab.json": '{"a": 0}', "merges.txt": "a b c\n"}, "the vocabulary and the merges do not match"),
        (
            {"vocab.json": '{"a": 0, "b": 1}', "merges.txt": "a b\n"},
            "the vocabulary and the merges do not match",
        ),
        ({"vocab.json": '{"a": "x"}', "merges.txt": ""}, "the vocabulary and the merges do not match"),
        ({"vocab.txt": b"\xff\xfe"}, "is not valid UTF-8"),
        ({"tokenizer.json": "{}"}, "does not contain a supported tokenizer"),
        ({"tokenizer.json": "no"}, "is not valid JSON"),
        (
            {"source.spm": "nonsense", "vocab.json": '{"</s>": 0, "<unk>": 1}'},
            "not a supported SentencePiece model",
        ),
        ({"source.spm": b"", "vocab.json": '{"</s>": 0, "<unk>": 1}'}, "only unigram models are supported"),
        (
            {"source.spm": b"", "vocab.json": '{"</s>": 0, "<unk>": 0}'},
            "does not give every token a unique id",
        ),
    ],
)
def test_files_that_hold_no_tokenizer_are_refused(
    files: dict[str, str | bytes], words: str, tmp_path: Path
) -> None:
    for name, content in files.items():
        (tmp_path / name).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DataError, match=words):
        read_tokenizer(tmp_path, family="GPT-2", size=100, ids={"eos_token_id": 0})


def test_without_an_end_nothing_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(
        json.dumps({piece: place for place, piece in enumerate(BYTE_PIECES)})
    )
    (tmp_path / "merges.txt").write_text("t h\n")
    with pytest.raises(DataError, match="which token has the role eos"):
        read_tokenizer(tmp_path, family="GPT-2", size=NUM_BYTE_PIECES, ids={})


@pytest.fixture(scope="module")
def piece_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A unigram model that the package `sentencepiece` has learned from this project's own words."""
    lines = [f"{word} {other}, the {word}s sat: größer {other}!" for word in WORDS[5:] for other in WORDS[5:]]
    return learn_pieces(tmp_path_factory.mktemp("pieces"), lines)


@pytest.fixture(scope="module")
def other_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same of another language."""
    words = ["katze", "katzen", "hund", "matte", "saß", "sitzt"]
    return learn_pieces(
        tmp_path_factory.mktemp("other"),
        [f"die {word} und die {other}: ein cat!" for word in words for other in words],
    )


def learn_pieces(folder: Path, lines: list[str]) -> Path:
    (folder / "text.txt").write_text("\n".join(lines))
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "text.txt"),
        model_prefix=str(folder / "source"),
        vocab_size=60,
        model_type="unigram",
        hard_vocab_limit=False,
        minloglevel=9,
    )
    return folder / "source.model"


SENTENCES = [
    "the cat sat: a dog!",
    "  größer   than  ",
    "",
    "ﬁne ｗide 日本 unseen Żółw",
    "the\tcats\nsat",
    "catscats, matting 123",
]


def test_a_text_is_cut_as_sentencepiece_cuts_it(piece_model: Path, tmp_path: Path) -> None:
    """Source pieces have ids of a common vocabulary, in another order and with pieces of the other language
    between them.
    """
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(piece_model))
    own = [
        theirs.id_to_piece(place)
        for place in range(theirs.get_piece_size())
        if not theirs.is_control(place) and not theirs.is_unknown(place)
    ]
    left_out = own[7]
    both = [
        "</s>",
        "<unk>",
        *[
            piece
            for pair in zip(own, (f"▁ziel{n}" for n in range(99)), strict=False)
            for piece in pair
            if piece != left_out
        ],
        "<pad>",
    ]
    vocabulary = {piece: place for place, piece in enumerate(both)}
    tokenizer = read_marian_tokenizer(piece_model, vocabulary, size=len(both))
    for text in SENTENCES:
        expected = [vocabulary.get(piece, 1) for piece in theirs.encode(text, out_type=str)]
        assert tokenizer.encode(text).tolist() == [*expected, 0], text
    ids = [vocabulary[piece] for piece in ("▁ziel3", "▁ziel4", "</s>", "<pad>")]
    assert tokenizer.decode(ids) == "ziel3 ziel4"


def test_what_is_written_is_cut_by_its_own_model(
    piece_model: Path, other_model: Path, tmp_path: Path
) -> None:
    """Both sides cut the same text differently; the ids are those of one vocabulary."""
    source, target = (
        sentencepiece.SentencePieceProcessor(model_file=str(path)) for path in (piece_model, other_model)
    )
    own = [side.id_to_piece(place) for side in (source, target) for place in range(3, side.get_piece_size())]
    vocabulary = {piece: place for place, piece in enumerate(dict.fromkeys(["</s>", "<unk>", *own, "<pad>"]))}
    start = len(vocabulary) - 1
    ids = {"eos_token_id": 0, "pad_token_id": start, "decoder_start_token_id": start}
    for name, content in (("source.spm", piece_model.read_bytes()), ("target.spm", other_model.read_bytes())):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "vocab.json").write_text(json.dumps(vocabulary))
    both = read_tokenizer(tmp_path, family="Marian", size=len(vocabulary), ids=ids)
    text = "die katze the cat sat"
    expected = [vocabulary.get(piece, 1) for piece in target.encode(text, out_type=str)]
    assert expected != [vocabulary.get(piece, 1) for piece in source.encode(text, out_type=str)]
    both.save(tmp_path / "saved")
    for tokenizer in (both, HuggingFace.load(tmp_path / "saved")):
        tokens = PublishedPairTokens(tokenizer)
        assert tokens.encode_targets([text])[0].tolist() == [start, *expected, 0]
        assert tokens.target_ids("die katze", where="") == [
            vocabulary[piece] for piece in target.encode("die katze", out_type=str)
        ]
        assert tokenizer.encode("the cat").tolist()[:-1] == [
            vocabulary[piece] for piece in source.encode("the cat", out_type=str)
        ]
        only_read = next(piece for piece in own if piece.startswith("▁th"))
        assert (
            tokenizer.decode([vocabulary[only_read], *tokens.target_ids("die katze", where="")])
            == f"{only_read[1:]} die katze"
        )
    assert both.words_at("the 日本 cat</s>")[-2:] == [
        "",
        "",
    ]  # the name of the end in a text, and the end itself
    assert list(dict.fromkeys(both.words_at("the 日本 cat"))) == ["the", "日本", "cat", ""]
    with pytest.raises(UsageError, match=r"decoding\.prefix: '日本'"):
        tokens.known_target_ids("die 日本", where="decoding.prefix")
    (tmp_path / "target.spm").unlink()
    without = PublishedPairTokens(read_tokenizer(tmp_path, family="Marian", size=len(vocabulary), ids=ids))
    with pytest.raises(
        UsageError, match="imported without the tokenizer file of its target language"
    ) as caught:
        without.known_target_ids("die katze", where="decoding.prefix")
    assert "Import it again, with target.spm in its folder." in str(caught.value)


def test_the_pieces_of_a_model_have_their_scores(piece_model: Path) -> None:
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(piece_model))
    found = read_sentencepiece_model(piece_model)
    assert found.scores == {
        theirs.id_to_piece(place): theirs.get_score(place) for place in range(3, theirs.get_piece_size())
    }
    assert found.add_dummy_prefix


def test_a_model_of_another_kind_and_a_damaged_one_are_refused(piece_model: Path, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("a b ab abc bc cab\n" * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"),
        model_prefix=str(tmp_path / "pairs"),
        vocab_size=10,
        model_type="bpe",
        hard_vocab_limit=False,
        minloglevel=9,
    )
    with pytest.raises(DataError, match="only unigram models are supported"):
        read_sentencepiece_model(tmp_path / "pairs.model")
    whole = piece_model.read_bytes()
    for length in (1, 20, len(whole) // 2):
        (tmp_path / "cut.model").write_bytes(whole[:length])
        with pytest.raises(DataError, match="not a supported SentencePiece model"):
            read_sentencepiece_model(tmp_path / "cut.model")


def test_a_whole_marian_folder_has_its_tokenizer_without_tokenizer_json(
    piece_model: Path, tmp_path: Path
) -> None:
    theirs = sentencepiece.SentencePieceProcessor(model_file=str(piece_model))
    pieces = [
        "</s>",
        "<unk>",
        *[theirs.id_to_piece(place) for place in range(3, theirs.get_piece_size())],
        "<pad>",
    ]
    (tmp_path / "source.spm").write_bytes(piece_model.read_bytes())
    (tmp_path / "vocab.json").write_text(json.dumps({piece: place for place, piece in enumerate(pieces)}))
    start = len(pieces) - 1
    ids = {"eos_token_id": 0, "pad_token_id": start, "decoder_start_token_id": start}
    tokenizer = read_tokenizer(tmp_path, family="Marian", size=len(pieces), ids=ids)
    assert tokenizer.decode(tokenizer.encode("the cat sat: a dog!")) == "the cat sat: a dog!"
    assert tokenizer.vocabulary.ids[EOS] == 0
    assert tokenizer.vocabulary.pad_id == start
