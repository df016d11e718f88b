"""The tree of a beam search: the candidates of every step, kept and pruned, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from seqlab.decoding.hypothesis import Hypothesis

CandidateFate = Literal["kept", "pruned", "ended", "cut"]
"""kept: continued; pruned: others were better; ended: complete with the end token; cut: complete at the
limit.
"""


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """A hypothesis as its newest token and its parent; log_prob is that of the whole hypothesis."""

    parent: Node | None
    token: int
    log_prob: float

    @property
    def is_alive(self) -> bool:
        return self.log_prob > float("-inf")

    def tokens(self) -> list[int]:
        return [node.token for node in self._path()]

    def token_log_probs(self) -> list[float]:
        return [node.log_prob - node.parent.log_prob for node in self._path() if node.parent is not None]

    def _path(self) -> list[Node]:
        """All tokens up to this one; the root has no parent and no token."""
        path: list[Node] = []
        node = self
        while node.parent is not None:
            path.append(node)
            node = node.parent
        return path[::-1]


DEAD_NODE = Node(None, -1, float("-inf"))
"""Fills unused slots of a beam."""


class CandidateOutcome(NamedTuple):
    """One candidate of a step, and whether it was kept, pruned or completed."""

    node: Node
    score: float
    fate: CandidateFate


@dataclass(frozen=True)
class Candidate:
    """One continuation that a search considered."""

    ident: int
    parent: int
    """The ident of the candidate that it continues; -1 at the first step."""
    step: int
    """Counted from 1: the number of tokens of the candidate, including its end token."""
    token: int
    log_prob: float
    score: float
    """By the rule of the search, as if it were complete."""
    fate: CandidateFate
    group: int = 0
    rank: int = 0
    """Its rank among the results, 1 for the best; 0 if it is not a result."""


@dataclass(frozen=True)
class SearchTree:
    """All candidates of the search for one target, ordered by step, best first."""

    candidates: list[Candidate]

    def to_dicts(self, token_to_text: Callable[[int], str] = str) -> list[dict[str, Any]]:
        """Plain data for JSON and for `pages.beam_tree`, with words instead of token ids."""
        return [
            {**asdict(candidate), "word": token_to_text(candidate.token)} for candidate in self.candidates
        ]


class SearchRecorder:
    """Records every step of a search over one sentence and builds its tree.

    num_pruned: number of pruned candidates to record at every step, best first.
    """

    def __init__(self, *, num_pruned: int) -> None:
        self.num_pruned = num_pruned
        self._outcomes: list[tuple[int, int, CandidateOutcome]] = []

    def record(self, group: int, step: int, outcomes: Sequence[CandidateOutcome]) -> None:
        self._outcomes += [(group, step, outcome) for outcome in outcomes]

    def tree(self, answers: Sequence[Hypothesis]) -> SearchTree:
        """The tree of all recorded candidates; `answers` are the results of the search, best first."""
        ranks = {(tuple(answer.tokens), answer.ended): rank for rank, answer in enumerate(answers, start=1)}
        idents = {id(outcome.node): ident for ident, (_, _, outcome) in enumerate(self._outcomes)}
        candidates = []
        for ident, (group, step, (node, score, fate)) in enumerate(self._outcomes):
            tokens = tuple(node.tokens())
            is_complete = fate in ("ended", "cut") or (
                fate == "kept" and (tokens, False) in ranks
            )  # it may have no allowed continuation
            rank = (
                ranks.get((tokens[:-1], True) if fate == "ended" else (tokens, False), 0)
                if is_complete
                else 0
            )
            parent = idents.get(id(node.parent), -1)
            candidates.append(
                Candidate(ident, parent, step, node.token, node.log_prob, score, fate, group, rank)
            )
        return SearchTree(candidates)
