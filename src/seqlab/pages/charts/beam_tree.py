"""A beam search as SVG: the candidates of every step, kept and pruned, and the path to the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
from seqlab.pages.charts.token_heatmap import visible_whitespace
from seqlab.pages.html import Markup, make_visible, tag
from seqlab.pages.numbers import count_of
from seqlab.pages.page import Section, render_page

MAX_LABEL_CHARACTERS, MAX_STEPS, MAX_PER_STEP = 14, 500, 40
CHARACTER_WIDTH, GAP_X, GAP_Y, LEFT, TOP = 8.0, 58.0, 54.0, 24.0, 56.0
MIN_BOX_WIDTH, HEIGHT = 52.0, 28.0
LEGEND_HEIGHT = 32.0
PAGE_WIDTH = 1050.0
"""A row of a page; see style.py."""
MAX_CIRCLED = 20
START = "‹start›"
FATE_STYLES: dict[str, BoxKind] = {"kept": "state", "pruned": "plain", "ended": "output", "cut": "bend"}
"""The color of a candidate by its outcome."""
FATE_LABELS = {
    "kept": "kept",
    "pruned": "pruned",
    "ended": "complete",
    "cut": "stopped at the length limit",
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
                f"every branch needs an existing parent and one of the fates {', '.join(FATE_STYLES)};"
                f" invalid: {', '.join(lost[:5])}"
            )

    @classmethod
    def from_data(cls, data: Sequence[Mapping[str, Any]], *, title: str, source: str) -> BeamTree:
        """Build from `SearchTree.to_dicts(words)`, or from its JSON."""
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
        current = next((branch for branch in self.branches if branch.rank == rank), None)
        path: list[Branch] = []
        while current is not None:
            path.append(current)
            current = by_ident.get(current.parent)
        return path[::-1]


def beam_tree_diagram(tree: BeamTree) -> Diagram:
    """Steps from left to right; each column has the candidates in the order of their parents, with the
    log-probability of the hypothesis so far below.

    Long searches are truncated to a readable number of steps and candidates.
    """
    drawing = _Drawing.of(tree)
    steps = _with_legend(drawing.draw(1, drawing.num_steps))
    source = Label(LEFT, 22.0, tree.source, "start", bold=True)
    return replace(steps, parts=[source, *steps.parts])


def beam_tree_rows(tree: BeamTree) -> list[Diagram]:
    """The same figure in rows that fit on a page; each row starts with the candidates that it continues."""
    drawing = _Drawing.of(tree)
    first_row, *others = [drawing.draw(first, last) for first, last in drawing.wrap(PAGE_WIDTH)]
    return [_with_legend(first_row), *others]


def render_beam_tree(tree: BeamTree) -> str:
    """A separate page, with a table of the results above the figure.

    A search with many steps wraps into rows; on a narrow screen a row is scrolled, not squeezed.
    """
    rows = [
        tag(
            "div",
            tag("div", draw_diagram(row, ident=f"tree{number}"), style=f"width: {row.width:.0f}px"),
            class_="scroll",
        )
        for number, row in enumerate(beam_tree_rows(tree))
    ]
    caption = tag(
        "p",
        "The number below each token is the log-probability of the hypothesis so far. The thick line is the"
        " best hypothesis.",
    )
    sections = [
        Section("answers", "Hypotheses", _answers(tree)),
        Section("tree", "Step by step", tag("div", caption, *rows)),
    ]
    notices = (
        [f"the figure shows the first {MAX_STEPS} of {tree.num_steps:,} steps"]
        if tree.num_steps > MAX_STEPS
        else []
    )
    return render_page(title=tree.title, subtitle=tree.source, created="", notices=notices, sections=sections)


@dataclass(frozen=True)
class _Drawing:
    """The visible branches of a tree and their places, from which any range of steps is drawn."""

    tree: BeamTree
    branches: Sequence[Branch]
    widths: Mapping[int, float]
    """The width of every column; 0 is the start."""
    ys: Mapping[int, float]

    @classmethod
    def of(cls, tree: BeamTree) -> _Drawing:
        branches = _visible_branches(tree)
        return cls(tree, branches, _column_widths(branches), _rows(branches))

    @property
    def num_steps(self) -> int:
        return max(self.widths)

    def wrap(self, width: float) -> Iterator[tuple[int, int]]:
        """The first and the last step of every row that is at most this wide, if it has more than one step."""
        first = 1
        for step in range(2, self.num_steps + 1):
            if self._right_end(first, step) > width:
                yield first, step - 1
                first = step
        yield first, self.num_steps

    def draw(self, first: int, last: int) -> Diagram:
        xs = self._columns(first, last)
        parts = [*self._origins(first, last, xs), *self._branches(first, last, xs), *_steps(xs)]
        width = max(self._right_end(first, last), 640.0)
        height = max(self.ys.values()) + GAP_Y
        return Diagram(self.tree.title, describe_beam_tree(self.tree), width, height, parts)

    def _columns(self, first: int, last: int) -> dict[int, float]:
        """The middle of every column, with the one before the first step."""
        xs, left = {}, LEFT
        for step in range(first - 1, last + 1):
            xs[step] = left + self.widths[step] / 2
            left += self.widths[step] + GAP_X
        return xs

    def _right_end(self, first: int, last: int) -> float:
        return self._columns(first, last)[last] + self.widths[last] / 2 + 2 * LEFT

    def _origins(self, first: int, last: int, xs: Mapping[int, float]) -> list[DiagramPart]:
        """What the first step continues: the start, or the candidates of the step before."""
        if first == 1:
            return [Box(xs[0], self.ys[-1], START, width=self.widths[0], height=HEIGHT)]
        continued = {branch.parent for branch in self.branches if branch.step == first}
        return [self._box(branch, xs) for branch in self.branches if branch.ident in continued]

    def _branches(self, first: int, last: int, xs: Mapping[int, float]) -> Iterator[DiagramPart]:
        best = {branch.ident for branch in self.tree.path_to(1)}
        drawn = [branch for branch in self.branches if first <= branch.step <= last]
        for branch in sorted(
            drawn, key=lambda branch: (branch.ident in best, branch.fate != "pruned")
        ):  # the most important lines are drawn last
            style: LineStyle = (
                "carried" if branch.ident in best else "left_out" if branch.fate == "pruned" else "forward"
            )
            before = branch.step - 1
            start = (xs[before] + self.widths[before] / 2, self.ys[branch.parent])
            end = (xs[branch.step] - self.widths[branch.step] / 2, self.ys[branch.ident])
            yield Line([start, end], style=style, arrow=False)
            yield self._box(branch, xs)

    def _box(self, branch: Branch, xs: Mapping[int, float]) -> Box:
        score = f", score {branch.score:.2f}" if branch.rank else ""
        return Box(
            xs[branch.step],
            self.ys[branch.ident],
            _label(branch),
            kind=FATE_STYLES[branch.fate],
            width=self.widths[branch.step],
            height=HEIGHT,
            caption=f"{branch.log_prob:.2f}{score}",
        )


def describe_beam_tree(tree: BeamTree) -> str:
    """A text description of the search, for screen readers."""
    kept = sum(branch.fate != "pruned" for branch in tree.branches)
    answer = " ".join(_visible_word(branch.word) for branch in tree.path_to(1))
    counted = f"{count_of(tree.num_steps, 'step')}, {count_of(len(tree.branches), 'candidate')}, {kept:,} of them kept."
    return f"{counted} Best hypothesis: {answer}." if answer else counted


def _answers(tree: BeamTree) -> Markup:
    ranked = sorted((branch for branch in tree.branches if branch.rank), key=lambda branch: branch.rank)
    head = tag("tr", *[tag("th", name) for name in ("rank", "tokens", "score", "log P")])
    rows = [
        tag(
            "tr",
            *[
                tag("td", cell)
                for cell in (
                    str(answer.rank),
                    " ".join(_visible_word(step.word) for step in tree.path_to(answer.rank)),
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
        candidates = [branch for branch in tree.branches if branch.step == step and branch.parent in seen]
        kept = sorted(
            candidates, key=lambda branch: (branch.ident not in best, branch.fate == "pruned", -branch.score)
        )[:MAX_PER_STEP]
        branches += kept
        seen |= {branch.ident for branch in kept}
    return branches


def _column_widths(visible_branches: Sequence[Branch]) -> dict[int, float]:
    """The width of every column; 0 is the start."""
    labels: dict[int, list[str]] = {0: [START]}
    for branch in visible_branches:
        labels.setdefault(branch.step, []).append(_label(branch))
    return {
        step: max(MIN_BOX_WIDTH, 14 + CHARACTER_WIDTH * max(map(display_width, words)))
        for step, words in labels.items()
    }


def _rows(visible_branches: Sequence[Branch]) -> dict[int, float]:
    """The vertical position of every branch: candidates of a step are ordered by parent, then by score; -1
    is the start.
    """
    positions: dict[int, int] = {-1: 0}
    by_step: dict[int, list[Branch]] = {}
    for branch in visible_branches:
        by_step.setdefault(branch.step, []).append(branch)
    for _, siblings in sorted(by_step.items()):
        siblings.sort(key=lambda branch: (positions[branch.parent], branch.fate == "pruned", -branch.score))
        positions |= {branch.ident: position for position, branch in enumerate(siblings)}
    max_branches = max(map(len, by_step.values()), default=1)
    heights = {step: TOP + GAP_Y * (max_branches - len(siblings)) / 2 for step, siblings in by_step.items()}
    heights_by_branch = {
        branch.ident: heights[branch.step] + 20 + GAP_Y * positions[branch.ident]
        for branch in visible_branches
    }
    return {-1: TOP + 20 + GAP_Y * (max_branches - 1) / 2, **heights_by_branch}


def _steps(xs: Mapping[int, float]) -> Iterator[DiagramPart]:
    for step, x in xs.items():
        if step:
            yield Label(x, TOP - 6, f"step {step}", muted=True)


def _with_legend(diagram: Diagram) -> Diagram:
    height = diagram.height + LEGEND_HEIGHT
    return replace(diagram, height=height, parts=[*diagram.parts, *_legend(height - 18.0)])


def _legend(y: float) -> Iterator[DiagramPart]:
    x = LEFT
    for fate, words in FATE_LABELS.items():
        yield Box(x + 8, y - 4, "", kind=FATE_STYLES[fate], width=16.0, height=12.0)
        yield Label(x + 22, y, words, "start", muted=True)
        x += 44 + 6.0 * len(words)


def _label(branch: Branch) -> str:
    """The word, preceded by the rank of the result that it completes, if any."""
    number = f"{_circled(branch.rank)} " if branch.rank else ""
    return number + abbreviate(_visible_word(branch.word), MAX_LABEL_CHARACTERS)


def _visible_word(word: str) -> str:
    """
    >>> _visible_word(" the"), _visible_word("\\x00")
    ('␣the', '‹NUL›')
    """
    return make_visible(visible_whitespace(word))


def _circled(number: int) -> str:
    """
    >>> _circled(3), _circled(27)
    ('③', '(27)')
    """
    return chr(ord("①") + number - 1) if number <= MAX_CIRCLED else f"({number})"
