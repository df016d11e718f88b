"""Scores have one name: that of `results.json` and `journal.jsonl`, in every line and table of the terminal."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from seqlab.cli.live_line import LiveLine
from seqlab.cli.progress import TerminalProgress
from seqlab.cli.score_table import score_table
from seqlab.cli.validation_table import ValidationTable
from seqlab.metrics.score import Score
from seqlab.training.base import Validation

VALIDATION = Validation(0.5, higher_is_better=True, facts={"train_loss": 0.4, "valid_macro_f1": 0.5})


def test_validations_name_facts_as_the_journal_does(capsys: pytest.CaptureFixture[str]) -> None:
    TerminalProgress(console=Console(file=StringIO())).on_validation(3, VALIDATION, is_best=True)
    LiveLine().on_validation(3, VALIDATION, is_best=True)
    table = ValidationTable(80).lines(3, 1, VALIDATION, is_best=True)
    for shown in [*capsys.readouterr().err.split("\r"), table[0]]:
        assert "train_loss" in shown
        assert "valid_macro_f1" in shown


def test_tables_of_scores_name_them_as_the_results_do() -> None:
    scores = [Score("macro_f1", 0.9, 0.8, 1.0, 0.5, "guessing"), Score("ece", 0.1, note="10 bins")]
    lines = score_table("test", scores)
    assert [line.split()[0] for line in lines] == ["test", "macro_f1", "ece", "baseline:", "ece:"]
