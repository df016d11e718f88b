"""Describe images: a convolutional encoder and a decoder with attention, on built-in drawings of two shapes.

For photographs, pass a table with a column of file names and a column of captions, and
images="photos.zip" (needs `pip install 'seqlab[images]'`).
"""

from __future__ import annotations

import seqlab
from seqlab.datasets.shapes import Shapes


def main(*, data: str = "shapes", steps: int = 900, out: str = "runs/shapes") -> seqlab.Run:
    run = seqlab.train(data, task="captioning", steps=steps, seed=1, out=out, threads=1)

    for score in ("bleu", "exact_match"):
        print(run.results[score].describe())

    rows = [row.values for row, _ in zip(Shapes().splits()["test"].rows(), range(3), strict=False)]
    for row, prediction in zip(rows, run.predict([row["image"] for row in rows], beam=3), strict=True):
        print(f"truth: {row['caption']}\nmodel: {prediction.answer}")
    return run


if __name__ == "__main__":
    main()
