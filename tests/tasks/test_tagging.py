"""The tagging task: what it reads, what it chooses, what it scores, what it answers."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.metrics import accuracy_score, f1_score, log_loss
from tokenizers import Tokenizer as Engine
from tokenizers.models import WordPiece
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from torch import nn

from seqlab.batches.loader import Cursor
from seqlab.core.errors import ArgumentError, DataError, RecipeError
from seqlab.recipes.read import check
from seqlab.recipes.recipe import Recipe
from seqlab.runs.data import open_data
from seqlab.sources.base import Row
from seqlab.tasks.labeled.split import prediction_batches
from seqlab.tasks.spec import find_spec
from seqlab.tasks.tagging.codec import TaggingCodec
from seqlab.tasks.tagging.encode_rows import NO_TAG
from seqlab.tasks.tagging.predictions import TagPredictions, predict_tags
from seqlab.tasks.tagging.settings import TaggingSettings
from seqlab.tasks.tagging.tagged_sentence import TaggedSentence
from seqlab.tasks.tagging.word_inputs import WordInputs
from seqlab.tokens.hugging_face import HuggingFace
from tests.tasks.encoded_task import EncodedTask, encode_task

TRAIN = [
    [("the", "D"), ("dog", "N"), ("walks", "V")],
    [("the", "D"), ("walks", "N"), ("end", "V"), (".", "P")],
    [("dogs", "N"), ("walks", "V")],
    [("the", "D"), ("dog", "N"), ("ends", "V"), ("the", "D"), ("walks", "N"), (".", "P")],
    [("end", "V"), (".", "P")],
]
TEST = [
    [("the", "D"), ("whale", "N"), ("walks", "V")],
    [("dog", "N"), ("shouts", "V"), (".", "P")],
    [("the", "D"), ("end", "N")],
]
MODEL = {"kind": "recurrent", "hidden_size": 7, "cell": "gru", "bidirectional": True}


def write(folder: Path, sentences: list[list[tuple[str, str]]], name: str) -> str:
    (folder / name).write_text(
        "\n\n".join("\n".join(f"{word}\t{tag}" for word, tag in sentence) for sentence in sentences) + "\n"
    )
    return str(folder / name)


def make(
    folder: Path,
    *,
    tokens: dict[str, Any] | None = None,
    tagging: dict[str, Any] | None = None,
    train: list[list[tuple[str, str]]] = TRAIN,
    test: list[list[tuple[str, str]]] = TEST,
    model: dict[str, Any] = MODEL,
    **settings: Any,
) -> EncodedTask:
    data = {
        "train": write(folder, train, "train.tsv"),
        "valid": write(folder, test, "valid.tsv"),
        "test": write(folder, test, "test.tsv"),
    }
    how = tagging or {"characters": "none"}
    recipe = check(
        {"data": {**data, **settings}, "model": model, "tokens": tokens or {}, "tagging": how}, where="test"
    )
    opened = open_data(recipe)
    assert opened.recipe.task == "tagging"
    recipe, _ = find_spec("tagging").fill_defaults(opened.recipe, opened.parts["train"])
    task = encode_task(recipe, opened.parts)
    torch.manual_seed(3)
    return task


def predictions_for(task: EncodedTask, model: nn.Module, name: str) -> TagPredictions:
    return predict_tags(model, task.codec, task.splits[name])


def fit(recipe: Recipe) -> TaggingCodec:
    opened = open_data(recipe)
    return TaggingCodec.fit(
        find_spec("tagging").fill_defaults(opened.recipe, opened.parts["train"])[0], opened.parts["train"]
    )


def test_a_token_is_a_word_and_words_seen_once_are_unknown(tmp_path: Path) -> None:
    task = make(tmp_path)
    assert task.recipe.tokens.kind == "whitespace"
    assert task.codec.inputs.tokenizer.vocabulary.pieces == [
        "<unk>",
        "<pad>",
        "the",
        "walks",
        ".",
        "dog",
        "end",
    ]
    tokens, tags = task.splits["train"].steps, task.splits["train"].store["tags"]
    assert (tokens[0].tolist(), tags[0].tolist()) == ([2, 5, 3], [0, 1, 3])  # D, N, P, V
    assert (tokens[2].tolist(), tags[2].tolist()) == ([0, 3], [1, 3])
    everything = make(tmp_path, tokens={"min_count": 1})
    assert "dogs" in everything.codec.inputs.tokenizer.vocabulary.ids


CHARACTERS = {"characters": "convolutional", "max_word_length": 6, "character_widths": [2, 3]}


@pytest.mark.spec(11)
def test_an_unknown_word_keeps_its_characters(tmp_path: Path) -> None:
    task = make(tmp_path, tagging=CHARACTERS)
    ids = task.codec.inputs.spelling.vocabulary.ids
    first, second = (task.codec.encode([[word]])[0][0] for word in ("whale", "walxx"))
    assert first[0] == second[0] == task.codec.inputs.tokenizer.vocabulary.unk_id
    assert first[1:].tolist() == [
        ids["<sos>"],
        ids["w"],
        ids["h"],
        ids["l"],
        ids["e"],
        ids["<eos>"],
    ]  # too long by one: both ends
    assert task.recipe.tokens.lowercase
    assert second[1:].tolist() == [ids["<sos>"], ids["w"], ids["a"], ids["<unk>"], ids["<unk>"], ids["<eos>"]]
    assert task.codec.pieces(task.codec.encode([["the", "whale"]])[0]) == ["the", "<unk>"]


@pytest.mark.spec(11)
@pytest.mark.parametrize("kind", ["convolutional", "recurrent"])
@pytest.mark.parametrize("tokens", ["whitespace", "characters"])
def test_padding_batch_size_and_neighbours_never_change_a_tag(tmp_path: Path, kind: str, tokens: str) -> None:
    """With characters and a chain: alone, in a batch, and with padding behind."""
    task = make(tmp_path, tokens={"kind": tokens}, tagging={**CHARACTERS, "characters": kind, "crf": True})
    model = task.build_model()
    with torch.no_grad():
        for parameter in model.crf.parameters():
            parameter.normal_()
    given = [[word for word, _ in sentence] for sentence in [*TEST, *TRAIN]] + [["i̇stanbul", "🙂", "שלום"]]
    together = task.predictor(model.eval()).predict(given, top=1)
    task = task.with_recipe(task.recipe.changed("training", pad_to=23))
    for sentence, prediction in zip(given, together, strict=True):
        alone = task.predictor(model).predict([sentence], top=1)[0]
        assert isinstance(alone, TaggedSentence)
        assert isinstance(prediction, TaggedSentence)
        assert alone.tags == prediction.tags
        assert [share for _, share in alone.ranking] == pytest.approx(
            [share for _, share in prediction.ranking], rel=1e-4
        )


def test_the_loss_of_a_chain_is_that_of_whole_sentences(tmp_path: Path) -> None:
    """Over words that are several pieces: the first ones take no part."""
    task = make(tmp_path, tokens={"kind": "characters"}, tagging={"characters": "none", "crf": True})
    model = task.build_model().eval()
    with torch.no_grad():
        model.crf.transitions.normal_()
    batch = task.codec.collate(task.splits["train"], np.array([0, 2, 4]))
    logits = model(batch.inputs, batch.is_token)
    parts = []
    for row, targets in zip(logits, batch["tags"], strict=True):
        inside = targets != NO_TAG
        own, tags = row[inside][None], targets[inside][None]
        parts.append(model.crf(own, tags, torch.ones_like(tags, dtype=torch.bool)))
    found = task.objective().loss(model, batch, step=0, carry=())
    assert (found.count, found.total.item()) == (7, pytest.approx(torch.cat(parts).sum().item(), rel=1e-5))
    with pytest.raises(RecipeError, match=r"tagging\.crf: training.label_smoothing"):
        find_spec("tagging").fill_defaults(
            task.recipe.changed("training", label_smoothing=0.1), task.splits["train"].rows
        )


def test_rare_words_are_dropped_more_often_and_only_while_training(tmp_path: Path) -> None:
    task = make(tmp_path, tokens={"min_count": 1}, tagging={**CHARACTERS, "word_dropout": 1.0})
    embed = task.build_model().embed
    ids = task.codec.inputs.tokenizer.vocabulary.ids
    rates = {word: float(embed.drop_rates[place]) for word, place in ids.items()}
    assert (rates["the"], rates["dogs"], rates["<unk>"], rates["<pad>"]) == (
        pytest.approx(1 / 5),
        pytest.approx(1 / 2),
        0,
        0,
    )
    inputs = torch.from_numpy(np.tile(task.codec.encode([["dogs"]])[0].astype(np.int64), (4000, 1, 1)))
    vectors = embed.train()(inputs)
    is_unknown = (vectors[:, 0, : embed.words.embedding_dim] == embed.words.weight[0]).all(dim=1)
    assert is_unknown.float().mean().item() == pytest.approx(0.5, abs=0.04)
    torch.testing.assert_close(
        vectors[:, 0, embed.words.embedding_dim :],
        vectors[:1, 0, embed.words.embedding_dim :].expand(4000, -1),
    )
    assert torch.equal(
        embed.eval()(inputs)[0, 0, : embed.words.embedding_dim], embed.words.weight[ids["dogs"]]
    )


def test_what_was_guessed_is_said(tmp_path: Path) -> None:
    recipe = check(
        {"data": {"train": write(tmp_path, TRAIN, "train.tsv"), "valid_share": 0.2, "test_share": 0.2}},
        where="test",
    )
    opened = open_data(recipe)
    assert "a tag for every word: tagging; set task=NAME to change the task" in opened.reasons
    completed, reasons = find_spec("tagging").fill_defaults(opened.recipe, opened.parts["train"])
    assert [reason.partition(";")[0] for reason in reasons] == [
        "a token is a word",
        "the model also reads the characters of words, such as suffixes and capitals",
        "word vectors ignore case, which the characters keep",
        "a bidirectional recurrent model",
    ]
    assert completed.model.bidirectional
    assert completed.training.batch_size == 32


def test_the_named_task_decides_how_a_file_of_one_sentence_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, [TRAIN[0]], "one.txt")
    recipe = check({"task": "tagging", "data": {"train": path, "valid": path, "test": path}}, where="test")
    opened = open_data(recipe)
    assert (opened.recipe.data.format, opened.recipe.data.text, opened.recipe.data.label) == (
        "tagged",
        "word",
        "tag",
    )


@pytest.mark.parametrize(
    "kind", ["whitespace", "words", "characters", "bytes", "wordpiece", "bpe", "unigram"]
)
def test_the_last_piece_of_every_word_answers_for_it(tmp_path: Path, kind: str) -> None:
    task = make(
        tmp_path, tokens={"kind": kind, "size": 0 if kind in ("characters", "bytes") else 300, "min_count": 1}
    )
    ids, tags = task.splits["train"].store["tokens"][3], task.splits["train"].store["tags"][3]
    assert [task.codec.labels.names[tag] for tag in tags if tag != NO_TAG] == [tag for _, tag in TRAIN[3]]
    assert tags[-1] != NO_TAG
    text = "the dog ends the walks ."
    assert ids.tolist() == task.codec.inputs.tokenizer.encode(text).tolist()
    ends = np.flatnonzero(tags != NO_TAG)
    read = [
        task.codec.inputs.tokenizer.decode(part[part != NO_TAG].tolist())
        for part in np.split(ids, ends[:-1] + 1)
    ]
    assert "".join(read).replace(" ", "") == text.replace(" ", "")
    assert [part.strip() for part in read] == text.split()


def test_a_word_with_a_blank_inside_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "train.conllu"
    path.write_text(
        "".join(
            f"{number}\t{word}\t_\t{tag}\t_\t_\t_\t_\t_\t_\n"
            for number, (word, tag) in enumerate([("1 000", "NUM"), ("dogs", "N")], 1)
        )
    )
    recipe = check(
        {"data": {"train": str(path), "valid": str(path), "test": str(path)}, "tokens": {"min_count": 1}},
        where="test",
    )
    codec = fit(recipe)
    assert isinstance(codec.inputs, WordInputs)
    assert "1_000" in codec.inputs.tokenizer.vocabulary.ids
    assert len(codec.encode_split("train", open_data(recipe).parts["train"]).steps[0]) == 2


@pytest.mark.spec(11)
def test_the_scores_are_those_of_scikit_learn(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = task.build_model().eval()
    words = predictions_for(task, model, "test").words
    evaluation = task.evaluate(model, "test")
    scores = {score.name: score for score in evaluation.scores}
    names = task.codec.labels.names
    targets = [names.index(tag) for sentence in TEST for _, tag in sentence]
    assert words.targets.tolist() == targets
    assert scores["accuracy"].value == pytest.approx(accuracy_score(targets, words.predicted))
    assert scores["macro_f1"].value == pytest.approx(
        f1_score(targets, words.predicted, average="macro", zero_division=0)
    )
    assert scores["loss"].value == pytest.approx(
        log_loss(targets, np.exp(words.log_probs), labels=range(4)), rel=1e-5
    )
    unseen = [
        place
        for place, word in enumerate(word for sentence in TEST for word, _ in sentence)
        if word in ("whale", "shouts")
    ]
    assert scores["accuracy_on_unseen_words"].value == pytest.approx(
        np.mean(words.predicted[unseen] == np.array(targets)[unseen])
    )
    assert evaluation.sections_as_json()["facts"] == {"sentences": 3, "unseen_words": 2, "examples": 8}
    assert [
        (line["label"], line["count"]) for line in evaluation.sections_as_json()["per_class"]["classes"]
    ] == [
        ("D", 2),
        ("N", 3),
        ("P", 1),
        ("V", 2),
    ]
    assert "8 words with the correct tag; 95% CI by bootstrap over 3 sentences" in scores["accuracy"].method
    assert (
        "the 2 words that do not occur in the training data; 95% CI by bootstrap over 2 sentences"
        in scores["accuracy_on_unseen_words"].method
    )
    json.dumps(evaluation.sections_as_json())


def test_the_baseline_gives_every_word_its_own_most_frequent_tag(tmp_path: Path) -> None:
    """By hand: the D, whale (unseen) N or D, walks N or V (two each: the first seen), dog N, shouts as whale,
    . P, end V.
    """
    counts = Counter(tag for sentence in TRAIN for _, tag in sentence)
    assert counts.most_common(1)[0] == ("N", 5)
    task = make(tmp_path)
    scores = {score.name: score for score in task.evaluate(task.build_model().eval(), "test").scores}
    right = ["D", "N", "V", "N", "N", "P", "D", "V"]  # the whale walks / dog shouts . / the end
    truth = [tag for sentence in TEST for _, tag in sentence]
    assert scores["accuracy"].baseline == pytest.approx(
        np.mean([a == b for a, b in zip(right, truth, strict=True)])
    )
    assert scores["accuracy"].baseline_name == "the word's most frequent tag"
    assert scores["accuracy_on_unseen_words"].baseline == pytest.approx(0.5)


def test_without_unseen_words_there_is_no_score_for_them(tmp_path: Path) -> None:
    task = make(tmp_path, test=TRAIN)
    assert [score.name for score in task.evaluate(task.build_model().eval(), "test").scores] == [
        "accuracy",
        "macro_f1",
        "loss",
    ]


@pytest.mark.parametrize("kind", ["whitespace", "characters"])
def test_answers_stand_in_the_order_of_the_file_and_equal_those_of_each_sentence_alone(
    tmp_path: Path, kind: str
) -> None:
    task = make(tmp_path, tokens={"kind": kind})
    model = task.build_model().eval()
    predictions = predictions_for(task, model, "test")
    assert predictions.sentences.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    start = 0
    for sentence in TEST:
        given = [word for word, _ in sentence]
        alone = task.predictor(model).predict([given], top=1)[0]
        assert isinstance(alone, TaggedSentence)
        own = predictions.words.log_probs[start : start + len(given)]
        assert alone.tags == tuple(task.codec.labels.names[place] for place in own.argmax(axis=1))
        assert alone.probability == pytest.approx(float(np.exp(own.max(axis=1).sum())), rel=1e-5)
        assert alone.answer == " ".join(f"{word}/{tag}" for word, tag in zip(given, alone.tags, strict=True))
        start += len(given)


def test_a_text_is_cut_into_words_and_an_empty_one_has_none(tmp_path: Path) -> None:
    task = make(tmp_path)
    model = task.build_model().eval()
    first, empty, last = task.predictor(model).predict(["the dog walks.", "", "dogs!"], top=1)
    assert isinstance(first, TaggedSentence)
    assert first.words == ("the", "dog", "walks", ".")
    assert [word for word, _ in first.ranking] == first.answer.split()
    assert (empty.answer, empty.ranking) == ("", [])
    assert last.input == "dogs !"
    assert task.codec.pieces(task.codec.encode(["the whale"])[0]) == ["the", "<unk>"]


def test_the_loss_counts_words_and_nothing_else(tmp_path: Path) -> None:
    task = make(tmp_path, tokens={"kind": "characters"})
    model = task.build_model().eval()
    batch = task.codec.collate(task.splits["train"], np.array([0, 2, 4]))
    found = task.objective().loss(model, batch, step=0, carry=())
    log_probs = model(batch.inputs, batch.is_token).log_softmax(dim=-1).detach()
    places = (batch["tags"] != NO_TAG).nonzero().tolist()
    assert len(places) == found.count == 3 + 2 + 2
    assert found.total.item() == pytest.approx(
        -sum(float(log_probs[row, time, batch["tags"][row, time]]) for row, time in places), rel=1e-5
    )
    assert found.correct == sum(
        int(log_probs[row, time].argmax()) == int(batch["tags"][row, time]) for row, time in places
    )


def test_training_cuts_sentences_into_pieces_and_scoring_does_not(tmp_path: Path) -> None:
    task = make(tmp_path, max_length=2)
    assert task.splits["train"].steps.lengths.tolist() == [2, 1, 2, 2, 2, 2, 2, 2, 2]
    assert task.splits["test"].steps.lengths.tolist() == [3, 3, 2]
    (note,) = task.notes
    assert note.startswith("train: 3 of 5 sequences are longer than 2 steps")
    assert "data.max_length=0" in note
    by_letters = make(
        tmp_path, max_length=2, tokens={"kind": "characters"}, tagging={"characters": "none", "crf": True}
    )
    batch = by_letters.codec.collate(by_letters.splits["train"], np.arange(len(by_letters.splits["train"])))
    assert bool(
        (batch["tags"] != NO_TAG).any(dim=1).all()
    )  # a piece inside a word answers for none, and is left out


def test_one_endless_document_is_learned_in_pieces_and_answered_beside_short_ones(tmp_path: Path) -> None:
    task = make(tmp_path, train=[*TRAIN, [("the", "D"), ("dog", "N")] * 600])
    assert int(task.splits["train"].steps.lengths.max()) == 512
    assert int(task.splits["train"].steps.lengths.sum()) == 1_200 + sum(map(len, TRAIN))
    rows = [Row({"word": ["dog"] * words}, "input", 1) for words in (1, 200_000, 1, 1)]
    assert [len(batch) for batch in prediction_batches(rows, "word")] == [1, 1, 2]


def test_a_sequence_that_learned_positions_do_not_know_is_told_before_training(tmp_path: Path) -> None:
    model = {
        "kind": "transformer",
        "positions": "learned",
        "max_positions": 8,
        "hidden_size": 8,
        "heads": 2,
        "layers": 1,
    }
    long = [("the", "D"), ("dog", "N")] * 5
    task = make(tmp_path, train=[*TRAIN, long], model=model)
    assert int(task.splits["train"].steps.lengths.max()) == 8
    (note,) = task.notes
    assert note.startswith("train: 1 of 6 sequences are longer than 8 steps")
    assert "a larger model.max_positions" in note
    with pytest.raises(DataError) as caught:
        make(tmp_path, test=[*TEST, long], model=model)
    assert "valid.tsv, line 12: the sequence has 10 steps, but the model reads at most 8.\n  " in str(
        caught.value
    )
    for cure in ("model.max_positions=10", "model.positions=sinusoidal"):
        assert cure in str(caught.value)
    assert (
        int(
            make(tmp_path, test=[*TEST, long], model={**model, "positions": "sinusoidal"})
            .splits["test"]
            .steps.lengths.max()
        )
        == 10
    )


class AlwaysTheFirst(nn.Module):
    """Sure of tag 0, whatever it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.sure = nn.Parameter(torch.tensor([5.0, 0.0, 1.0, -1.0]))

    def forward(self, inputs: torch.Tensor, is_token: torch.Tensor) -> torch.Tensor:
        return self.sure.expand(*is_token.shape, 4)


def test_the_surest_mistakes_are_shown_in_their_sentence(tmp_path: Path) -> None:
    task = make(tmp_path)
    worst = task.evaluate(AlwaysTheFirst(), "test").sections_as_json()["most_wrong"]["examples"]
    assert [(entry["text"], entry["truth"], entry["predicted"]) for entry in worst[:3]] == [
        ("the whale [walks]", "V", "D"),
        ("dog [shouts] .", "V", "D"),
        ("the [whale] walks", "N", "D"),
    ]
    assert worst[1]["where"].endswith("test.tsv, line 5")
    assert len(worst) == 6


def test_a_training_split_in_pieces_is_scored_whole(tmp_path: Path) -> None:
    task, whole = make(tmp_path, max_length=2), make(tmp_path, max_length=0)
    assert len(task.splits["train"]) > len(TRAIN)
    found, expected = (split.evaluate(AlwaysTheFirst(), "train") for split in (task, whole))
    assert found.truths == [tuple(tag for _, tag in sentence) for sentence in TRAIN]
    assert found.scores == expected.scores
    assert found.sections_as_json() == expected.sections_as_json()


def test_a_saved_task_is_the_same_task(tmp_path: Path) -> None:
    task = make(tmp_path)
    task.codec.save(tmp_path / "tokens")
    again = replace(task, codec=TaggingCodec.load(task.recipe, tmp_path / "tokens"))
    assert again.codec.labels.names == task.codec.labels.names
    model = task.build_model().eval()
    assert again.predictor(model).predict(["the dog walks"], top=1) == task.predictor(model).predict(
        ["the dog walks"], top=1
    )
    assert (
        task.objective()
        .describe_rows(task.objective().loader(Cursor()).take())
        .startswith("batch of 5 rows, lines 1, 5, 10, 13, 20 of ")
    )


@pytest.mark.parametrize(
    ("train", "settings", "words"),
    [
        ([[("a", "X"), ("b", "X")], [("c", "X")]], {}, "every word has the same tag 'X'.\n  A tagger needs at least two tags; is 'tag'"),
        (TRAIN, {"label": "pos"}, "there is no column 'pos'.\n  Available: tag, word."),
        (TRAIN, {"text": "words"}, "there is no column 'words'.\n  Did you mean 'word'?"),
    ],
)  # fmt: skip
def test_data_that_no_tagger_can_use(
    tmp_path: Path, train: list[list[tuple[str, str]]], settings: dict[str, str], words: str
) -> None:
    path = write(tmp_path, train, "train.tsv")
    recipe = check(
        {"task": "tagging", "data": {"train": path, "valid": path, "test": path, **settings}}, where="test"
    )
    with pytest.raises(DataError) as caught:
        fit(recipe)
    assert words in str(caught.value)


def test_a_tag_that_training_never_had_is_told_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(
        DataError, match=r"valid.tsv, line 5: the label 'Q' does not occur in the training data"
    ):
        make(tmp_path, test=[*TEST[:1], [("dog", "Q")]])


def test_sentences_in_json_are_read_and_their_mistakes_told(tmp_path: Path) -> None:
    path = tmp_path / "train.jsonl"
    rows = [
        {"tokens": [word for word, _ in sentence], "pos_tags": [tag for _, tag in sentence]}
        for sentence in TRAIN
    ]
    path.write_text("\n".join(json.dumps(row) for row in rows))
    recipe = check({"data": dict.fromkeys(("train", "valid", "test"), str(path))}, where="test")
    assert fit(recipe).labels.names == ["D", "N", "P", "V"]
    path.write_text("\n".join(json.dumps(row) for row in [*rows, {"tokens": ["a", "b"], "pos_tags": ["D"]}]))
    with pytest.raises(
        DataError, match=r"train.jsonl, line 6: 2 words in column 'tokens', but 1 tags in column 'pos_tags'."
    ):
        fit(recipe)


def test_blanks_around_tags_make_no_other_tags_and_an_empty_sentence_is_told_with_its_line(
    tmp_path: Path,
) -> None:
    path = tmp_path / "noisy.jsonl"
    row = {"tokens": ["It", "is"], "tags": ["PRON", "AUX "]}
    lines = [row, row | {"tags": ["PRON", "AUX"]}, {"tokens": [], "tags": []}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    recipe = check(
        {
            "data": {**dict.fromkeys(("train", "valid", "test"), str(path)), "bad_rows": "skip"},
            "model": MODEL,
        },
        where="test",
    )
    assert fit(recipe).labels.names == ["AUX", "PRON"]
    with pytest.raises(DataError, match=r"noisy\.jsonl, line 3: column 'tokens' has no words\."):
        fit(recipe.changed("data", bad_rows="stop"))


def test_a_model_for_pictures_is_refused(tmp_path: Path) -> None:
    task = make(tmp_path)
    recipe = check(
        {
            "task": "tagging",
            "data": task.recipe.data.model_dump(),
            "model": {"kind": "vision_transformer"},
        },
        where="test",
        is_trained=True,
    )
    with pytest.raises(ArgumentError, match="has no steps to tag"):
        task.with_recipe(recipe).build_model()


def test_a_published_template_stands_around_the_sentence_and_not_around_every_word() -> None:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "dog", "bark", "##s", "the"]
    engine = Engine(WordPiece({piece: place for place, piece in enumerate(pieces)}, unk_token="[UNK]"))
    engine.pre_tokenizer = Whitespace()
    engine.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    inputs = WordInputs(
        HuggingFace(engine, size=8, roles={"pad": 0, "unk": 1}), column="word", settings=TaggingSettings()
    )
    _, ids, places = next(inputs.encode_tagged([Row({"word": ["the", "dogs", "bark", "§§"]}, "f", 1)]))
    assert [pieces[token] for token in ids] == ["[CLS]", "the", "dog", "##s", "bark", "[UNK]", "[SEP]"]
    assert places.tolist() == [1, 3, 4, 5]
