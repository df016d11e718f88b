"""Fine-tune pretrained weights: import a BERT folder as `transformers` saves it, then train a classifier on it.

Pass the folder of a model that you downloaded, such as bert-base-uncased. Without one, a tiny BERT with random
weights is written with `transformers`, so that the script runs offline; it shows the steps, not the benefit.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path

import seqlab
from seqlab.interop.import_model import import_published_model

SUBJECTS = ["the film", "this story", "the acting", "the music", "the plot", "every scene"]
WORDS = {"positive": ["great", "wonderful", "moving"], "negative": ["terrible", "boring", "awful"]}


def write_reviews() -> list[dict[str, str]]:
    return [
        {"text": f"{subject} {verb} {adverb} {word}", "label": label}
        for label, words in WORDS.items()
        for subject, verb, adverb, word in product(SUBJECTS, ("is", "was"), ("truly", "just", "so"), words)
    ]


def write_tiny_bert(folder: Path) -> Path:
    """A BERT of two small layers, with a vocabulary of whole words."""
    from transformers import BertConfig, BertForMaskedLM

    words = sorted({word for row in write_reviews() for word in row["text"].split()})
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words]
    (folder / "vocab.txt").write_text("\n".join(vocabulary), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=32,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    return folder


def main(
    *, folder: str = "", steps: int = 150, out: str = "runs/fine-tuned"
) -> tuple[seqlab.Run, seqlab.Run]:
    published = Path(folder) if folder else write_tiny_bert(Path(f"{out}-tiny-bert"))
    pretrained = import_published_model(published, out=f"{out}-imported")
    print(f"imported {pretrained.num_parameters:,} parameters")

    run = seqlab.train(
        write_reviews(),
        task="classification",
        start=pretrained.folder,
        steps=steps,
        learning_rate=1e-3,
        seed=1,
        out=out,
        threads=1,
    )
    print(f"test accuracy {run.results['accuracy'].value:.3f}")
    for prediction in run.predict(["the music is so moving", "every scene was just awful"]):
        print(f"{prediction.input}: {prediction.answer} ({prediction.probability:.2f})")
    return pretrained, run


if __name__ == "__main__":
    main()
