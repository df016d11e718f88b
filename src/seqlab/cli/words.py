"""seqlab words: explore word vectors of a run or of a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seqlab.cli.console import answer, answer_json, quoted, say, suggest
from seqlab.cli.options import AsJson
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
            metavar="RUN|FILE",
            help="A run, or a file of word vectors: text (.vec, .txt) or binary (.bin), may be compressed.",
        ),
    ],
    asked: Annotated[
        list[str] | None, typer.Argument(metavar="WORD", help="Words whose nearest neighbors to show.")
    ] = None,
    top: Annotated[int, typer.Option(metavar="NUMBER", min=1, help="Number of answers per question.")] = 10,
    analogy: Annotated[
        tuple[str, str, str] | None,
        typer.Option("--analogy", help="Solve A is to B as C is to ?, by B - A + C.", metavar="A B C"),
    ] = None,
    multiply: Annotated[
        bool,
        typer.Option(
            "--multiply", help="Solve analogies by products of cosines (3CosMul) instead of sums (3CosAdd)."
        ),
    ] = False,
    questions: Annotated[
        str,
        typer.Option(
            metavar="FILE", help="Score a file of analogies in word2vec's format, section by section."
        ),
    ] = "",
    map_page: Annotated[
        str,
        typer.Option(
            "--map",
            help="Write a 2-D map of each WORD and its neighbors, or of the first 300 words.",
            metavar="OUT.html",
        ),
    ] = "",
    learn: Annotated[
        str,
        typer.Option(
            help="Learn vectors from the text in FILE by counting word pairs, and write them to OUT.vec.",
            metavar="OUT.vec",
        ),
    ] = "",
    word_order: Annotated[
        tuple[str, str] | None,
        typer.Option(
            "--word-order",
            help="Distance between two texts with the same words in another order, as the run encodes them.",
            metavar="TEXT TEXT",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Explore word vectors: nearest neighbors, analogies, a map."""
    _check_options(multiply=multiply, has_analogies=bool(analogy or questions), map_page=map_page)
    if word_order:
        return _word_order(what, word_order, as_json=as_json)
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
            "--multiply applies only to --analogy and --questions.",
            cure="Add one of them, or leave out --multiply.",
        )
    if map_page and not map_page.endswith(".html"):
        raise UsageError(
            f"--map {map_page} does not end in .html.", cure="The map is an HTML page: --map words.html"
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

    say(f"counting words in {what}")
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


def _word_order(what: str, texts: tuple[str, str], *, as_json: bool) -> None:
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
    answer(f"distance {distance.distance:.4g}, {distance.relative:.1%} of the norm of the vectors")
    answer(
        "the network does not distinguish the two texts"
        if distance.is_same
        else "the network distinguishes the two texts"
    )
    return suggest(
        [f"seqlab predict {quoted(what)} {quoted(texts[0])} {quoted(texts[1])}", "seqlab study word_order"]
    )


def _show(results: dict[str, Any], table: WordVectors, name: str) -> None:
    nothing_asked = not results.keys() & {"near", "answers", "sections", "map"}
    if nothing_asked:
        answer(f"{len(table):,} words, {table.width} dimensions: {', '.join(table.words[:SHOWN])} …")
    for word, near in results.get("near", {}).items():
        answer(word)
        _list(near)
    if "answers" in results:
        a, b, c = results["analogy"]
        answer(f"{a} is to {b} as {c} is to:")
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
        answer(f"  {score:7.4f}  {word if word.strip() else repr(word)}")


def _show_sections(sections: list[dict[str, Any]]) -> None:
    width = max(len("section"), *(len(section["section"]) for section in sections))
    answer(f"{'section':<{width}}  accuracy  nearest to c  answered")
    for section in sections:
        numbers = (
            f"{section['accuracy']:8.3f}  {section['baseline']:12.3f}"
            if section["covered"]
            else f"{'-':>8}  {'-':>12}"
        )
        answer(
            f"{section['section']:<{width}}  {numbers}  {section['covered']:,} of {section['questions']:,}"
        )
