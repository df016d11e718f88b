"""Classify text: train on a built-in dataset, read the score, classify new names, reload the run.

`data` may also be a file of yours with a text and a label column, or a table in memory.
"""

from __future__ import annotations

import seqlab


def main(*, data: str = "languages", steps: int = 600, out: str = "runs/languages") -> seqlab.Run:
    run = seqlab.train(data, task="classification", steps=steps, seed=1, out=out, threads=1)

    print(run.results["accuracy"].describe())  # with a 95% CI, next to a baseline

    names = ["Ausländische Währungen", "République tchèque", "Åland"]
    for prediction in run.predict(names, top=2):
        print(f"{prediction.input}: {prediction.answer} ({prediction.probability:.2f})")

    again = seqlab.load(out)  # every file is verified
    assert again.predict(names)[0].answer == run.predict(names)[0].answer
    return run


if __name__ == "__main__":
    main()
