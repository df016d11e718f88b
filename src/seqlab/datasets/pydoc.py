"""The reference topics of Python's own help, as text for a language model.

`pydoc_data.topics` belongs to the standard library, so the text differs a little between Python versions.
Topics repeat one another's paragraphs; only the first copy of each is kept, since a test text that was also
trained on proves nothing.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from seqlab.datasets.base import SEED, BuiltInDataset, datasets, shuffle_key, to_sources
from seqlab.sources.base import Source
from seqlab.sources.in_memory import InMemoryText
from seqlab.sources.splitting import hold_out

MIN_UNIQUE_LENGTH = 40  # paragraphs shorter than this may repeat: headings, "For example:"


@datasets.register("pydoc")
class Pydoc(BuiltInDataset):
    """English with code in it, about 380,000 characters."""

    name = "pydoc"
    description = "The reference topics of Python's own help (differs slightly between Python versions)."
    task = "language_model"
    settings = {"data.text": "text"}  # noqa: RUF012 (declared ClassVar in the base)

    def splits(self) -> dict[str, Source]:
        return to_sources(
            hold_out(
                InMemoryText("pydoc", read_topics()), how="tail", valid_share=0.1, test_share=0.1, seed=SEED
            )
        )


@cache
def read_topics() -> str:
    """All topics, one after the other, shuffled by a hash of their names, so that the end is not
    all about one subject.
    """
    topics: dict[str, str] = import_module("pydoc_data.topics").topics
    seen: set[str] = set()
    kept = []
    for name in sorted(topics, key=shuffle_key):
        for paragraph in topics[name].strip("\n").split("\n\n"):
            words = " ".join(paragraph.split())
            if words and (len(words) < MIN_UNIQUE_LENGTH or words not in seen):
                kept.append(paragraph.strip("\n"))
            seen.add(words)
    return "\n\n".join(kept) + "\n"
