"""Every script in examples/ runs on tiny data, and what it finds is true."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

EXAMPLES = Path(__file__).parents[2] / "examples"
SUBJECTS = ("film", "story", "plot", "music", "acting", "scene")
WORDS = {"good": ("great", "moving", "lovely"), "bad": ("awful", "boring", "poor")}

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::seqlab.core.errors.SeqlabWarning")]


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    threads = torch.get_num_threads()
    yield
    torch.set_num_threads(threads)


def run_example(name: str, **arguments: Any) -> Any:
    """Run the script's `main`; the module stays imported, since a cell can be registered only once."""
    return importlib.import_module(name).main(**arguments)


@pytest.fixture
def reviews(tmp_path: Path) -> str:
    rows = [
        f"the {subject} {verb} {adverb} {word}\t{label}"
        for label, words in WORDS.items()
        for subject in SUBJECTS
        for verb in ("is", "was")
        for adverb in ("so", "just", "very")
        for word in words
    ]
    return write(tmp_path / "reviews.tsv", ["text\tlabel", *rows])


def write(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_every_script_says_what_it_shows_and_has_a_test() -> None:
    tests = Path(__file__).read_text(encoding="utf-8")
    scripts = sorted(EXAMPLES.glob("*.py"))
    assert len(scripts) >= 10
    for script in scripts:
        text = script.read_text(encoding="utf-8")
        assert text.startswith('"""'), script.name
        assert len(text.splitlines()) <= 80, script.name
        assert f'run_example("{script.stem}"' in tests, script.name


def test_classification_finds_the_words_that_decide(reviews: str) -> None:
    run = run_example("classification", data=reviews, steps=60, out="run")
    assert run.results["accuracy"].value > 0.9


def test_a_tagger_uses_the_word_before(tmp_path: Path) -> None:
    """`book` is a verb after `to` and a noun after `the`: the word's most frequent tag cannot tell."""
    lines = []
    for word in ("book", "walk", "play", "plan", "talk", "work"):
        for extra in ("now", "then", "here", "there", "today"):
            lines += ["to\tTO", f"{word}\tVERB", f"{extra}\tADV", ""]
            lines += ["the\tDET", f"{word}\tNOUN", f"{extra}\tADV", ""]
    run = run_example("tagging", data=write(tmp_path / "words.tsv", lines), steps=60, out="run")
    accuracy = run.results["accuracy"]
    assert accuracy.value > 0.95 > accuracy.baseline


def test_a_language_model_learns_a_repeated_line(tmp_path: Path) -> None:
    text = write(tmp_path / "text.txt", ["the function returns a list of values"] * 400)
    run = run_example("language_model", data=text, steps=80, hidden_size=48, out="run")
    assert run.results["nats_per_token"].value < math.log(15) / 2  # 15 different characters
    scores = run.score(["the function returns", "eht noitcnuf snruter"])
    assert scores[0].nats < scores[1].nats


@pytest.mark.long
def test_a_masked_language_model_learns_characters_and_is_fine_tuned(tmp_path: Path, reviews: str) -> None:
    line = "the function returns a list of values"
    text = write(tmp_path / "text.txt", [line] * 400)
    files = {"text": text, "data": reviews, "out": "run"}
    pretrained, tuned = run_example("masked_language_model", steps=80, hidden_size=32, **files)
    shares = [line.count(character) / len(line) for character in line]  # perplexity if only frequencies count
    frequencies = math.exp(-sum(map(math.log, shares)) / len(line))
    assert pretrained.results["perplexity"].value < frequencies
    assert tuned.recipe.start.run.endswith("run")
    assert tuned.results["accuracy"].value > 0.9


def test_several_labels_are_found_in_one_text() -> None:
    run = run_example("multi_label", num_rows=300, steps=60, out="run")
    assert run.results["micro_f1"].value > 0.95
    assert [found.answer for found in run.predict(["late delivery, charged twice"])] == ["billing, shipping"]


def test_a_beam_finds_what_is_at_least_as_probable_as_greedy(tmp_path: Path) -> None:
    tens = {
        "twenty": 2,
        "thirty": 3,
        "forty": 4,
        "fifty": 5,
        "sixty": 6,
        "seventy": 7,
        "eighty": 8,
        "ninety": 9,
    }
    ones = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    pairs = [
        f"{ten}-{one}\t{10 * value + place}"
        for ten, value in tens.items()
        for place, one in enumerate(ones, 1)
    ]
    data = write(tmp_path / "pairs.tsv", ["source\ttarget", *pairs])
    run, (greedy, beam) = run_example("translation", data=data, steps=80, hidden_size=32, out="run")
    assert beam >= greedy - 1e-5
    assert 0 <= run.results["exact_match"].value <= 1


def test_regression_explains_most_of_the_variance() -> None:
    assert run_example("regression", num_rows=600, steps=150, out="run").results["r_squared"].value > 0.8


def test_a_forecast_uses_what_is_known_in_advance() -> None:
    """The best forecast knows the offers and misses only the noise, by √(2/π) on average; no baseline knows them."""
    mae = run_example("forecasting", steps=200, out="run").results["mae"]
    noise = math.sqrt(2 / math.pi)
    assert 0.8 * noise < mae.value < 1.4 * noise
    assert mae.value < 0.75 * mae.baseline


@pytest.mark.long
def test_captions_are_better_than_the_most_frequent_one() -> None:
    bleu = run_example("captioning", steps=300, out="run").results["bleu"]
    assert bleu.value > bleu.baseline


def test_a_packed_lstm_in_a_plain_loop_learns_both_ends() -> None:
    assert run_example("own_torch_model", steps=150) > 0.75


def test_the_trainer_teaches_a_model_of_your_own_to_count_brackets() -> None:
    history = run_example("own_model_and_data", steps=120, out="run")
    assert history.best["valid_accuracy"] > 0.85  # the more frequent answer is right for 61% of the brackets
    assert Path("run/model.safetensors").is_file()


def test_a_wide_beam_equals_the_search_through_all_targets() -> None:
    best, (tokens, log_prob) = run_example("own_beam_search", max_tokens=4)
    assert best.tokens == tokens
    assert best.log_prob == pytest.approx(log_prob, abs=1e-4)


def test_a_cell_of_your_own_trains_beside_a_built_in_one(reviews: str) -> None:
    accuracy = run_example("own_cell", data=reviews, steps=60, out="run")
    assert accuracy.keys() == {"ema", "gru"}
    assert accuracy["ema"] > 0.8


def test_fine_tuning_starts_from_the_imported_weights() -> None:
    pytest.importorskip("transformers")
    pretrained, run = run_example("fine_tune", steps=100, out="run")
    assert run.results["accuracy"].value > 0.7
    assert run.word_vectors()[0] == pretrained.word_vectors()[0]  # the same vocabulary
    assert "run-imported" in str(run.recipe.start)


def test_gates_have_a_value_for_every_token(reviews: str) -> None:
    gates, page = run_example("lstm_gates", data=reviews, steps=20, text="the plot was so poor", out="run")
    assert [gate.gate for gate in gates] == ["input", "forget", "output"]
    assert all((gate.values > 0).all() and (gate.values < 1).all() for gate in gates)
    assert all(len(gate.values) == len(gate.tokens) for gate in gates)
    html = page.read_text(encoding="utf-8")
    assert "poor" in html
    assert "<script" not in html
