"""Tables of sentences in two languages."""

from __future__ import annotations

from pathlib import Path

from tests.messy.tables import table
from tests.messy.texts import sentence_pairs
from tests.messy.truth import Truth, messy


@messy("phrases.csv")
def named_languages(path: Path) -> Truth:
    """Two languages, columns called by them."""
    path.write_text(table([("english", "german"), *sentence_pairs(200, seed=40)]), encoding="utf-8")
    return Truth("translation", 200, source="english", target="german")


@messy("sentences.tsv")
def unnamed_pairs(path: Path) -> Truth:
    """Tatoeba: two languages and a note about the license, no header."""
    rows = [f"{a}\t{b}\tCC-BY 2.0 (France) #{n}" for n, (a, b) in enumerate(sentence_pairs(180, seed=41))]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return Truth("translation", 180, source="1", target="2", said=("data.header=true",))


@messy("termbase.csv")
def vague_names(path: Path) -> Truth:
    """Two languages with names that do not tell, an id, a few untranslated rows."""
    pairs = sentence_pairs(210, seed=42)
    rows = [(n, a, "" if n in (7, 90, 150) else b) for n, (a, b) in enumerate(pairs)]
    path.write_text(table([("key", "original", "version"), *rows], delimiter=";"), encoding="utf-8")
    return Truth("translation", 207, source="original", target="version", said=("skipped 3 rows",))
