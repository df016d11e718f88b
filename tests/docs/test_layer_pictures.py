"""The pictures whose numbers come from layers: current, and in agreement with arithmetic that uses no layer."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest
import torch

from docs import attention_pictures, rezero_scales, transformer_pictures

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    "score_dot": "attention/dot",
    "score_general": "attention/general",
    "score_concat": "attention/concat",
    "scaled_scores": "attention/scaled_dot",
    "non_local": "attention/non_local",
    "non_local_net": "attention/non_local_net",
    "feed_forward": "transformer/feed_forward",
    "norms": "transformer/rms_norm",
    "rezero": "transformer/rezero",
    "lecture_pre_norm": "transformer/lecture_pre_norm",
}


def test_the_pictures_are_what_the_code_draws_and_are_on_their_pages() -> None:
    drawn = {
        path.stem: (f"docs/{module.__name__.removeprefix('docs.')}.py", path, text)
        for module in (attention_pictures, transformer_pictures)
        for path, text in module.pictures().items()
    }
    assert set(drawn) == set(PAGES)
    for name, (script, path, text) in drawn.items():
        assert path.read_text(encoding="utf-8") == text, f"{path.name}: run: python {script}"
        page = (DOCS / "concepts" / f"{PAGES[name]}.md").read_text(encoding="utf-8")
        assert f"](../../pictures/{name}.svg)" in page


def test_pictures_have_a_light_and_a_dark_palette_and_a_description() -> None:
    for name in PAGES:
        svg = (DOCS / "pictures" / f"{name}.svg").read_text(encoding="utf-8")
        assert "@media (prefers-color-scheme: dark)" in svg
        assert re.search(r"<desc [^>]*>[^<]{60,}</desc>", svg)
        assert "fill: #" not in svg


def expected_score(name: str, query: list[float], key: tuple[float, float]) -> float:
    if name == "dot":
        return query[0] * key[0] + query[1] * key[1]
    if name == "general":  # W k = (-k_2, k_1)
        return -query[0] * key[1] + query[1] * key[0]
    return math.tanh(query[0] + key[0]) + math.tanh(query[1] + key[1])


@pytest.mark.parametrize("name", ["dot", "general", "concat"])
def test_score_surfaces_follow_their_equations(name: str) -> None:
    queries = attention_pictures.query_plane()[0].tolist()
    assert queries[0] == pytest.approx([-2.8, 2.8])  # the top left corner
    assert queries[-1] == pytest.approx([2.8, -2.8])
    assert queries[1][0] > queries[0][0]
    scores, weights = attention_pictures.surfaces(name)
    for query, both, weight in zip(queries, scores.tolist(), weights[:, 0].tolist(), strict=True):
        expected = [expected_score(name, query, key) for key in attention_pictures.KEYS]
        assert both == pytest.approx(expected)
        assert weight == pytest.approx(1 / (1 + math.exp(expected[1] - expected[0])))


def test_the_cells_of_a_surface_have_the_color_and_the_opacity_of_their_score() -> None:
    svg = str(attention_pictures.score_surface("dot"))
    scores, _ = attention_pictures.surfaces("dot")
    first = scores[0, 0].item()  # the query in the top left corner and the first key
    share = abs(first) / scores.abs().max().item()
    orange = svg.partition('style="fill: var(--c1)"')[2]
    assert first < 0
    assert orange.startswith(f'><rect x="0" y="0" width="13" height="13" fill-opacity="{share**0.6:.2f}"')


def test_scaled_weights_are_softmaxes_of_the_same_scores() -> None:
    plain, root, size = attention_pictures.scaled_weights().values()
    for weights, divisor in ((root, 8), (size, 64)):
        powers = [weight ** (1 / divisor) for weight in plain]
        assert weights == pytest.approx([power / sum(powers) for power in powers])
    assert sum(plain) == pytest.approx(1)
    assert plain[0] == pytest.approx(0.84, abs=0.005)  # as the page says


def test_the_non_local_block_gives_equal_weights_to_equal_positions() -> None:
    ball, ground = attention_pictures.non_local_weights()
    of_ball, of_ground = math.exp(2.5**2), math.exp(1.5**2)
    balls = [(frame, row, column) for frame, (row, column) in enumerate(attention_pictures.BALL_PATH)]
    for frame in range(3):
        for row in range(4):
            for column in range(5):
                is_ball = (frame, row, column) in balls
                assert ball[frame, row, column].item() == pytest.approx(
                    (of_ball if is_ball else 1) / (3 * of_ball + 57)
                )
                assert ground[frame, row, column].item() == pytest.approx(
                    (1 if is_ball else of_ground) / (57 * of_ground + 3)
                )
    assert str(attention_pictures.pictures()[DOCS / "pictures" / "non_local.svg"]).count(">32<") == 3


def test_one_stage_sees_its_corner_and_with_the_block_everything() -> None:
    corner = [[row < 3 and column < 3 for column in range(9)] for row in range(9)]
    assert attention_pictures.reach(has_block=False) == corner
    assert attention_pictures.reach(has_block=True) == [[True] * 9] * 9


def test_the_feed_forward_network_changes_the_changed_step_only() -> None:
    first, first_output, second, second_output = transformer_pictures.feed_forward_steps()
    assert torch.equal(first[0], first[3])
    assert torch.allclose(first_output[0], first_output[3], atol=1e-12)
    changed = (second_output - first_output).abs().amax(dim=1) > 1e-9
    assert changed.tolist() == [False, False, True, False, False]
    assert ((second - first).abs().amax(dim=1) > 0).tolist() == changed.tolist()
    svg = str(transformer_pictures.feed_forward())
    for value in (second_output - first_output)[2].tolist():
        assert f">{value:.2f}<".replace("-", "−") in svg


@pytest.mark.parametrize("kind", ["layer", "rms"])
def test_norms_are_those_by_hand(kind: str) -> None:
    found = transformer_pictures.normalized(kind).tolist()
    for row, vector in zip(found, transformer_pictures.VECTORS.values(), strict=True):
        shift = sum(vector) / 4 if kind == "layer" else 0.0
        centered = [value - shift for value in vector]
        root = math.sqrt(sum(value**2 for value in centered) / 4)
        expected = [value / root for value in centered]
        assert row == pytest.approx([*expected, sum(expected) / 4, 1.0], abs=1e-9)


def test_a_new_rezero_stack_is_the_identity_and_pre_norm_is_not() -> None:
    kept = json.loads(rezero_scales.SCALES.read_text(encoding="utf-8"))
    for norm in ("pre", "rezero"):
        assert kept["changes"][norm] == pytest.approx(rezero_scales.changes_by_depth(norm), abs=1e-3)
    assert set(kept["changes"]["rezero"]) == {0.0}
    assert kept["changes"]["pre"][-1] == pytest.approx(2.7, abs=0.05)  # as the page says


@pytest.mark.long
def test_the_scales_of_rezero_are_those_of_its_training(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = json.loads(rezero_scales.SCALES.read_text(encoding="utf-8"))
    assert [len(scales) for scales in (*kept["attention"], *kept["feed_forward"])] == [31] * 12
    assert (
        max(abs(scale) for scales in (*kept["attention"], *kept["feed_forward"]) for scale in scales) < 0.155
    )
    trained = rezero_scales.train_scales()
    for part in ("attention", "feed_forward"):
        for scales, expected in zip(getattr(trained, part), kept[part], strict=True):
            assert scales[0] == 0.0
            assert scales == pytest.approx(expected, abs=0.02)


def test_the_lecture_loses_the_scale_of_what_it_carries() -> None:
    x = transformer_pictures.X
    mean = sum(x) / 4
    deviation = math.sqrt(sum((value - mean) ** 2 for value in x) / 4 + 1e-5)
    normalized = [(value - mean) / deviation for value in x]
    svg = transformer_pictures.pictures()[DOCS / "pictures" / "lecture_pre_norm.svg"]
    for carried in (list(x), normalized):
        total = [before + 10 * value for before, value in zip(carried, normalized, strict=True)]
        for values in (carried, total):
            numbers = ", ".join(f"{value:.1f}".removesuffix(".0") for value in values)
            assert f"({numbers})".replace("-", "−") in svg
