"""After training: load the best weights, calibrate, score the model and its baselines, write results and
report.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from seqlab.core.files import write_whole
from seqlab.core.git_state import GitState
from seqlab.core.notify import Notify
from seqlab.runs.baseline_warnings import baseline_warnings
from seqlab.runs.card.card import write_card
from seqlab.runs.card.data_facts import describe_data
from seqlab.runs.evaluation import evaluate_split
from seqlab.runs.folder.layout import JOURNAL, REPORT, WEIGHTS
from seqlab.runs.folder.manifest import Manifest, complete_manifest
from seqlab.runs.folder.results import provenance, write_calibration, write_results
from seqlab.runs.report.build import run_report
from seqlab.runs.report.curve_advice import training_advice
from seqlab.runs.run import Run
from seqlab.runs.survey.leaks import note_leaks
from seqlab.runs.train.prepare import Prepared
from seqlab.runs.train.timed_scoring import TimedScoring
from seqlab.tasks.evaluation import Evaluation
from seqlab.training.checkpoints.tensor_digest import digest_of_tensors
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.freezing import count_parameters
from seqlab.training.journal import read_journal, started_event
from seqlab.training.loop import TrainingLoop
from seqlab.training.progress import Progress


def score_run(trainer: TrainingLoop, prepared: Prepared, manifest: Manifest, on_stage: Notify) -> Run:
    """Load the best weights, score the model and its baselines, and write results and report."""
    clock = perf_counter()
    if trainer.progress.candidates:
        on_stage(_describe_choice(trainer.progress))
    on_stage("scoring the model and its baselines")
    run = _load_best(trainer, prepared, manifest)
    left = trainer.budget.scoring_seconds(seconds=trainer.seconds + perf_counter() - clock)
    evaluations, warnings = _evaluate(prepared, run, seconds=left)
    results = write_results(
        prepared.folder,
        evaluations,
        training=_training_facts(trainer, prepared),
        provenance={
            **provenance(seed=prepared.recipe.training.seed, device=prepared.device, data=prepared.data),
            **_recorded_git(prepared.folder),
        },
        warnings=prepared.warnings + warnings,
        data=describe_data(prepared.recipe, prepared.survey, prepared.data),
    )
    write_card(run, results)
    complete_manifest(prepared.folder, manifest)
    write_whole(prepared.folder / REPORT, run_report(run))
    return run


def _recorded_git(folder: Path) -> dict[str, Any]:
    """The commit when training started, which need not be that of now."""
    git = GitState.from_json(started_event(read_journal(folder / JOURNAL)).get("git"))
    return {"git": git.to_json()} if git else {}


def _load_best(trainer: TrainingLoop, prepared: Prepared, manifest: Manifest) -> Run:
    """Load the best weights and calibrate the run."""
    folder, model = prepared.folder, prepared.model
    weights = read_weights(
        folder / WEIGHTS,
        expected=model.state_dict(),
        run_id=manifest.run_id,
        least_step=trainer.best_step,
    )
    model.load_state_dict(weights)
    model.eval()
    # on the rows that validations used during training, which a time budget limits
    calibration = prepared.rehearsal.evaluator.with_splits(prepared.objective.splits).calibrate(model)
    write_calibration(folder, calibration, manifest)
    return Run(folder, prepared.recipe, prepared.codec, model, calibration)


def _evaluate(prepared: Prepared, run: Run, *, seconds: float) -> tuple[list[Evaluation], list[str]]:
    """Score every held-out split, as far as the time allows; returns the evaluations and warnings."""
    timed = TimedScoring(prepared, seconds)
    splits = dict(prepared.splits)
    evaluator = prepared.rehearsal.evaluator.with_splits(splits)
    evaluations = []
    for name, split in timed.splits():
        splits[name] = split
        evaluation = evaluate_split(evaluator, run.predictor, name)
        evaluations.append(
            _with_note(evaluation, f"on {timed.parts[name]}") if name in timed.parts else evaluation
        )
    leaks = [note_leaks(evaluation, evaluator, prepared.survey) for evaluation in evaluations]
    reported = [warning for evaluation in evaluations[:1] for warning in baseline_warnings(evaluation)]
    return evaluations, [*timed.limits, *filter(None, leaks), *reported]


def _with_note(evaluation: Evaluation, note: str) -> Evaluation:
    """Return the scores, each with a note after its value."""
    scores = [replace(score, note="; ".join(filter(None, (score.note, note)))) for score in evaluation.scores]
    return replace(evaluation, scores=scores)


def _training_facts(trainer: TrainingLoop, prepared: Prepared) -> dict[str, Any]:
    """Return the facts about training for results.json."""
    progress, minutes = trainer.progress, prepared.recipe.training.minutes
    facts: dict[str, Any] = {
        "steps": trainer.step,
        "best_step": trainer.best_step,
        "seconds": round(trainer.seconds, 1),
        "parameters": count_parameters(prepared.model),
        "trained_parameters": count_parameters(prepared.model, trained=True),
        "stopped_early": trainer.stopped_early,
        "weights_sha256": digest_of_tensors(prepared.model.state_dict()),
        "advice": training_advice(read_journal(prepared.folder / JOURNAL), minutes=minutes),
    }
    if trainer.budget.validation_rows:
        facts["validation_rows"] = trainer.budget.validation_rows
    if progress.candidates:
        facts |= {"weights": progress.best_weights, "candidates": progress.candidates}
    return facts


def _describe_choice(progress: Progress) -> str:
    values = ", ".join(f"{name} {value:.4f}" for name, value in progress.candidates.items())
    return (
        f"saved the {progress.best_weights} weights of step {progress.best_step:,} (on validation data:"
        f" {values})"
    )
