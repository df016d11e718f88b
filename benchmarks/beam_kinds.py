"""Scores and cost of the three kinds of beam search, on random tables from flat to peaked.

    python -m benchmarks.beam_kinds

Every table gives random logits to every prefix; after four tokens the end becomes likelier. Printed for each spread of
the logits and each length penalty: the mean of the best scores, and how many rows the model had to compute.
"""

from __future__ import annotations

import sys

from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.beam_policy import BeamPolicy, OpenBeam, SharedBeam, ThoroughBeam
from seqlab.decoding.length_normalization import PowerLengthPenalty
from seqlab.decoding.search import SourceBatch
from tests.decoding.tables_to_try import END, SYMBOLS, TableTranslator, Tokens, batch

SOURCES: list[Tokens] = [(1, 2, 3), (2,), (3, 1), (1, 1)]
POLICIES: dict[str, BeamPolicy] = {"open": OpenBeam(), "thorough": ThoroughBeam(), "shared": SharedBeam()}
NUM_TABLES, VOCABULARY, BEAM, MAX_TOKENS = 12, 8, 5, 25


def build_table(seed: int, spread: float) -> TableTranslator:
    """A table in which a target of more than four tokens soon ends."""
    model = TableTranslator(VOCABULARY, seed, spread=spread)
    plain = model.row

    def row(kind: str, source: Tokens, written: Tokens, size: int):  # type: ignore[no-untyped-def]
        logits = plain(kind, source, written, size).clone()
        if len(written) >= 4:
            logits[END] += 2.0
        return logits

    model.row = row  # type: ignore[method-assign]
    return model


def measure(policy: BeamPolicy, num_tables: int, *, spread: float, alpha: float) -> tuple[float, int]:
    """The mean of the best scores, and the number of computed rows."""
    search = BeamSearch(
        SYMBOLS,
        beam_size=BEAM,
        max_tokens=MAX_TOKENS,
        length_penalty=PowerLengthPenalty(alpha),
        policy=policy,
    )
    scores, rows = [], 0
    for seed in range(num_tables):
        model = build_table(seed, spread)
        found = search.run(model, SourceBatch.from_tokens(*batch(SOURCES)))
        scores += [targets[0].score for targets in found]
        rows += sum(model.batches)
    return sum(scores) / len(scores), rows


def main(arguments: list[str]) -> None:
    num_tables = int(arguments[0]) if arguments else NUM_TABLES
    print("| logits | penalty | " + " | ".join(f"{name}: score, rows" for name in POLICIES) + " |")
    print("|---" * (2 + len(POLICIES)) + "|")
    for name, spread in {"flat (0.5)": 0.5, "usual (1.5)": 1.5, "peaked (4)": 4.0}.items():
        for alpha in (0.0, 0.6, 1.0, 2.0):
            cells = [measure(policy, num_tables, spread=spread, alpha=alpha) for policy in POLICIES.values()]
            print(
                f"| {name} | {alpha:g} | "
                + " | ".join(f"{score:.4f}, {rows:,}" for score, rows in cells)
                + " |"
            )


if __name__ == "__main__":
    main(sys.argv[1:])
