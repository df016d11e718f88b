"""Captions of images: which files are read, the loss, captions and their attention, and what is an error."""

from __future__ import annotations

import copy
import math
import sys
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from seqlab.batches.loader import Cursor
from seqlab.core.errors import DataError, MissingExtra, RecipeError
from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.forced_scoring import score_targets
from seqlab.models.images.encoder import ImageEncoder
from seqlab.recipes.read import check
from seqlab.runs.data import open_data
from seqlab.runs.survey.data_survey import survey_parts, survey_warnings
from seqlab.sources.formats.pixels import decode_image, fitted, pixels_of
from seqlab.tasks.captioning.codec import CaptioningCodec, collect_image_items
from seqlab.tasks.spec import find_spec
from seqlab.tokens.vocabulary import EOS
from tests.tasks.encoded_task import EncodedTask, encode_task

image = pytest.importorskip("PIL.Image")

COLOURS = {"red": (200, 20, 20), "green": (20, 160, 40), "blue": (30, 60, 210), "white": (255, 255, 255)}
MODEL = {"kind": "image_convolutional", "hidden_size": 6, "dropout": 0.0}


def draw(folder: Path, *, size: tuple[int, int] = (12, 9)) -> list[str]:
    """One picture of each colour; the last one in another format."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{colour}.{'jpg' if colour == 'white' else 'png'}" for colour in COLOURS]
    for name, colour in zip(names, COLOURS.values(), strict=True):
        image.new("RGB", size, colour).save(folder / name)
    return names


def table(folder: Path, rows: list[tuple[str, str]]) -> Path:
    path = folder / "captions.tsv"
    path.write_text("image\tcaption\n" + "".join(f"{name}\t{caption}\n" for name, caption in rows))
    return path


def rows_for(names: list[str], *, under: str = "") -> list[tuple[str, str]]:
    """Two captions for each picture, not side by side."""
    return [
        (under + name, f"{start} {name.partition('.')[0]} wall")
        for start in ("a", "this is a")
        for name in names
    ]


def make(path: Path, **sections: dict[str, Any]) -> EncodedTask:
    data = {
        "train": str(path),
        "valid": str(path),
        "test_share": 0.0,
        "image_size": 8,
        **sections.pop("data", {}),
    }
    raw = {"task": "captioning", "data": data, "model": MODEL, "training": {"batch_size": 4}, **sections}
    opened = open_data(check(raw, where="test"))
    recipe, _ = find_spec("captioning").fill_defaults(opened.recipe, opened.parts["train"])
    task = encode_task(recipe, opened.parts)
    torch.manual_seed(5)
    return task


@pytest.fixture
def captions(tmp_path: Path) -> Path:
    return table(tmp_path, rows_for(draw(tmp_path / "pictures"), under="pictures/"))


@pytest.mark.spec(15)
def test_a_picture_is_read_once_for_all_its_captions_and_the_loss_is_that_of_each(captions: Path) -> None:
    task = make(captions, tokens={"kind": "words"})
    train = task.splits["train"]
    assert (len(train.store), len(train.images)) == (8, 4)
    assert collect_image_items(task.codec, train)[0].references == ["a red wall", "this is a red wall"]
    model = task.build_model().double().eval()
    batch = task.objective().loader(Cursor()).take()
    expected, count = torch.zeros((), dtype=torch.float64), 0
    colours = np.array(list(COLOURS.values()))
    for row in batch.rows.tolist():
        number = int(train.store["image"][row])
        picture = train.images["pixels"][number].reshape(8, 8, 3)
        assert (
            np.abs(picture.astype(int) - colours[number]).max() <= 2
        )  # the pixels of its own colour, JPEG among them
        steps = (picture.reshape(8, 24) - task.codec.inputs.scale.mean) / task.codec.inputs.scale.scale
        target = torch.from_numpy(train.store["caption"][row].astype(np.int64))
        every = [torch.ones(1, length, dtype=torch.bool) for length in (8, len(target) - 1)]
        logits = model(torch.from_numpy(steps)[None], every[0], target[None, :-1], every[1])
        expected += F.cross_entropy(logits[0], target[1:], reduction="sum")
        count += len(target) - 1
    batch = batch.__class__(batch.inputs.double(), batch.is_token, batch.targets, batch.rows)
    found = task.objective().loss(model, batch, step=0, carry=())
    torch.testing.assert_close(found.total, expected, rtol=1e-5, atol=1e-5)
    assert found.count == count
    again = CaptioningCodec.load(task.recipe, saved(task, captions.parent / "tokens"))
    assert again.tokens.target.vocabulary.pieces == task.codec.tokens.target.vocabulary.pieces
    assert np.array_equal(again.inputs.scale.mean, task.codec.inputs.scale.mean)


def saved(task: EncodedTask, folder: Path) -> Path:
    task.codec.save(folder)
    return folder


@pytest.mark.spec(15, 44)
@pytest.mark.parametrize(
    ("model", "decoder"),
    [
        (MODEL, {"kind": "recurrent"}),
        (MODEL, {"kind": "transformer", "layers": 1, "heads": 2}),
        ({"kind": "vision_transformer", "hidden_size": 8, "heads": 2, "layers": 1, "dropout": 0.0}, {}),
        (
            {"kind": "vision_transformer", "hidden_size": 8, "heads": 2, "layers": 1, "dropout": 0.0},
            {"kind": "recurrent", "cell": "gru"},
        ),
    ],
)
def test_any_picture_encoder_stands_before_any_decoder(
    captions: Path, model: dict[str, Any], decoder: dict[str, Any]
) -> None:
    """Gradients reach the pixels' first layer, a beam's scores are those of forced scoring, and the attention of
    every token adds up to 1.
    """
    task = make(captions, model=model, decoder=decoder, decoding={"beam": 3, "n_best": 3, "max_tokens": 5})
    network = task.build_model()
    loss = task.objective().loss(network, task.objective().loader(Cursor()).take(), step=0, carry=())
    loss.total.backward()
    assert [
        name
        for name, parameter in network.named_parameters()
        if parameter.grad is None or not parameter.grad.any()
    ] == []
    network.eval()
    assert isinstance(network.encoder, ImageEncoder)
    pictures = [task.codec.inputs.steps(task.splits["train"].images["pixels"][number]) for number in range(3)]
    predictor = task.predictor(network)
    for source, hypotheses in zip(pictures, predictor.generate(pictures), strict=True):
        for one in hypotheses:
            forced = score_targets(
                network, [source], [one.tokens], task.codec.tokens.special_tokens, ended=[one.ended]
            )[0]
            assert one.log_prob == pytest.approx(forced.log_prob, abs=1e-4)
    image_rows = task.splits["train"].images["pixels"][0]
    example = predictor.attention_example(image_rows, hypotheses[0].tokens)
    assert example is not None
    grids = [look["weights"] for look in example.looks[1:]]
    assert np.array(grids).shape[1:] == network.encoder.grid
    assert [np.sum(grid) for grid in grids] == pytest.approx([1.0] * len(grids), abs=0.01)
    assert example.looks[-1]["words"] == EOS
    ensemble = task.predictor(Ensemble([network, network]))
    together = ensemble.attention_example(image_rows, hypotheses[0].tokens)
    assert together is not None
    assert np.array([look["weights"] for look in together.looks[1:]]) == pytest.approx(
        np.array(grids), abs=1e-3
    )


def test_a_caption_that_is_drawn_several_times_is_answered_once_and_given_ones_are_scored(
    captions: Path,
) -> None:
    task = make(captions, decoding={"temperature": 0.5, "samples": 30, "max_tokens": 2})
    network = task.build_model().eval()
    picture = task.splits["train"].images["pixels"][0].reshape(8, 8, 3).tolist()
    predictor = task.predictor(network)
    (prediction,) = predictor.predict([picture], top=30)
    texts = [text for text, _ in prediction.ranking]
    assert 1 < len(texts) == len(set(texts)) < 30
    (drawn,) = predictor.generate(task.codec.encode_inputs([picture]), top=30)
    text = task.codec.tokens.decode(drawn[0].tokens)
    (score,) = predictor.score([(picture, text)])
    forced = score_targets(
        network,
        list(task.codec.encode_inputs([picture])),
        [task.codec.tokens.target_ids(text, where="")],
        task.codec.tokens.special_tokens,
    )[0]
    assert score.log_prob == pytest.approx(forced.log_prob)
    other = (
        make(captions, model={"kind": "vision_transformer", "hidden_size": 8, "heads": 2, "layers": 1})
        .build_model()
        .eval()
    )
    mixed = task.predictor(Ensemble([network, other]))  # whose regions are different
    assert mixed.attention_example(task.splits["train"].images["pixels"][0], drawn[0].tokens) is None


@pytest.mark.slow
def test_captions_of_one_picture_stay_in_one_part_and_are_scored_together(tmp_path: Path) -> None:
    names = [f"{number}.png" for number in range(30)]
    for number, name in enumerate(names):
        image.new("RGB", (8, 8), (8 * number, 0, 0)).save(tmp_path / name)
    path = table(tmp_path, [(name, f"{start} {name[:-4]}") for start in ("number", "no") for name in names])
    task = make(path, data={"valid": "", "valid_share": 0.3}, decoding={"max_tokens": 4})
    parts = [{row.values["image"] for row in task.splits[split].rows.rows()} for split in ("train", "valid")]
    assert parts[0] | parts[1] == set(names)
    assert not parts[0] & parts[1]
    assert len(task.splits["valid"].store) == 2 * len(parts[1])
    evaluation = task.evaluate(task.build_model().eval(), "valid")
    assert len(evaluation.answers) == len(parts[1])
    assert all(len(truths) == 2 for truths in evaluation.truths)
    assert {score.name for score in evaluation.scores} >= {"bleu", "meteor", "exact_match"}
    assert "the most frequent caption" in evaluation.scores[0].describe()


def test_pictures_come_from_an_archive_or_a_folder_and_questions_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = draw(tmp_path / "elsewhere")
    with zipfile.ZipFile(tmp_path / "images.zip", "w") as archive:
        for name in names:
            archive.write(tmp_path / "elsewhere" / name, f"inside/{name}")
    path = table(tmp_path, rows_for(names))
    packed = make(path, data={"images": ["images.zip"]})
    unpacked = make(path, data={"images": [str(tmp_path / "elsewhere")]})
    assert [packed.splits["train"].images["pixels"][number].tolist() for number in range(4)] == [
        unpacked.splits["train"].images["pixels"][number].tolist() for number in range(4)
    ]
    predictor = packed.predictor(packed.build_model().eval())
    monkeypatch.chdir(tmp_path / "elsewhere")
    here, there, pixels = predictor.predict(
        ["red.png", "inside/red.png", [[list(COLOURS["red"])] * 8] * 8], top=1
    )
    assert here.answer == there.answer == pixels.answer
    assert here.probability == pytest.approx(pixels.probability, rel=1e-5)
    assert math.isfinite(there.probability or math.nan)


def test_pixels_are_upright_on_white_and_grey_where_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "one.png"
    see_through = image.new("RGBA", (3, 2), (255, 0, 0, 0))
    see_through.putpixel((2, 1), (0, 0, 255, 255))
    see_through.save(path)
    found = decode_image(path.read_bytes(), where="")
    assert found.shape == (2, 3, 3)
    assert found[0, 0].tolist() == [255, 255, 255]
    assert found[1, 2].tolist() == [0, 0, 255]
    turned = image.new("RGB", (4, 2), "red")
    exif = turned.getexif()
    exif[0x0112] = 6  # held upright by the camera
    turned.save(tmp_path / "turned.jpg", exif=exif)
    assert decode_image((tmp_path / "turned.jpg").read_bytes(), where="").shape == (4, 2, 3)
    deep = image.fromarray(np.full((2, 2), 257 * 7, np.uint16))
    deep.save(tmp_path / "deep.png")
    assert decode_image((tmp_path / "deep.png").read_bytes(), where="").tolist() == [[[7] * 3] * 2] * 2
    assert fitted(found, height=2, width=3, channels=1)[1, 2].tolist() == [29]  # 0.114 of 255
    assert fitted(pixels_of([[10]], where=""), height=1, width=1, channels=3).tolist() == [[[10, 10, 10]]]
    assert fitted(found, height=4, width=6, channels=3).shape == (4, 6, 3)


def test_small_pictures_are_not_enlarged(tmp_path: Path) -> None:
    """Square ones stay as they are; others become square with sides of at most the next eight pixels, and
    none has more than 64.
    """
    for size, expected in {(12, 9): 16, (30, 40): 40, (20, 20): 20, (70, 50): 64, (300, 300): 64}.items():
        folder = tmp_path / str(size)
        task = make(
            table(folder, rows_for(draw(folder / "pictures", size=size), under="pictures/")),
            data={"image_size": 0},
        )
        assert task.recipe.data.image_size == expected


def refused(path: Path, kind: type[Exception] = DataError, **sections: dict[str, Any]) -> str:
    with pytest.raises(kind) as caught:
        make(path, **sections)
    return str(caught.value)


def test_bad_pictures_are_refused_with_their_line(tmp_path: Path, captions: Path) -> None:
    names = [name for name, _ in rows_for(draw(tmp_path / "pictures"), under="pictures/")]
    missing = refused(
        table(tmp_path, [*[(name, "a wall") for name in names], ("pictures/rad.png", "a wall")])
    )
    assert "captions.tsv, line 10: there is no image file 'pictures/rad.png'" in missing
    assert "Did you mean 'pictures/red.png'?" in missing
    (tmp_path / "pictures" / "text.png").write_text("these are words")
    no_picture = refused(table(tmp_path, [(names[0], "a wall"), ("pictures/text.png", "a wall")]))
    assert "line 3, pictures/text.png: the file is not a supported image." in no_picture
    skipped = make(
        table(tmp_path, [(name, "a wall") for name in [*names[:3], "pictures/text.png", "nowhere.png"]]),
        data={"bad_rows": "skip"},
    )
    assert len(skipped.splits["train"].images) == 3
    assert "skipped 2 of 5 rows" in skipped.notes[0]
    whole = (tmp_path / "pictures" / "red.png").read_bytes()
    image.effect_noise((64, 64), 90).save(tmp_path / "pictures" / "cut.png")
    (tmp_path / "pictures" / "cut.png").write_bytes((tmp_path / "pictures" / "cut.png").read_bytes()[:900])
    assert "truncated or corrupted" in refused(
        table(tmp_path, [(names[0], "a wall"), ("pictures/cut.png", "a wall")])
    )
    words = refused(
        table(tmp_path, [("a dog runs", "a wall"), ("it rains", "a wall")]),
        data={"source": "image", "target": "caption"},
    )
    assert "line 2: there is no image file 'a dog runs'" in words
    assert "column 'image' is empty" in refused(table(tmp_path, [("", "a wall"), (names[0], "a wall")]))
    assert "column 'caption' has no text" in refused(table(tmp_path, [(names[0], " ")]))
    assert "no such folder or archive of images" in refused(
        table(tmp_path, [(names[0], "a wall")]), data={"images": ["nothing.zip"]}
    )
    assert whole.startswith(b"\x89PNG")


def test_a_picture_of_very_many_pixels_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    small = tmp_path / "small.png"
    image.new("1", (10, 10)).save(small)
    content = bytearray(small.read_bytes())
    for sides in ((9_000, 9_000), (30_000, 30_000)):  # below and above what Pillow itself complains about
        content[16:24] = b"".join(side.to_bytes(4, "big") for side in sides)
        content[29:33] = zlib.crc32(bytes(content[12:29])).to_bytes(4, "big")
        small.write_bytes(bytes(content))
        assert "the image has more than 50,000,000 pixels." in refused(
            table(tmp_path, [("small.png", "a wall")])
        )


def test_networks_and_searches_that_do_not_fit_pictures_are_refused(
    captions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    message = refused(captions, RecipeError, model={"kind": "recurrent"})
    assert [
        fact for fact in ("recurrent", "images", 'model="cnn2d"', 'model="vit"') if fact not in message
    ] == []
    assert "1 channel (gray) or 3 (color), not 2" in refused(
        captions, RecipeError, model={**MODEL, "channels": 2}
    )
    task = make(captions, decoding={"coverage_penalty": 0.5, "beam": 2})
    with pytest.raises(RecipeError, match=r"decoding\.coverage_penalty"):
        task.predictor(task.build_model())
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(
        MissingExtra,
        match=r"Reading image files needs the package 'Pillow'.*\n.*pip install 'seqlab\[images\]'",
    ):
        decode_image(b"", where="")


def test_names_of_picture_files_ask_for_captions_without_a_task(captions: Path) -> None:
    opened = open_data(
        check({"data": {"train": str(captions), "source": "image", "target": "caption"}}, where="test")
    )
    assert opened.recipe.task == "captioning"
    assert "column 'image' names image files: captioning; set task=NAME to change the task" in opened.reasons
    named = open_data(check({"task": "captioning", "data": {"train": str(captions)}}, where="test"))
    assert (named.recipe.data.source, named.recipe.data.target) == ("image", "caption")


def test_names_that_are_alike_are_other_pictures_and_several_captions_are_usual(captions: Path) -> None:
    names = draw(captions.parent / "pictures")
    more = [
        (f"pictures/a_long_name_of_one_photograph_{number}.png", f"a wall {number}") for number in range(20)
    ]
    for name, _ in more:
        image.new("RGB", (8, 8)).save(captions.parent / name)
    table(captions.parent, [*rows_for(names, under="pictures/"), *more])
    opened = open_data(check({"task": "captioning", "data": {"train": str(captions)}}, where="test"))
    found = survey_parts(opened.recipe, opened.parts)
    assert sum(part.rows for part in found.parts.values()) == 28
    assert sum(part.duplicates for part in found.parts.values()) == 4
    assert survey_warnings(opened.recipe, found) == []
    leaking = open_data(
        check({"task": "captioning", "data": {"train": str(captions), "valid": str(captions)}}, where="test")
    )
    assert survey_parts(leaking.recipe, leaking.parts).parts["valid"].leaks > 20


def test_without_the_training_split_captions_are_scored_without_a_baseline(tmp_path: Path) -> None:
    task = make(table(tmp_path, rows_for(draw(tmp_path))))
    model = task.build_model().eval()
    beside = task.evaluate(model, "valid").scores
    alone = replace(task, splits={"valid": task.splits["valid"]}).evaluate(model, "valid").scores
    assert [(score.name, score.value) for score in alone] == [(score.name, score.value) for score in beside]
    assert all(score.baseline is not None for score in beside)
    assert {(score.baseline, score.baseline_name) for score in alone} == {(None, "")}


def test_reading_images_changes_nothing_in_the_codec(tmp_path: Path) -> None:
    task = make(table(tmp_path, rows_for(draw(tmp_path))))
    cells = CaptioningCodec.load(task.recipe, save(task, tmp_path)).cells
    before = copy.deepcopy(vars(cells))
    for row in task.splits["valid"].rows.rows():
        cells.check(row)
        cells.pixels(row)
    assert all(vars(cells)[name] == value for name, value in before.items() if name != "_files")


def save(task: EncodedTask, folder: Path) -> Path:
    task.codec.save(folder / "tokens")
    return folder / "tokens"
