"""seqlab words: looking at word vectors, those of a run or of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json, quoted, say, suggest
from seqlab.core.errors import UsageError
from seqlab.pages.numbers import count_of

if TYPE_CHECKING:
    from seqlab.tokens.word_vectors import WordVectors

EXAMPLES = """\b
Examples:
  seqlab words glove.6B.100d.txt.gz king river
  seqlab words runs/reviews-lstm --analogy man woman uncle
  seqlab words runs/reviews-lstm --map words.html
  seqlab words book.txt --learn book.vec
  seqlab words book.vec --questions questions-words.txt
"""
SHOWN = 12


def words(
    what: Annotated[
        str,
        typer.Argument(
            help="A run, or a file of word vectors: text (.vec, .txt) or binary (.bin), also packed.",
            metavar="WHAT",
        ),
    ],
    asked: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="Words whose nearest words are shown.")
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="How many words to show for each question.")] = 10,
    analogy: Annotated[
        tuple[str, str, str] | None,
        typer.Option("--analogy", help="A is to B as C is to …: answered by B - A + C.", metavar="A B C"),
    ] = None,
    multiply: Annotated[
        bool,
        typer.Option(
            "--multiply", help="Analogies by products of cosines (3CosMul) instead of sums (3CosAdd)."
        ),
    ] = False,
    questions: Annotated[
        str,
        typer.Option(
            help="A file of analogies with sections, as word2vec has one: scored section by section."
        ),
    ] = "",
    map_page: Annotated[
        str,
        typer.Option(
            "--map",
            help="Write a page with a map: the WORDs and what is near them, or the first 300.",
            metavar="OUT.html",
        ),
    ] = "",
    learn: Annotated[
        str,
        typer.Option(
            help="WHAT is a text: learn vectors from it by counting, and write them here.", metavar="OUT.vec"
        ),
    ] = "",
    twins: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--twins",
            help="Two texts of the same words: how far apart are they for this run?",
            metavar="ONE OTHER",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
) -> None:
    """Look at word vectors: nearest words, analogies, a map; or learn some from a text."""
    _check_options(multiply=multiply, has_analogies=bool(analogy or questions), map_page=map_page)
    if twins:
        return _twins(what, twins, as_json=as_json)
    table = _learn(what, learn) if learn else _open(what)
    name = learn or what
    results: dict[str, Any] = {"what": name, "words": len(table), "width": table.width}
    results |= _near(table, asked, top) if asked else {}
    results |= _analogy(table, analogy, multiply, top) if analogy else {}
    results |= _questions(table, questions, multiply) if questions else {}
    results |= _map(table, asked or [], map_page, name) if map_page else {}
    if as_json:
        return answer_json(results)
    return _show(results, table, name)


def _check_options(*, multiply: bool, has_analogies: bool, map_page: str) -> None:
    if multiply and not has_analogies:
        raise UsageError(
            "--multiply belongs to --analogy or --questions.", cure="Add one of them, or leave it out."
        )
    if map_page and not map_page.endswith(".html"):
        raise UsageError(
            f"--map {map_page} is not called NAME.html.", cure="The map is a page: --map words.html"
        )


def _open(what: str) -> WordVectors:
    if Path(what).is_file():
        from seqlab.tokens.vector_files import read_word_vectors

        return read_word_vectors(what)
    from seqlab.inspection.embedding_table import read_embedding_table
    from seqlab.runs.run import Run

    return read_embedding_table(Run.load(what))


def _learn(what: str, out: str) -> WordVectors:
    from seqlab.baselines.counted_vectors import fit_count_vectors
    from seqlab.interop.write_vectors import write_word_vectors
    from seqlab.sources.formats.text_file import TextFile
    from seqlab.sources.settings import DataSettings
    from seqlab.tokens.words import Words

    say(f"counting the words of {what}")
    lines = TextFile(Path(what), DataSettings()).rows()
    table = fit_count_vectors(Words.words_of(line.values["text"]) for line in lines)
    write_word_vectors(table, Path(out), header=True)
    say(f"{count_of(len(table), 'word')}: {out}")
    return table


def _near(table: WordVectors, asked: list[str], top: int) -> dict[str, Any]:
    from seqlab.inspection.nearest_words import nearest_words

    return {"near": {word: nearest_words(table, word, top=top) for word in asked}}


def _analogy(table: WordVectors, words: tuple[str, str, str], multiply: bool, top: int) -> dict[str, Any]:
    from seqlab.inspection.analogies import solve_analogy

    return {
        "analogy": list(words),
        "answers": solve_analogy(table, *words, method="multiply" if multiply else "add", top=top),
    }


def _questions(table: WordVectors, path: str, multiply: bool) -> dict[str, Any]:
    from dataclasses import asdict

    from seqlab.inspection.analogies import read_questions, score_analogies, total_score

    scores = score_analogies(table, read_questions(path), method="multiply" if multiply else "add")
    return {
        "sections": [
            asdict(score) | {"accuracy": score.accuracy, "baseline": score.baseline}
            for score in [*scores, total_score(scores)]
        ]
    }


def _map(table: WordVectors, asked: list[str], path: str, name: str) -> dict[str, Any]:
    from seqlab.inspection.embedding_map import build_embedding_map, write_embedding_map

    plane = build_embedding_map(table, asked, num_neighbors=SHOWN)
    return {
        "map": str(write_embedding_map(plane, path, subtitle=name)),
        "points": [[word.word, word.x, word.y] for word in plane.words],
    }


def _twins(what: str, texts: tuple[str, str], *, as_json: bool) -> None:
    from seqlab.inspection.order_sensitivity import order_distance
    from seqlab.runs.run import Run

    distance = order_distance(Run.load(what), *texts)
    if as_json:
        return answer_json(
            {
                "run": what,
                "texts": list(texts),
                "distance": distance.distance,
                "relative": distance.relative,
                "same": distance.is_same,
            }
        )
    answer(f"distance {distance.distance:.4g}, {distance.relative:.1%} of the length of their vectors")
    answer("to this network they are the same" if distance.is_same else "this network tells them apart")
    return suggest(
        [f"seqlab predict {quoted(what)} {quoted(texts[0])} {quoted(texts[1])}", "seqlab study twins"]
    )


def _show(results: dict[str, Any], table: WordVectors, name: str) -> None:
    nothing_asked = not results.keys() & {"near", "answers", "sections", "map"}
    if nothing_asked:
        answer(
            f"{len(table):,} words with vectors of {table.width} numbers: {', '.join(table.words[:SHOWN])} …"
        )
    for word, near in results.get("near", {}).items():
        answer(word)
        _list(near)
    if "answers" in results:
        a, b, c = results["analogy"]
        answer(f"{a} is to {b} as {c} is to …")
        _list(results["answers"])
    if "sections" in results:
        _show_sections(results["sections"])
    if "map" in results:
        answer(f"map: {results['map']} ({count_of(len(results['points']), 'word')})")
    some = next((word for word in table.words if len(word) > 3 and word.isalpha()), table.words[-1])
    return suggest(
        [f"seqlab words {quoted(name)} {quoted(some)}", f"seqlab words {quoted(name)} --map words.html"]
    )


def _list(near: list[tuple[str, float]]) -> None:
    for word, score in near:
        answer(f"  {score:7.4f}  {word}")


def _show_sections(sections: list[dict[str, Any]]) -> None:
    width = max(len("section"), *(len(section["section"]) for section in sections))
    answer(f"{'section':<{width}}  accuracy  nearest to c  covered of questions")
    for section in sections:
        numbers = (
            f"{section['accuracy']:8.3f}  {section['baseline']:12.3f}"
            if section["covered"]
            else f"{'-':>8}  {'-':>12}"
        )
        answer(
            f"{section['section']:<{width}}  {numbers}  {section['covered']:>7,} of {section['questions']:,}"
        )
