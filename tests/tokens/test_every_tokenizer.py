"""The promises that every kind of tokenizer keeps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from seqlab.core.errors import UsageError
from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS, PAD, SOS, UNK

KINDS = sorted(
    set(tokenizers.names()) - {"hugging_face"}
)  # which is kept as it was published, and never learned: test_hugging_face.py
EXACT = ["bpe", "bytes", "characters", "unigram"]
SPECIALS = [UNK, PAD, SOS, EOS]
TEXTS = [
    "The cat sat on the mat, and the cat's friends didn't.\n\tThey sat\n\n  elsewhere!",
    "Löwen und Kätzchen säßen 1,000.5 Mal (oder öfter) -- dort... 語 🦁",
    "the mat sat on the cat; <pad> and <eos> are only names <here>",
] * 3


def fitted(kind: str, **options: int | bool) -> Tokenizer:
    return tokenizers.get(kind).fit(iter(TEXTS), TokenSettings(size=400, **options), specials=SPECIALS)


def test_the_recipe_offers_exactly_the_kinds_that_exist() -> None:
    for name in ("", *tokenizers.names()):
        assert TokenSettings(kind=name).kind == name


@pytest.mark.spec(22)
@pytest.mark.parametrize("kind", KINDS)
def test_pieces_looked_up_one_by_one_are_the_encoded_text(kind: str) -> None:
    tokenizer = fitted(kind)
    for text in [*TEXTS, "", " ", "never seen ☃ words", "<unk>", "a <pad> b<eos>"]:
        one_by_one = [tokenizer.vocabulary.text_ids[piece] for piece in tokenizer.split(text)]
        assert tokenizer.encode(text).tolist() == one_by_one
        assert tokenizer.encode(text).dtype == np.int32


@pytest.mark.parametrize("kind", KINDS)
def test_every_id_knows_the_word_of_the_text_in_which_it_stands(kind: str) -> None:
    tokenizer = fitted(kind)
    for text in ("the cat saw Zyxxy ☃ on the mat", "", "a <pad> b", "säßen Zyxxy"):
        words = tokenizer.words_at(text)
        assert len(words) == len(tokenizer.encode(text))
        if kind in ("characters", "bytes"):
            assert list(dict.fromkeys(words)) == list(dict.fromkeys(text))
        elif "<" not in text:
            assert list(dict.fromkeys(words)) == list(dict.fromkeys(text.split()))


@pytest.mark.parametrize("kind", EXACT)
def test_text_of_known_characters_comes_back_exactly(kind: str) -> None:
    tokenizer = fitted(kind)
    for text in [*TEXTS, "", "   ", "\n\n\n", " the\n", "mat  mat \t\t."]:
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert tokenizer.join(tokenizer.split(text)) == text


@pytest.mark.parametrize("kind", sorted(set(KINDS) - set(EXACT)))
def test_words_come_back_readable(kind: str) -> None:
    tokenizer = fitted(kind)
    assert tokenizer.decode(tokenizer.encode("the cat sat\non the  mat")) == "the cat sat on the mat"
    assert tokenizer.join(tokenizer.split("the cat sat\non the  mat")) == "the cat sat on the mat"


@pytest.mark.parametrize("kind", KINDS)
def test_several_texts_at_once_are_the_texts_one_by_one(kind: str) -> None:
    tokenizer = fitted(kind)
    texts = ["", *TEXTS, "☃", ""]
    assert [ids.tolist() for ids in tokenizer.encode_many(texts)] == [
        tokenizer.encode(text).tolist() for text in texts
    ]
    assert tokenizer.encode_many([]) == []


@pytest.mark.spec(23)
@pytest.mark.parametrize("kind", KINDS)
def test_special_pieces_have_the_first_ids_in_the_given_order(kind: str) -> None:
    lecture = tokenizers.get(kind).fit(TEXTS, TokenSettings(size=400), specials=[UNK, PAD])
    assert (lecture.vocabulary.id(UNK), lecture.vocabulary.pad_id) == (0, 1)
    by_hand = fitted(kind).vocabulary
    assert [by_hand.id(special) for special in (UNK, PAD, SOS, EOS)] == [0, 1, 2, 3]


@pytest.mark.spec(23)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lowercase", [False, True])
def test_the_name_of_a_special_piece_in_a_text_is_not_special(kind: str, lowercase: bool) -> None:
    tokenizer = fitted(kind, lowercase=lowercase)
    for text in ["<pad>", "x<sos><eos>y", "the <eos> cat <PAD> <Eos>", "<pad><pad>", "<<pad>>"]:
        assert not set(tokenizer.encode(text).tolist()) & {1, 2, 3}, text
    if kind in EXACT and not lowercase:
        assert tokenizer.decode(tokenizer.encode("the <eos> <pad>")) == "the <eos> <pad>"


@pytest.mark.parametrize("kind", KINDS)
def test_special_ids_are_left_out_of_decoded_text(kind: str) -> None:
    tokenizer = fitted(kind)
    ids = tokenizer.encode("the cat").tolist()
    assert tokenizer.decode([2, *ids, 3, 1, 1, 0]) == "the cat"
    assert tokenizer.decode(np.array([1, 1])) == tokenizer.decode([]) == ""
    assert tokenizer.decode(iter(ids)) == "the cat"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("wrong", [-1, 1_000_000])
def test_an_id_outside_the_vocabulary_is_refused(kind: str, wrong: int) -> None:
    tokenizer = fitted(kind)
    with pytest.raises(
        UsageError,
        match=rf"the id {wrong} is not in the vocabulary; ids range from 0 to {len(tokenizer.vocabulary) - 1}",
    ):
        tokenizer.decode([4, wrong])


@pytest.mark.parametrize("kind", KINDS)
def test_lower_casing_makes_upper_and_lower_case_the_same(kind: str) -> None:
    tokenizer = fitted(kind, lowercase=True)
    assert tokenizer.encode("THE Cat SÄSSEN").tolist() == tokenizer.encode("the cat sässen").tolist()
    assert tokenizer.decode(tokenizer.encode("THE CAT")) == "the cat"
    assert fitted(kind).encode("THE").tolist() != fitted(kind).encode("the").tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_fitting_twice_gives_the_same_ids(kind: str) -> None:
    assert fitted(kind).vocabulary.pieces == fitted(kind).vocabulary.pieces


@pytest.mark.parametrize("kind", KINDS)
def test_half_a_surrogate_pair_is_no_disaster(kind: str, tmp_path: Path) -> None:
    broken = "a\ud800b \udc00 the"
    tokenizer = tokenizers.get(kind).fit([broken, "the a b"], TokenSettings(), specials=SPECIALS)
    assert isinstance(tokenizer.decode(tokenizer.encode(broken)), str)
    save_tokenizer(tokenizer, tmp_path)
    assert load_tokenizer(tmp_path).vocabulary.pieces == tokenizer.vocabulary.pieces


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("texts", [[], [""], ["a"]])
def test_almost_nothing_to_learn_from_is_enough(kind: str, texts: list[str], tmp_path: Path) -> None:
    tokenizer = tokenizers.get(kind).fit(texts, TokenSettings(), specials=SPECIALS)
    save_tokenizer(tokenizer, tmp_path)
    assert load_tokenizer(tmp_path).encode("a b").tolist() == tokenizer.encode("a b").tolist()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("lowercase", [False, True])
def test_a_saved_tokenizer_is_the_same_tokenizer(kind: str, lowercase: bool, tmp_path: Path) -> None:
    tokenizer = fitted(kind, lowercase=lowercase)
    save_tokenizer(tokenizer, tmp_path / "run" / "tokens")
    again = load_tokenizer(tmp_path / "run" / "tokens")
    assert type(again) is type(tokenizer)
    assert again.vocabulary.pieces == tokenizer.vocabulary.pieces
    assert again.vocabulary.specials == SPECIALS
    for text in [*TEXTS, "<pad>", "Never Seen ☃"]:
        assert again.encode(text).tolist() == tokenizer.encode(text).tolist()
        assert again.split(text) == tokenizer.split(text)
        assert again.decode(again.encode(text)) == tokenizer.decode(tokenizer.encode(text))


@pytest.mark.parametrize("kind", KINDS)
def test_fitting_reads_its_texts_once_and_one_at_a_time(kind: str) -> None:
    stream = (text for text in TEXTS)
    tokenizer = tokenizers.get(kind).fit(stream, TokenSettings(size=400), specials=SPECIALS)
    assert tokenizer.vocabulary.pieces == fitted(kind).vocabulary.pieces


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"bytes"}))
def test_the_size_is_kept(kind: str) -> None:
    text = " ".join(f"word{number} and {number * 7919}" for number in range(300))
    for size in (270, 300):
        tokenizer = tokenizers.get(kind).fit([text] * 3, TokenSettings(size=size), specials=SPECIALS)
        assert len(tokenizer.vocabulary) <= size + len(SPECIALS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_long_text_has_the_same_ids_as_its_lines(kind: str) -> None:
    tokenizer = fitted(kind)
    lines = [f"the cat{'s' * (number % 7)} sat on mat {number}.\n" for number in range(100)]
    expected = np.concatenate(tokenizer.encode_many(lines))
    np.testing.assert_array_equal(tokenizer.encode("".join(lines) * 120), np.tile(expected, 120))
