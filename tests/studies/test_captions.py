"""The drawn shapes, their captions, and what the study of captions shows."""

from __future__ import annotations

import pytest
import torch

from seqlab.datasets.shapes import CELL_SIZE, COLORS, GRID_SIZE, MASKS, NOISE, Scene
from seqlab.studies.kit.drawn_shapes import (
    END,
    MAX_CAPTION_TOKENS,
    START,
    WORDS,
    draw_scenes,
    scene_to_image,
    scenes_to_batch,
    split_pairs,
)
from tests.studies.findings import quick


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(5)


def test_a_scene_is_drawn_where_and_as_its_caption_says() -> None:
    seen, _ = split_pairs(held_out=0.25, generator=generator())
    for scene in draw_scenes(40, seen, generator()):
        picture = scene_to_image(scene)
        words = scene.caption
        (first, second), relation = (words[1:3], words[-2:]), words[3]
        (row, column), (other_row, other_column) = scene.positions
        assert (
            (row < other_row and column == other_column)
            if relation == "above"
            else (row == other_row and column < other_column)
        )
        for (colour, shape), (down, right) in zip((first, second), scene.positions, strict=True):
            square = picture[
                :, CELL_SIZE * down : CELL_SIZE * (down + 1), CELL_SIZE * right : CELL_SIZE * (right + 1)
            ]
            is_ink = (square != 1).any(dim=0)
            assert ["".join("#" if pixel else "." for pixel in line) for line in is_ink.tolist()] == list(
                MASKS[shape]
            )
            assert torch.equal(square[:, is_ink][:, 0], torch.tensor(COLORS[colour]))
        assert int((picture != 1).any(dim=0).sum()) == sum(
            "".join(MASKS[shape]).count("#") for _, shape in scene.shapes
        )


def test_the_words_that_name_a_thing_know_its_square() -> None:
    scene = Scene((("red", "square"), ("blue", "cross")), ((1, 0), (1, 2)))
    assert dict(zip(scene.caption, scene.regions, strict=True)) == {
        "a": None,
        "red": GRID_SIZE,
        "square": GRID_SIZE,
        "left": None,
        "of": None,
        "blue": GRID_SIZE + 2,
        "cross": GRID_SIZE + 2,
    }


def test_held_out_pairs_are_never_trained_on() -> None:
    seen, held_out = split_pairs(held_out=0.25, generator=generator())
    assert len(seen) + len(held_out) == 16 * 15
    assert len(held_out) == 60
    assert set(seen).isdisjoint(held_out)
    assert {pair[0] for pair in seen} == {pair[1] for pair in seen}  # yet everything was seen in both places


def test_a_batch_has_noise_on_the_pictures_and_starts_and_ends_every_caption() -> None:
    scenes = draw_scenes(30, split_pairs(held_out=0.5, generator=generator())[0], generator())
    pictures, words = scenes_to_batch(scenes, generator())
    noise = pictures - torch.stack([scene_to_image(scene) for scene in scenes])
    assert noise.std().item() == pytest.approx(NOISE, rel=0.05)
    assert words.shape == (30, MAX_CAPTION_TOKENS)
    for scene, row in zip(scenes, words.tolist(), strict=True):
        spoken = [WORDS[word] for word in row]
        assert spoken[0] == START
        assert spoken[1 : spoken.index(END)] == scene.caption
        assert set(spoken[spoken.index(END) :]) == {END}


@pytest.mark.long
@pytest.mark.spec(6, 150)
def test_with_attention_new_pairs_are_described_and_the_look_lies_on_the_shape_that_is_named() -> None:
    found = quick("captions")
    looking, once = "attention", "image as first state"
    assert (
        found.value("exact, held-out pairs", captioner=looking)
        > found.value("exact, held-out pairs", captioner=once) + 0.2
    )
    assert found.value("weight on the right square", captioner=looking) > 3 / GRID_SIZE**2
    assert len(found.figures) == 2
    assert all(drawing.count("<use") >= 8 for drawing in found.figures)


@pytest.mark.long
@pytest.mark.spec(176)
def test_several_captions_are_drawn_with_their_log_probabilities() -> None:
    note = quick("captions").notes[-1]
    candidates = note.partition("log-probabilities: ")[2].rstrip(".").split("; ")
    assert len(candidates) == 3
    numbers = [float(candidate.rpartition("(")[2].rstrip(")")) for candidate in candidates]
    assert numbers == sorted(numbers, reverse=True)
    assert all(candidate.startswith("a ") for candidate in candidates)
