"""A random subset of the rows of a source, for learning curves: what does a model learn from a hundred labels?"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from seqlab.core.seeds import derive
from seqlab.sources.base import Source
from seqlab.sources.splitting import content_key
from seqlab.sources.views.filtered import MarkedRows

LEFT_OUT, TAKEN = 0, 1


class FewerRows(MarkedRows):
    """The drawn rows. `whole` also has the others, of which only the set of labels is used."""


def undrawn(source: Source) -> Source:
    """The source that rows were drawn from, or the source itself: a label missing from the drawn rows can
    still be the right answer.
    """
    return source.whole if isinstance(source, FewerRows) else source


def fewer_rows(source: Source, count: int, *, seed: int, columns: Sequence[str] = ()) -> Source:
    """`count` rows, those whose content has the smallest hash: a random draw, of which every smaller draw is
    a subset.

    `columns` is what counts as content; all columns when empty. A source with no more rows than that is
    unchanged.
    """
    keys = array(
        "Q",
        (
            content_key(row, list(columns) or source.columns, seed=derive(seed, "fewer rows"))
            for row in source.rows()
        ),
    )
    if len(keys) <= count:
        return source
    marks = bytearray(len(keys))
    for place in sorted(range(len(keys)), key=lambda place: (keys[place], place))[:count]:
        marks[place] = TAKEN
    return FewerRows(source, marks, TAKEN, part=f"{count:,} of {len(keys):,} rows")
