"""Tag every word: restore punctuation and capitals in lowercase text.

The same call trains a part-of-speech tagger on a .conllu file, or a named-entity tagger on a file with one word
and one tag per line.
"""

from __future__ import annotations

import seqlab


def main(*, data: str = "punctuation", steps: int = 400, out: str = "runs/punctuation") -> seqlab.Run:
    run = seqlab.train(data, task="tagging", steps=steps, seed=1, out=out, threads=1)

    print(run.results["accuracy"].describe())

    sentence = "if the value is none the function returns an empty list"
    (prediction,) = run.predict([sentence])
    for word, tag in zip(prediction.to_json()["words"], prediction.to_json()["tags"], strict=True):
        print(f"{word:10} {tag}")
    return run


if __name__ == "__main__":
    main()
