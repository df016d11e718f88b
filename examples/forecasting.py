"""Forecast a week of sales with bands, from a table in memory.

Rows are dicts here; a DataFrame or a CSV file works the same way. `known` columns, such as holidays, are given for the
days to forecast too: rows whose target is empty.
"""

from __future__ import annotations

import random
from datetime import date, timedelta

import seqlab

WEEK = (20.0, 22.0, 21.0, 25.0, 34.0, 48.0, 10.0)
"""Sales of an ordinary week, from Monday on."""
OFFER = 15.0
"""How many more are sold on a day with an offer."""


def sell(num_days: int, seed: int = 0) -> list[dict[str, object]]:
    """A row for every day from Monday 2024-01-01 on, with noise; every tenth day or so has an offer."""
    draw = random.Random(seed)
    rows: list[dict[str, object]] = []
    for day in range(num_days):
        offer = int(draw.random() < 0.1)
        sold = WEEK[day % 7] + OFFER * offer + draw.gauss(0, 1)
        rows.append({"day": str(date(2024, 1, 1) + timedelta(day)), "offer": offer, "sold": round(sold, 1)})
    return rows


def main(*, num_days: int = 730, steps: int = 300, out: str = "runs/sales") -> seqlab.Run:
    sales = sell(num_days + 7)
    history, coming = sales[:num_days], sales[num_days:]
    run = seqlab.train(
        history,
        "data.time=day",
        "data.target=sold",
        "data.known=offer",
        "data.horizon=7",
        "model.hidden_size=32",
        "training.learning_rate=0.01",
        task="forecasting",
        model="gru",
        steps=steps,
        seed=1,
        out=out,
        threads=1,
    )
    scores = run.results
    print(
        f"MAE {scores['mae'].value:.2f}, MASE {scores['mase'].value:.2f} (1: as good as repeating the last week)"
    )

    (forecast,) = run.predict([*history, *({**row, "sold": ""} for row in coming)])
    for step, row in zip(forecast.steps(), coming, strict=True):
        low, high = step.quantiles["0.1"], step.quantiles["0.9"]
        print(f"{step.time}: {step.median:.1f} (80%: {low:.1f} to {high:.1f}), came {row['sold']}")
    return run


if __name__ == "__main__":
    main()
