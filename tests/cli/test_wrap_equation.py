"""Equations of parts and terms in a narrow terminal."""

from __future__ import annotations

import pytest

from seqlab.cli.explain import UNEXPLAINED
from seqlab.cli.glossary.terms import all_terms
from seqlab.cli.kinds import KINDS
from seqlab.cli.part_docs import describe_part
from seqlab.cli.wrap_equation import wrap_equation
from tests.check_each import check_each

BRACKETS = {"(": ")", "[": "]", "{": "}"}


def all_equations() -> list[str]:
    parts = [
        describe_part(kind, name) for kind in KINDS if kind not in UNEXPLAINED for name in KINDS[kind].names()
    ]
    return [line for part in (*parts, *all_terms().values()) for line in part.equations]


@pytest.mark.slow
def test_every_equation_fits_80_columns_and_is_broken_outside_of_brackets() -> None:
    def check_equation(equation: str) -> None:
        lines = wrap_equation(equation, 76)
        assert "".join("".join(lines).split()) == "".join(equation.split())
        assert max(map(len, lines)) <= 76, lines
        if len(equation) <= 76:
            assert lines == [equation]
        for line in lines:
            for opening, closing in BRACKETS.items():
                assert line.count(opening) == line.count(closing), lines

    equations = all_equations()
    assert len([equation for equation in equations if len(equation) > 76]) > 20
    check_each(equations, check_equation)


def test_a_long_update_continues_below_its_right_side() -> None:
    update = describe_part("optimizers", "adamw").equations[-1]
    assert wrap_equation(update, 76) == [
        "w          <- w - lr · weight_decay · w",
        "              - lr · exp_avg/(1 - β₁ᵗ) / (√(exp_avg_sq/(1 - β₂ᵗ)) + ε)",
    ]
