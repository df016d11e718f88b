"""Assign hypotheses to the slots of a beam such that few of them have to be moved in memory."""

from __future__ import annotations

from collections.abc import Sequence

from seqlab.decoding.search_tree import DEAD_NODE, Node


def assign_slots(
    chosen: Sequence[tuple[int, Node]], *, num_before: int, num_after: int
) -> tuple[list[int], list[Node]]:
    """For each of `num_after` slots: the parent, one of `num_before`, and the hypothesis that continues it.

    The first child of every parent keeps the parent's slot; the others take the slots of parents without
    children. Unused slots keep their parent and hold a dead hypothesis.

    >>> first, second, third = (Node(None, token, -1.0) for token in (7, 8, 9))
    >>> parents, nodes = assign_slots([(2, first), (1, second), (2, third)], num_before=3, num_after=3)
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
    ):  # there are at least as many slots as hypotheses
        parents[slot], nodes[slot] = parent, node
    return parents, nodes
