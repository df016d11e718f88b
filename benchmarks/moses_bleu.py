"""BLEU as papers on Multi30k report it: lowercased, normalized punctuation, Moses tokens, no smoothing.

    python -m benchmarks.moses_bleu OUTPUTS REFERENCES [--language de]

Two text files, plain or compressed, with one sentence per line: what `seqlab predict RUN < sources` wrote, and the
references. Multi30k's own `lc.norm.tok` files were made by the same three steps. Needs sacremoses (pip
install -c constraints.txt sacremoses). sacrebleu's score of the raw texts is printed next to it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sacremoses import MosesPunctNormalizer, MosesTokenizer

from seqlab.metrics.translation_scores import sacrebleu_score
from seqlab.sources.files.compression import open_binary


def lines_of(path: Path) -> list[str]:
    with open_binary(path) as stream:
        return stream.read().decode("utf-8").removesuffix("\n").split("\n")


def cut(texts: list[str], language: str) -> list[str]:
    """lowercase.perl | normalize-punctuation.perl | tokenizer.perl"""
    normalizer, tokenizer = MosesPunctNormalizer(lang=language), MosesTokenizer(lang=language)
    return [tokenizer.tokenize(normalizer.normalize(text.lower()), return_str=True) for text in texts]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("outputs", type=Path)
    parser.add_argument("references", type=Path)
    parser.add_argument("--language", default="de")
    chosen = parser.parse_args(arguments)
    outputs, references = lines_of(chosen.outputs), lines_of(chosen.references)
    ways = {
        "bleu_tokens_lower": lambda texts: cut(texts, chosen.language),
        "bleu": list,
        "bleu_lower": list,
        "chrf": list,
    }
    for kind, prepare in ways.items():
        found = sacrebleu_score(kind, prepare(outputs), [[reference] for reference in prepare(references)])
        print(f"{kind:<18} {found.score().value:.2f}   {found.method}")


if __name__ == "__main__":
    main(sys.argv[1:])
