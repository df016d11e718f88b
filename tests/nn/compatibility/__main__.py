"""Run by itself: the rows of the compatibility table, as they are on this machine.

    python -m tests.nn.compatibility [fast | slow | all]

Every behavior is tried with seqlab.nn's layer and with torch.nn's, with the same parameters; the numbers are
compared. torch's compiler does not understand the shape checks of the test suite, so this is a process of its own.
"""

from __future__ import annotations

import io
import logging
import sys
import warnings
from contextlib import redirect_stdout
from typing import Any

import torch

from seqlab import nn
from tests.nn.compatibility.behaviors import (
    DIFFERS,
    FAST,
    LIMITS,
    SLOW,
    Behavior,
    DoesNotApplyError,
    tensors,
)
from tests.nn.compatibility.layers import COLUMNS, Build

SAME, BOTH_RAISE, MORE, NOT_APPLICABLE = "✓", "as torch: raises", "✓ (torch raises)", ""
DIFFERENT = "differs (see below)"


def outcome(row: str, behavior: Behavior, name: str, build: Build) -> str:
    torch.manual_seed(0)
    theirs, ours = build(torch.nn), build(nn)
    ours.load_state_dict(theirs.state_dict())
    try:
        expected = attempt(behavior, theirs, name)
        found = attempt(behavior, ours, name)
    except DoesNotApplyError:
        return NOT_APPLICABLE
    if isinstance(found, Exception):
        return BOTH_RAISE if isinstance(expected, Exception) else f"RAISES {name}: {found}".replace("\n", " ")
    if isinstance(expected, Exception):
        return MORE
    limits = {"rtol": LIMITS.get(row, 1e-7), "atol": LIMITS.get(row, 1e-9)}
    try:
        torch.testing.assert_close(found, expected, **limits)
    except AssertionError as error:
        return DIFFERENT if row in DIFFERS else f"DIFFERS {name}: {error}".replace("\n", " ")
    return SAME


def attempt(behavior: Behavior, layer: torch.nn.Module, name: str) -> list[torch.Tensor] | Exception:
    try:
        with redirect_stdout(io.StringIO()):  # the old ONNX exporter prints the graph of a layer that fails
            return tensors(behavior(layer, name))
    except DoesNotApplyError:
        raise
    except Exception as error:  # noqa: BLE001 - what torch raises is part of the comparison
        return error


def table_row(row: str, behavior: Behavior) -> str:
    cells = [row]
    for builds in COLUMNS.values():
        found = {name: outcome(row, behavior, name, build) for name, build in builds.items()}
        kinds = list(dict.fromkeys(found.values()))
        cells.append(kinds[0] if len(kinds) == 1 else "; ".join(described(kind, found) for kind in kinds))
    return f"| {' | '.join(cells)} |"


def described(kind: str, found: dict[str, Any]) -> str:
    return f"{', '.join(name for name, value in found.items() if value == kind)}: {kind}"


def main(which: str) -> None:
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    torch.set_num_threads(1)
    chosen = {"fast": FAST, "slow": SLOW, "all": {**FAST, **SLOW}}[which]
    for row, behavior in chosen.items():
        sys.stdout.write(f"{table_row(row, behavior)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all")
