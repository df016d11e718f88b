"""Pairs of sequences: both sides as ids, the loss, scheduled sampling, translations and their attention."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from seqlab.batches.batch import Batch
from seqlab.batches.loader import Cursor
from seqlab.core.errors import DataError, RunError, SeqlabError, UsageError
from seqlab.decoding.forced_scoring import score_targets
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.recipes.read import check
from seqlab.runs.data import open_data
from seqlab.runs.report.next_steps import after_training
from seqlab.runs.run import Run
from seqlab.runs.survey.data_survey import survey_parts, survey_warnings
from seqlab.tasks.calibration import Calibration
from seqlab.tasks.inputs.tokens import pieces_of, readable_pieces
from seqlab.tasks.seq2seq.codec import SPECIALS
from seqlab.tasks.seq2seq.decoder_inputs import draw_predicted
from seqlab.tasks.seq2seq.scores import draft_scores
from seqlab.tasks.spec import find_spec
from seqlab.tasks.translation.codec import TranslationCodec
from seqlab.tasks.translation.predictor import copy_unknown_words
from seqlab.tokens.base import tokenizers
from seqlab.tokens.settings import TokenSettings
from seqlab.tokens.vocabulary import EOS, SOS, UNK
from seqlab.tokens.words import join_words
from seqlab.training.budget import Budget
from seqlab.training.gradients import accumulate_gradients
from seqlab.training.loop import TrainingLoop
from seqlab.training.stop_signals import StopRequest
from tests.tasks.encoded_task import EncodedTask, encode_task

PAIRS = [("ab", "BA"), ("abc", "CBA"), ("cab", "BAC"), ("ba", "AB"), ("bca", "ACB"), ("c", "C")] * 3
GRU = {"kind": "recurrent", "cell": "gru", "hidden_size": 8, "embedding_size": 6, "dropout": 0.0}


def make(folder: Path, pairs: list[Any] = PAIRS, **sections: dict[str, Any]) -> EncodedTask:
    path = folder / "pairs.jsonl"
    names = ("read", "said", "lang")
    path.write_text("".join(json.dumps(dict(zip(names, pair, strict=False))) + "\n" for pair in pairs))
    data = {
        "train": str(path),
        "valid": str(path),
        "source": "read",
        "target": "said",
        "test_share": 0.0,
        **sections.pop("data", {}),
    }
    raw = {
        "task": "translation",
        "data": data,
        "tokens": {"kind": "characters"},
        "model": GRU,
        "training": {"batch_size": 4},
        **sections,
    }
    opened = open_data(check(raw, where="test"))
    recipe, _ = find_spec("translation").fill_defaults(opened.recipe, opened.parts["train"])
    task = encode_task(recipe, opened.parts)
    torch.manual_seed(5)
    return task


@pytest.mark.spec(33)
@pytest.mark.spec(34)
def test_each_side_has_its_own_tokens_and_a_target_stands_between_start_and_end(tmp_path: Path) -> None:
    task = make(tmp_path, tokens={"kind": "characters", "target_size": 2})
    source, target = task.codec.tokens.source.vocabulary, task.codec.tokens.target.vocabulary
    assert {"a", "b", "c"} <= source.ids.keys()
    assert "A" not in source.ids
    assert len(target) == 4 + 2  # the special ones and the two most frequent letters
    ids = task.codec.tokens.encode_targets(["BA"])[0]
    assert [target.pieces[token] for token in ids] == [SOS, "B", "A", EOS]
    assert [source.pieces[token] for token in task.codec.tokens.encode_sources(["ab"])[0]] == ["a", "b", EOS]
    model = task.build_model()
    assert model.embed_source.weight.shape[0] == len(source)
    assert model.bias.shape[0] == len(target)
    again = TranslationCodec.load(task.recipe, saved(task, tmp_path / "tokens"))
    assert again.tokens.target.vocabulary.pieces == target.pieces
    shared = make(tmp_path, tokens={"kind": "characters", "shared": True})
    assert shared.codec.tokens.source is shared.codec.tokens.target
    model = shared.build_model()
    assert model.embed_source is model.embed_target
    separate = make(
        tmp_path, tokens={"kind": "characters", "shared": True}, decoder={"shared_embedding": False}
    ).build_model()
    assert separate.embed_source is not separate.embed_target
    assert separate.embed_source.weight.shape == model.embed_source.weight.shape
    assert TranslationCodec.load(shared.recipe, saved(shared, tmp_path / "shared")).tokens.are_shared


def saved(task: EncodedTask, folder: Path) -> Path:
    task.codec.save(folder)
    return folder


@pytest.mark.spec(110)
def test_the_loss_is_that_of_the_true_tokens_after_the_true_tokens_before_them(tmp_path: Path) -> None:
    task = make(tmp_path, training={"batch_size": 4, "label_smoothing": 0.1})
    model = task.build_model().double().train()
    batch = task.objective().loader(Cursor()).take()
    expected, count = torch.zeros((), dtype=torch.float64), 0
    for row in batch.rows.tolist():
        source, target = (torch.from_numpy(side.astype(np.int64)) for side in sides(task, row))
        logits = model(
            source[None],
            torch.ones(1, len(source), dtype=torch.bool),
            target[None, :-1],
            torch.ones(1, len(target) - 1, dtype=torch.bool),
        )
        expected += F.cross_entropy(logits[0], target[1:], reduction="sum", label_smoothing=0.1)
        count += len(target) - 1
    found = task.objective().loss(model, batch, step=0, carry=())
    torch.testing.assert_close(found.total, expected)
    assert found.count == count


def sides(task: EncodedTask, row: int) -> tuple[Any, Any]:
    store = task.splits["train"].store
    return store["source"][row], store["target"][row]


def read_by_decoder(
    model: EncoderDecoder, batch: Batch, ratio: float, *, per: Literal["sequence", "token"]
) -> torch.Tensor:
    """What a decoder reads at a teacher forcing ratio."""
    given = batch["target"][:, :-1]
    is_predicted = draw_predicted(given, ratio, per=per)
    return (
        given
        if is_predicted is None
        else model.with_predictions(batch.inputs, batch.is_token, given, is_predicted)
    )


@pytest.mark.slow
@pytest.mark.spec(111)
def test_a_decoder_left_to_itself_reads_what_it_wrote(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = task.build_model().double().train()
    batch = task.objective().loader(Cursor()).take()
    given = batch["target"][:, :-1]
    assert draw_predicted(given, 1.0, per="token") is None
    free = read_by_decoder(model, batch, 0.0, per="sequence")
    assert model.training
    model.eval()
    for row in range(len(given)):  # the plain way: the whole prefix again and again
        prefix = given[row, :1]
        for _ in range(given.shape[1] - 1):
            every = torch.ones(1, len(prefix), dtype=torch.bool)
            logits = model(batch.inputs[row : row + 1], batch.is_token[row : row + 1], prefix[None], every)
            prefix = torch.cat([prefix, logits[0, -1].argmax()[None]])
        assert free[row].tolist() == prefix.tolist()
    assert not torch.equal(free, given)
    torch.manual_seed(1)
    mixed = [read_by_decoder(model, batch, 0.5, per="sequence") for _ in range(40)]
    is_true = torch.stack([(one == given).all(dim=1) for one in mixed]).double().mean()
    assert 0.3 < is_true < 0.7  # whole sequences, about half of them


@pytest.mark.slow
@pytest.mark.spec(111)
def test_a_transformer_left_to_itself_reads_what_it_wrote_token_by_token(tmp_path: Path) -> None:
    network = {"kind": "transformer", "layers": 2, "hidden_size": 8, "heads": 2, "dropout": 0.5}
    task = make(tmp_path, model=network)
    model = task.build_model().double().train()
    batch = task.objective().loader(Cursor()).take()
    given, read = batch["target"][:, :-1], (batch.inputs, batch.is_token)
    torch.manual_seed(4)
    mixed = torch.stack([read_by_decoder(model, batch, 0.7, per="token") for _ in range(60)])
    model.eval()
    for inputs in mixed[
        :10
    ]:  # whatever stands before, an own token is the likeliest after it, without dropout
        likeliest = model(*read, inputs, torch.ones_like(inputs, dtype=torch.bool)).argmax(dim=-1)
        assert bool(((inputs[:, 1:] == likeliest[:, :-1]) | (inputs[:, 1:] == given[:, 1:])).all())
    is_true = (mixed == given)[:, :, 1:]
    differs = (
        is_true.double().mean(dim=0) < 1
    )  # places where the network would write something else at least once
    assert 0.5 < is_true[:, differs].double().mean() < 0.9  # about 0.7 of them, and each by itself:
    rows = is_true[:, differs.any(dim=1)]
    assert bool((rows.any(dim=2) & ~rows.all(dim=2)).any())


SAMPLED = {"schedule": "linear", "half_life": 2}


@pytest.mark.spec(111)
def test_the_teacher_forcing_ratio_follows_from_the_number_of_the_update_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def watched(targets: torch.Tensor, ratio: float, **options: Any) -> Any:
        seen.append(ratio)
        return draw_predicted(targets, ratio, **options)

    monkeypatch.setattr("seqlab.tasks.seq2seq.objective.draw_predicted", watched)
    task = make(tmp_path, scheduled_sampling={**SAMPLED, "per": "token"})
    model, batch = task.build_model().train(), task.objective().loader(Cursor()).take()
    for step in (0, 3, 1, 2, 1):  # in whatever order, and whatever came before
        assert task.objective().loss(model, batch, step=step, carry=()).carry == ()
    assert seen == [1.0, 0.25, 0.75, 0.5, 0.75]
    task = make(tmp_path, scheduled_sampling=SAMPLED, training={"batch_size": 4, "gradient_accumulation": 2})
    seen.clear()
    for step in range(2):  # two updates of two batches each
        accumulate_gradients(model, task.objective(), [batch] * 2, task.recipe.training, step=step, carry=())
    assert seen == [1.0, 1.0, 0.75, 0.75]


@pytest.mark.spec(111)
def test_the_loss_of_scheduled_sampling_is_that_of_the_targets_after_what_the_decoder_read(
    tmp_path: Path,
) -> None:
    task = make(tmp_path, scheduled_sampling={**SAMPLED, "per": "token"})
    model = task.build_model().double().train()
    batch = task.objective().loader(Cursor()).take()
    torch.manual_seed(2)
    read = read_by_decoder(model, batch, 0.25, per="token")
    is_target = (
        torch.arange(read.shape[1])
        < torch.tensor([len(sides(task, row)[1]) - 1 for row in batch.rows.tolist()])[:, None]
    )
    logits = model(batch.inputs, batch.is_token, read, is_target)
    expected = F.cross_entropy(logits[is_target], batch["target"][:, 1:][is_target], reduction="sum")
    assert not torch.equal(read, batch["target"][:, :-1])
    torch.manual_seed(2)
    found = task.objective().loss(model, batch, step=3, carry=())
    torch.testing.assert_close(found.total, expected)
    assert found.correct == int((logits.argmax(dim=-1) == batch["target"][:, 1:])[is_target].sum())


@pytest.mark.slow
@pytest.mark.spec(111)
@pytest.mark.parametrize("accumulate", [1, 2])
def test_scheduled_sampling_goes_on_exactly_where_it_was_stopped(tmp_path: Path, accumulate: int) -> None:
    def trainer(name: str) -> TrainingLoop:
        task = make(
            tmp_path,
            scheduled_sampling={**SAMPLED, "half_life": 3, "per": "token"},
            training={"batch_size": 4, "gradient_accumulation": accumulate},
        )
        (tmp_path / name).mkdir()
        return TrainingLoop(
            task.build_model(),
            task.objective(),
            task.recipe.training,
            Budget(6, 100),
            folder=tmp_path / name,
            device=torch.device("cpu"),
        )

    whole, stopped, resumed = (trainer(name) for name in ("whole", "stopped", "resumed"))
    torch.manual_seed(9)
    whole.run(StopRequest())
    torch.manual_seed(9)
    for _ in range(4):
        stopped._update()
    stopped.save()
    torch.manual_seed(77)  # whatever was drawn since
    checkpoint, _ = stopped.checkpoints.load()
    assert checkpoint is not None
    assert not any(name.startswith("carry") for name in checkpoint.tensors)
    resumed.model.train()
    resumed.resume(checkpoint)
    resumed.run(StopRequest())
    assert resumed.step == 6
    for one, other in zip(
        whole.model.state_dict().values(), resumed.model.state_dict().values(), strict=True
    ):
        assert torch.equal(one, other)


@pytest.mark.slow
@pytest.mark.spec(16)
def test_one_model_for_several_languages_is_told_by_a_token_which_one_to_write(tmp_path: Path) -> None:
    pairs = [("ab", "AB", "up"), ("ab", "BA", "back"), ("b", "B", "up"), ("c", "C", "back")] * 4
    task = make(tmp_path, pairs, data={"language": "lang"})
    pieces = task.codec.tokens.source.vocabulary.pieces
    assert [pieces[token] for token in task.codec.tokens.encode_sources(["ab"], ["back"])[0]] == [
        "<2back>",
        "a",
        "b",
        EOS,
    ]
    assert [pieces[token] for token in sides(task, 0)[0]] == ["<2up>", "a", "b", EOS]
    model = task.build_model().eval()
    predictor = task.predictor(model)
    assert predictor.predict(["up: ab"], top=1)[0].input == "ab"
    with pytest.raises(RunError, match="'down'") as caught:
        predictor.predict(["down: ab"], top=1)
    assert "back, up" in str(caught.value)
    with pytest.raises(UsageError, match="target language"):
        predictor.predict(["ab"], top=1)


@pytest.mark.spec(44)
def test_every_answer_has_the_probability_that_forced_scoring_gives_it(tmp_path: Path) -> None:
    task = make(tmp_path, decoding={"beam": 3, "n_best": 3, "max_tokens": 5})
    model = task.build_model().eval()
    source = torch.from_numpy(task.codec.tokens.encode_sources(["abc"])[0].astype(np.int64))
    for translation in task.predictor(model).translate(["abc"])[0]:
        hypothesis = translation.hypothesis
        forced = score_targets(
            model,
            [source],
            [hypothesis.tokens],
            task.codec.tokens.special_tokens,
            ended=[hypothesis.ended],
        )[0]
        assert math.log(translation.probability) == pytest.approx(forced.log_prob, abs=1e-4)


@pytest.mark.spec(178)
def test_attention_maps_have_the_weights_of_the_decoder_for_every_generated_token(tmp_path: Path) -> None:
    task = make(tmp_path, decoding={"max_tokens": 6})
    model = task.build_model().eval()
    predictor = task.predictor(model)
    example = predictor.attend("abc")
    assert example is not None
    assert example.read == ["a", "b", "c", EOS]
    assert example.written == [*predictor.translate(["abc"])[0][0].text, EOS]
    assert [sum(row) for row in example.weights] == pytest.approx([1.0] * len(example.written), abs=1e-5)
    with torch.no_grad():  # the first row by hand
        encoded, ended = model.encoder(
            model.embed_source(torch.tensor([task.codec.tokens.encode_sources(["abc"])[0].tolist()])),
            torch.ones(1, 4, dtype=torch.bool),
        )
        start = model.embed_target(torch.tensor([[task.codec.tokens.start_id]]))
        state, _ = model.decoder.stack(start, torch.ones(1, 1, dtype=torch.bool), ended)
        scores = model.decoder.look.attention.score(state, encoded)
    assert example.weights[0] == pytest.approx(scores[0, 0].softmax(dim=0).tolist(), abs=1e-5)
    task = make(tmp_path, decoder={"attention": "none"})
    assert task.predictor(task.build_model()).attend("ab") is None


@torch.no_grad()
def test_unknown_words_are_replaced_by_the_source_word_with_the_most_attention(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pairs = [("the cat", "die Katze"), ("the dog", "der Hund")] * 4
    task = make(tmp_path, pairs, tokens={"kind": "whitespace"}, decoding={"unknown": "copy"})
    model = task.build_model().eval()
    text = "the Zyxxy"  # a name that was never read
    source, words = (
        torch.from_numpy(task.codec.tokens.encode_sources([text])[0].astype(np.int64)),
        task.codec.tokens.source_words(text),
    )
    assert words == ["the", "Zyxxy", ""]
    target = task.codec.tokens.target.vocabulary
    attention = torch.tensor(
        [[[0.9, 0.1, 0.0], [0.2, 0.7, 0.1], [0.2, 0.3, 0.5]]]
    )  # the last attends to the end token, which is no word
    monkeypatch.setattr(
        EncoderDecoder,
        "decode_with_alignment",
        lambda *given: (None, given[3], attention[:, : given[1].shape[1]]),
    )
    assert (
        copy_unknown_words(model, task.codec.tokens, source, words, [target.ids["die"], target.ids[UNK]])
        == "die Zyxxy"
    )
    assert (
        copy_unknown_words(model, task.codec.tokens, source, words, [target.ids[UNK], target.ids["Katze"]])
        == "the Katze"
    )
    assert (
        copy_unknown_words(
            model, task.codec.tokens, source, words, [target.ids["die"]] * 2 + [target.ids[UNK]]
        )
        == "die die Zyxxy"
    )
    assert copy_unknown_words(model, task.codec.tokens, source, words, [target.ids["die"]]) == "die"
    assert (
        copy_unknown_words(model, task.codec.tokens, source[-1:], [""], [target.ids[UNK], target.ids["die"]])
        == "die"
    )  # nothing to copy
    predictor = task.predictor(model)
    hypothesis = Hypothesis([target.ids["die"], target.ids[UNK]], [0.0], 0.0, True)
    assert predictor.detokenize(hypothesis, text, source).text == "die Zyxxy"
    assert task.codec.tokens.source_words(text, tagged=True) == [
        "",
        "the",
        "Zyxxy",
        "",
    ]  # behind the tag of a language
    assert target.ids[UNK] in task.codec.tokens.special_tokens.suppressed_ids
    assert target.ids[UNK] not in predictor.target_search.search.special_tokens.suppressed_ids


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("words", "ich sah Zürich, heute."),
        ("whitespace", "ich sah Zürich heute."),  # the comma belonged to the unknown word
        ("characters", "ich sahZürich, heute."),  # a blank is a token too, and here none was written
        ("wordpiece", "ich sah Zürich, heute."),
        ("unigram", "ich sah Zürich, heute."),
        ("bpe", "ich sah Zürich, heute."),
    ],
)
def test_a_copied_word_stands_between_blanks_where_its_kind_of_tokens_sets_them(
    kind: str, expected: str
) -> None:
    texts = ["ich sah Bob, heute. hallo mein freund"] * 30
    tokenizer = tokenizers.get(kind).fit(iter(texts), TokenSettings(kind=kind, size=120), specials=SPECIALS)
    before, after, whole = (
        tokenizer.encode(text).tolist() for text in ("ich sah", "ich sah Bob", "ich sah Bob, heute.")
    )
    unknown = tokenizer.vocabulary.unk_id
    assert tokenizer.decode_filled([*before, unknown, *whole[len(after) :]], ["Zürich"]) == expected
    assert tokenizer.decode_filled(whole, []) == tokenizer.decode(whole)
    assert tokenizer.decode_filled([unknown] * 2, ["a", "b"]) == ("ab" if kind == "characters" else "a b")


def test_the_tags_of_languages_are_read_and_never_written(tmp_path: Path) -> None:
    pairs = [("ab", "BA", "x"), ("ab", "ba", "y")] * 8
    for shared in (True, False):
        task = make(
            tmp_path, pairs, data={"language": "lang"}, tokens={"kind": "characters", "shared": shared}
        )
        vocabulary, symbols = task.codec.tokens.target.vocabulary, task.codec.tokens.special_tokens
        assert {vocabulary.pieces[token] for token in symbols.suppressed_ids} == set(vocabulary.specials) - {
            EOS
        }
        assert ("<2x>" in vocabulary.ids) == shared
        assert task.codec.tokens.tags == ["x", "y"]
        assert (
            after_training(Run(tmp_path, task.recipe, task.codec, task.build_model(), Calibration()))[0]
            == f'seqlab predict {tmp_path} "x: some text"'
        )
        warnings = survey_warnings(
            task.recipe, survey_parts(task.recipe, {name: split.rows for name, split in task.splits.items()})
        )
        assert not [
            warning for warning in warnings if "repeat" in warning
        ]  # each language asks for the same texts again


def test_scores_are_those_of_what_is_written_whatever_was_read() -> None:
    def names(said: str, **tokens: str) -> list[str]:
        recipe = check(
            {
                "task": "translation",
                "tokens": tokens,
                "data": {"train": "x", "source": "read", "target": "entities"},
            },
            where="test",
        )
        return [each.name for each in draft_scores(recipe, [said], [[said]])]

    sentence = "ein kleiner Hund läuft durch den großen Garten"
    assert names("2001-02-03", kind="words", target_kind="characters") == [
        "exact_match",
        "character_error_rate",
    ]
    assert names("2001-02-03", kind="characters", target_kind="words")[0] == "bleu"
    assert names(sentence, kind="characters")[0] == "bleu"
    assert names(sentence, kind="characters")[-2:] == ["exact_match", "character_error_rate"]
    assert names("AH B", kind="characters", target_kind="whitespace")[0] == "wer"


def test_a_batch_by_tokens_and_pairs_that_are_too_long(tmp_path: Path) -> None:
    task = make(tmp_path, [*PAIRS, ("abc" * 9, "C")], data={"max_length": 12}, training={"batch_tokens": 24})
    assert len(task.splits["train"].store) == len(PAIRS)
    assert task.notes == ["train: excluded 1 pair with more than 12 tokens on one side"]
    batch = task.objective().loader(Cursor()).take()
    assert batch.inputs.numel() + batch["target"].numel() <= 24
    assert len(task.splits["valid"].store) == len(PAIRS) + 1  # a score is of all
    few_positions = {
        "kind": "transformer",
        "positions": "learned",
        "max_positions": 9,
        "hidden_size": 8,
        "heads": 2,
        "layers": 1,
    }
    with pytest.raises(DataError) as caught:
        make(tmp_path, [*PAIRS, ("abc" * 9, "C")], model=few_positions)
    assert "pairs.jsonl, line 19: one side has 28 tokens, but the model reads at most 9." in str(caught.value)
    assert "model.max_positions=28" in str(caught.value)
    for sections, cure in (
        ({"data": {"max_length": 1}}, "Raise data.max_length"),
        ({"model": {**few_positions, "max_positions": 1}}, "Raise model.max_positions"),
    ):
        with pytest.raises(DataError, match="all 18 pairs have more than 1 tokens") as caught:
            make(tmp_path, **sections)
        assert cure in str(caught.value)


def test_blanks_before_marks_are_no_mistakes_of_a_writer_of_words() -> None:
    """Words forget where blanks were; whoever writes every word of cut references right has every score of a
    perfect translation.
    """
    references = [["ein hund steht im garten ."], ["zwei männer , die rennen ( schnell ) ."]]
    recipe = check(
        {
            "task": "translation",
            "tokens": {"kind": "words"},
            "data": {"train": "x", "source": "en", "target": "de"},
        },
        where="test",
    )
    written = [join_words(one.split()) for (one,) in references]
    assert written[0] == "ein hund steht im garten."
    found = {each.name: each.items.full_score() for each in draft_scores(recipe, written, references)}
    assert {name: round(value, 6) for name, value in found.items() if name != "meteor"} == {
        "bleu": 100, "bleu_lower": 100, "chrf": 100, "ter": 0, "token_error_rate": 0, "exact_match": 1
    }  # fmt: skip
    assert found["meteor"] > 0.99
    assert {
        each.name: each.items.full_score()
        for each in draft_scores(recipe, ["ein hund im garten.", written[1]], references)
    }["ter"] == pytest.approx(10)


@pytest.mark.parametrize(
    ("pairs", "sections", "words"),
    [
        ([("a", "")], {}, "column 'said' has no text"),
        (PAIRS, {"data": {"source": "", "target": ""}}, None),
        (PAIRS, {"data": {"source": "nothing"}}, "nothing"),
    ],
)
def test_sides_are_found_or_asked_for(
    tmp_path: Path, pairs: list[Any], sections: dict[str, Any], words: str | None
) -> None:
    if words is None:
        recipe = make(tmp_path, pairs, **sections).recipe
        assert (recipe.data.source, recipe.data.target, recipe.data.text) == ("read", "said", "read")
        return
    with pytest.raises(SeqlabError) as caught:
        make(tmp_path, pairs, **sections)
    assert words in str(caught.value)


def test_a_table_with_three_columns_or_a_text_is_no_pair(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="needs a source column and a target column") as caught:
        make(tmp_path, [("a", "b", "c")] * 4, data={"source": "", "target": ""})
    for cure in ("data.source=NAME", "data.target=NAME"):
        assert cure in str(caught.value)
    (tmp_path / "one.txt").write_text("one text\n")
    with pytest.raises(DataError, match="this file is one text"):
        open_data(check({"task": "translation", "data": {"train": str(tmp_path / "one.txt")}}, where="test"))


@pytest.mark.slow
def test_byte_pairs_are_read_as_letters_where_a_decoder_looks(tmp_path: Path) -> None:
    pairs = [("a bowl", "eine Schüssel"), ("a hut", "eine Hütte")] * 8
    task = make(tmp_path, pairs, tokens={"kind": "bpe", "size": 300})
    ids = task.codec.tokens.target.encode("eine Schüssel")
    assert "".join(readable_pieces(task.codec.tokens.target, ids)) == "eine Schüssel"
    assert "Ã" in "".join(pieces_of(task.codec.tokens.target, ids))
    example = task.predictor(task.build_model().eval()).attend("a bowl")
    assert example is not None
    assert "".join(example.read) == "a bowl" + EOS


def test_an_evaluation_uses_the_decoder_that_was_prepared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = make(tmp_path)
    predictor = task.predictor(task.build_model().eval())
    scores = task.evaluator().evaluate(predictor, "valid").scores

    def prepare_again(model: object) -> None:
        raise AssertionError("the decoder was laid out a second time")

    monkeypatch.setattr("seqlab.tasks.seq2seq.predictor.prepare_decoder", prepare_again)
    assert task.evaluator().evaluate(predictor, "valid").scores == scores


def test_other_decoding_settings_are_those_of_every_part(tmp_path: Path) -> None:
    task = make(tmp_path)
    run = Run(tmp_path, task.recipe, task.codec, task.build_model(), Calibration())
    wider = run.with_decoding(beam=3)
    assert wider.recipe.decoding.beam == wider.codec.recipe.decoding.beam == 3
    assert wider.predictor.recipe.decoding.beam == 3
    assert run.codec.recipe.decoding.beam == run.recipe.decoding.beam == 1
    assert wider.predictor.decoder is run.predictor.decoder
