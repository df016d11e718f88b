"""The road from a file to ids and back, one stage at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.tokens.base import tokenizers
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.vocabulary import PAD, UNK, Vocabulary


@pytest.mark.spec(21)
@pytest.mark.parametrize("kind", sorted(set(tokenizers.names()) - {"hugging_face"}))
def test_every_stage_can_be_called_and_undone_by_itself(kind: str, tmp_path: Path) -> None:
    file = tmp_path / "lines.txt"
    lines = ["the students opened their books", "the books opened their minds"]
    file.write_text("\n".join(lines), encoding="utf-8")

    texts = file.read_text(encoding="utf-8").split("\n")  # load
    assert texts == lines
    tokenizer = tokenizers.get(kind).fit(texts, TokenSettings(kind=kind, size=300), specials=[UNK, PAD])
    for text in texts:
        pieces = tokenizer.split(text)  # tokenise
        assert tokenizer.join(pieces) == text
        vocabulary = Vocabulary(tokenizer.vocabulary.pieces[2:], specials=[UNK, PAD])  # vocabulary, by itself
        ids = [vocabulary.id(piece) for piece in pieces]  # ids
        assert [vocabulary.pieces[place] for place in ids] == pieces
        assert tokenizer.encode(text).tolist() == ids
        assert tokenizer.decode(ids) == text  # and back
