"""Which place of a beam a hypothesis gets, so that as little as possible has to move."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.decoding.search_tree import DEAD_NODE, Node


def assign_slots(
    chosen: Sequence[tuple[int, Node]], *, num_before: int, num_after: int
) -> tuple[list[int], list[Node]]:
    """For each of `num_after` places the parent, one of `num_before`, and the hypothesis that goes on from
    it.

    The first child of every parent stays where its parent was; the others take the places of parents without
    children. Places that nobody needs stay with whom they had, and hold a dead hypothesis.

    >>> one, two, three = (Node(None, token, -1.0) for token in (7, 8, 9))
    >>> parents, nodes = assign_slots([(2, one), (1, two), (2, three)], num_before=3, num_after=3)
    >>> parents, [node.token for node in nodes]
    ([2, 1, 2], [9, 8, 7])
    """
    parents = [min(slot, num_before - 1) for slot in range(num_after)]
    nodes = [DEAD_NODE] * num_after
    moving: list[tuple[int, Node]] = []
    for parent, node in chosen:
        if parent < num_after and nodes[parent] is DEAD_NODE:
            nodes[parent] = node
        else:
            moving.append((parent, node))
    free = (slot for slot, node in enumerate(nodes) if node is DEAD_NODE)
    for (parent, node), slot in zip(
        moving, free, strict=False
    ):  # there is a place for each, and perhaps more
        parents[slot], nodes[slot] = parent, node
    return parents, nodes
