"""A beam search as a picture: every step's candidates, what was kept, what was left out, and the way to the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqlab.pages.charts.confusion_matrix import abbreviate, columns
from seqlab.pages.charts.diagram import Box, Drawing, Kind, Line, Part, Way, Words, draw
from seqlab.pages.html import Markup, tag, visible
from seqlab.pages.page import Section, page

MOST_LETTERS, MOST_STEPS, MOST_IN_A_STEP = 14, 60, 40
LETTER, GAP_X, GAP_Y, LEFT, TOP = 8.0, 58.0, 54.0, 24.0, 56.0
SMALLEST_BOX, HEIGHT = 52.0, 28.0
MOST_CIRCLED = 20
START = "‹start›"
KINDS: dict[str, Kind] = {"kept": "state", "pruned": "plain", "ended": "output", "cut": "bend"}
"""The colour of a candidate by what became of it."""
MEANINGS = {"kept": "kept: went on", "pruned": "left out: others were better", "ended": "ended: complete", "cut": "cut at the limit"}


@dataclass(frozen=True)
class Branch:
    """One candidate of one step."""

    ident: int
    parent: int
    """The ident of the branch that it continues; -1 at the first step."""
    step: int
    word: str
    log_prob: float
    score: float
    fate: str
    rank: int = 0
    """Its place among the answers, the best 1; 0 for all that are no answer."""


@dataclass(frozen=True)
class BeamTree:
    """A search as plain data: the branches in the order of their steps, the best of a step first."""

    title: str
    source: str
    branches: Sequence[Branch]

    def __post_init__(self) -> None:
        known = {branch.ident for branch in self.branches} | {-1}
        if lost := [branch.word for branch in self.branches if branch.parent not in known or branch.fate not in KINDS]:
            raise ValueError(f"a branch needs a parent that is there, and one of the fates {', '.join(KINDS)}, unlike: {', '.join(lost[:5])}")

    @classmethod
    def of(cls, data: Sequence[Mapping[str, Any]], *, title: str, source: str) -> BeamTree:
        """From `SearchTree.as_data(words)`, or from JSON that was made of it."""
        names = Branch.__dataclass_fields__
        return cls(title, source, [Branch(**{name: value for name, value in entry.items() if name in names}) for entry in data])

    @property
    def num_steps(self) -> int:
        return max((branch.step for branch in self.branches), default=0)

    def way_to(self, rank: int) -> list[Branch]:
        """The branches from the first word to the answer with this rank."""
        by_ident = {branch.ident: branch for branch in self.branches}
        here = next((branch for branch in self.branches if branch.rank == rank), None)
        way: list[Branch] = []
        while here is not None:
            way.append(here)
            here = by_ident.get(here.parent)
        return way[::-1]


def beam_tree_drawing(tree: BeamTree) -> Drawing:
    """From left to right the steps; in a column the candidates under their parents, with the log-probability of the whole so far below.

    Long searches are cut: so many steps, and of each so many candidates, can be read.
    """
    shown = _shown(tree)
    best = {branch.ident for branch in tree.way_to(1)}
    xs, widths = _columns(shown)
    ys = _rows(shown)
    parts: list[Part] = [Words(LEFT, 22.0, tree.source, "start", strong=True), Box(xs[0], ys[-1], START, width=widths[0], height=HEIGHT)]
    for branch in sorted(shown, key=lambda branch: (branch.ident in best, branch.fate != "pruned")):  # what matters most lies on top
        x, y, width = xs[branch.step], ys[branch.ident], widths[branch.step]
        way: Way = "carried" if branch.ident in best else "left_out" if branch.fate == "pruned" else "forward"
        start = (xs[branch.step - 1] + widths[branch.step - 1] / 2, ys[branch.parent])
        parts.append(Line([start, (x - width / 2, y)], way=way, arrow=False))
        below = f"{branch.log_prob:.2f}, score {branch.score:.2f}" if branch.rank else f"{branch.log_prob:.2f}"
        parts.append(Box(x, y, _label(branch), kind=KINDS[branch.fate], width=width, height=HEIGHT, below=below))
    width = max(xs[max(xs)] + widths[max(widths)] / 2 + 2 * LEFT, 640.0)
    height = max(ys.values()) + 1.6 * GAP_Y
    parts += [*_steps(xs), *_legend(height - 18.0)]
    return Drawing(tree.title, describe(tree), width, height, parts)


def render_beam_tree(tree: BeamTree) -> str:
    """A page of its own, with the answers as a table under the picture."""
    picture = tag("div", draw(beam_tree_drawing(tree), ident="tree"), class_="wide")
    sections = [Section("tree", "Step by step", picture), Section("answers", "Answers", _answers(tree))]
    return page(title=tree.title, subtitle=tree.source, created="", notices=(), sections=sections)


def describe(tree: BeamTree) -> str:
    """The search in words, for those who do not see it."""
    kept = sum(branch.fate != "pruned" for branch in tree.branches)
    answer = " ".join(branch.word for branch in tree.way_to(1))
    counted = f"{tree.num_steps} steps, {len(tree.branches)} candidates, {kept} of them kept."
    return f"{counted} The best: {answer}." if answer else counted


def _answers(tree: BeamTree) -> Markup:
    ranked = sorted((branch for branch in tree.branches if branch.rank), key=lambda branch: branch.rank)
    head = tag("tr", *[tag("th", name) for name in ("no.", "words", "score", "log P")])
    rows = [
        tag(
            "tr",
            *[
                tag("td", cell)
                for cell in (str(one.rank), " ".join(step.word for step in tree.way_to(one.rank)), f"{one.score:.3f}", f"{one.log_prob:.3f}")
            ],
        )
        for one in ranked
    ]
    return tag("table", tag("thead", head), tag("tbody", *rows))


def _shown(tree: BeamTree) -> list[Branch]:
    """What fits: kept ones before those left out, and never a branch without its parent."""
    best = {branch.ident for branch in tree.way_to(1)}
    found: list[Branch] = []
    seen = {-1}
    for step in range(1, min(tree.num_steps, MOST_STEPS) + 1):
        here = [branch for branch in tree.branches if branch.step == step and branch.parent in seen]
        wanted = sorted(here, key=lambda branch: (branch.ident not in best, branch.fate == "pruned", -branch.score))[:MOST_IN_A_STEP]
        found += wanted
        seen |= {branch.ident for branch in wanted}
    return found


def _columns(shown: Sequence[Branch]) -> tuple[dict[int, float], dict[int, float]]:
    """The middle and the width of every column; 0 is the start."""
    xs, widths, left = {}, {}, LEFT
    for step in range(max((branch.step for branch in shown), default=0) + 1):
        words = [START] if step == 0 else [_label(branch) for branch in shown if branch.step == step]
        widths[step] = max(SMALLEST_BOX, 14 + LETTER * max(map(columns, words)))
        xs[step] = left + widths[step] / 2
        left += widths[step] + GAP_X
    return xs, widths


def _rows(shown: Sequence[Branch]) -> dict[int, float]:
    """The height of every branch: candidates of a step stand under each other in the order of their parents, then by score; -1 is the start."""
    places: dict[int, int] = {-1: 0}
    by_step: dict[int, list[Branch]] = {}
    for branch in shown:
        by_step.setdefault(branch.step, []).append(branch)
    for _, here in sorted(by_step.items()):
        here.sort(key=lambda branch: (places[branch.parent], branch.fate == "pruned", -branch.score))
        places |= {branch.ident: place for place, branch in enumerate(here)}
    most = max(map(len, by_step.values()), default=1)
    heights = {step: TOP + GAP_Y * (most - len(here)) / 2 for step, here in by_step.items()}
    found = {branch.ident: heights[branch.step] + 20 + GAP_Y * places[branch.ident] for branch in shown}
    return {-1: TOP + 20 + GAP_Y * (most - 1) / 2, **found}


def _steps(xs: Mapping[int, float]) -> Iterator[Part]:
    for step, x in xs.items():
        if step:
            yield Words(x, TOP - 6, f"step {step}", quiet=True)


def _legend(y: float) -> Iterator[Part]:
    x = LEFT
    for fate, words in MEANINGS.items():
        yield Box(x + 8, y - 4, "", kind=KINDS[fate], width=16.0, height=12.0)
        yield Words(x + 22, y, words, "start", quiet=True)
        x += 44 + 6.0 * len(words)


def _label(branch: Branch) -> str:
    """The word, behind its number where it completes an answer."""
    number = f"{_circled(branch.rank)} " if branch.rank else ""
    return number + abbreviate(visible(branch.word), MOST_LETTERS)


def _circled(number: int) -> str:
    """
    >>> _circled(3), _circled(27)
    ('③', '(27)')
    """
    return chr(ord("①") + number - 1) if number <= MOST_CIRCLED else f"({number})"
