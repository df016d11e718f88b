"""The masked language model: what is hidden, what is scored, what is answered."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from seqlab.baselines.neighbors import UNKNOWN
from seqlab.batches.loader import Cursor
from seqlab.batches.masking import NO_TARGET
from seqlab.core.errors import DataError, UsageError
from seqlab.recipes.read import check
from seqlab.runs.data import open_data
from seqlab.tasks.masked_language_model.predictions import predict_masked
from seqlab.tasks.spec import find_spec
from seqlab.tokens.vocabulary import EOS, MASK, PAD, UNK
from tests.tasks.encoded_streams import encode_recipe, tokens_of
from tests.tasks.encoded_task import EncodedTask

TEXT = "the cat sat on the mat.\nthe dog sat on the log.\nthe end\n" * 12
TRANSFORMER = {"kind": "transformer", "hidden_size": 8, "heads": 2, "layers": 1, "dropout": 0.0}
GRU = {
    "kind": "recurrent",
    "cell": "gru",
    "hidden_size": 7,
    "embedding_size": 5,
    "dropout": 0.0,
    "bidirectional": True,
}


def make(
    folder: Path,
    *,
    text: str = TEXT,
    file: str = "text.txt",
    tokens: str = "words",
    window: int = 8,
    masking: dict[str, Any] | None = None,
    **sections: Any,
) -> EncodedTask:
    path = folder / file
    path.write_text(text)
    raw = {
        "task": "masked_language_model",
        "data": {"train": str(path)},
        "tokens": {"kind": tokens},
        "model": TRANSFORMER,
        "masked_language_model": {"window": window, **(masking or {})},
        "training": {"batch_size": 3},
        **sections,
    }
    task = encode_recipe(raw)
    torch.manual_seed(5)
    return task


def pieces(task: EncodedTask, ids: Any) -> list[str]:
    return [task.codec.tokenizer.vocabulary.pieces[int(token)] for token in ids]


def sequences(task: EncodedTask, split: str) -> list[list[str]]:
    spans, values = task.splits[split].spans, tokens_of(task, split).values
    return [pieces(task, values[start:end]) for start, end in zip(spans.starts, spans.ends, strict=True)]


def test_a_text_is_one_stream_cut_into_windows(tmp_path: Path) -> None:
    task = make(tmp_path, tokens="characters", window=20)
    found = sequences(task, "train")
    assert {len(part) for part in found[:-1]} == {20}
    assert TEXT.startswith("".join("".join(part) for part in found))
    assert EOS not in {piece for part in found for piece in part}


def test_lines_of_words_end_with_a_token_and_still_share_windows(tmp_path: Path) -> None:
    assert sequences(make(tmp_path, window=9), "train")[0] == [
        "the",
        "cat",
        "sat",
        "on",
        "the",
        "mat",
        ".",
        EOS,
        "the",
    ]


def test_rows_of_a_table_are_sequences_of_their_own_and_long_ones_are_cut(tmp_path: Path) -> None:
    rows = ["the cat", "a dog sat on the mat", "", "the end"] * 9
    task = make(
        tmp_path,
        text="\n".join(["text,label", *(f"{row},{place % 2}" for place, row in enumerate(rows))]),
        file="rows.csv",
        window=4,
        data={"train": str(tmp_path / "rows.csv"), "split": "tail", "valid_share": 0.2, "test_share": 0.0},
    )
    assert sequences(task, "train")[:4] == [
        ["the", "cat", EOS],
        ["a", "dog", "sat", "on"],
        ["the", "mat", EOS],
        ["the", "end", EOS],
    ]


def test_a_window_without_an_ordinary_token_is_left_out(tmp_path: Path) -> None:
    task = make(tmp_path, text="a b c\n" * 40 + "\n" * 40 + "a b c\n" * 40, window=4)
    assert all(set(part) - {EOS, UNK} for part in sequences(task, "train"))
    batch = task.objective().loader(Cursor()).take()
    assert ((batch["masked_tokens"] != NO_TARGET).sum(dim=1) >= 1).all()


def test_a_split_in_which_nothing_can_be_hidden_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_text("xyz qrs\n" * 5)
    task = make(tmp_path)
    with pytest.raises(DataError, match="no tokens to mask"):
        task.codec.encode_split(
            "more",
            open_data(
                check(
                    {
                        "task": "masked_language_model",
                        "data": {"train": str(other), "valid_share": 0, "test_share": 0},
                    },
                    where="test",
                )
            ).parts["train"],
        )


@pytest.mark.spec(170)
@pytest.mark.parametrize("tokens", ["words", "characters", "wordpiece", "bpe"])
def test_a_batch_hides_tokens_of_its_windows_and_asks_for_them(tmp_path: Path, tokens: str) -> None:
    task = make(tmp_path, tokens=tokens, masking={"mlm_probability": 0.3})
    batch = task.objective().loader(Cursor()).take()
    spans, values = task.splits["train"].spans, tokens_of(task, "train").values
    for row, inputs, targets, is_token in zip(
        batch.rows.tolist(), batch.inputs, batch["masked_tokens"], batch.is_token, strict=True
    ):
        original = values[spans.starts[row] : spans.ends[row]].astype(np.int64)
        is_target = targets != NO_TARGET
        assert is_target.any()
        assert not is_target[~is_token].any()
        seen, asked = inputs[is_token].numpy(), targets[is_token].numpy()
        assert np.array_equal(np.where(asked == NO_TARGET, original, asked), original)
        assert np.array_equal(seen[asked == NO_TARGET], original[asked == NO_TARGET])
    assert (batch.inputs == task.codec.tokenizer.vocabulary.ids[MASK]).any()
    assert (batch.inputs[~batch.is_token] == task.codec.tokenizer.vocabulary.ids[PAD]).all()


@pytest.mark.parametrize("dynamic", [True, False])
def test_any_position_gives_the_same_batch_again_and_epochs_differ_where_masks_are_dynamic(
    tmp_path: Path, dynamic: bool
) -> None:
    task = make(tmp_path, masking={"dynamic_masking": dynamic, "mlm_probability": 0.5})
    loader = task.objective().loader(Cursor())
    per_epoch = loader.sampler.batches_in(0)
    taken = [(loader.cursor, loader.take()) for _ in range(2 * per_epoch)]
    for position, batch in taken[:: max(1, per_epoch // 3)]:
        again = task.objective().loader(position).take()
        assert torch.equal(again.inputs, batch.inputs)
        assert torch.equal(again["masked_tokens"], batch["masked_tokens"])
    by_row = [
        {
            int(row): targets.tolist()
            for _, batch in part
            for row, targets in zip(batch.rows, batch["masked_tokens"], strict=True)
        }
        for part in (taken[:per_epoch], taken[per_epoch:])
    ]
    longest = [row for row in by_row[0] if len(by_row[0][row]) == len(by_row[1][row])]
    assert (sum(by_row[0][row] == by_row[1][row] for row in longest) == len(longest)) == (not dynamic)


def test_whole_words_are_hidden_together(tmp_path: Path) -> None:
    task = make(
        tmp_path, tokens="characters", window=40, masking={"whole_word_mask": True, "mlm_probability": 0.3}
    )
    batch = task.objective().loader(Cursor()).take()
    for row, targets in enumerate(batch["masked_tokens"]):
        is_target = (targets != NO_TARGET).tolist()
        text = pieces(task, torch.where(targets != NO_TARGET, targets, batch.inputs[row]))
        for place in range(1, len(text)):
            if text[place].isalpha() and text[place - 1].isalpha() and bool(batch.is_token[row, place]):
                assert is_target[place] == is_target[place - 1]


@pytest.mark.spec(170)
def test_the_loss_is_the_cross_entropy_of_masked_tokens_only(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = task.build_model().eval()
    batch = task.objective().loader(Cursor()).take()
    loss = task.objective().loss(model, batch, step=0, carry=())
    log_probs = model(batch.inputs, batch.is_token, batch.is_token).log_softmax(dim=-1).detach()
    everywhere = torch.zeros(*batch.inputs.shape, log_probs.shape[-1])
    everywhere[batch.is_token] = log_probs
    asked = [(row, place) for row, place in np.argwhere(batch["masked_tokens"].numpy() != NO_TARGET).tolist()]
    expected = -sum(float(everywhere[row, place, batch["masked_tokens"][row, place]]) for row, place in asked)
    assert loss.count == len(asked)
    assert float(loss.total.detach()) == pytest.approx(expected, rel=1e-5)
    assert loss.correct == sum(
        int(everywhere[row, place].argmax() == batch["masked_tokens"][row, place]) for row, place in asked
    )


@pytest.mark.parametrize("model", [TRANSFORMER, GRU], ids=["transformer", "gru"])
def test_scores_are_over_the_same_hidden_tokens_every_time_and_all_of_them_are_hidden(
    tmp_path: Path, model: dict[str, object]
) -> None:
    task = make(
        tmp_path,
        model=model,
        masking={"mlm_probability": 0.3, "mask_replace_prob": 0.5, "random_replace_prob": 0.4},
    )
    network = task.build_model().eval()
    valid = task.splits["valid"]
    predictions = predict_masked(network, task.codec, valid, max_tokens=10_000)
    again = predict_masked(network, task.codec, valid, max_tokens=10_000)
    assert np.array_equal(predictions.targets, again.targets)
    assert np.array_equal(predictions.guesses.log_probs, again.guesses.log_probs)
    spans, values = task.splits["valid"].spans, tokens_of(task, "valid").values
    hidden = set(zip(predictions.rows.tolist(), predictions.positions.tolist(), strict=True))
    assert len(hidden) == len(predictions.targets)
    for number, (row, place) in enumerate(
        zip(predictions.rows.tolist(), predictions.positions.tolist(), strict=True)
    ):
        start, end = int(spans.starts[row]), int(spans.ends[row])
        tokens = torch.from_numpy(values[start:end].astype(np.int64)).unsqueeze(0)
        assert int(tokens[0, place]) == predictions.targets[number]
        visible = [
            UNKNOWN,
            *(UNKNOWN if (row, other) in hidden else int(tokens[0, other]) for other in range(end - start)),
            UNKNOWN,
        ]
        assert (predictions.left[number], predictions.right[number]) == (visible[place], visible[place + 2])
        for other in range(end - start):
            if (row, other) in hidden:
                tokens[0, other] = task.codec.tokenizer.vocabulary.ids[MASK]
        is_target = torch.arange(end - start).unsqueeze(0) == place
        log_probs = network(tokens, torch.ones_like(is_target), is_target)[0].log_softmax(dim=-1).detach()
        assert predictions.guesses.log_probs[number] == pytest.approx(
            float(log_probs[predictions.targets[number]]), abs=1e-5
        )
        assert predictions.max_log_probs[number] == pytest.approx(float(log_probs.max()), abs=1e-5)


def test_scores_are_one_number_in_two_units_and_the_share_that_is_right(tmp_path: Path) -> None:
    task = make(tmp_path, text=TEXT * 8)  # enough sequences for an interval
    model = task.build_model().eval()
    evaluation = task.evaluate(model, "test")
    scores = {score.name: score for score in evaluation.scores}
    predictions = predict_masked(model, task.codec, task.splits["test"], max_tokens=10_000)
    nats = scores["nats_per_masked_token"]
    assert nats.value == pytest.approx(-float(predictions.guesses.log_probs.mean()))
    assert nats.low is not None
    assert nats.high is not None
    assert nats.low <= nats.value <= nats.high
    assert scores["perplexity"].value == pytest.approx(math.exp(nats.value))
    assert scores["perplexity"].high == pytest.approx(math.exp(nats.high))
    assert scores["accuracy"].value == pytest.approx(
        float(np.mean(predictions.guesses.best == predictions.targets))
    )
    assert {score.baseline_name for score in evaluation.scores} == {"both neighbors"}
    assert nats.baseline is not None
    assert (
        evaluation.sections_as_json()["facts"]["most_frequent"]["nats"] > nats.baseline
    )  # neighbours tell more than nothing
    assert f"{evaluation.sections_as_json()['facts']['masked_tokens']:,} masked tokens" in nats.method


def test_mistakes_are_shown_with_their_surroundings(tmp_path: Path) -> None:
    task = make(tmp_path)
    wrong = task.evaluate(task.build_model().eval(), "test").sections_as_json()["most_wrong"]["examples"]
    assert wrong
    for example in wrong:
        assert example["text"].count("[MASK]") == 1
        assert example["truth"] != example["predicted"]
        assert example["predicted_probability"] >= example["truth_probability"]
        assert example["text"].replace("[MASK]", example["truth"]).split()[0] in TEXT


@pytest.mark.parametrize("tokens", ["words", "characters", "bpe"])
def test_every_gap_gets_candidates_that_sum_to_one_and_none_is_special(tmp_path: Path, tokens: str) -> None:
    task = make(tmp_path, tokens=tokens)
    model = task.build_model().eval()
    found = task.predictor(model).predict(["the [MASK] sat on the ___.", "[MASK] end"], top=10_000)
    assert [prediction.input for prediction in found] == [
        "the [MASK] sat on the ___.",
        "the ___ sat on the [MASK].",
        "[MASK] end",
    ]
    for prediction in found:
        shares = [share for _, share in prediction.ranking]
        assert shares == sorted(shares, reverse=True)
        assert sum(shares) == pytest.approx(1, abs=1e-5)
        assert not {UNK, PAD, EOS, MASK} & {name for name, _ in prediction.ranking}
        assert (prediction.answer, prediction.probability) == prediction.ranking[0]


def test_a_gap_in_a_long_text_is_seen_in_a_window_around_it(tmp_path: Path) -> None:
    task = make(tmp_path, window=5)
    model = task.build_model().eval()
    long = "mat mat mat the cat [MASK] on the mat mat mat"
    alone = task.predictor(model).predict(["the cat [MASK] on the"], top=3)[0].ranking
    assert task.predictor(model).predict([long], top=3)[0].ranking == [
        (name, pytest.approx(share, abs=1e-6)) for name, share in alone
    ]


def test_a_text_without_a_gap_is_refused(tmp_path: Path) -> None:
    task = make(tmp_path)
    with pytest.raises(UsageError, match="no mask"):
        task.predictor(task.build_model().eval()).predict(["the cat"], top=1)


def test_embedding_and_body_are_named_as_in_the_other_models(tmp_path: Path) -> None:
    names = {name.partition(".")[0] for name in make(tmp_path).build_model().state_dict()}
    assert names == {"embed", "backbone", "transform", "norm", "bias"}


def test_what_the_task_decides_is_told_with_the_setting_that_decides_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    opened = open_data(check({"task": "masked_language_model", "data": {"train": str(path)}}, where="test"))
    recipe, reasons = find_spec("masked_language_model").fill_defaults(opened.recipe, opened.parts["train"])
    assert (recipe.tokens.kind, recipe.model.kind) == ("wordpiece", "transformer")
    assert any("tokens.kind=NAME" in reason for reason in reasons)
    assert any("--model NAME" in reason for reason in reasons)


@pytest.mark.parametrize(
    ("model", "cure"),
    [
        (
            {"kind": "recurrent"},
            "model.bidirectional=true",
        ),
        (
            {**TRANSFORMER, "causal": True},
            "model.causal=false",
        ),
        (GRU, ""),
        (TRANSFORMER, ""),
        ({"kind": "convolutional"}, ""),
    ],
)
def test_a_model_that_cannot_see_the_right_side_is_allowed_and_told(
    tmp_path: Path, model: dict[str, object], cure: str
) -> None:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    opened = open_data(
        check({"task": "masked_language_model", "data": {"train": str(path)}, "model": model}, where="test")
    )
    _, reasons = find_spec("masked_language_model").fill_defaults(opened.recipe, opened.parts["train"])
    warnings = [reason for reason in reasons if "only the tokens before a mask" in reason]
    assert [cure in warning for warning in warnings] == ([True] if cure else [])
