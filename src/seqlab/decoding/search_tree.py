"""What a beam search looked at: every step's candidates, kept and pruned, as plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple

from seqlab.decoding.hypothesis import Hypothesis

CandidateFate = Literal["kept", "pruned", "ended", "cut"]
"""kept: went on; pruned: others were better; ended: complete with the end token; cut: complete at the
limit.
"""


@dataclass(frozen=True, eq=False, slots=True)
class Node:
    """A hypothesis as its newest token and the hypothesis before; log_prob is that of the whole."""

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
        """From the first token to this one; the root, which has no parent, has no token."""
        path: list[Node] = []
        node = self
        while node.parent is not None:
            path.append(node)
            node = node.parent
        return path[::-1]


DEAD_NODE = Node(None, -1, float("-inf"))
"""Stands where a beam has fewer hypotheses than places."""


class CandidateOutcome(NamedTuple):
    """One candidate of a step, and what became of it."""

    node: Node
    score: float
    fate: CandidateFate


@dataclass(frozen=True)
class Candidate:
    """One continuation that a search looked at."""

    ident: int
    parent: int
    """The ident of the candidate that it continues; -1 at the first step."""
    step: int
    """Counted from 1; a candidate has so many tokens, its end token included."""
    token: int
    log_prob: float
    score: float
    """By the rule of the search, as if it were complete."""
    fate: CandidateFate
    group: int = 0
    rank: int = 0
    """Its place among the answers, the best 1; 0 for all that are no answer."""


@dataclass(frozen=True)
class SearchTree:
    """All candidates of the search for one target, in the order of the steps, the best of a step first."""

    candidates: list[Candidate]

    def to_dicts(self, token_to_text: Callable[[int], str] = str) -> list[dict[str, Any]]:
        """Ready for JSON and for `pages.beam_tree`, with words in place of token ids."""
        return [
            {**asdict(candidate), "word": token_to_text(candidate.token)} for candidate in self.candidates
        ]


class SearchRecorder:
    """Is told of every step of a search over one sentence, and makes a tree of it.

    num_pruned: so many of the best candidates that were not kept are remembered at every step.
    """

    def __init__(self, *, num_pruned: int) -> None:
        self.num_pruned = num_pruned
        self._outcomes: list[tuple[int, int, CandidateOutcome]] = []

    def record(self, group: int, step: int, outcomes: Sequence[CandidateOutcome]) -> None:
        self._outcomes += [(group, step, outcome) for outcome in outcomes]

    def tree(self, answers: Sequence[Hypothesis]) -> SearchTree:
        """All that was seen; `answers` are what the search returned, the best first."""
        ranks = {(tuple(answer.tokens), answer.ended): rank for rank, answer in enumerate(answers, start=1)}
        idents = {id(outcome.node): ident for ident, (_, _, outcome) in enumerate(self._outcomes)}
        candidates = []
        for ident, (group, step, (node, score, fate)) in enumerate(self._outcomes):
            tokens = tuple(node.tokens())
            is_complete = fate in ("ended", "cut") or (
                fate == "kept" and (tokens, False) in ranks
            )  # it may have been unable to go on
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
