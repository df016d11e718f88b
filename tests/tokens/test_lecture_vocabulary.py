"""The lecture's vocabulary on the real reviews."""

from __future__ import annotations

import json
import lzma
import random
from collections import Counter
from pathlib import Path

import pytest

from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.vocabulary import PAD, UNK
from seqlab.tokens.words import Words

REVIEWS = Path(__file__).parents[2].parent / "shared" / "data" / "imdb" / "train.jsonl.xz"


@pytest.mark.long
@pytest.mark.spec(23, 24)
@pytest.mark.skipif(not REVIEWS.exists(), reason="the IMDB reviews are not here")
def test_the_top_50000_words_of_a_random_training_split() -> None:
    with lzma.open(REVIEWS, "rt", encoding="utf-8") as file:
        texts = [str(json.loads(line)["text"]) for line in file]
    assert len(texts) == 25_000
    random.Random(0).shuffle(texts)
    train, held_out = texts[:22_500], texts[22_500:]

    tokenizer = Words.fit(iter(train), TokenSettings(size=50_000, lowercase=True), specials=[UNK, PAD])
    known = tokenizer.vocabulary
    assert len(known) == 50_002
    assert (known.ids[UNK], known.ids[PAD]) == (0, 1)

    counts = Counter(word for text in train for word in tokenizer.split(text))
    in_order = [counts[word] for word in known.pieces[2:]]
    assert in_order == sorted(in_order, reverse=True)
    assert in_order[-1] >= max(count for word, count in counts.items() if word not in known.ids)

    only_held_out = {word for text in held_out for word in tokenizer.split(text)} - counts.keys()
    assert only_held_out
    assert all(known.id(word) == 0 for word in only_held_out)

    # The lecture found 'he' at 27 and 'what' at 48; its split and its word cutter were others.
    assert 20 <= known.id("he") <= 40
    assert 40 <= known.id("what") <= 70
