"""Pretrain a masked language model on plain text, fill gaps with it, then fine-tune it for classification."""

from __future__ import annotations

import seqlab


def main(
    *,
    text: str = "pydoc",
    data: str = "languages",
    steps: int = 400,
    hidden_size: int = 96,
    out: str = "runs/masked",
) -> tuple[seqlab.Run, seqlab.Run]:
    pretrained = seqlab.train(
        text,
        "tokens.kind=characters",
        f"model.hidden_size={hidden_size}",
        task="masked_language_model",
        model="transformer",
        learning_rate=2e-3,
        steps=steps,
        seed=1,
        out=out,
        threads=1,
    )
    print(pretrained.results["accuracy"].describe())  # of masked tokens, next to a baseline
    for prediction in pretrained.predict(["the f[MASK]nction returns"], top=3):
        print(f"{prediction.input}: {prediction.ranking}")

    tuned = seqlab.train(
        data, start=out, task="classification", steps=steps, seed=1, out=f"{out}-tuned", threads=1
    )
    print(tuned.results["accuracy"].describe())
    return pretrained, tuned


if __name__ == "__main__":
    main()
