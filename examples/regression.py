"""Predict a number from a table in memory: the price of a flat from its description.

Rows are dicts here; a pandas or polars DataFrame, a CSV file or a Hugging Face dataset works the same way. For
several labels per row, put lists into the label column and set task="multi_label".
"""

from __future__ import annotations

import random

import seqlab

EXTRAS = {"garden": 45.0, "balcony": 20.0, "elevator": 10.0, "basement": -15.0, "busy road": -30.0}


def describe_flats(num_rows: int, seed: int = 0) -> list[dict[str, object]]:
    """Descriptions and prices in thousands, with noise."""
    draw = random.Random(seed)
    rows: list[dict[str, object]] = []
    for _ in range(num_rows):
        rooms = draw.randint(1, 6)
        extras = draw.sample(list(EXTRAS), k=draw.randint(0, 3))
        price = 60.0 * rooms + sum(EXTRAS[extra] for extra in extras) + draw.gauss(0, 5)
        rows.append({"text": ", ".join([f"{rooms} rooms", *extras]), "price": round(price, 1)})
    return rows


def main(*, num_rows: int = 3000, steps: int = 500, out: str = "runs/flats") -> seqlab.Run:
    flats = describe_flats(num_rows)
    run = seqlab.train(
        flats,
        task="regression",
        model="gru",
        text="text",
        label="price",
        steps=steps,
        seed=1,
        out=out,
        threads=1,
    )
    print(f"R² {run.results['r_squared'].value:.3f}, MAE {run.results['mae'].value:.1f} thousand")

    for prediction in run.predict(["2 rooms, garden", "5 rooms, busy road"]):
        low, high = (bound for bound, _ in prediction.ranking)
        print(f"{prediction.input}: {prediction.answer} (90% of prices: {low} to {high})")
    return run


if __name__ == "__main__":
    main()
