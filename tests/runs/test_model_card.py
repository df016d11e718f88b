"""card.md: every fact is that of results.json, and the Hub can read its front matter."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import seqlab
from seqlab.runs.card.limits import SMALL_TEST, known_limits
from seqlab.runs.card.markdown import escape_markdown, to_yaml
from seqlab.runs.folder.layout import CARD
from seqlab.runs.folder.manifest import read_manifest
from seqlab.runs.run import Run
from seqlab.runs.train.start import resume


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """160 rows with a label that would break a Markdown table, and three rows without a text."""
    folder, chance = tmp_path_factory.mktemp("card"), random.Random(5)
    rows = [
        f"the film was {chance.choice(['fine', 'lovely'] if good else ['dull', 'awful'])} {number},{'a|b' if good else 'bad'}"
        for number in range(160)
        for good in [number % 4 != 0]
    ]
    (folder / "films.csv").write_text(
        "\n".join(["text,label", *rows, ",bad", ",bad", ",bad"]) + "\n", encoding="utf-8"
    )
    return seqlab.train(
        folder / "films.csv",
        "training.threads=1",
        "model.hidden_size=8",
        task="classification",
        model="gru",
        steps=6,
        out=folder / "films",
        verbose=False,
    )


def card_of(run: Run) -> tuple[dict[str, Any], str]:
    _, front, body = (run.folder / CARD).read_text(encoding="utf-8").split("---\n", 2)
    return yaml.safe_load(front), body


pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::seqlab.core.errors.SeqlabWarning")]


def test_the_front_matter_is_what_the_hub_reads(run: Run) -> None:
    front, _ = card_of(run)
    assert (front["library_name"], front["pipeline_tag"], front["license"]) == (
        "seqlab",
        "text-classification",
        "unknown",
    )
    assert front["tags"] == ["seqlab", "classification", "gru"]
    (entry,) = front["model-index"][0]["results"]
    assert entry["dataset"] == {"name": "films.csv", "type": "films.csv", "split": "test"}
    values = {metric["type"]: metric["value"] for metric in entry["metrics"]}
    assert values["accuracy"] == pytest.approx(run.results["accuracy"].value, abs=1e-6)
    assert values.keys() == run.results.scores.keys()


def test_data_scores_and_provenance_are_those_of_the_run(run: Run) -> None:
    _, body = card_of(run)
    raw, manifest = run.results.raw, read_manifest(run.folder)
    assert f"{run.num_parameters:,} parameters" in body
    for name, part in raw["data"].items():
        assert f"| {name} | films.csv | {part['rows']:,} |" in body
        assert manifest.data[name].replace("_", "\\_") in body
    assert sum(part["rows"] for part in raw["data"].values()) == 160
    assert raw["data"]["train"]["labels"].keys() == {"a|b", "bad"}
    assert f"| a\\|b | {raw['data']['train']['labels']['a|b']:,} |" in body
    assert "3 rows could not be used" in body
    accuracy = run.results["accuracy"]
    assert (
        f"| {accuracy.value:.4f} | {accuracy.low:.4f} to {accuracy.high:.4f} | {accuracy.baseline:.4f} ("
        in body
    )
    assert f"(ECE) {run.results['ece'].value:.4f}" in body
    assert raw["training"]["weights_sha256"] in body
    assert f"seed {run.recipe.training.seed}" in body.lower()
    assert f"seqlab {raw['provenance']['seqlab']}, torch {raw['provenance']['torch']}" in body
    assert body.count("**TODO**") == 3
    assert "://" not in body  # seqlab has no address on the web that the card could promise


def test_the_python_lines_of_the_card_run(run: Run) -> None:
    _, body = card_of(run)
    code = body.partition("```python\n")[2].partition("```")[0]
    assert "run.predict" in code
    exec(code, {})


def test_the_manifest_lists_the_card_and_an_edited_card_stops_nothing(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(run.folder, folder)
    written = (folder / CARD).read_text(encoding="utf-8")
    assert read_manifest(folder).files[CARD]["size"] == len(written.encode())
    edited = written.replace("license: unknown", "license: mit")
    (folder / CARD).write_text(edited, encoding="utf-8")
    assert Run.load(folder).results["accuracy"] == run.results["accuracy"]
    resume(folder)
    assert (folder / "card.edited.md").read_text(encoding="utf-8") == edited
    assert "license: unknown" in (folder / CARD).read_text(encoding="utf-8")
    assert read_manifest(folder).files[CARD]["size"] == (folder / CARD).stat().st_size


def test_limits_name_a_small_test_set_rare_labels_lengths_and_every_warning(run: Run) -> None:
    limits = known_limits(run.results.raw, "test")
    rows = run.results.raw["data"]["test"]["rows"]
    assert 1 < rows < SMALL_TEST
    assert f"only {rows:,} rows" in limits[0]
    assert all(any(warning[1:] in limit for limit in limits) for warning in run.results.raw["warnings"])
    longest = run.results.raw["data"]["train"]["lengths"]["words"]["largest"]
    assert any(f"{longest:,})" in limit for limit in limits)
    part = run.results.raw["data"]["test"]
    large = {
        "data": {"train": {**part, "rows": 5000, "labels": {"x": 3}}, "test": {**part, "rows": 500}},
        "warnings": [],
    }
    assert "fewer than 10 training rows: x." in known_limits(large, "test")[0]


def test_text_of_a_user_cannot_leave_its_place() -> None:
    assert escape_markdown("</table>|\n# x") == "\\</table\\>\\| \\# x"
    values = {"name": 'a"b: [c]\n---\n', "list": ["- x", {"deep": {"y": "#no"}}], "empty": []}
    assert yaml.safe_load("\n".join(to_yaml(values))) == values
    assert json.dumps(values)  # what goes in is plain JSON
