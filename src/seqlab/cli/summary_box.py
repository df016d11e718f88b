"""The summary box after training: score and baseline, time, digest of the weights, and paths."""

from __future__ import annotations

import sys
from shutil import get_terminal_size
from typing import TYPE_CHECKING

from seqlab.cli.colors import has_colors, painted
from seqlab.cli.console import answer, clean, say
from seqlab.cli.units import value_text
from seqlab.pages.numbers import count_of, format_duration

if TYPE_CHECKING:
    from seqlab.metrics.score import Score
    from seqlab.runs.run import Run

WIDEST = 100


def show_summary(run: Run) -> None:
    """Print a box in a terminal, and only the path of the report elsewhere, as scripts expect."""
    if not sys.stdout.isatty():
        say(f"weights: {_weights(run)}")
        return answer(f"report: {run.folder / 'report.html'}")
    lines = draw_box(run.folder.name, summary_rows(run), width=get_terminal_size().columns)
    if has_colors(sys.stdout):
        print(painted("\n".join(lines), "green"), flush=True)  # noqa: T201 - the text was cleaned
        return None
    return answer("\n".join(lines))


def summary_rows(run: Run) -> list[tuple[str, str]]:
    """Names and values, the score first."""
    training = run.results.raw["training"]
    return [
        *_score_rows(next(iter(run.results.values()), None), run.results.split),
        (
            "time",
            f"{format_duration(training['seconds'])} for {count_of(training['steps'], 'step')}, best after {training['best_step']:,}",
        ),
        ("model", f"{training['parameters']:,} parameters"),
        ("weights", _weights(run)),
        ("run", str(run.folder)),
        ("report", str(run.folder / "report.html")),
        ("card", str(run.folder / "card.md")),
    ]


def _score_rows(score: Score | None, split: str) -> list[tuple[str, str]]:
    if score is None:
        return []
    interval = (
        ""
        if score.low is None or score.high is None
        else f"  95% CI {value_text(score.low)} to {value_text(score.high)}"
    )
    note = f"  {score.note}" if score.note else ""
    rows = [(f"{split} {score.name}", f"{value_text(score.value)}{interval}{note}")]
    if score.baseline is not None:
        comparison = score.comparison(score.baseline_name or "the baseline")
        rows.append(("baseline", f"{value_text(score.baseline)}  {comparison}"))
    return rows


def _weights(run: Run) -> str:
    """The digest of the weights, and what it depends on."""
    raw = run.results.raw
    facts = raw["provenance"]
    return (
        f"sha256 {raw['training']['weights_sha256'][:16]} (seed {facts['seed']}, {count_of(facts['threads'], 'thread')};"
        " check with: seqlab reproduce)"
    )


def draw_box(title: str, rows: list[tuple[str, str]], *, width: int) -> list[str]:
    """Names and values in a frame that fits the terminal; long values wrap.

    >>> print("\\n".join(draw_box("toy", [("accuracy", "0.91"), ("run", "runs/toy")], width=40)))
    ╭─ toy ───────────────╮
    │ accuracy   0.91     │
    │ run        runs/toy │
    ╰─────────────────────╯
    """
    names = max(len(name) for name, _ in rows)
    space = max(10, min(WIDEST, width) - names - 7)
    cells = [
        (name if first else "", part)
        for name, value in rows
        for first, part in ((place == 0, part) for place, part in enumerate(_wrapped(clean(value), space)))
    ]
    widest = max(len(part) for _, part in cells)
    inner = max(names + 3 + widest, min(len(title) + 2, names + 3 + space))
    head = f"─ {clean(title)[: inner - 2]} "
    return [
        f"╭{head}{'─' * (inner + 2 - len(head))}╮",
        *(f"│ {f'{name:<{names}}   {part}':<{inner}} │" for name, part in cells),
        f"╰{'─' * (inner + 2)}╯",
    ]


def _wrapped(value: str, width: int) -> list[str]:
    """Break between words; break a longer path anywhere."""
    import textwrap

    return textwrap.wrap(value, width, break_on_hyphens=False) or [""]
