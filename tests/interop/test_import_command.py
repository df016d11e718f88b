"""seqlab import: what was found, what one would type next, and a run that the other verbs take."""

from __future__ import annotations

from pathlib import Path

import pytest

from seqlab.core.errors import UsageError
from seqlab.interop.import_model import import_published_model
from seqlab.runs.run import Run
from tests.cli.running import run
from tests.interop import folders
from tests.interop.folders import transformers


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    folders.write_model(folder, transformers.BertForMaskedLM, folders.bert_config())
    folders.write_words(folder)
    return folder


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpt2")
    folders.write_model(
        folder, transformers.GPT2LMHeadModel, folders.gpt2_config(vocab_size=folders.NUM_BYTE_PIECES)
    )
    folders.write_bytes(folder)
    return folder


def test_an_encoder_is_imported_asked_and_put_to_use(
    bert: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    found = run(capsys, "import", str(bert), "--out", out)
    parameters = (
        transformers.BertForMaskedLM.from_pretrained(bert).num_parameters() - 2 * 12
    )  # the kinds of segments are in the positions
    assert found.code == 0
    assert found.out == (
        f"BERT: 3 layers, {parameters:,} parameters, vocabulary of 20, context of 17 tokens\nrun: {out} (task"
        " masked_language_model)\n"
        "  note: the model has 2 segment types; every text uses the first, whose vector is added to the positions\n"
        f'next:\n  seqlab predict {out} "The [MASK] of the" --top 5\n'
        f'  seqlab predict {out} --vectors "some text"\n  seqlab train FILE --from {out}\n'
    )
    assert run(capsys, "predict", out, "the [MASK] sat", "--top", "2").out.startswith("the [MASK] sat\n")
    assert run(capsys, "predict", out, "--vectors", "the cat").code == 0
    assert "imported: BERT" in _state(tmp_path, capsys)


def _state(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        (folder / "runs").mkdir()
        (folder / "run").rename(folder / "runs" / "bert")
        patch.chdir(folder)
        return run(capsys, "list", "runs").out


def test_a_decoder_is_imported_as_json_and_scored_on_a_text(
    gpt2: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "run")
    found = run(capsys, "import", str(gpt2), "--out", out, "--json").json
    assert (found["family"], found["task"], found["layers"], found["context"]) == (
        "GPT-2",
        "language_model",
        3,
        64,
    )
    assert found["next"][0] == f'seqlab generate {out} --prompt "The "'
    assert run(capsys, "generate", out, "--prompt", "the", "--tokens", "4", "--json").json["prompt"] == "the"
    (tmp_path / "text.txt").write_text("the cat sat on the mat.\n" * 20)
    assert (
        run(capsys, "evaluate", out, str(tmp_path / "text.txt"), "--json").json["scores"]["perplexity"][
            "value"
        ]
        > 1
    )
    refused = run(capsys, "evaluate", out)
    assert refused.code == 2
    assert "these weights were imported without data" in refused.err


def test_a_mistake_is_told_in_words_with_the_code_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = run(capsys, "import", str(tmp_path / "nowhere"))
    assert (found.code, found.out) == (2, "")
    assert "there is no such file or folder" in found.err


def test_gaps_are_filled_as_where_the_weights_come_from(bert: Path, tmp_path: Path) -> None:
    imported = import_published_model(bert, out=tmp_path / "run")
    theirs = transformers.BertForMaskedLM.from_pretrained(bert).eval()
    ids = [2, 5, 4, 7, 8, 4, 3]  # [CLS] the [MASK] sat on [MASK] [SEP]
    import torch

    probs = theirs(input_ids=torch.tensor([ids])).logits[0].detach()
    probs[:, :5] = -torch.inf  # special pieces fill no gap
    expected = [probs[place].softmax(-1) for place in (2, 5)]
    found = imported.predict(["the ___ sat on [MASK]"], top=3)
    assert [prediction.input for prediction in found] == ["the [MASK] sat on ___", "the ___ sat on [MASK]"]
    for prediction, shares in zip(found, expected, strict=True):
        assert prediction.probability == pytest.approx(shares.max().item(), rel=1e-4)
        assert prediction.answer == folders.WORDS[int(shares.argmax())]


def test_an_encoder_without_a_head_gives_vectors_and_says_why_it_fills_no_gap(tmp_path: Path) -> None:
    folder = tmp_path / "bert"
    folders.write_model(folder, transformers.BertModel, folders.bert_config())
    folders.write_words(folder)
    imported = import_published_model(folder, out=tmp_path / "run")
    assert imported.vectors(["the cat", "a dog sat"]).shape == (2, 12)
    with pytest.raises(UsageError, match="published without a head"):
        imported.predict(["the [MASK]"])


def test_an_imported_run_is_sealed_like_a_trained_one(bert: Path, tmp_path: Path) -> None:
    from seqlab.core.errors import RunError

    import_published_model(bert, out=tmp_path / "run")
    assert not Run.load(tmp_path / "run").results
    path = tmp_path / "run" / "tokens" / "roles.json"
    path.write_text(path.read_text().replace('"mask": 4', '"mask": 5'))
    with pytest.raises(RunError, match="was changed after training"):
        Run.load(tmp_path / "run")


@pytest.mark.slow
def test_imported_weights_are_the_start_of_a_classifier(bert: Path, tmp_path: Path) -> None:
    import torch

    import seqlab

    source = import_published_model(bert, out=tmp_path / "bert")
    rows = "".join(f"the cat sat {number},good\na dog ran {number},bad\n" for number in range(30))
    (tmp_path / "pets.csv").write_text("text,label\n" + rows)
    trained = seqlab.train(
        tmp_path / "pets.csv",
        f"start.run={tmp_path / 'bert'}",
        "start.freeze=backbone",
        steps=3,
        out=tmp_path / "run",
    )
    assert trained.recipe.tokens.kind == "hugging_face"
    for name, tensor in source.model.backbone.state_dict().items():
        assert torch.equal(trained.model.backbone.state_dict()[name], tensor), name
