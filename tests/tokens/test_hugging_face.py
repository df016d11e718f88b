"""A published tokenizer kept whole: the ids of its own engine, special pieces anywhere, and no trust in what
a file says.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer as Engine
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors

from seqlab.core.errors import RunError, UsageError
from seqlab.tokens.base import tokenizers
from seqlab.tokens.hugging_face import HuggingFace
from seqlab.tokens.published_vocabulary import PublishedVocabulary
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.tokenizer_folder import HEADER, load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS, MASK, PAD, UNK

WORDS = ["a", "[PAD]", "cat", "##s", "[UNK]", "the", "[CLS]", "sat", "[SEP]", ".", "[MASK]"]
ROLES = {"pad": 1, "unk": 4, "cls": 6, "eos": 8, "mask": 10}
TEXTS = ["The cats sat.", "a [MASK] sat", "", "dog", "The cat " * 300, "a\ud800cat"]


def engine() -> Engine:
    """Special pieces in the middle, a template, and settings that would cut and fill texts."""
    made = Engine(models.WordPiece({word: place for place, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece(prefix="##")
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 6), ("[SEP]", 8)]
    )
    made.add_special_tokens([word for word in WORDS if word.startswith("[")])
    made.enable_truncation(5)
    made.enable_padding(length=5, pad_id=1, pad_token="[PAD]")
    return made


def kept(**changes: Any) -> HuggingFace:
    return HuggingFace(engine(), **{"size": len(WORDS), "roles": ROLES, **changes})


def test_the_ids_are_the_engines_own_with_its_template_and_nothing_cut() -> None:
    tokenizer, whole = kept(), engine()
    whole.no_truncation()
    whole.no_padding()
    for text in TEXTS[:-1]:
        assert tokenizer.encode(text).tolist() == whole.encode(text).ids
    assert tokenizer.encode("the cats").tolist() == [6, 5, 2, 3, 8]
    assert len(tokenizer.encode("cat " * 300)) == 302
    assert [ids.tolist() for ids in tokenizer.encode_many(TEXTS)] == [
        tokenizer.encode(text).tolist() for text in TEXTS
    ]
    assert tokenizer.encode("").dtype == np.int32


def test_pieces_looked_up_one_by_one_are_the_encoded_text() -> None:
    tokenizer = kept()
    for text in TEXTS:
        assert [tokenizer.vocabulary.ids[piece] for piece in tokenizer.split(text)] == tokenizer.encode(
            text
        ).tolist()
    assert tokenizer.join(tokenizer.split("the cats sat")) == "the cats sat"


def test_special_ids_are_left_out_of_decoded_text_wherever_they_stand() -> None:
    tokenizer = kept()
    assert tokenizer.decode([6, 5, 1, 2, 10, 3, 8, 1, 4]) == "the cats"
    assert tokenizer.decode(iter([6, 8])) == tokenizer.decode(np.array([1])) == ""


def test_seqlabs_names_lead_to_the_published_pieces() -> None:
    vocabulary = kept().vocabulary
    assert [vocabulary.ids[name] for name in (PAD, UNK, EOS, MASK)] == [1, 4, 8, 10]
    assert (vocabulary.pad_id, vocabulary.unk_id, vocabulary.special_ids) == (1, 4, {1, 4, 6, 8, 10})
    assert vocabulary.text_ids["cat"] == 2
    assert vocabulary.text_ids["[PAD]"] == vocabulary.text_ids["never seen"] == 4


def test_a_piece_that_ends_texts_is_not_called_padding_or_unknown() -> None:
    """What is called so is never generated, and then no text would end."""
    vocabulary = PublishedVocabulary(["a", "<|end|>"], special_ids=[1], roles={"eos": 1, "pad": 1, "unk": 1})
    assert vocabulary.ids[EOS] == vocabulary.pad_id == vocabulary.unk_id == 1
    assert PAD not in vocabulary.ids
    assert UNK not in vocabulary.ids


def test_rows_that_no_piece_uses_have_names_and_pieces_beyond_the_rows_are_unknown() -> None:
    larger = kept(size=14)
    assert len(larger.vocabulary) == 14
    assert larger.vocabulary.pieces[13] == "<unused 13>"
    smaller = kept(size=9)
    assert smaller.encode("the cats sat.").tolist() == [6, 5, 2, 3, 7, 4, 8]


@pytest.mark.parametrize("wrong", [-1, 11])
def test_an_id_outside_the_vocabulary_is_refused(wrong: int) -> None:
    with pytest.raises(UsageError, match=rf"the id {wrong} is not in the vocabulary; ids range from 0 to 10"):
        kept().decode([4, wrong])


def test_it_is_never_learned() -> None:
    with pytest.raises(UsageError, match="comes with its weights"):
        tokenizers.get("hugging_face").fit(["a"], TokenSettings(), specials=[UNK])


def test_a_saved_tokenizer_is_the_same_tokenizer(tmp_path: Path) -> None:
    target = Engine(
        models.WordLevel({word: place for place, word in enumerate(reversed(WORDS))}, unk_token="[UNK]")
    )
    for tokenizer in (kept(), kept(size=14), kept(target=target)):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        save_tokenizer(tokenizer, folder)
        again = load_tokenizer(folder)
        assert again.vocabulary.pieces == tokenizer.vocabulary.pieces
        assert again.vocabulary.special_ids == tokenizer.vocabulary.special_ids
        for text in TEXTS:
            assert again.encode(text).tolist() == tokenizer.encode(text).tolist()
        assert again.decode([2, 7, 3]) == tokenizer.decode([2, 7, 3])
    assert (kept().decode([7]), kept(target=target).decode([7])) == ("sat", "##s")  # the other engine decodes


@pytest.mark.parametrize("name", ["tokenizer.json", "roles.json", HEADER])
def test_every_truncation_is_refused(name: str, tmp_path: Path) -> None:
    save_tokenizer(kept(), tmp_path)
    path = tmp_path / name
    whole = path.read_bytes()
    for length in [0, 1, len(whole) // 3, len(whole) - 3]:
        path.write_bytes(whole[:length])
        with pytest.raises(RunError, match=name):
            load_tokenizer(tmp_path)
    path.unlink()
    with pytest.raises(RunError, match="there is no such file"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    "roles",
    [
        {},
        {"size": 11},
        {"size": "11", "roles": {}},
        {"size": 10**9, "roles": {}},
        {"size": 11, "roles": {"pad": 11}},
        {"size": 11, "roles": {"pad": True}},
    ],
)
def test_roles_that_are_none_are_refused(roles: dict[str, Any], tmp_path: Path) -> None:
    save_tokenizer(kept(), tmp_path)
    (tmp_path / "roles.json").write_text(json.dumps(roles))
    with pytest.raises(RunError, match="does not say how many tokens there are"):
        load_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": None}, "does not contain a supported tokenizer"),
        (
            {"model": {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": ["a b"]}},
            r"the merge \['a', 'b'\] does not produce a known token",
        ),
        (
            {"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", 3]]}},
            "does not join two known tokens",
        ),
        (
            {"model": {"type": "Unigram", "vocab": [["a", 0.0]], "unk_id": 7}},
            "does not contain a supported tokenizer",
        ),
        ({"model": {"type": "Magic"}}, "does not contain a supported tokenizer"),
        (
            {"normalizer": {"type": "Replace", "pattern": {"Regex": "(a|a)*$"}, "content": "x"}},
            "a regular expression that could run forever",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Split",
                    "pattern": {"Regex": "x" * 3000},
                    "behavior": "Isolated",
                    "invert": False,
                }
            },
            "could run forever",
        ),
        (
            {
                "pre_tokenizer": {
                    "type": "Sequence",
                    "pretokenizers": [{"type": "Split", "pattern": {"Regex": r"(\w+)+!"}}],
                }
            },
            "could run forever",
        ),
    ],
)
def test_a_file_that_cannot_be_used_is_refused(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    save_tokenizer(kept(), tmp_path)
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(RunError, match=words):
        load_tokenizer(tmp_path)


def test_a_huge_file_is_refused_without_reading_it(tmp_path: Path) -> None:
    save_tokenizer(kept(), tmp_path)
    with (tmp_path / "tokenizer.json").open("wb") as file:
        file.truncate(500_000_000)
    with pytest.raises(RunError, match=r"is 500\.0 MB, larger than"):
        load_tokenizer(tmp_path)
