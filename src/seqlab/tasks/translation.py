"""Turn one sequence into another: languages, spelling into sound, dates into numbers; summaries with imported models."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.feed import Feed, Position, one_pass
from seqlab.batches.padding import pad
from seqlab.batches.plans import BucketPlan, Indices, LengthOrderPlan, Plan, TokenBucketPlan
from seqlab.batches.store import Store, StoreWriter, smallest_dtype
from seqlab.core.errors import DataError, UsageError
from seqlab.decoding.building import answer_of, build_search
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.in_order import write_in_order
from seqlab.decoding.search import Search
from seqlab.decoding.settings import SearchSettings
from seqlab.losses.full_softmax import full_softmax, log_probs_of_targets
from seqlab.models.encoder_decoder import EncoderDecoder, build_encoder_decoder
from seqlab.models.settings import TransformerSettings, for_sequences
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.columns import text_of
from seqlab.tasks.base import ENCODING, Evaluation, Prediction, Task, shown, tasks
from seqlab.tasks.inputs import digest_of, pieces_of
from seqlab.tasks.own_outputs import with_own_outputs
from seqlab.tasks.pair_defaults import with_defaults
from seqlab.tasks.pair_rows import PairRows
from seqlab.tasks.pair_scores import Translated, evaluate_pairs, gathered
from seqlab.tasks.pair_tokens import PairTokens, language_of
from seqlab.tasks.unknown_words import with_copied_words
from seqlab.training.base import BatchLoss, Carry, Validation
from seqlab.training.forcing import truth_share

ROWS_AT_ONCE = 256
EVALUATION_BATCH, EVALUATION_STEPS = 256, 32_768
"""At most so many pairs, and padded steps, are looked at together."""
MOST_LOOKS, LONGEST_LOOKS = 4, 40
"""Pairs of a report that show where was looked, and the tokens that can still be read there."""
LONGEST = 1024
"""Tokens of a side that are learned from, where nothing else is said: a pair that is longer would need the memory of hundreds."""


@dataclass(frozen=True)
class Answer:
    """One translation of a text."""

    text: str
    probability: float
    """Of all its tokens, and of its end where it has one."""
    found: Hypothesis


@dataclass(frozen=True)
class Looks:
    """Where the decoder looked for every token that it wrote, the end token last."""

    read: list[str]
    written: list[str]
    weights: list[list[float]]


@tasks.register("translation")
class Translation(Task):
    """Reads a source with an encoder, then writes the target token by token.

    While it learns, the decoder is told the true tokens so far (teacher forcing) or, with training.own_outputs, more and more of its own.
    """

    def __init__(self, recipe: Recipe, tokens: PairTokens) -> None:
        self.recipe = recipe
        self.tokens = tokens
        self.settings = for_sequences(recipe.model)
        self.stores: dict[str, Store] = {}
        """A sequence is a source and its target, one behind the other; the store's target says where the second begins."""
        self.sources: dict[str, Source] = {}
        self.notes: list[str] = []

    @classmethod
    def complete(cls, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        return with_defaults(recipe, PairRows.of(recipe, train))

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        return cls(recipe, PairTokens.learn(recipe, PairRows.of(recipe, train)))

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, PairTokens.load(folder))

    def save(self, folder: Path) -> None:
        self.tokens.save(folder)

    def attach(self, split: str, source: Source) -> None:
        rows, data = PairRows.of(self.recipe, source), self.recipe.data
        longest = self._longest_learned if split == "train" else 0
        made_from = {
            "task": "translation",
            "encoding": ENCODING,
            "source": rows.fingerprint(),
            "columns": [data.source, data.target, data.language],
            "longest": longest,
            "tokens": digest_of(self.save),
        }
        self.sources[split] = rows
        store = self.stores[split] = cached_store(made_from, lambda folder: self._write(rows, folder, longest=longest))
        if skipped := store.facts["skipped"]:
            self.notes.append(f"{split}: {skipped}")
        if too_long := store.facts["too_long"]:
            self.notes.append(f"{split}: {too_long:,} pairs of more than {longest:,} tokens on a side are left out")
        if not len(store):
            raise DataError("no pair is left.", where=source.name, cure="Give more data, or raise data.max_length.")

    def _write(self, rows: PairRows, folder: Path, *, longest: int) -> None:
        sizes = [len(tokenizer.vocabulary) for tokenizer in (self.tokens.source, self.tokens.target)]
        writer, too_long, data = StoreWriter(folder, dtype=smallest_dtype(max(sizes))), 0, self.recipe.data
        for part in _parts(rows.rows()):
            languages = [language for row in part for language in language_of(row, data.language)]
            sources = self.tokens.read([text_of(row, data.source) for row in part], languages)
            targets = self.tokens.write([text_of(row, data.target) for row in part])
            for row, source, target in zip(part, sources, targets, strict=True):
                if longest and max(len(source), len(target)) > longest:
                    too_long += 1
                    continue
                writer.extend(source)
                writer.append(target, target=len(source), line=row.line)
        writer.finish(skipped=rows.bad_rows.sentence(), too_long=too_long)

    @property
    def _longest_learned(self) -> int:
        return min(self.recipe.data.max_length or LONGEST, self._longest_known)

    @property
    def _longest_known(self) -> int:
        """Tokens of a side that the network's positions know."""
        model = self.settings
        return model.max_positions if isinstance(model, TransformerSettings) and model.positions == "learned" else 1 << 30

    def build_model(self) -> EncoderDecoder:
        source, target = self.tokens.source.vocabulary, self.tokens.target.vocabulary
        return build_encoder_decoder(
            self.settings,
            self.recipe.decoder,
            num_source_tokens=len(source),
            num_target_tokens=len(target),
            source_pad_id=source.pad_id,
            target_pad_id=target.pad_id,
            shared=self.tokens.are_shared,
        )

    def feed(self, position: Position) -> Feed:
        store, training = self.stores["train"], self.recipe.training
        plan: Plan
        if training.batch_tokens:
            sides = np.stack([store.targets.astype(np.int64), store.lengths - store.targets], axis=1)  # (pairs, 2)
            plan = TokenBucketPlan(sides, batch_tokens=training.batch_tokens, seed=training.seed)
        else:
            plan = BucketPlan(store.lengths, batch_size=min(training.batch_size, len(store)), seed=training.seed)
        return Feed(plan, lambda rows, _: self.collate("train", rows), position=position)

    def collate(self, split: str, rows: Indices) -> Batch:
        store = self.stores[split]
        sequences = [(store[row], int(store.targets[row])) for row in rows.tolist()]
        inputs, is_token = pad([steps[:middle] for steps, middle in sequences], value=self.tokens.source.vocabulary.pad_id)
        targets, _ = pad([steps[middle:] for steps, middle in sequences], value=self.tokens.target.vocabulary.pad_id)
        return Batch(inputs, is_token, targets, torch.from_numpy(rows))

    def loss(self, model: nn.Module, batch: Batch, carry: Carry) -> BatchLoss:
        assert isinstance(model, EncoderDecoder)
        given, wanted, is_target = self._shifted(batch)
        training = self.recipe.training
        if training.own_outputs != "none":
            step = int(carry[0]) if carry else 0
            truth = truth_share(step, decay=training.own_outputs, half=training.own_outputs_half, least=training.least_truth)
            given = with_own_outputs(model, batch.inputs, batch.is_token, given, truth=truth, each=training.own_outputs_for)
            carry = (torch.tensor(step + 1),)
        features = model.features(batch.inputs, batch.is_token, given, is_target)
        smoothing = training.label_smoothing if model.training else 0.0
        total, correct = full_softmax(features[is_target], model.output_weight, model.bias, wanted[is_target], smoothing=smoothing)
        return BatchLoss(total, int(is_target.sum()), correct, carry)

    def _shifted(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """What the decoder reads, what it is to write after it, and where it is to write anything."""
        given, wanted = batch.targets[:, :-1], batch.targets[:, 1:]
        lengths = torch.from_numpy(self._target_lengths(batch)).to(given.device)
        return given, wanted, torch.arange(given.shape[1], device=given.device) < lengths[:, None] - 1

    def _target_lengths(self, batch: Batch) -> NDArray[np.int64]:
        pad_id = self.tokens.target.vocabulary.pad_id
        targets = batch.targets.cpu().numpy()
        is_real = targets != pad_id
        is_real[:, 0] = True  # some published models start with the padding token
        found: NDArray[np.int64] = is_real.shape[1] - is_real[:, ::-1].argmax(axis=1)
        return found

    def validate(self, model: nn.Module) -> Validation:
        log_probs, correct = [], 0
        for batch in self.all_batches("valid"):
            found, right = self._told(model, batch)
            log_probs.append(found)
            correct += right
        together = torch.cat(log_probs)
        loss = -float(together.double().mean())
        return Validation(loss, higher_is_better=False, facts={"valid_loss": loss, "valid_accuracy": correct / len(together)})

    def _told(self, model: nn.Module, batch: Batch) -> tuple[torch.Tensor, int]:
        """log P of every true token after the true ones before it, and how many are the likeliest."""
        assert isinstance(model, EncoderDecoder)
        batch = batch.to(next(model.parameters()).device)
        given, wanted, is_target = self._shifted(batch)
        features = model.features(batch.inputs, batch.is_token, given, is_target)[is_target]
        found = log_probs_of_targets(features, model.output_weight, model.bias, wanted[is_target])
        return found, int((model.head(features).argmax(dim=-1) == wanted[is_target]).sum())

    def all_batches(self, split: str) -> Iterable[Batch]:
        plan = LengthOrderPlan(self.stores[split].lengths, batch_size=EVALUATION_BATCH, most_steps=EVALUATION_STEPS)
        return one_pass(plan, lambda rows, _: self.collate(split, rows))

    def describe_rows(self, batch: Batch) -> str:
        lines = sorted(int(self.stores["train"].lines[row]) for row in batch.rows.tolist())
        return f"batch of {len(lines)} pairs, lines {', '.join(map(str, lines[:5]))}{' …' if len(lines) > 5 else ''} of {self.sources['train'].name}"

    @torch.inference_mode()
    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        evaluation = evaluate_pairs(self.recipe, split, self.sources[split], lambda pairs: self.translate_all(model, pairs))
        asked = gathered(self.recipe, self.sources[split])[:MOST_LOOKS]
        looks = [found for one in asked if (found := self.looks(model, one.text, one.language)) and len(found.read) <= LONGEST_LOOKS]
        evaluation.details["looks"] = [asdict(each) for each in looks if len(each.written) <= LONGEST_LOOKS]
        return evaluation

    def translate_all(self, model: nn.Module, pairs: Sequence[tuple[str, str]]) -> list[Translated]:
        """(text, language) -> translations, in order; the language is empty where there is one."""
        texts = [text for text, _ in pairs]
        languages = [language for _, language in pairs] if self.recipe.data.language else []
        found = self.translate(model, texts, languages)
        return [Translated(answers[0].text, len(source)) for answers, source in zip(found, self.tokens.read(texts, languages), strict=True)]

    @torch.inference_mode()
    def translate(self, model: nn.Module, texts: Sequence[str], languages: Sequence[str] = (), *, num_answers: int = 1) -> list[list[Answer]]:
        """For each text its translations, the best first: as many as are wanted, where the search finds so many."""
        assert isinstance(model, EncoderDecoder)
        sources = [torch.from_numpy(ids.astype(np.int64)) for ids in self._read(texts, languages)]
        device, search = next(model.parameters()).device, self._searched(num_answers)
        found = write_in_order(model, sources, self.build_search(search), batch_size=search.batch_size, device=device)
        return [
            [self._answer(model, source, one) for one in answer_of(search, hypotheses)] for source, hypotheses in zip(sources, found, strict=True)
        ]

    def _answer(self, model: EncoderDecoder, source: torch.Tensor, found: Hypothesis) -> Answer:
        """The words of a hypothesis, and the probability of all that was free to choose."""
        free = found.token_log_probs[len(self.tokens.forced) :]
        if self.recipe.search.unknown == "copy":
            text = with_copied_words(model, self.tokens, source, found.tokens)
        else:
            text = self.tokens.words(found.tokens)
        return Answer(text, math.exp(sum(free)), found)

    def _read(self, texts: Sequence[str], languages: Sequence[str]) -> list[NDArray[Any]]:
        encoded = self.tokens.read(texts, languages)
        for text, ids in zip(texts, encoded, strict=True):
            if len(ids) > self._longest_known:
                raise UsageError(
                    f"a text of {len(ids)} tokens, but the model reads {self._longest_known} at once.",
                    where=repr(shown(text)),
                    cure="Give it sentence by sentence.",
                )
        return encoded

    def _searched(self, num_answers: int) -> SearchSettings:
        """The settings of the search, with as many answers as are wanted and can come."""
        search = self.recipe.search
        most = search.samples if search.temperature else search.beam
        return search.model_copy(update={"n_best": max(search.n_best, min(num_answers, most))})

    def build_search(self, settings: SearchSettings) -> Search:
        """The search that settings describe, over the tokens of the target side."""
        symbols = self.tokens.symbols
        if settings.unknown == "copy":
            symbols = symbols.allowing(self.tokens.target.vocabulary.unk_id)
        prefix = [*self.tokens.forced, *(self.tokens.target.encode(settings.prefix).tolist() if settings.prefix else [])]
        size, longest = len(self.tokens.target.vocabulary), self._longest_known - 2
        return build_search(settings, symbols, vocabulary_size=size, prefix=prefix, longest=longest)

    def predict(self, model: nn.Module, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        texts, languages = self._questions(inputs)
        found = self.translate(model, texts, languages, num_answers=top)
        return [
            Prediction(shown(text), answers[0].text, answers[0].probability, [(one.text, one.probability) for one in answers[:top]])
            for text, answers in zip(texts, found, strict=True)
        ]

    def _questions(self, inputs: Sequence[Any]) -> tuple[list[str], list[str]]:
        """Texts; where the model writes several languages, each begins with the name of one: `de: A dog runs.`"""
        if not self.recipe.data.language:
            return [str(text) for text in inputs], []
        parted = [str(text).partition(":") for text in inputs]
        for text, colon, _ in parted:
            if not colon:
                raise UsageError("the text does not say into which language.", where=repr(shown(text)), cure='For example: "de: A dog runs."')
        return [text.strip() for _, _, text in parted], [language.strip() for language, _, _ in parted]

    @torch.inference_mode()
    def sample(self, model: nn.Module) -> str:
        """The first pair of the validation data, and what is made of it."""
        split = "valid" if "valid" in self.sources else "train"
        row, data = next(iter(self.sources[split].rows())), self.recipe.data
        text = text_of(row, data.source)
        return f"{text}\n→ {self.translate(model, [text], language_of(row, data.language))[0][0].text}\n(wanted: {text_of(row, data.target)})"

    @torch.inference_mode()
    def looks(self, model: nn.Module, text: str, language: str = "") -> Looks | None:
        """Where was looked for the best translation of a text; None where the decoder has no attention."""
        assert isinstance(model, EncoderDecoder)
        languages = [language] if language else []
        best = self.translate(model, [text], languages)[0][0].found
        source = torch.from_numpy(self._read([text], languages)[0].astype(np.int64)).unsqueeze(0).to(next(model.parameters()).device)
        written = [*best.tokens, self.tokens.end_id]
        given = torch.tensor([[self.tokens.start_id, *best.tokens]], device=source.device)
        writing = model.start(source, torch.ones_like(source, dtype=torch.bool))
        _, _, alignment = model.align(given, torch.ones_like(given, dtype=torch.bool), writing)
        if alignment is None:
            return None
        read = pieces_of(self.tokens.source, source[0].cpu().numpy())
        return Looks(read, pieces_of(self.tokens.target, np.array(written)), alignment[0].float().cpu().tolist())

    def shown_items(self, split: str, wanted: Collection[int]) -> dict[int, tuple[str, Any]]:
        questions = enumerate(gathered(self.recipe, self.sources[split])) if wanted else ()
        return {number: (question.where, question.text) for number, question in questions if number in wanted}

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return self.tokens.read(*self._questions(inputs))

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokens.source, steps)


def _parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while part := list(islice(rows, ROWS_AT_ONCE)):
        yield part
