"""seqlab predict: answers for arguments, a file or standard input, in the order of the inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from seqlab.cli.answer_table import check_answer_table, write_answer_table
from seqlab.cli.console import answer, answer_json, quoted, say
from seqlab.cli.decoding import check_top, with_options
from seqlab.cli.inputs import available_chunks, open_inputs, open_pairs
from seqlab.cli.options import AsJson, Beam, Decoding, EnsembleRuns, RunName
from seqlab.cli.predict_options import File, Out, Pooling, Score, Texts, Top, Tree, Vectors
from seqlab.cli.scores import show_pair_scores, show_scores
from seqlab.cli.tree import check_tree, draw_tree
from seqlab.cli.vectors import show_vectors
from seqlab.core.errors import UsageError

if TYPE_CHECKING:
    from seqlab.runs.run import Run
    from seqlab.tasks.prediction import Prediction

EXAMPLES = """\b
Examples:
  seqlab predict runs/reviews-lstm "not bad at all" "a waste of time"
  seqlab predict runs/reviews-lstm --file new.csv --out answers.csv
  seqlab predict runs/input-gru "the students opened their" --top 10
  seqlab predict runs/input-gru --score "the cat sat" "cat the sat" "xq zzk"
  seqlab predict runs/bert-small "a [MASK]lass of things" --top 5
  seqlab predict runs/reviews-lstm --file new.csv --vectors --out new.npy
  cat news.en | seqlab predict runs/en-de --beam 5 | cut -f1
  seqlab predict runs/en-de "A dog runs." --beam 5 --with runs/en-de-2
  seqlab predict runs/en-de "A dog runs." --beam 3 --tree tree.svg
  seqlab predict runs/en-de --score --file pairs.tsv
"""


def predict(
    run: RunName,
    texts: Texts = None,
    file: File = "",
    top: Top = 1,
    score: Score = False,
    beam: Beam = 0,
    decoding: Decoding = None,
    others: EnsembleRuns = None,
    tree: Tree = "",
    vectors: Vectors = False,
    pooling: Pooling = "",
    out: Out = "",
    as_json: AsJson = False,
) -> None:
    """Predict labels, tags, numbers, captions or translations.

    A language model predicts the next token, a masked language model the masked ones. Each line of the output
    holds the answer, its probability and the input, separated by tabs. Generated text has its log-probability
    (log P) instead, followed after a beam search by the score it was ranked by.
    """
    _check_inputs(texts, file, top=top)
    _check_options(score=score, vectors=vectors, pooling=pooling, out=out, as_json=as_json)
    _check_files(texts, file, out=out, tree=tree, score=score, vectors=vectors)
    from seqlab.runs.run import Run

    loaded = with_options(
        Run.load(run), beam=beam, decoding=decoding or [], others=others or [], predicts=True
    )
    check_top(loaded, top)
    if score:
        return _show_scores(loaded, texts, file, out=out, as_json=as_json)
    if out and not vectors:
        return write_answer_table(loaded, file, out)
    inputs = open_inputs(loaded.recipe, texts, file)
    if vectors:
        return show_vectors(loaded, inputs, pooling=pooling or "mean", out=out, as_json=as_json)
    if tree:
        return _show_tree(loaded, next(inputs), tree, top=top, as_json=as_json)
    return _show_predictions(loaded, inputs, run, top=top, as_json=as_json)


def _show_scores(run: Run, texts: list[str] | None, file: str, *, out: str, as_json: bool) -> None:
    """Log-probabilities of pairs for a model that generates targets, of texts for a language model."""
    has_end = bool(texts or file)  # standard input may be an endless stream
    if run.spec.generates:
        pairs = open_pairs(run.recipe, texts, file)
        return show_pair_scores(run, pairs, detailed=has_end, out=out, as_json=as_json)
    inputs = open_inputs(run.recipe, texts, file)
    return show_scores(run, inputs, ranked=has_end, out=out, as_json=as_json)


def _show_predictions(run: Run, inputs: Iterator[Any], name: str, *, top: int, as_json: bool) -> None:
    """name: the run as the user typed it."""
    predictions = (
        prediction for chunk in available_chunks(inputs) for prediction in run.predict(chunk, top=top)
    )
    if as_json:
        answers = [prediction.to_json() for prediction in predictions]
        return answer_json({"run": str(run.folder), "predictions": answers})
    for prediction in predictions:
        _print(prediction, top=top)
    return say(f"next:\n  seqlab {'generate' if run.spec.continues_text else 'evaluate'} {quoted(name)}")


def _show_tree(run: Run, text: str, tree: str, *, top: int, as_json: bool) -> None:
    prediction = draw_tree(run, text, tree, top=top)
    if as_json:
        return answer_json({"run": str(run.folder), "tree": tree, "predictions": [prediction.to_json()]})
    _print(prediction, top=top)
    return say(f"search tree: {tree}")


def _check_inputs(texts: list[str] | None, file: str, *, top: int) -> None:
    if texts and file:
        raise UsageError("texts and --file are mutually exclusive.", cure="Pass one or the other.")
    if top < 1:
        raise UsageError(f"--top {top} is less than 1.", cure="Use a whole number of at least 1.")


def _check_files(
    texts: list[str] | None, file: str, *, out: str, tree: str, score: bool, vectors: bool
) -> None:
    if out and not (vectors or score):
        check_answer_table(out, file)
    if tree:
        check_tree(tree, texts or [], others={"--score": score, "--vectors": vectors})


def _check_options(*, score: bool, vectors: bool, pooling: str, out: str, as_json: bool) -> None:
    if score and vectors:
        raise UsageError("--score and --vectors are mutually exclusive.", cure="Pass one or the other.")
    if pooling and not vectors:
        raise UsageError(
            "--pooling applies only to --vectors.", cure="Add --vectors, or leave out --pooling."
        )
    if out and as_json:
        raise UsageError("--out and --json are mutually exclusive.", cure="Pass one or the other.")
    if out and vectors and not out.endswith(".npy"):
        raise UsageError(
            f"--out {out} does not end in .npy.",
            cure="Vectors are saved as a NumPy array: --out vectors.npy",
        )
    if out and score and not out.endswith(".html"):
        raise UsageError(
            f"--out {out} does not end in .html.", cure="Scores are drawn on an HTML page: --out page.html"
        )


def _print(prediction: Prediction, *, top: int) -> None:
    for line in [prediction.to_line()] if top == 1 else prediction.to_lines():
        answer(line)
