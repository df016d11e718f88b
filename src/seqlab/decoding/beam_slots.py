"""Which place of a beam a hypothesis gets, so that as little as possible has to move."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.decoding.search_tree import DEAD, Node


def placed(chosen: Sequence[tuple[int, Node]], *, before: int, now: int) -> tuple[list[int], list[Node]]:
    """For each of `now` places the parent, one of `before`, and the hypothesis that goes on from it.

    The first child of every parent stays where its parent was; the others take the places of parents without children. Places that
    nobody needs stay with whom they had, and hold a dead hypothesis.

    >>> one, two, three = (Node(None, token, -1.0) for token in (7, 8, 9))
    >>> parents, nodes = placed([(2, one), (1, two), (2, three)], before=3, now=3)
    >>> parents, [node.token for node in nodes]
    ([2, 1, 2], [9, 8, 7])
    """
    parents = [min(place, before - 1) for place in range(now)]
    nodes = [DEAD] * now
    moving: list[tuple[int, Node]] = []
    for parent, node in chosen:
        if parent < now and nodes[parent] is DEAD:
            nodes[parent] = node
        else:
            moving.append((parent, node))
    free = (place for place, node in enumerate(nodes) if node is DEAD)
    for (parent, node), place in zip(moving, free, strict=False):  # there is a place for each, and perhaps more
        parents[place], nodes[place] = parent, node
    return parents, nodes
