"""A beam search as SVG: the candidates of every step, kept and pruned, and the path to the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqlab.pages.charts.confusion_matrix import abbreviate, display_width
from seqlab.pages.charts.diagram import (
    Box,
    BoxKind,
    Diagram,
    DiagramPart,
    Label,
    Line,
    LineStyle,
    draw_diagram,
)
from seqlab.pages.html import Markup, make_visible, tag
from seqlab.pages.numbers import count_of
from seqlab.pages.page import Section, render_page

MAX_LABEL_CHARACTERS, MAX_STEPS, MAX_PER_STEP = 14, 500, 40
CHARACTER_WIDTH, GAP_X, GAP_Y, LEFT, TOP = 8.0, 58.0, 54.0, 24.0, 56.0
MIN_BOX_WIDTH, HEIGHT = 52.0, 28.0
MAX_CIRCLED = 20
START = "‹start›"
FATE_STYLES: dict[str, BoxKind] = {"kept": "state", "pruned": "plain", "ended": "output", "cut": "bend"}
"""The color of a candidate by its outcome."""
FATE_LABELS = {
    "kept": "kept: went on",
    "pruned": "left out: others were better",
    "ended": "ended: complete",
    "cut": "cut at the limit",
}


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
    """Its rank among the results, 1 for the best; 0 if it is not a result."""


@dataclass(frozen=True)
class BeamTree:
    """A search as plain data: the branches ordered by step, best first."""

    title: str
    source: str
    branches: Sequence[Branch]

    def __post_init__(self) -> None:
        known = {branch.ident for branch in self.branches} | {-1}
        if lost := [
            branch.word
            for branch in self.branches
            if branch.parent not in known or branch.fate not in FATE_STYLES
        ]:
            raise ValueError(
                f"a branch needs a parent that is there, and one of the fates {', '.join(FATE_STYLES)},"
                f" unlike: {', '.join(lost[:5])}"
            )

    @classmethod
    def from_data(cls, data: Sequence[Mapping[str, Any]], *, title: str, source: str) -> BeamTree:
        """Build from `SearchTree.as_data(words)`, or from its JSON."""
        names = Branch.__dataclass_fields__
        return cls(
            title,
            source,
            [Branch(**{name: value for name, value in entry.items() if name in names}) for entry in data],
        )

    @property
    def num_steps(self) -> int:
        return max((branch.step for branch in self.branches), default=0)

    def path_to(self, rank: int) -> list[Branch]:
        """The branches from the first word to the answer with this rank."""
        by_ident = {branch.ident: branch for branch in self.branches}
        here = next((branch for branch in self.branches if branch.rank == rank), None)
        path: list[Branch] = []
        while here is not None:
            path.append(here)
            here = by_ident.get(here.parent)
        return path[::-1]


def beam_tree_diagram(tree: BeamTree) -> Diagram:
    """Steps from left to right; each column has the candidates in the order of their parents, with the
    log-probability of the hypothesis so far below.

    Long searches are truncated to a readable number of steps and candidates.
    """
    visible_branches = _visible_branches(tree)
    best = {branch.ident for branch in tree.path_to(1)}
    xs, widths = _columns(visible_branches)
    ys = _rows(visible_branches)
    parts: list[DiagramPart] = [
        Label(LEFT, 22.0, tree.source, "start", bold=True),
        Box(xs[0], ys[-1], START, width=widths[0], height=HEIGHT),
    ]
    for branch in sorted(
        visible_branches, key=lambda branch: (branch.ident in best, branch.fate != "pruned")
    ):  # the most important lines are drawn last
        x, y, width = xs[branch.step], ys[branch.ident], widths[branch.step]
        style: LineStyle = (
            "carried" if branch.ident in best else "left_out" if branch.fate == "pruned" else "forward"
        )
        start = (xs[branch.step - 1] + widths[branch.step - 1] / 2, ys[branch.parent])
        parts.append(Line([start, (x - width / 2, y)], style=style, arrow=False))
        below = (
            f"{branch.log_prob:.2f}, score {branch.score:.2f}" if branch.rank else f"{branch.log_prob:.2f}"
        )
        parts.append(
            Box(
                x, y, _label(branch), kind=FATE_STYLES[branch.fate], width=width, height=HEIGHT, caption=below
            )
        )
    width = max(xs[max(xs)] + widths[max(widths)] / 2 + 2 * LEFT, 640.0)
    height = max(ys.values()) + 1.6 * GAP_Y
    parts += [*_steps(xs), *_legend(height - 18.0)]
    return Diagram(tree.title, describe_beam_tree(tree), width, height, parts)


def render_beam_tree(tree: BeamTree) -> str:
    """A separate page, with a table of the results below the figure.

    The figure keeps its size however many steps it has: a wide one is scrolled, not squeezed.
    """
    diagram = beam_tree_diagram(tree)
    sized = tag("div", draw_diagram(diagram, ident="tree"), style=f"width: {diagram.width:.0f}px")
    figure = tag("div", sized, class_="scroll")
    sections = [Section("tree", "Step by step", figure), Section("answers", "Answers", _answers(tree))]
    notices = (
        [f"the first {MAX_STEPS} of {tree.num_steps:,} steps are drawn"] if tree.num_steps > MAX_STEPS else []
    )
    return render_page(title=tree.title, subtitle=tree.source, created="", notices=notices, sections=sections)


def describe_beam_tree(tree: BeamTree) -> str:
    """A text description of the search, for screen readers."""
    kept = sum(branch.fate != "pruned" for branch in tree.branches)
    answer = " ".join(branch.word for branch in tree.path_to(1))
    counted = f"{count_of(tree.num_steps, 'step')}, {count_of(len(tree.branches), 'candidate')}, {kept:,} of them kept."
    return f"{counted} The best: {answer}." if answer else counted


def _answers(tree: BeamTree) -> Markup:
    ranked = sorted((branch for branch in tree.branches if branch.rank), key=lambda branch: branch.rank)
    head = tag("tr", *[tag("th", name) for name in ("no.", "words", "score", "log P")])
    rows = [
        tag(
            "tr",
            *[
                tag("td", cell)
                for cell in (
                    str(answer.rank),
                    " ".join(step.word for step in tree.path_to(answer.rank)),
                    f"{answer.score:.3f}",
                    f"{answer.log_prob:.3f}",
                )
            ],
        )
        for answer in ranked
    ]
    return tag("table", tag("thead", head), tag("tbody", *rows))


def _visible_branches(tree: BeamTree) -> list[Branch]:
    """The branches that fit: kept before pruned, and never a branch without its parent."""
    best = {branch.ident for branch in tree.path_to(1)}
    branches: list[Branch] = []
    seen = {-1}
    for step in range(1, min(tree.num_steps, MAX_STEPS) + 1):
        here = [branch for branch in tree.branches if branch.step == step and branch.parent in seen]
        kept = sorted(
            here, key=lambda branch: (branch.ident not in best, branch.fate == "pruned", -branch.score)
        )[:MAX_PER_STEP]
        branches += kept
        seen |= {branch.ident for branch in kept}
    return branches


def _columns(visible_branches: Sequence[Branch]) -> tuple[dict[int, float], dict[int, float]]:
    """The middle and the width of every column; 0 is the start."""
    xs, widths, left = {}, {}, LEFT
    for step in range(max((branch.step for branch in visible_branches), default=0) + 1):
        words = (
            [START] if step == 0 else [_label(branch) for branch in visible_branches if branch.step == step]
        )
        widths[step] = max(MIN_BOX_WIDTH, 14 + CHARACTER_WIDTH * max(map(display_width, words)))
        xs[step] = left + widths[step] / 2
        left += widths[step] + GAP_X
    return xs, widths


def _rows(visible_branches: Sequence[Branch]) -> dict[int, float]:
    """The vertical position of every branch: candidates of a step are ordered by parent, then by score; -1
    is the start.
    """
    positions: dict[int, int] = {-1: 0}
    by_step: dict[int, list[Branch]] = {}
    for branch in visible_branches:
        by_step.setdefault(branch.step, []).append(branch)
    for _, here in sorted(by_step.items()):
        here.sort(key=lambda branch: (positions[branch.parent], branch.fate == "pruned", -branch.score))
        positions |= {branch.ident: position for position, branch in enumerate(here)}
    max_branches = max(map(len, by_step.values()), default=1)
    heights = {step: TOP + GAP_Y * (max_branches - len(here)) / 2 for step, here in by_step.items()}
    heights_by_branch = {
        branch.ident: heights[branch.step] + 20 + GAP_Y * positions[branch.ident]
        for branch in visible_branches
    }
    return {-1: TOP + 20 + GAP_Y * (max_branches - 1) / 2, **heights_by_branch}


def _steps(xs: Mapping[int, float]) -> Iterator[DiagramPart]:
    for step, x in xs.items():
        if step:
            yield Label(x, TOP - 6, f"step {step}", muted=True)


def _legend(y: float) -> Iterator[DiagramPart]:
    x = LEFT
    for fate, words in FATE_LABELS.items():
        yield Box(x + 8, y - 4, "", kind=FATE_STYLES[fate], width=16.0, height=12.0)
        yield Label(x + 22, y, words, "start", muted=True)
        x += 44 + 6.0 * len(words)


def _label(branch: Branch) -> str:
    """The word, preceded by the rank of the result that it completes, if any."""
    number = f"{_circled(branch.rank)} " if branch.rank else ""
    return number + abbreviate(make_visible(branch.word), MAX_LABEL_CHARACTERS)


def _circled(number: int) -> str:
    """
    >>> _circled(3), _circled(27)
    ('③', '(27)')
    """
    return chr(ord("①") + number - 1) if number <= MAX_CIRCLED else f"({number})"
