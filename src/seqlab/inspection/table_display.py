"""The display in a notebook of whatever has a `table`."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.pages.notebook import sentences_and_table

MAX_ROWS = 30


class TableDisplay:
    """Shows the first rows of `table()` in a notebook, below the sentences."""

    def table(self) -> list[dict[str, float]]:
        raise NotImplementedError

    def display_sentences(self) -> Sequence[str]:
        """What the numbers say as a whole."""
        return ()

    def _repr_html_(self) -> str:
        rows = self.table()
        more = [f"the first {MAX_ROWS} of {len(rows):,} rows"] if len(rows) > MAX_ROWS else []
        return sentences_and_table(type(self).__name__, [*self.display_sentences(), *more], rows[:MAX_ROWS])
