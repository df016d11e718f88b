"""Predict several labels at once from a table in memory: which topics a support ticket is about.

A ticket has any number of topics, also none. A file works the same way: labels in one cell, separated by `|`.
"""

from __future__ import annotations

import random

import seqlab

WORDS = {
    "billing": ("invoice", "refund", "charged twice"),
    "login": ("password", "locked out", "two-factor code"),
    "shipping": ("parcel", "late delivery", "tracking number"),
}


def write_tickets(num_rows: int, seed: int = 0) -> list[dict[str, object]]:
    """Tickets that mention some topics, in any order."""
    draw = random.Random(seed)
    rows: list[dict[str, object]] = []
    for number in range(num_rows):
        topics = draw.sample(list(WORDS), k=draw.randint(0, len(WORDS)))
        mentions = [draw.choice(WORDS[topic]) for topic in topics]
        rows.append({"text": f"ticket {number}: hello, {', '.join(mentions)} thanks", "topics": topics})
    return rows


def main(*, num_rows: int = 2000, steps: int = 300, out: str = "runs/tickets") -> seqlab.Run:
    tickets = write_tickets(num_rows)
    run = seqlab.train(
        tickets,
        task="multi_label",
        text="text",
        label="topics",
        steps=steps,
        seed=1,
        out=out,
        threads=1,
    )
    print(run.results["micro_f1"].describe())

    for prediction in run.predict(["my refund and my password", "hello"]):
        print(f"{prediction.input}: {prediction.answer}")
    return run


if __name__ == "__main__":
    main()
