"""The model card: what a model is, what it was trained on, how well it performs, its limits and how to use it.

Markdown with YAML front matter for the Hugging Face Hub. Everything comes from results.json, the recipe and
the journal, except license, language and intended use, which the user fills in.
"""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from seqlab.core.digests import is_intact
from seqlab.core.files import write_whole
from seqlab.core.git_state import GitState
from seqlab.metrics.score import Score
from seqlab.models.short_name import short_name
from seqlab.pages.numbers import count_of, format_duration
from seqlab.runs.card.limits import known_limits
from seqlab.runs.card.markdown import escape_markdown, markdown_table, to_yaml
from seqlab.runs.folder.layout import CARD, JOURNAL
from seqlab.runs.report.next_steps import after_training
from seqlab.training.journal import read_journal, started_event

if TYPE_CHECKING:
    from seqlab.runs.folder.manifest import Manifest
    from seqlab.runs.folder.results import Results
    from seqlab.runs.run import Run

EDITED = "card.edited.md"
FILL_IN = "**TODO**"
"""Marks what the author has to fill in."""
SHOWN_LABELS = 20


def write_card(run: Run, results: Results) -> None:
    """Write card.md. The manifest lists it, so it is written before the manifest is completed."""
    write_whole(run.folder / CARD, model_card(run, results))


def keep_edited_card(folder: Path, manifest: Manifest) -> bool:
    """Save a card that was edited by hand as card.edited.md before a resume writes a new one."""
    path = folder / CARD
    if not path.is_file() or CARD not in manifest.files or is_intact(path, manifest.files[CARD]):
        return False
    path.replace(folder / EDITED)
    return True


def model_card(run: Run, results: Results) -> str:
    """Return the text of card.md."""
    raw = results.raw
    lines = [
        *_front_matter(run, results),
        f"# {escape_markdown(run.folder.name)}",
        "",
        *_what_it_is(run, raw),
        *_data(raw),
        *_scores(results),
        *_limits(raw, results),
        *_usage(run),
        *_provenance(run, raw),
        *_license(),
    ]
    return "\n".join(lines)


def _front_matter(run: Run, results: Results) -> list[str]:
    """Metadata for the Hugging Face Hub; `model-index` holds the scores."""
    model, tag = short_name(run.recipe.model), run.spec.pipeline_tag
    task = {"type": tag or run.recipe.task, "name": run.recipe.task.replace("_", " ")}
    dataset_name = Path(run.recipe.data.train).name
    dataset = {"name": dataset_name, "type": dataset_name, "split": results.split}
    metrics = [
        {"type": score.name, "name": score.name.replace("_", " "), "value": round(score.value, 6)}
        for score in results.values()
    ]
    metadata: dict[str, Any] = {
        "library_name": "seqlab",
        **({"pipeline_tag": tag} if tag and not run.recipe.data.features else {}),
        "tags": ["seqlab", run.recipe.task, model],
        "model-index": [
            {"name": run.folder.name, "results": [{"task": task, "dataset": dataset, "metrics": metrics}]}
        ],
    }
    todo = [
        "license: unknown  # TODO: the license of the model, such as apache-2.0",
        "# language: en  # TODO: the language of the data",
    ]
    return ["---", *todo, *to_yaml(metadata), "---", ""]


def _what_it_is(run: Run, raw: dict[str, Any]) -> list[str]:
    training, task = raw["training"], run.recipe.task.replace("_", " ")
    trained = training.get("trained_parameters", training["parameters"])
    frozen = f", {trained:,} of them trained" if trained < training["parameters"] else ""
    start = (
        [f"- Fine-tuned from: {escape_markdown(Path(run.recipe.start.run).name)}"]
        if run.recipe.start.run
        else []
    )
    return [
        f"A {task} model, trained with seqlab.",
        "",
        f"- Task: {task}",
        (
            f"- Model: {short_name(run.recipe.model)} (`model.kind={run.recipe.model.kind}`),"
            f" {training['parameters']:,} parameters{frozen}"
        ),
        *start,
        f"- Intended use: {FILL_IN}",
        "",
    ]


def _data(raw: dict[str, Any]) -> list[str]:
    parts = raw["data"]
    heads = ["split", "file", "rows", "median length", "content fingerprint"]
    rows = [
        [
            name,
            escape_markdown(part["file"]),
            _amount(part),
            _median_length(part),
            escape_markdown(part["fingerprint"], longest=120),
        ]
        for name, part in parts.items()
    ]
    notes = [
        _skipped_rows(sum(part["skipped"] for part in parts.values())),
        "",
    ]
    return ["## Data", "", *markdown_table(heads, rows), "", *notes, *_label_table(parts)]


def _skipped_rows(skipped: int) -> str:
    """
    >>> _skipped_rows(0), _skipped_rows(1)
    ('No rows were skipped.', '1 row could not be used and was skipped.')
    """
    if not skipped:
        return "No rows were skipped."
    return f"{count_of(skipped, 'row')} could not be used and {'was' if skipped == 1 else 'were'} skipped."


def _amount(part: dict[str, Any]) -> str:
    """The number of rows, or of characters in one long text."""
    return f"{part['rows']:,}" if part["rows"] > 1 else f"1 text of {part['characters']:,} characters"


def _median_length(part: dict[str, Any]) -> str:
    return ", ".join(f"{spread['median']:,} {unit}" for unit, spread in part["lengths"].items())


def _label_table(parts: dict[str, Any]) -> list[str]:
    """A table of rows per label in each split."""
    labels = list(parts["train"]["labels"])[:SHOWN_LABELS]
    if not labels:
        return []
    rows = [
        [escape_markdown(label), *(f"{part['labels'].get(label, 0):,}" for part in parts.values())]
        for label in labels
    ]
    more = parts["train"]["num_labels"] - len(labels)
    note = [f"The {more:,} rarest training labels are not shown.", ""] if more else []
    return ["Rows per label:", "", *markdown_table(["label", *parts], rows), "", *note]


def _scores(results: Results) -> list[str]:
    heads = ["split", "score", "value", "95% CI", "baseline", "verdict"]
    rows = [
        _score_row(split, Score.from_json(entry))
        for split, part in results.raw["splits"].items()
        for entry in part["scores"]
    ]
    calibration = (
        results.raw["splits"][results.split]["sections"].get("calibration") if results.split else None
    )
    return ["## Scores", "", *markdown_table(heads, rows), "", *_calibration(calibration)]


def _score_row(split: str, score: Score) -> list[str]:
    interval = "" if score.low is None or score.high is None else f"{score.low:.4f} to {score.high:.4f}"
    baseline = (
        "" if score.baseline is None else f"{score.baseline:.4f} ({escape_markdown(score.baseline_name)})"
    )
    name = score.name.replace("_", " ")
    return [split, name, f"{score.value:.4f}", interval, baseline, score.verdict or ""]


def _calibration(section: dict[str, Any] | None) -> list[str]:
    if not section:
        return []
    before, after, temperature = section["before"], section["after"], section["temperature"]
    how = (
        f"Predicted probabilities use temperature {temperature:.3f}, chosen on validation data"
        f" (ECE {before['error']:.4f} before)."
        if temperature != 1.0
        else "Predicted probabilities come from the network without temperature scaling, which does not help on validation data."
    )
    return [
        f"Calibration: expected calibration error (ECE) {after['error']:.4f}. {how}",
        "",
    ]


def _limits(raw: dict[str, Any], results: Results) -> list[str]:
    limits = [f"- {escape_markdown(limit, longest=400)}" for limit in known_limits(raw, results.split)]
    return ["## Known limits", "", *limits, ""]


def _usage(run: Run) -> list[str]:
    folder = str(run.folder)
    commands = [command for command in after_training(run) if "\n" not in command]
    return [
        "## How to use it",
        "",
        "```sh",
        *commands,
        "```",
        "",
        "```python",
        "import seqlab",
        f"run = seqlab.load({folder!r})",
        "run.results",
        *_python_question(run),
        "```",
        "",
    ]


def _python_question(run: Run) -> list[str]:
    """One line of Python that queries the model, for tasks whose input fits on one line."""
    if run.spec.continues_text:
        return ["run.generate()"]
    return [f"run.predict([{run.codec.example_input()!r}])"] if run.recipe.data.text else []


def _provenance(run: Run, raw: dict[str, Any]) -> list[str]:
    facts, training = raw["provenance"], raw["training"]
    command = started_event(read_journal(run.folder / JOURNAL)).get("command")
    git = GitState.from_json(facts.get("git"))
    return [
        "## Provenance",
        "",
        (
            f"- Versions: seqlab {facts['seqlab']}, torch {facts['torch']}, numpy {facts['numpy']}, Python"
            f" {facts['python']}, {facts['system']}"
        ),
        (
            f"- Seed {facts['seed']}, {facts['threads']} CPU thread{'s' if facts['threads'] != 1 else ''}, device"
            f" {facts['device']}"
        ),
        (
            f"- {training['steps']:,} updates in {format_duration(training['seconds'])}, best at"
            f" {training['best_step']:,}"
        ),
        f"- Written {facts['created']}",
        *([f"- Git: {git.describe()} in the working directory"] if git else []),
        *([f"- Command: `{escape_code(command)}`"] if isinstance(command, str) and command else []),
        f"- Weights: sha256 `{training['weights_sha256']}`",
        (
            "- All settings are in recipe.toml. To retrain and compare:"
            f" `seqlab reproduce {escape_code(quote(str(run.folder)))}`"
        ),
        "",
    ]


def escape_code(text: str) -> str:
    """Escape text for use between backticks.

    >>> escape_code("a`b")
    "a'b"
    """
    return " ".join(text.replace("`", "'").split())


def _license() -> list[str]:
    return [
        "## License",
        "",
        f"- Model: {FILL_IN}",
        f"- Data: {FILL_IN} (does its license allow training on the data, and publishing a model trained on it?)",
        "",
    ]
