"""Forecasting: windows and losses by plain arithmetic, nothing from the future, nothing lost to scaling."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from seqlab.core.errors import DataError, RecipeError, UsageError
from seqlab.sources.base import Row
from seqlab.sources.frequency import HOUR, Frequency
from seqlab.tasks.forecasting.calendar import calendar_features, periods_of
from seqlab.tasks.forecasting.codec import ForecastingCodec
from seqlab.tasks.forecasting.outputs import predict_windows
from seqlab.tasks.forecasting.scale import ColumnScale
from seqlab.tasks.forecasting.static import MOST_CATEGORIES, StaticColumns
from tests.tasks.encoded_task import EncodedTask
from tests.tasks.series_source import START, SeriesSource, forecasting_recipe, make, parts, row

PLAIN = {"season": 1, "context": 4, "calendar": False, "linear": False}
WAVE = 20 + 3 * np.sin(np.arange(40) / 2) + 0.1 * np.arange(40)


def shaken(task: EncodedTask) -> nn.Module:
    """A network whose forecasts depend on all of its inputs."""
    torch.manual_seed(7)
    model = task.build_model().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape))
    return model


@torch.no_grad()
def validation_loss(task: EncodedTask, model: nn.Module) -> float:
    return float(task.objective().validate(model).value)


def test_windows_are_the_steps_before_and_after_every_origin() -> None:
    values = np.arange(10.0) ** 2
    task = make({"train": SeriesSource([row(values)])}, forecasting=PLAIN)
    split = task.splits["train"]
    assert split.windows.tolist() == [[0, 3], [0, 4], [0, 5], [0, 6], [0, 7]]
    batch = task.codec.collate(split, np.array([0, 4]))
    mean, deviation = values.mean(), values.std()
    expected = (values - mean) / deviation
    assert batch.inputs[1, :, 0].numpy() == pytest.approx(expected[3:7], rel=1e-6)
    assert batch.inputs[0, :, 0].numpy() == pytest.approx([0.0, *expected[:3]], rel=1e-6)
    assert batch["is_known"][0, :, 0].tolist() == [False, True, True, True]
    assert batch["truth"][1, :, 0].numpy() == pytest.approx(expected[7:10], rel=1e-6)
    assert split.truth[1, :, 0].tolist() == [16.0, 25.0, 36.0]


def test_windows_of_several_series_do_not_touch() -> None:
    rows = [row(np.arange(9.0), name="a"), row(100 + np.arange(7.0), name="b")]
    task = make({"train": SeriesSource(rows)}, forecasting={**PLAIN, "scaling": "none"})
    split = task.splits["train"]
    batch = task.codec.collate(split, np.arange(len(split)))
    for (number, origin), steps, is_known, truth in zip(
        split.windows, batch.inputs, batch["is_known"], split.truth, strict=True
    ):
        values = rows[number]["targets"][:, 0]
        seen = (values[max(0, origin - 4) : origin] - values.mean()) / values.std()
        assert steps[is_known[:, 0], 0].numpy() == pytest.approx(seen, rel=1e-6)
        assert truth[:, 0].tolist() == values[origin : origin + 3].tolist()


def test_scores_start_where_the_part_starts_and_read_the_history_before_it() -> None:
    task = make(parts([row(WAVE)], ends=(25, 32)), forecasting=PLAIN)
    assert [task.splits[name].windows[:, 1].tolist() for name in ("valid", "test")] == [
        [25, 26, 27, 28, 29],
        [32, 33, 34, 35, 36, 37],
    ]
    batch = task.codec.collate(task.splits["test"], np.array([0]))
    train = WAVE[:25]
    expected = (WAVE[28:32] - train.mean()) / train.std()
    assert batch.inputs[0, :, 0].numpy() == pytest.approx(expected, rel=1e-5)


def test_origins_are_thinned_evenly() -> None:
    task = make(parts([row(WAVE)], ends=(15, 18)), forecasting={**PLAIN, "origins": 3})
    assert task.splits["test"].windows[:, 1].tolist() == [18, 28, 37]
    assert len(task.splits["train"].windows) == 15 - 3 - 4 + 1


def test_windows_without_any_known_target_are_left_out_and_counted() -> None:
    values = np.arange(14.0)
    values[6:10] = np.nan
    task = make({"train": SeriesSource([row(values)])}, forecasting={**PLAIN, "context": 3})
    origins = task.splits["train"].windows[:, 1].tolist()
    # Nothing is known in the three steps from 6 and from 7 on, nor in the three steps before 9 and before 10.
    assert origins == [3, 4, 5, 8, 11]
    assert "4 of 14 target values missing" in "\n".join(task.notes)


def test_missing_values_are_no_part_of_the_loss_and_never_become_nan() -> None:
    values = WAVE.copy()
    values[[5, 9, 20, 33]] = np.nan
    features = np.stack([WAVE[::-1], WAVE], axis=1)
    features[[0, 7, 34]] = np.nan
    task = make(
        parts([row(values, features=features)], ends=(25, 30)),
        data={"features": ["a", "b"]},
        forecasting=PLAIN,
    )
    model = shaken(task)
    split = task.splits["train"]
    batch = task.codec.collate(split, np.arange(len(split)))
    loss = task.objective().loss(model, batch, step=0, carry=())
    known = np.isfinite(values)
    assert loss.count == sum(known[origin : origin + 3].sum() for _, origin in split.windows)
    loss.total.backward()
    assert all(
        torch.isfinite(parameter.grad).all() for parameter in model.parameters() if parameter.grad is not None
    )
    for name in ("valid", "test"):
        assert np.isfinite(predict_windows(model, task.codec, task.splits[name]).values).all()
    assert np.isfinite(validation_loss(task, model))
    assert all(np.isfinite(score.value) for score in task.evaluate(model, "test").scores)


def test_the_loss_is_the_pinball_loss_in_deviations_of_the_series() -> None:
    values = WAVE.copy()
    values[24] = np.nan
    task = make(parts([row(values)], ends=(25, 30)), forecasting={**PLAIN, "levels": [0.1, 0.5, 0.8]})
    model, split = shaken(task), task.splits["train"]
    rows = np.arange(len(split))
    loss = task.objective().loss(model, task.codec.collate(split, rows), step=0, carry=())
    quantiles = predict_windows(model, task.codec, split).values
    error = split.truth[..., None] - quantiles
    pinball = np.where(error > 0, np.array([0.1, 0.5, 0.8]) * error, (np.array([0.1, 0.5, 0.8]) - 1) * error)
    expected = np.nansum(2 * pinball.mean(axis=-1)) / np.nanstd(values[:25])
    assert loss.total.item() == pytest.approx(expected, rel=1e-4)


def test_the_likelihood_is_that_of_a_normal_distribution_of_the_series() -> None:
    task = make(
        parts([row(WAVE)], ends=(25, 30)),
        forecasting={**PLAIN, "output": "normal", "levels": [0.1, 0.5, 0.9]},
    )
    model, split = shaken(task), task.splits["train"]
    loss = task.objective().loss(model, task.codec.collate(split, np.arange(len(split))), step=0, carry=())
    quantiles = predict_windows(model, task.codec, split).values / WAVE[:25].std()
    deviation = (quantiles[..., 2] - quantiles[..., 1]) / 1.2815515655446004
    distance = (split.truth / WAVE[:25].std() - quantiles[..., 1]) / deviation
    expected = (0.5 * distance**2 + np.log(deviation) + 0.5 * np.log(2 * np.pi)).sum()
    assert loss.total.item() == pytest.approx(expected, rel=1e-4)


def test_large_series_count_as_much_as_small_ones() -> None:
    rows = [row(WAVE, name="small"), row(1e6 * WAVE + 1e7, name="large")]
    task = make(parts(rows, ends=(25, 30)), forecasting=PLAIN)
    model = shaken(task)
    alone = [make(parts([one], ends=(25, 30)), forecasting=PLAIN) for one in rows]
    values = [validation_loss(one, model) for one in alone]
    assert values[0] == pytest.approx(values[1], rel=1e-3)
    assert validation_loss(task, model) == pytest.approx(np.mean(values), rel=1e-3)


@pytest.mark.parametrize(
    "settings", [{}, {"strategy": "recursive"}, {"output": "normal"}, {"patch": 2, "linear": True}]
)
def test_nothing_after_an_origin_reaches_its_forecast(settings: dict[str, Any]) -> None:
    """Every later target and feature is replaced; not one bit of the forecast may change."""
    random = np.random.default_rng(3)
    has_features = settings.get("strategy") != "recursive"
    known = random.normal(size=(40, 1))
    features = {"features": random.normal(size=(40, 2))} if has_features else {}
    data = {"known": ["k"], **({"features": ["a", "b"]} if has_features else {})}

    def sources(values: np.ndarray, columns: dict[str, np.ndarray]) -> dict[str, Any]:
        return parts([row(values, known=known, **columns)], ends=(25, 32))

    task = make(sources(WAVE, features), data=data, forecasting={**PLAIN, "calendar": True, **settings})
    model, origin = shaken(task), 34
    later, changed = WAVE.copy(), {name: values.copy() for name, values in features.items()}
    later[origin:] = random.normal(size=40 - origin) * 1e3
    for values in changed.values():
        values[origin:] = np.nan
    split = task.codec.encode_split("test", sources(later, changed)["test"])
    before, after = (predict_windows(model, task.codec, one) for one in (task.splits["test"], split))
    place = before.windows[:, 1].tolist().index(origin)
    assert np.array_equal(before.values[: place + 1], after.values[: place + 1])
    assert not np.array_equal(before.values[place + 1 :], after.values[place + 1 :])


def test_the_predictor_gives_the_forecast_of_the_same_origin() -> None:
    """The history alone, without anything after it, gives the numbers that were scored."""
    known = np.cos(np.arange(40.0))[:, None]
    rows = [row(WAVE, name="a", known=known), row(5 * WAVE[::-1], name="b", known=known)]
    task = make(parts(rows, ends=(25, 32)), data={"known": ["k"]}, forecasting=PLAIN)
    model, origin = shaken(task), 34
    scored = predict_windows(model, task.codec, task.splits["test"])
    histories = [
        Row({**one, "times": one["times"][:origin], "targets": one["targets"][:origin]}, "file", 1)
        for one in rows
    ]
    predictions = task.predictor(model).predict(histories, top=1)
    for number, prediction in enumerate(predictions):
        place = scored.windows.tolist().index([number, origin])
        np.testing.assert_allclose(prediction.values, scored.values[place], rtol=1e-6)
    assert [prediction.series for prediction in predictions] == ["a", "b"]
    assert predictions[0].times == ("2024-02-04", "2024-02-05", "2024-02-06")


def test_recursive_forecasts_read_their_own_medians() -> None:
    known = np.cos(np.arange(40.0))[:, None]
    task = make(
        parts([row(WAVE, known=known)], ends=(25, 32)),
        data={"known": ["k"]},
        forecasting={**PLAIN, "strategy": "recursive"},
    )
    model = shaken(task)
    quantiles = predict_windows(model, task.codec, task.splits["test"])
    history = WAVE[:32].copy()
    for step in range(3):
        one = SeriesSource([row(np.append(history, 0.0), known=known, start=len(history))])
        single = make_single(task).encode_split("test", one)
        predicted = predict_windows(model, make_single(task), single).values[0, 0, 0]
        np.testing.assert_allclose(quantiles.values[0, step, 0], predicted, rtol=1e-5)
        history = np.append(history, predicted[3])
    assert [task.splits[name].horizon for name in ("train", "valid")] == [1, 3]


def make_single(task: EncodedTask) -> ForecastingCodec:
    """The codec of forecasts of one step."""
    return task.with_recipe(task.recipe.changed("data", horizon=1)).codec


def test_small_changes_of_a_large_series_survive_scaling() -> None:
    values = np.array([[1e9 + 0.001 * step] for step in range(50)])
    scale = ColumnScale.fit(values)
    encoded = scale.encode(values)
    assert np.abs(encoded * scale.deviation + scale.mean - values).max() <= np.spacing(1e9)
    assert encoded.std() == pytest.approx(1.0, rel=1e-6)
    task = make(parts([row(values)], ends=(35, 40)), forecasting={**PLAIN, "scaling": "last"})
    predicted = predict_windows(task.build_model().eval(), task.codec, task.splits["test"])
    last = values[predicted.windows[:, 1] - 1, 0]
    assert (
        np.abs(predicted.median[..., 0] - last[:, None]).max() < 1e-6
    )  # persistence, to the last visible digit


def test_a_constant_series_is_forecast_as_it_is() -> None:
    task = make(parts([row(np.full(40, 7.25))], ends=(25, 30)), forecasting=PLAIN)
    predicted = predict_windows(task.build_model().eval(), task.codec, task.splits["test"])
    assert predicted.median == pytest.approx(7.25)
    assert np.isfinite(validation_loss(task, task.build_model().eval()))


def test_a_series_that_training_has_not_seen_is_scaled_by_its_history() -> None:
    task = make(parts([row(WAVE, name="a")], ends=(25, 30)), forecasting=PLAIN)
    new = 1000 * WAVE[:20] + 5
    split = task.codec.encode_split("new data", SeriesSource([row(new, name="z")]))
    assert split.windows[:, 1].min() == 4
    assert split.decode(np.zeros((len(split), 1, 1, 1)))[0, 0, 0, 0] == pytest.approx(new[:4].mean())
    model = shaken(task)
    prediction = task.predictor(model).predict([Row(row(new, name="z"), "file", 1)], top=1)[0]
    assert new.min() / 3 < prediction.median[0, 0] < 3 * new.max()


def test_static_columns_reach_the_network() -> None:
    rows = [row(WAVE, name=name, static={"city": city, "height": height}) for name, city, height in
            (("a", "Delhi", 216.0), ("b", "Oslo", 23.0))]  # fmt: skip
    task = make(parts(rows, ends=(25, 30)), data={"static": ["city", "height"]}, forecasting=PLAIN)
    batch = task.codec.collate(task.splits["train"], np.array([0, len(task.splits["train"]) - 1]))
    assert batch.inputs[:, 0, 1:].tolist() == batch["known"][:, 0].tolist() == [[1, 0, 1], [0, 1, -1]]


def test_rare_categories_share_no_feature() -> None:
    rows = [{"city": f"c{number:02}"} for number in range(40)] + [{"city": "c39"}]
    columns = StaticColumns.fit(rows)
    assert columns.width == MOST_CATEGORIES
    assert columns.encode({"city": "c39"}).tolist() == [1.0] + [0.0] * (MOST_CATEGORIES - 1)
    assert not columns.encode({"city": "c38"}).any()
    assert not columns.encode({"city": "unknown"}).any()


def test_calendar_features_turn_once_in_each_period() -> None:
    moments = [datetime(2026, 3, 2, 6, tzinfo=UTC), datetime(2024, 12, 31, 18, tzinfo=UTC)]
    times = np.array([moment.replace(tzinfo=None) for moment in moments], "datetime64[s]")
    found = calendar_features(times, ("day", "week", "year"))
    for moment, features in zip(moments, found, strict=True):
        days = 366 if moment.year == 2024 else 365
        shares = [
            moment.hour / 24,
            (moment.weekday() + moment.hour / 24) / 7,
            (moment.timetuple().tm_yday - 1 + moment.hour / 24) / days,
        ]
        expected = [turn(2 * np.pi * share) for share in shares for turn in (np.sin, np.cos)]
        assert features == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("frequency", "steps", "periods"),
    [
        (86_400.0, 800, ("week", "year")),
        (86_400.0, 700, ("week",)),
        (3600.0, 400, ("day", "week")),
        (900.0, 100, ("hour",)),
        (2_629_746.0, 36, ("year",)),
        (31_556_952.0, 50, ()),
    ],
)
def test_a_period_is_a_feature_if_the_data_spans_two_of_them(
    frequency: float, steps: int, periods: tuple[str, ...]
) -> None:
    times = START + (np.arange(steps) * frequency).astype("timedelta64[s]")
    assert periods_of(times, frequency) == periods


def test_a_future_value_that_should_be_known_is_missed_by_name_and_time() -> None:
    known = np.arange(40.0)[:, None] * [1.0, -1.0]
    task = make(
        parts([row(WAVE, known=known)], ends=(25, 32)),
        data={"known": ["price", "holiday"]},
        forecasting=PLAIN,
    )
    predictor = task.predictor(shaken(task))
    short = row(WAVE[:34], known=known[:35])
    with pytest.raises(DataError) as caught:
        predictor.predict([Row(short, "future.csv", 2)], top=1)
    message = str(caught.value)
    assert all(part in message for part in ("future.csv, line 2", "'known0'", "2024-02-05, 2024-02-06"))
    assert "2024-02-04" not in message
    gap = known.copy()
    gap[35, 1] = np.nan
    with pytest.raises(DataError, match=r"'known1'.*2024-02-05"):
        predictor.predict([Row(row(WAVE[:34], known=gap), "future.csv", 2)], top=1)
    assert predictor.predict([Row(row(WAVE[:34], known=known), "future.csv", 2)], top=1)


def test_a_list_of_numbers_is_a_history() -> None:
    task = make(parts([row(WAVE)], ends=(25, 32)), forecasting=PLAIN)
    predictor = task.predictor(shaken(task))
    [listed] = predictor.predict([WAVE[:32].tolist()], top=1)
    [in_file] = predictor.predict([Row(row(WAVE[:32]), "file", 1)], top=1)
    assert np.array_equal(listed.values, in_file.values)
    assert listed.times == ("32", "33", "34")
    for wrong in ([], [[1.0, 2.0]], ["a"], [float("nan")]):
        with pytest.raises(DataError, match="input 1"):
            predictor.predict([wrong], top=1)
    with_calendar = make(parts([row(WAVE)], ends=(25, 32)), forecasting={**PLAIN, "calendar": True})
    with pytest.raises(UsageError, match="times"):
        with_calendar.predictor(shaken(with_calendar)).predict([[1.0, 2.0]], top=1)


def test_a_prediction_tells_every_step_with_its_quantiles() -> None:
    targets = np.stack([WAVE, -WAVE], axis=1)
    task = make(
        parts([row(targets, name="a & b")], ends=(25, 32)),
        forecasting={**PLAIN, "levels": [0.1, 0.5, 0.9]},
    )
    [prediction] = task.predictor(shaken(task)).predict([Row(row(targets, name="a & b"), "file", 1)], top=1)
    plain = json.loads(json.dumps(prediction.to_json()))
    assert [(step["time"], step["target"]) for step in plain["forecast"]] == [
        (time, target)
        for time in ("2024-02-10", "2024-02-11", "2024-02-12")
        for target in ("targets0", "targets1")
    ]
    for step, values in zip(plain["forecast"], prediction.values.reshape(6, 3).tolist(), strict=True):
        assert step["quantiles"] == dict(zip(("0.1", "0.5", "0.9"), values, strict=True))
        assert step["median"] == values[1]
        assert values == sorted(values)
    lines = prediction.to_line().split("\n")
    low, median, high = (f"{value:.4g}" for value in prediction.values[0, 1])
    assert lines[1] == f"2024-02-10\ttargets1\t{median}\t{low} to {high}\ta & b"
    assert len(lines) == 6
    numbers = [f"{value:.4g}" for value in prediction.values[0, 0]]
    assert prediction.answer == numbers[1]
    assert prediction.ranking == [(numbers[0], 0.1), (numbers[2], 0.9)]
    assert len(prediction.to_lines()) == 7
    assert "a &amp; b" in prediction._repr_html_()


def test_a_saved_codec_encodes_to_the_same_bits(tmp_path: Path) -> None:
    rows = [
        row(WAVE * 0.1, name=name, known=np.tanh(WAVE)[:, None], static={"city": name, "size": 1 / 3})
        for name in ("ä", "b")
    ]
    task = make(parts(rows, ends=(25, 32)), data={"known": ["k"], "static": ["city", "size"]})
    task.codec.save(tmp_path)
    loaded = ForecastingCodec.load(task.recipe, tmp_path)
    again = loaded.encode_split("test", parts(rows, ends=(25, 32))["test"])
    assert again.store["truth"][1].tobytes() == task.splits["test"].store["truth"][1].tobytes()
    batches = [
        codec.collate(split, np.arange(len(split)))
        for codec, split in ((task.codec, task.splits["test"]), (loaded, again))
    ]
    assert torch.equal(batches[0].inputs, batches[1].inputs)
    model = shaken(task)
    one, other = (predict_windows(model, codec, again).values for codec in (task.codec, loaded))
    assert np.array_equal(one, other)


def test_the_default_context_has_whole_seasons_and_the_season_is_a_patch() -> None:
    hours = row(np.tile(WAVE, 20), seconds=HOUR)
    task = make({"train": SeriesSource([hours], Frequency(HOUR))}, data={"horizon": 48})
    settings = task.recipe.section(task.codec.settings.__class__)
    assert (settings.season, settings.context, settings.patch) == (24, 144, 24)
    short = make({"train": SeriesSource([row(np.tile(WAVE, 2))])}, data={"horizon": 1})
    settings = short.codec.settings
    assert (settings.season, settings.context, settings.patch) == (7, 14, 1)


@pytest.mark.parametrize(
    ("sections", "setting"),
    [
        ({"forecasting": {"strategy": "recursive"}, "data": {"features": ["a"]}}, "forecasting.strategy"),
        ({"model": {"kind": "recurrent", "bidirectional": True}}, "model.bidirectional"),
        ({"forecasting": {"levels": [0.1, 0.9]}}, "levels.*0.5"),
        ({"bag": {"n_grams": 2}}, "bag.n_grams"),
        ({"task": "classification", "model": {"kind": "linear"}}, "model.kind"),
    ],
)
def test_settings_that_contradict_the_task_are_refused(sections: dict[str, Any], setting: str) -> None:
    with pytest.raises(RecipeError, match=setting):
        forecasting_recipe(**sections)


@pytest.mark.parametrize(
    ("settings", "setting"),
    [({"season": 9, "context": 4}, "forecasting.context"), ({"context": 4, "patch": 5}, "forecasting.patch")],
)
def test_a_context_holds_a_season_and_a_patch(settings: dict[str, Any], setting: str) -> None:
    with pytest.raises(RecipeError, match=setting):
        make({"train": SeriesSource([row(WAVE)])}, forecasting=settings)


def test_series_that_are_too_short_are_counted_and_no_series_is_an_error() -> None:
    rows = [row(WAVE, name="long"), row(WAVE[:3], name="short")]
    task = make({"train": SeriesSource(rows)}, forecasting=PLAIN)
    assert "1 of 2 series left out, too short" in "\n".join(task.notes)
    with pytest.raises(DataError, match=r"data\.horizon"):
        make({"train": SeriesSource(rows[1:])}, forecasting=PLAIN)


@pytest.mark.parametrize("model", [{"kind": "linear"}, {"kind": "convolutional", "layers": 2, "hidden_size": 8},
                                   {"kind": "transformer", "layers": 1, "hidden_size": 8, "heads": 2},
                                   {"kind": "fixed_window"}, {"kind": "recurrent", "hidden_size": 5}])  # fmt: skip
def test_any_network_forecasts_and_an_untrained_one_repeats_the_season(model: dict[str, Any]) -> None:
    task = make(
        parts([row(WAVE)], ends=(25, 32)),
        model=model,
        forecasting={"season": 4, "context": 8, "patch": 2, "naive": "season"},
    )
    predicted = predict_windows(task.parts.build_model(task.codec).eval(), task.codec, task.splits["test"])
    origins = predicted.windows[:, 1]
    for step in range(3):
        np.testing.assert_allclose(predicted.median[:, step, 0], WAVE[origins - 4 + step], rtol=1e-5)


def test_the_linear_term_is_fitted_before_training() -> None:
    """A straight line is continued before the first update."""
    values = 1e6 + 3.0 * np.arange(50)
    task = make(parts([row(values)], ends=(35, 40)), forecasting={**PLAIN, "linear": True})
    predicted = predict_windows(task.build_model().eval(), task.codec, task.splits["test"])
    assert predicted.median[..., 0] == pytest.approx(task.splits["test"].truth[..., 0], abs=0.01)


def test_the_better_naive_forecast_of_training_is_the_start() -> None:
    season = np.tile([0.0, 5.0, -3.0, 2.0, 9.0, -7.0, 1.0], 12)
    walk = np.random.default_rng(5).normal(size=84).cumsum()
    found = [
        make({"train": SeriesSource([row(values)])}, data={"horizon": 3}).codec.settings.naive
        for values in (season, walk)
    ]
    assert found == ["season", "last"]


def test_an_evaluator_of_other_parts_keeps_the_fitted_baselines() -> None:
    task = make(parts([row(WAVE)], ends=(25, 30)), forecasting=PLAIN)
    model = shaken(task)
    evaluator = task.evaluator()
    expected = evaluator.evaluate(task.predictor(model), "test").scores[0].baseline
    other = evaluator.with_splits({"test": task.splits["test"]})
    assert other.evaluate(task.predictor(model), "test").scores[0].baseline == expected
