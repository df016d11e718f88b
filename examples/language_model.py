"""Train a character language model, let it write, and score texts with it.

`data` may be any text file.
"""

from __future__ import annotations

import seqlab


def main(
    *, data: str = "pydoc", steps: int = 600, hidden_size: int = 256, out: str = "runs/pydoc"
) -> seqlab.Run:
    run = seqlab.train(
        data,
        task="language_model",
        model={"kind": "recurrent", "cell": "lstm", "hidden_size": hidden_size},
        steps=steps,
        seed=1,
        out=out,
        threads=1,
    )
    print(run.results["nats_per_token"].describe())

    print(run.generate("The object ", max_tokens=120, temperature=0.7, seed=3))

    for score in run.score(["the function returns a list", "list a returns function the", "xq zkp wvth"]):
        print(f"perplexity {score.perplexity:10.1f}  {score.text}")
    return run


if __name__ == "__main__":
    main()
