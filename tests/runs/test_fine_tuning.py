"""Runs that start from another run: what they take over, what stays, what they need afterwards."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import torch

import seqlab
from seqlab.core.files import sha256
from seqlab.core.notify import ignore
from seqlab.recipes.recipe import Recipe
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.folder.layout import read_recipe
from seqlab.runs.run import Run
from seqlab.runs.train.filled_recipe import fill_recipe
from seqlab.runs.train.prepare import Prepared, prepare
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.classification.calibration import ClassificationCalibration
from seqlab.tasks.language_model.spec import LanguageModelSettings
from seqlab.tasks.spec import find_spec
from tests.runs.source_runs import SMALL, fine_tune, hurried, write_table, write_tags, write_text
from tests.runs.toy_runs import fingerprint, finish, go_on, kill_after

pytestmark = pytest.mark.slow  # short each, long together


def prepared(data: Path, source: Run, *settings: str, task: str = "") -> Prepared:
    """A run that is about to start: its model is what it starts from."""
    recipe, _ = find_recipe(
        str(data), [*SMALL, "training.steps=4", *settings], task=task, start=str(source.folder)
    )
    with hurried():
        return prepare(recipe, out=str(data.parent / "new"))


@pytest.mark.spec(112, 171)
@pytest.mark.parametrize("name", ["language_run", "recurrent_run", "masked_run"])
def test_a_classifier_starts_from_the_tokens_and_weights_of_a_run_with_a_head_of_its_own(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    source: Run = request.getfixturevalue(name)
    new = prepared(write_table(tmp_path), source)
    before, now = source.model.state_dict(), new.model.state_dict()
    shared = [key for key in now if key.startswith(("embed.", "backbone."))]
    assert len(shared) >= 10
    assert all(torch.equal(before[key], now[key]) for key in shared)
    assert [key for key in now if key not in shared] == ["head.weight", "head.bias"]
    new.codec.save(tmp_path / "tokens")
    for path in sorted((source.folder / "tokens").iterdir()):
        assert sha256(path) == sha256(tmp_path / "tokens" / path.name)


@pytest.mark.spec(171)
def test_features_of_a_language_model_are_the_same_inside_a_classifier(
    language_run: Run, tmp_path: Path
) -> None:
    new = prepared(write_table(tmp_path), language_run)
    assert (new.recipe.model.causal, new.recipe.model.pooling) == (True, "last")
    tokens, is_token = (
        torch.tensor([[5, 9, 6, 7], [6, 5, 1, 1]]),
        torch.tensor([[True] * 4, [True, True, False, False]]),
    )
    with torch.inference_mode():
        before, _ = language_run.model.backbone(language_run.model.embed(tokens), is_token)
        after, _ = new.model.eval().backbone(new.model.embed(tokens), is_token)
        logits = new.model(tokens, is_token)
    assert torch.equal(before[is_token], after[is_token])
    assert torch.allclose(
        logits, new.model.head(torch.stack([before[0, 3], before[1, 1]])), atol=1e-6
    )  # the last real step answers


def test_a_masked_model_stays_bidirectional_and_is_asked_for_its_mean(
    masked_run: Run, tmp_path: Path
) -> None:
    model = prepared(write_table(tmp_path), masked_run).recipe.model
    assert (model.causal, model.pooling) == (False, "mean")


@pytest.mark.slow
@pytest.mark.spec(112)
@pytest.mark.parametrize(("name", "causal"), [("language_run", True), ("masked_run", False)])
def test_a_tagger_starts_from_what_was_learned_by_foreseeing_or_filling(
    name: str, causal: bool, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    source: Run = request.getfixturevalue(name)
    before, now = (
        source.model.state_dict(),
        prepared(write_tags(tmp_path), source, task="tagging").model.state_dict(),
    )
    assert all(
        torch.equal(tensor, before[key])
        for key, tensor in now.items()
        if key.startswith(("embed.", "backbone."))
    )
    run = fine_tune(
        tmp_path, source, "training.learning_rate=0.02", data=tmp_path / "tags.tsv", task="tagging", steps=60
    )
    assert run.recipe.model.causal == causal
    assert run.results["accuracy"].value > 0.95
    assert run.vectors(["red two"], pooling="first")[0] == pytest.approx(
        run.word_vectors("red two")[1][0], abs=1e-5
    )


def test_what_is_not_in_the_weights_may_change(language_run: Run, tmp_path: Path) -> None:
    model = prepared(
        write_table(tmp_path), language_run, "model.dropout=0.4", "model.pooling=max", "model.hidden_size=12"
    ).recipe.model
    assert (model.dropout, model.pooling, model.layers, model.hidden_size) == (0.4, "max", 3, 12)


@pytest.mark.parametrize("name", ["language_run", "recurrent_run"])
def test_a_language_model_goes_on_with_new_text_exactly_where_it_was(
    name: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    source: Run = request.getfixturevalue(name)
    new = prepared(write_text(tmp_path), source)
    assert new.recipe.task == "language_model"
    assert (
        new.recipe.section(LanguageModelSettings).window
        == source.recipe.section(LanguageModelSettings).window
    )
    assert new.model.state_dict().keys() == source.model.state_dict().keys()
    assert all(
        torch.equal(tensor, source.model.state_dict()[key]) for key, tensor in new.model.state_dict().items()
    )  # its head too
    parts = find_spec(new.recipe.task).load_parts()
    predictor = parts.predictor(new.codec, new.model.eval(), Calibration())
    assert parts.evaluator(new.codec, new.splits).evaluate(predictor, "test").scores[
        0
    ].value == pytest.approx(source.results["nats_per_token"].value, rel=1e-6)


def test_text_alone_goes_on_with_what_a_masked_model_had_learned(masked_run: Run, tmp_path: Path) -> None:
    new = prepared(write_text(tmp_path), masked_run)
    assert new.recipe.task == "masked_language_model"
    assert all(
        torch.equal(tensor, masked_run.model.state_dict()[key])
        for key, tensor in new.model.state_dict().items()
    )


def test_texts_are_cut_to_the_positions_that_were_learned(language_run: Run, tmp_path: Path) -> None:
    data = write_table(tmp_path)
    data.write_text(data.read_text() + f"{'red ' * 100},colour\n")
    new = prepared(data, language_run)
    assert new.recipe.data.max_length == 40
    assert any("40 tokens" in reason and "data.max_length=NUMBER" in reason for reason in new.reasons)


def test_every_second_layer_starts_a_student_of_half_the_depth(
    language_run: Run, recurrent_run: Run, tmp_path: Path
) -> None:
    for source, path in ((language_run, "backbone.layers"), (recurrent_run, "backbone.stack.layers")):
        new = prepared(write_text(tmp_path), source, "start.every=2")
        assert new.recipe.model.layers == 2  # of three: the first and the third
        before, now = source.model.state_dict(), new.model.state_dict()
        for key, tensor in now.items():
            origin = key.replace(f"{path}.1.", f"{path}.2.")
            assert torch.equal(tensor, before[origin]), key


def test_the_recipe_keeps_where_the_weights_come_from(language_run: Run, tmp_path: Path) -> None:
    run = fine_tune(tmp_path, language_run)
    start = read_recipe(run.folder).start
    assert start.run == str(language_run.folder.resolve())
    assert start.digest == sha256(language_run.folder / "model.safetensors")
    assert (tmp_path / "tuned" / "tokens" / "labels.json").is_file()


@pytest.mark.spec(112)
def test_the_run_needs_its_source_neither_to_load_nor_to_resume(tmp_path: Path, language_run: Run) -> None:
    source = tmp_path / "source"
    shutil.copytree(language_run.folder, source)
    whole = fine_tune(tmp_path, source, "start.lora_rank=2", name="whole", steps=9)
    recipe, _ = find_recipe(
        str(tmp_path / "notes.csv"), [*SMALL, "training.steps=9", "start.lora_rank=2"], start=str(source)
    )
    with hurried():
        ready = prepare(recipe, out=str(tmp_path / "stopped"))
    train_until(ready, steps=3)
    shutil.rmtree(source)
    with hurried():
        from seqlab.runs.train.start import resume

        again = resume(tmp_path / "stopped")
    first, second = fingerprint(whole.folder), fingerprint(again.folder)
    assert {name: first[name] for name in ("tensors", "best", "splits")} == {
        name: second[name] for name in ("tensors", "best", "splits")
    }
    assert torch.equal(seqlab.load(again.folder).model.head.weight, whole.model.head.weight)


def train_until(ready: Prepared, *, steps: int) -> None:
    """Train, and stop after some steps as Ctrl-C does."""
    from seqlab.runs.train.start import Interrupted, train
    from seqlab.training.base import NullCallback, StepReport

    class Stopper(NullCallback):
        def on_step(self, report: StepReport) -> None:
            if report.step == steps:
                raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        train(ready, callback=Stopper())


@pytest.mark.slow
def test_a_killed_fine_tuning_goes_on_to_the_same_bits(language_run: Run, tmp_path: Path) -> None:
    settings = [
        *SMALL,
        "training.steps=40",
        f"start.run={language_run.folder}",
        "start.freeze_layers=1",
        "start.layer_decay=0.6",
    ]
    data = write_table(tmp_path)
    assert finish(go_on, data, tmp_path / "whole", settings) == 0
    kill_after(1.5, go_on, data, tmp_path / "killed", settings)
    assert finish(go_on, data, tmp_path / "killed", settings) == 0
    assert fingerprint(tmp_path / "killed") == fingerprint(tmp_path / "whole") | {
        "model": fingerprint(tmp_path / "killed")["model"]
    }


@pytest.mark.parametrize(
    ("settings", "frozen"),
    [
        (["start.freeze=embedding"], ("embed.", "backbone.positions.")),
        (
            ["start.freeze_layers=2"],
            ("embed.", "backbone.positions.", "backbone.layers.0.", "backbone.layers.1."),
        ),
        (["start.freeze=backbone"], ("embed.", "backbone.")),
    ],
    ids=["embedding", "two layers", "body"],
)
def test_what_is_frozen_keeps_every_bit_through_training(
    settings: list[str], frozen: tuple[str, ...], language_run: Run, tmp_path: Path
) -> None:
    run = fine_tune(
        tmp_path, language_run, *settings, "training.learning_rate=0.05", "training.decay_all=true"
    )
    before = language_run.model.state_dict()
    for name, tensor in run.model.state_dict().items():
        if name.startswith(("embed.", "backbone.")):
            assert torch.equal(tensor, before[name]) == name.startswith(frozen), name
    trained = sum(
        tensor.numel() for name, tensor in run.model.named_parameters() if not name.startswith(frozen)
    )
    assert run.results.raw["training"]["trained_parameters"] == trained
    assert f"{trained:,} of them trained" in (run.folder / "report.html").read_text()


def test_adapters_are_all_that_is_trained_besides_the_head(language_run: Run, tmp_path: Path) -> None:
    run = fine_tune(
        tmp_path,
        language_run,
        "start.lora_rank=2",
        "start.lora_alpha=4",
        "start.lora_targets=qkv,feed_forward",
        "training.learning_rate=0.02",
    )
    before, now = language_run.model.state_dict(), run.model.state_dict()
    adapters = [name for name in now if name.endswith((".up", ".down"))]
    assert len(adapters) == 3 * 3 * 2  # qkv, expand, contract in three layers
    assert all(bool((now[name] != 0).any()) for name in adapters)  # B has moved away from zero
    for name, tensor in now.items():
        plain = name.replace(".base.", ".")
        if plain in before and name not in adapters:
            assert torch.equal(tensor, before[plain]), name
    expected = sum(now[name].numel() for name in [*adapters, "head.weight", "head.bias"])
    assert run.results.raw["training"]["trained_parameters"] == expected
    again = seqlab.load(run.folder)
    assert again.predict(["red blue"])[0] == run.predict(["red blue"])[0]


def test_a_run_can_start_from_one_with_adapters(language_run: Run, tmp_path: Path) -> None:
    adapted = fine_tune(tmp_path, language_run, "start.lora_rank=2", "training.learning_rate=0.05")
    new = prepared(write_table(tmp_path), adapted)
    assert not any(".base." in name for name in new.model.state_dict())
    assert new.recipe.start.lora_rank == 0
    texts = ["red blue two", "four"]
    features = Run(tmp_path, new.recipe, new.codec, new.model, ClassificationCalibration()).vectors(
        texts, pooling="last"
    )
    assert features == pytest.approx(adapted.vectors(texts, pooling="last"), abs=1e-5)


def test_a_saved_recipe_can_be_run_again(language_run: Run, tmp_path: Path) -> None:
    first = fine_tune(tmp_path, language_run, "model.dropout=0.3")
    with hurried():
        again = seqlab.train(_saved(first, tmp_path), out=tmp_path / "again")
    assert fingerprint(again.folder)["splits"] == fingerprint(first.folder)["splits"]
    assert again.recipe == first.recipe


def _saved(run: Run, folder: Path) -> Path:
    path = folder / "again.toml"
    path.write_text(run.recipe.to_toml())
    return path


def test_classes_of_series_start_from_other_series(tmp_path: Path) -> None:
    def write(name: str, labels: tuple[str, str]) -> Path:
        path = tmp_path / f"{name}.csv"
        rows = [
            f"{n},{(-1) ** (n * t) * t * 0.5 + n % 2},{labels[n % 2]}"
            for n in range(30)
            for t in range(4 + n % 3)
        ]
        path.write_text("id,height,label\n" + "\n".join(rows) + "\n")
        return path

    with hurried():
        source = seqlab.train(
            write("one", ("a", "b")),
            *SMALL,
            "model.hidden_size=6",
            "data.sequence=id",
            model="gru",
            steps=4,
            out=tmp_path / "one",
        )
    new = prepared(write("two", ("x", "y")), source, "data.sequence=id")
    assert torch.equal(new.model.state_dict()["embed.weight"], source.model.state_dict()["embed.weight"])
    assert new.codec.inputs.scale.mean.tolist() == source.codec.inputs.scale.mean.tolist()
    assert new.codec.label_names() == ["x", "y"]
    assert isinstance(new.recipe, Recipe)


def test_a_rate_for_fine_tuning_is_chosen_where_none_is_given(
    language_run: Run, recurrent_run: Run, tmp_path: Path
) -> None:
    chosen = prepared(write_table(tmp_path), language_run).recipe.training.learning_rate
    assert chosen == min(3e-3, float(f"{32 / language_run.recipe.model.hidden_size**2:.1g}"))
    assert prepared(write_table(tmp_path), recurrent_run).recipe.training.learning_rate == 2e-3
    assert (
        prepared(
            write_table(tmp_path), language_run, "training.learning_rate=0.3"
        ).recipe.training.learning_rate
        == 0.3
    )


def test_only_guesses_that_hold_are_announced(masked_run: Run, tmp_path: Path) -> None:
    """Plain text is guessed to be for a language model until the source turns out to be a masked one."""
    recipe, _ = find_recipe(str(write_text(tmp_path)), [*SMALL], start=str(masked_run.folder))
    notes: list[str] = []
    filled = fill_recipe(recipe, threads=1, on_stage=ignore, on_note=notes.append)
    assert filled.recipe.task == "masked_language_model"
    assert notes == filled.opened.reasons
