"""Translate with an encoder-decoder: English number words to digits, decoded greedily and with a beam.

`data` may be a TSV file with a source and a target column, or two files such as corpus.en and corpus.de.
"""

from __future__ import annotations

import seqlab


def main(
    *, data: str = "numbers", steps: int = 1000, hidden_size: int = 128, out: str = "runs/numbers"
) -> tuple[seqlab.Run, list[float]]:
    """The run, and the log-probabilities of greedy decoding and of the beam's best."""
    model = {"kind": "recurrent", "cell": "gru", "hidden_size": hidden_size}
    run = seqlab.train(data, task="translation", model=model, steps=steps, seed=1, out=out, threads=1)

    print(run.results["exact_match"].describe())

    text = "seventy-two"
    (greedy,) = run.predict([text])
    (beam,) = run.predict([text], beam=5, n_best=3, top=3)
    print(f"greedy: {greedy.answer}")
    for hypothesis in beam.hypotheses:
        print(f"beam:   {hypothesis.text}  log P {hypothesis.log_prob:.3f}")

    (given,) = run.score([(text, "72")])  # the log-probability of a given translation
    print(f"log P of 72: {-given.nats:.3f}")
    return run, [greedy.hypotheses[0].log_prob, max(hypothesis.log_prob for hypothesis in beam.hypotheses)]


if __name__ == "__main__":
    main()
