"""What a run cannot start from, in words."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import seqlab
from seqlab.core.errors import DataError, RecipeError, RunError
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.run import Run
from tests.runs.source_runs import SMALL, fine_tune, hurried, pretrain, write_table, write_text

pytestmark = pytest.mark.slow  # short each, long together


def refused(data: Path, source: Run | Path | str, *settings: str, task: str = "") -> str:
    """What is said before torch has anything to do."""
    start = source.folder if isinstance(source, Run) else source
    with pytest.raises((RecipeError, RunError)) as error:
        find_recipe(str(data), list(settings), task=task, start=str(start))
    return str(error.value)


def test_other_sizes_and_tokens_are_refused_all_at_once(language_run: Run, tmp_path: Path) -> None:
    said = refused(
        write_table(tmp_path),
        language_run,
        "model.hidden_size=24",
        "model.norm=post",
        "tokens.kind=characters",
        "model.dropout=0.3",
    )
    assert "3 mistakes" in said
    assert "model.hidden_size: the run has 12, found 24. Only these may differ: dropout, " in said
    assert "model.norm: the run has 'pre', found 'post'" in said
    assert "tokens.kind: the run has 'words', found 'characters'." in said


def test_another_network_is_refused(language_run: Run, recurrent_run: Run, tmp_path: Path) -> None:
    data = write_table(tmp_path)
    with pytest.raises(
        RecipeError, match=r"model\.kind: the run has a transformer network, found 'recurrent'"
    ):
        find_recipe(str(data), [], model="gru", start=str(language_run.folder))
    with pytest.raises(RecipeError, match=r"model\.cell: the run has 'lstm', found 'gru'"):
        find_recipe(str(data), [], model="gru", start=str(recurrent_run.folder))
    with pytest.raises(RecipeError, match=r"model\.bidirectional: the run has false, found true"):
        find_recipe(str(data), [], model="bilstm", start=str(recurrent_run.folder))
    assert "model.cell.forget_bias" in refused(data, recurrent_run, "model.cell.forget_bias=0.25")
    assert (
        find_recipe(str(data), ["model.dropout=0.5"], model="lstm", start=str(recurrent_run.folder))[
            0
        ].model.dropout
        == 0.5
    )


def test_a_causal_body_stays_causal(language_run: Run, tmp_path: Path) -> None:
    assert "model.causal: " in refused(write_table(tmp_path), language_run, "model.causal=false")


def test_a_run_that_is_not_there_or_has_no_weights_is_refused(language_run: Run, tmp_path: Path) -> None:
    data = write_table(tmp_path)
    said = refused(data, "nowhere")
    assert "start.run nowhere: there is no run here (no recipe.toml)" in said
    assert "first checkpoint" in said
    shutil.copytree(language_run.folder, tmp_path / "bare")
    (tmp_path / "bare" / "model.safetensors").unlink()
    assert "the run to start from has no weights yet" in refused(data, tmp_path / "bare")


def test_weights_that_were_exchanged_since_are_refused(language_run: Run, tmp_path: Path) -> None:
    with pytest.raises(
        RunError,
        match=r"start\.digest: the weights of .* are not those in the recipe .*expected 0123abcd",
    ):
        fine_tune(tmp_path, language_run, "start.digest=0123abcd")


@pytest.mark.parametrize(
    "word",
    [
        "start.freeze=backbone",
        "start.freeze_layers=1",
        "start.layer_decay=0.5",
        "start.lora_rank=4",
        "start.every=2",
    ],
)
def test_without_a_run_there_is_nothing_to_keep(word: str, tmp_path: Path) -> None:
    name = word.partition("=")[0]
    with pytest.raises(
        RecipeError,
        match=rf"{name}: .*no run to start from is set\. .*start=\"RUN\"",
    ):
        find_recipe(str(write_table(tmp_path)), [word])


def test_settings_that_contradict_each_other_are_refused(
    language_run: Run, recurrent_run: Run, tmp_path: Path
) -> None:
    data = write_table(tmp_path)
    said = refused(data, language_run, "start.freeze=backbone", "start.freeze_layers=1")
    assert "start.freeze_layers: " in said
    assert "start.freeze=backbone" in said
    assert "start.lora_rank: " in refused(data, language_run, "start.lora_rank=2", "start.freeze=embedding")
    said = refused(data, recurrent_run, "start.lora_rank=2")
    assert "start.lora_rank: " in said
    assert "this run has a recurrent network" in said
    assert "start.freeze_layers=NUMBER" in said


def test_adapters_and_thinned_layers_of_convolutions_are_refused(tmp_path: Path) -> None:
    source = pretrain(tmp_path, model="cnn", steps=2)
    said = refused(write_table(tmp_path), source, "start.lora_rank=2", "start.every=2")
    assert "this run has a convolutional network" in said
    assert "start.every: " in said
    with pytest.raises(RecipeError, match="kernels of a convolutional language model"):
        fine_tune(tmp_path, source)


def test_a_network_that_looks_ahead_is_no_start_for_a_language_model(
    masked_run: Run, language_run: Run, tmp_path: Path
) -> None:
    text = write_text(tmp_path)
    with pytest.raises(
        RecipeError,
        match=r"(?s)masked_language_model run .*causal.*task language_model",
    ):
        fine_tune(tmp_path, masked_run, data=text, task="language_model")
    with pytest.raises(RecipeError, match=r"(?s)causal.*both sides.*task masked_language_model"):
        fine_tune(tmp_path, language_run, data=text, task="masked_language_model")


def test_tokens_without_an_end_are_no_start_for_a_language_model(tmp_path: Path) -> None:
    with hurried():
        source = seqlab.train(
            write_table(tmp_path),
            *SMALL,
            "model.hidden_size=6",
            model="gru",
            steps=4,
            out=tmp_path / "labels",
        )
    with pytest.raises(RunError, match=r"has no <eos>, which the task language_model needs"):
        fine_tune(tmp_path, source, data=write_text(tmp_path), task="language_model")


def test_numbers_do_not_start_from_text(language_run: Run, recurrent_run: Run, tmp_path: Path) -> None:
    path = tmp_path / "waves.csv"
    path.write_text(
        "id,height,label\n"
        + "\n".join(f"{n},{n * t % 7},{'ab'[n % 2]}" for n in range(30) for t in range(5))
        + "\n"
    )
    with pytest.raises(DataError, match=r"this data has series of numbers, but the run .* reads text"):
        fine_tune(tmp_path, recurrent_run, "data.sequence=id", data=path)


def test_too_many_frozen_layers_are_refused(language_run: Run, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match=r"start\.freeze_layers: .*9 layers.* 3\."):
        fine_tune(tmp_path, language_run, "start.freeze_layers=9")


def test_layers_of_different_widths_cannot_be_left_out(tmp_path: Path) -> None:
    with hurried():
        source = seqlab.train(
            write_text(tmp_path),
            *SMALL,
            "model.hidden_sizes=6,5,4",
            "tokens.kind=words",
            "language_model.window=12",
            model="gru",
            steps=2,
            out=tmp_path / "x",
        )
    with pytest.raises(
        RecipeError,
        match=(
            r"(?s)the weights do not fit the new network: 'backbone\.stack\.layers\.1\.cell\.input' needs"
            r" .*start\.every"
        ),
    ):
        fine_tune(tmp_path, source, "start.every=2")


@pytest.mark.parametrize("is_shared", [False, True])
def test_a_classifier_cannot_start_from_a_translator_and_is_told_so(tmp_path: Path, is_shared: bool) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(
        "source\ttarget\n" + "".join(f"a {word}\tein {word}\n" for word in "abcdefghijklmnopqrst"),
        encoding="utf-8",
    )
    seqlab.train(
        pairs,
        f"tokens.shared={str(is_shared).lower()}",
        "training.steps=1",
        task="translation",
        model="gru",
        out=tmp_path / "translator",
        verbose=False,
    )
    with pytest.raises(RecipeError) as error:
        seqlab.train(
            write_table(tmp_path),
            "training.steps=1",
            start=str(tmp_path / "translator"),
            out=tmp_path / "classifier",
            verbose=False,
        )
    for fact in ("start.run", "translation", "classification", "encoder-decoder"):
        assert fact in str(error.value)
    assert "tokens.shared" not in str(error.value)
