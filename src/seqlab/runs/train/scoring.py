"""After training: take the best weights, calibrate, score beside the baselines, write results and report."""

from __future__ import annotations

from time import perf_counter
from typing import Any

from seqlab.core.files import write_whole
from seqlab.metrics.score import beaten_scores, uncompared_scores
from seqlab.runs.evaluation import evaluate_split
from seqlab.runs.folder.layout import JOURNAL, REPORT, WEIGHTS
from seqlab.runs.folder.manifest import Manifest, complete_manifest
from seqlab.runs.folder.results import provenance, write_calibration, write_results
from seqlab.runs.report.build import run_report
from seqlab.runs.report.curve_advice import training_advice
from seqlab.runs.run import Run
from seqlab.runs.survey.leaks import note_leaks
from seqlab.runs.train.fitted_scoring import fit_to_time
from seqlab.runs.train.plan import SCORED
from seqlab.runs.train.prepare import Prepared, Say
from seqlab.training.checkpoints.weights_file import read_weights
from seqlab.training.freezing import count_parameters
from seqlab.training.journal import read_journal
from seqlab.training.loop import Trainer
from seqlab.training.progress import Progress


def score_run(trainer: Trainer, prepared: Prepared, manifest: Manifest, say: Say) -> Run:
    """Take the best weights, score them beside the baselines, and write results and report."""
    clock = perf_counter()
    folder, progress = prepared.folder, trainer.progress
    if progress.candidates:
        say(_chosen_weights(progress))
    say("scoring beside the baselines")
    model = prepared.model
    weights = read_weights(
        folder / WEIGHTS,
        expected=model.state_dict(),
        seal=manifest.run_id,
        least_step=trainer.best_step,
    )
    model.load_state_dict(weights)
    model.eval()
    calibration = prepared.rehearsal.evaluator.with_splits(prepared.splits).calibrate(model)
    write_calibration(folder, calibration, manifest)
    run = Run(folder, prepared.recipe, prepared.codec, model, calibration)
    left = trainer.budget.scoring_seconds(seconds=trainer.seconds + perf_counter() - clock)
    scored, limits = fit_to_time(prepared, left)
    evaluator = prepared.rehearsal.evaluator.with_splits({**prepared.splits, **scored})
    evaluations = [evaluate_split(evaluator, run.predictor, split) for split in SCORED if split in scored]
    beaten = [score for evaluation in evaluations[:1] for score in beaten_scores(evaluation.scores)]
    uncompared = [
        (evaluation.split, score.difference)
        for evaluation in evaluations[:1]
        for score in uncompared_scores(evaluation.scores)
        if score.difference is not None
    ]
    leaks = [
        sentence
        for evaluation in evaluations
        if (sentence := note_leaks(evaluation, evaluator, prepared.survey))
    ]
    warnings = [
        *prepared.warnings,
        *limits,
        *leaks,
        *(f"the model does not beat its baseline: {score.describe()}" for score in beaten),
        *(f"{split}: {difference.describe('the model', 'its baseline')}" for split, difference in uncompared),
    ]
    training: dict[str, Any] = {
        "steps": trainer.step,
        "best_step": trainer.best_step,
        "seconds": round(trainer.seconds, 1),
        "parameters": count_parameters(model),
        "trained_parameters": count_parameters(model, trained=True),
        "stopped_early": trainer.stopped_early,
        "advice": training_advice(read_journal(folder / JOURNAL), minutes=prepared.recipe.training.minutes),
    }
    if progress.candidates:
        training |= {"weights": progress.best_weights, "candidates": progress.candidates}
    origin = provenance(seed=prepared.recipe.training.seed, device=prepared.device, data=prepared.data)
    write_results(folder, evaluations, training=training, provenance=origin, warnings=warnings)
    complete_manifest(folder, manifest)
    write_whole(folder / REPORT, run_report(run))
    return run


def _chosen_weights(progress: Progress) -> str:
    values = ", ".join(f"{name} {value:.4f}" for name, value in progress.candidates.items())
    return (
        f"saved the {progress.best_weights} weights of step {progress.best_step:,} (on validation data:"
        f" {values})"
    )
