"""seqlab predict --score: log-probabilities of texts (language model) or targets (translation), as lines, JSON
or a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.cli.console import answer, answer_json, quoted, say
from seqlab.cli.inputs import available_chunks
from seqlab.core.errors import EnvironmentProblem
from seqlab.pages.numbers import count_of
from seqlab.tasks.excerpt import one_line

if TYPE_CHECKING:
    from seqlab.metrics.text_likelihood import TextScore
    from seqlab.runs.run import Run

PAIR_COLUMNS = "log P\tper token\tsource\ttarget"
COLUMNS = "perplexity\tbits/token\tbits/character\tnats\ttext"


def show_scores(run: Run, inputs: Iterator[Any], *, ranked: bool, out: str, as_json: bool) -> None:
    """One line per text: in the order of the input as they arrive, or ranked by likelihood, most likely first.

    A single text also shows its tokens.
    """
    stream = (score for part in available_chunks(inputs) for score in run.score(part))
    if not (ranked or out or as_json):
        say(COLUMNS)
        for score in stream:
            answer(_line(score))
            _warn([score])
        return None
    from seqlab.metrics.text_likelihood import likelihood_ranks

    scores = list(stream)
    places = likelihood_ranks(scores)
    _warn(scores)
    if as_json:
        texts = [{"rank": rank, **score.as_json()} for rank, score in zip(places, scores, strict=True)]
        return answer_json({"run": str(run.folder), "scores": texts})
    ordered = [score for _, score in sorted(zip(places, scores, strict=True), key=lambda pair: pair[0])]
    if out:
        return _write(ordered, run, Path(out))
    say(COLUMNS)
    for score in ordered:
        answer(_line(score))
    if len(scores) == 1:
        _show_tokens(scores[0])
    return say(f"next:\n  seqlab predict {quoted(run.folder)} --score … --out page.html")


def show_pair_scores(
    run: Run, pairs: Iterator[tuple[Any, str]], *, detailed: bool, out: str, as_json: bool
) -> None:
    """One line per pair, in order. detailed: a single pair also shows its tokens."""
    stream = (score for part in available_chunks(pairs) for score in run.score(part))
    if out or as_json:
        scores = list(stream)
        _warn(scores)
        if as_json:
            return answer_json({"run": str(run.folder), "scores": [score.as_json() for score in scores]})
        return _write(sorted(scores, key=lambda score: score.perplexity), run, Path(out))
    say(PAIR_COLUMNS)
    first: TextScore | None = None
    for number, score in enumerate(stream):
        first = None if number else score
        answer(
            f"{score.log_prob:.4f}\t{-score.nats_per_token:.4f}\t{one_line(score.source or '')}\t{one_line(score.text)}"
        )
        _warn([score])
    if detailed and first is not None:
        _show_tokens(first)
    return None


def _line(score: TextScore) -> str:
    numbers = (score.perplexity, score.bits_per_token, score.bits_per_character, score.nats)
    return "\t".join([*(f"{number:.4f}" for number in numbers), one_line(score.text)])


def _show_tokens(score: TextScore) -> None:
    for token in score.tokens:
        answer(f"  {token.bits:8.4f} bits  {token.probability:8.4f}  {token.token!r}")


def _warn(scores: Sequence[TextScore]) -> None:
    unknown = sum(score.num_unknown for score in scores)
    if unknown:
        say(
            f"WARNING: unknown tokens: {unknown:,}; each is scored as <unk>, which is more likely than the token itself"
        )


def _write(scores: Sequence[TextScore], run: Run, path: Path) -> None:
    from seqlab.core.files import write_whole
    from seqlab.pages.scored_texts import ScoredText, render_scored_texts

    texts = [
        ScoredText(
            _name(score),
            [token.token for token in score.tokens],
            [token.bits for token in score.tokens],
            score.bits_per_character,
            score.perplexity,
        )
        for score in scores
        if score.tokens
    ]
    title = (
        f"Surprisal of {'one text' if len(texts) == 1 else f'{len(texts):,} texts'} under {run.folder.name}"
    )
    subtitle = (
        f"{run.recipe.task.replace('_', ' ')}, {run.recipe.model.kind}, {run.num_parameters:,} parameters"
    )
    page = render_scored_texts(texts, title=title, subtitle=subtitle)
    try:
        write_whole(path, page)
    except OSError as error:
        raise EnvironmentProblem(
            f"the page cannot be written ({error.strerror}).",
            where=str(path),
            cure="Choose another file with --out.",
        ) from error
    say(f"{count_of(len(texts), 'text')}: {path}")


def _name(score: TextScore) -> str:
    return score.text if score.source is None else f"{score.source} → {score.text}"
