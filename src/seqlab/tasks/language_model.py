"""Predict the next token: characters, bytes, words or subwords of any text, code or tunes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.baselines.ngram import NGram
from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.feed import Feed, Position
from seqlab.batches.plans import Indices, LanePlan, Plan, RandomWindowPlan
from seqlab.batches.store import Store, StoreWriter, smallest_dtype
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import DataError
from seqlab.decoding.continuation import continue_tokens
from seqlab.decoding.settings import DecodingSettings
from seqlab.losses.cross_entropy import token_cross_entropy
from seqlab.metrics.bootstrap import ratio_interval
from seqlab.metrics.likelihood import bits_per_character, bits_per_token, nats_per_token, perplexity
from seqlab.metrics.score import Score
from seqlab.models.base import bodies
from seqlab.models.language_model import LanguageModel
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, TextSource
from seqlab.sources.columns import text_of
from seqlab.tasks.base import Evaluation, Prediction, Task, shown, tasks
from seqlab.tasks.inputs import digest_of
from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.saving import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS, PAD, UNK
from seqlab.training.base import BatchLoss, Carry, Validation

CHUNK = 1 << 20
LARGE_TEXT = 20_000_000
"""Characters from which a text is cut into subwords rather than characters."""
BLOCK = 512
"""Tokens that a bootstrap interval draws together, because neighbours are not independent."""
LANES = 16
"""Parts of a stream that are scored side by side."""
SAMPLE_TOKENS = 240
VALIDATED, SCORED = 250_000, 1_000_000
"""At most so many tokens of a split are looked at while training, and for the final score: a tenth of a gigabyte would take hours."""


@dataclass(frozen=True)
class Surprise:
    """The natural-log probability of every scored token of a stream, in its order."""

    log_probs: NDArray[np.float32]

    @property
    def nats(self) -> float:
        return -float(self.log_probs.sum(dtype=np.float64))


@tasks.register("language_model")
class LanguageModelling(Task):
    """Reads a stream of text, learns to foresee it, scores it, continues it."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self.recipe = recipe
        self.tokenizer = tokenizer
        self.stores: dict[str, Store] = {}
        self.sources: dict[str, Source] = {}
        self.notes: list[str] = []
        vocabulary = tokenizer.vocabulary
        self.end_id = vocabulary.ids[EOS]
        self.never_ids = [vocabulary.ids[name] for name in (UNK, PAD) if name in vocabulary.ids]

    @classmethod
    def complete(cls, recipe: Recipe, train: Source) -> tuple[Recipe, list[str]]:
        reasons = []
        if not recipe.tokens.kind:
            large = _has_more_than(train, recipe, LARGE_TEXT)
            kind = "bpe" if large else "characters"
            recipe = recipe.changed("tokens", kind=kind)
            why = f"more than {LARGE_TEXT // 1_000_000} million characters" if large else "a small text"
            reasons.append(f"tokens are {kind} ({why}); another: tokens.kind=NAME")
        if not recipe.training.batch_size:
            recipe = recipe.changed("training", batch_size=32)
        return recipe, reasons

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        tokenizer = tokenizers.get(recipe.tokens.kind).fit(_texts(train, recipe), recipe.tokens, specials=[UNK, PAD, EOS])
        return cls(recipe, tokenizer)

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_tokenizer(folder))

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder)

    def attach(self, split: str, source: Source) -> None:
        made_from = {"task": "language_model", "source": source.fingerprint(), "column": self.recipe.data.text, "tokenizer": digest_of(self.save)}
        self.sources[split] = source
        self.stores[split] = cached_store(made_from, lambda folder: self._write(source, folder))
        if skipped := self.stores[split].facts["skipped"]:
            self.notes.append(f"{split}: {skipped}")
        needed = self.recipe.training.window + 1 if split == "train" else 2
        if self.stores[split].num_steps < needed:
            raise DataError(
                f"only {self.stores[split].num_steps} tokens, a window needs {needed}.",
                where=source.name,
                cure="Give more text, or lower training.window.",
            )

    def _write(self, source: Source, folder: Path) -> None:
        """One stream: the text as it stands, or the documents of a table with an end token after each."""
        writer = StoreWriter(folder, dtype=smallest_dtype(len(self.tokenizer.vocabulary)))
        end = np.array([self.end_id], np.int32)
        characters = 0
        for texts in _in_parts(_texts(source, self.recipe)):
            characters += sum(map(len, texts))
            for ids in self.tokenizer.encode_many(texts):
                writer.extend(ids)
                if self._has_documents(source):
                    writer.extend(end)
                    characters += 1  # the line end that the end token stands for
        writer.end_sequence()
        writer.finish(characters=characters, skipped=source.bad_rows.sentence())

    def _has_documents(self, source: Source) -> bool:
        return not isinstance(source, TextSource) or self.recipe.tokens.kind in ("words", "whitespace")

    def build_model(self) -> LanguageModel:
        settings = self.recipe.model
        body = bodies.get(settings.kind).build(settings, causal=True)
        tied = settings.tied and body.input_size == body.output_size
        embed = TokenEmbedding(len(self.tokenizer.vocabulary), body.input_size, pad_id=None, std=body.input_size**-0.5 if tied else 1.0)
        return LanguageModel(embed, body, dropout=settings.dropout, tied=tied)

    @property
    def carries_state(self) -> bool:
        return bodies.get(self.recipe.model.kind).carries_state

    def feed(self, position: Position) -> Feed:
        training, num_steps = self.recipe.training, self.stores["train"].num_steps
        window = min(training.window, num_steps - 1)
        size = max(1, min(training.batch_size, (num_steps - 1) // window))
        kind: type[LanePlan] | type[RandomWindowPlan] = LanePlan if self.carries_state else RandomWindowPlan
        plan: Plan = kind(num_steps, batch_size=size, window=window, seed=training.seed)
        return Feed(plan, lambda starts, is_first: self._collate(starts, window, continues=self.carries_state and not is_first), position=position)

    def _collate(self, starts: Indices, window: int, *, continues: bool) -> Batch:
        store = self.stores["train"]
        tokens = torch.from_numpy(np.stack([store.window(start, start + window + 1) for start in starts.tolist()]).astype(np.int64))
        inputs = tokens[:, :-1]  # (batch, time); the targets are the same tokens one step later
        return Batch(inputs, torch.ones_like(inputs, dtype=torch.bool), tokens[:, 1:], torch.from_numpy(starts), continues=continues)

    def loss(self, model: nn.Module, batch: Batch, carry: Carry) -> BatchLoss:
        logits, state = model(batch.inputs, batch.is_token, carry if batch.continues and carry else None)  # (batch, time, vocab)
        total = token_cross_entropy(logits, batch.targets, batch.is_token, smoothing=self.recipe.training.label_smoothing)
        correct = int((logits.detach().argmax(dim=-1) == batch.targets).sum())
        kept = tuple(part.detach() for part in state) if self.carries_state else ()
        return BatchLoss(total=total, count=batch.targets.numel(), correct=correct, carry=kept)

    def validate(self, model: nn.Module) -> Validation:
        surprise = self.surprise(model, "valid", at_most=VALIDATED)
        loss = surprise.nats / len(surprise.log_probs)
        sample = self.write(model, "", self.recipe.decoding.model_copy(update={"max_tokens": SAMPLE_TOKENS}))
        return Validation(loss, higher_is_better=False, facts={"valid_loss": loss, "sample": "".join(sample)})

    @torch.inference_mode()
    def surprise(self, model: nn.Module, split: str, *, at_most: int) -> Surprise:
        """Score every token but the first at the beginning of a split.

        A model with a state reads on from window to window. One without sees each token after at least half a window.
        """
        store, window = self.stores[split], self.recipe.training.window
        num_scored = min(store.num_steps, at_most) - 1
        log_probs = np.empty(num_scored, np.float32)
        lanes = _cut(num_scored, LANES if num_scored > LANES * window else 1)
        stride = window if self.carries_state else max(1, window // 2)
        carry: Carry | None = None
        for place in range(0, max(stop - start for start, stop in lanes), stride):
            seen = 0 if self.carries_state else min(place, window - stride)
            starts = [min(start + place, stop) for start, stop in lanes]
            ends = [min(start + stride, stop) for start, (_, stop) in zip(starts, lanes, strict=True)]
            length = seen + max(end - start for start, end in zip(starts, ends, strict=True))
            rows = [_padded(store.window(start - seen, end + 1), length + 1) for start, end in zip(starts, ends, strict=True)]
            scored, carry = _score(model, np.stack(rows), carry if self.carries_state else None)
            for row, (start, end) in enumerate(zip(starts, ends, strict=True)):
                log_probs[start:end] = scored[row, seen : seen + end - start]
        return Surprise(log_probs)

    def describe_rows(self, batch: Batch) -> str:
        return f"windows at tokens {', '.join(map(str, batch.rows[:5].tolist()))} … of {self.sources['train'].name}"

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        surprise = self.surprise(model, split, at_most=SCORED)
        store, count = self.stores[split], len(surprise.log_probs)
        characters = round(store.facts["characters"] * (count + 1) / store.num_steps)
        starts = np.arange(0, count, BLOCK)
        nats = -np.add.reduceat(surprise.log_probs.astype(np.float64), starts)
        sizes = np.diff(np.append(starts, count)).astype(np.float64)
        interval = ratio_interval(nats, sizes)
        baseline_name, baseline = self._baseline(split)
        per_character = count / characters
        part = "" if count + 1 == store.num_steps else f" at the beginning of {store.num_steps:,}"
        how = f"{count:,} tokens{part}, {characters:,} characters; 95 % bootstrap interval over blocks of {BLOCK} tokens"

        def score(name: str, convert: Any, explanation: str) -> Score:
            beside = None if baseline is None else convert(baseline * count)
            return Score(
                name, convert(surprise.nats), convert(interval.low * count), convert(interval.high * count),
                baseline=beside, baseline_name=baseline_name, higher_is_better=False, how=f"{explanation}; {how}",
            )  # fmt: skip

        scores = [
            score("nats_per_token", lambda total: nats_per_token(total, count), "mean -log P(next token)"),
            score("bits_per_token", lambda total: bits_per_token(total, count), "nats / log 2"),
            score("bits_per_character", lambda total: bits_per_character(total, characters), "total bits / characters"),
            score("perplexity", lambda total: perplexity(total, count), "exp(nats per token)"),
        ]
        return Evaluation(split, scores, {"tokens": count, "characters": characters, "tokens_per_character": per_character})

    def _baseline(self, split: str) -> tuple[str, float | None]:
        """Nats per token of an n-gram model learned from the training split."""
        if "train" not in self.stores:
            return "", None
        ngram = NGram.fit(self.stores["train"].values, len(self.tokenizer.vocabulary))
        log_probs = ngram.log_probs(self.stores[split].values[:SCORED])[1:]
        return f"{ngram.order}-gram", -float(log_probs.mean())

    def predict(self, model: nn.Module, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """For each prefix the candidates for the next token with their probabilities, highest first."""
        return [self._predict(model, str(text), top) for text in inputs]

    @torch.inference_mode()
    def _predict(self, model: nn.Module, text: str, top: int) -> Prediction:
        tokens = torch.tensor([self._prompt(text)[-self._context() :]], device=next(model.parameters()).device)
        logits, _ = model(tokens, torch.ones_like(tokens, dtype=torch.bool))
        best = logits[0, -1].float().softmax(dim=-1).cpu().topk(min(top, logits.shape[-1]))
        ranking = [(self._piece(token), share) for token, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)]
        return Prediction(shown(text), ranking[0][0], ranking[0][1], ranking)

    def write(self, model: nn.Module, prompt: str, settings: DecodingSettings) -> Iterator[str]:
        """Continue a prompt, piece by piece of text as it is written."""
        model.eval()
        device = next(model.parameters()).device
        context = None if self.carries_state else self._context()
        stop_ids = [self.end_id] if self.recipe.tokens.kind not in ("words", "whitespace") else []
        tokens = continue_tokens(model, self._prompt(prompt), settings, stop_ids=stop_ids, never_ids=self.never_ids, context=context, device=device)
        yield from _as_text(self.tokenizer, tokens, end_id=self.end_id)

    def _prompt(self, text: str) -> list[int]:
        """The prompt's ids; without one, the end of the text before."""
        ids: list[int] = self.tokenizer.encode(text).tolist()
        return ids or self._beginning()

    def _beginning(self) -> list[int]:
        newline: list[int] = self.tokenizer.encode("\n").tolist()
        return newline if newline and newline[0] not in self.never_ids else [self.end_id]

    def _context(self) -> int:
        return self.recipe.training.window

    def _piece(self, token: int) -> str:
        return self.tokenizer.decode([token]) or self.tokenizer.vocabulary.pieces[token]


def _texts(source: Source, recipe: Recipe) -> Iterator[str]:
    """Pieces of the text for streams, rows for tables and for word models, whose end token marks line ends."""
    if isinstance(source, TextSource) and recipe.tokens.kind not in ("words", "whitespace"):
        yield from source.chunks(CHUNK)
    else:
        column = recipe.data.text or "text"
        yield from (text_of(row, column) for row in source.rows())


def _in_parts(texts: Iterator[str]) -> Iterator[list[str]]:
    """Texts in lists of about a chunk, so that encoders can work side by side and memory stays small."""
    part: list[str] = []
    size = 0
    for text in texts:
        part.append(text)
        size += len(text)
        if size >= CHUNK or len(part) >= 10_000:
            yield part
            part, size = [], 0
    if part:
        yield part


def _has_more_than(source: Source, recipe: Recipe, characters: int) -> bool:
    total = 0
    for text in _texts(source, recipe):
        total += len(text)
        if total > characters:
            return True
    return False


def _cut(length: int, parts: int) -> list[tuple[int, int]]:
    """A range cut into nearly equal parts."""
    edges = [length * part // parts for part in range(parts + 1)]
    return list(pairwise(edges))


def _padded(tokens: NDArray[Any], length: int) -> NDArray[np.int64]:
    """Filled up at the end: a causal model's scores before the filling do not change."""
    return np.pad(tokens.astype(np.int64), (0, length - len(tokens)))


def _score(model: nn.Module, tokens: NDArray[np.int64], carry: Carry | None) -> tuple[NDArray[np.float32], Carry]:
    """Log-probability of each token but the first of every row."""
    rows = torch.from_numpy(tokens).to(next(model.parameters()).device)
    logits, state = model(rows[:, :-1], torch.ones_like(rows[:, :-1], dtype=torch.bool), carry)
    picked = logits.float().log_softmax(dim=-1).gather(-1, rows[:, 1:, None]).squeeze(-1)  # (batch, time)
    return picked.cpu().numpy(), state


def _as_text(tokenizer: Tokenizer, tokens: Iterator[int], *, end_id: int) -> Iterator[str]:
    """Text as soon as it is certain: bytes of one character wait for each other, words bring the blank before them."""
    ids: list[int] = []
    written = ""
    for token in tokens:
        if token == end_id:
            yield "\n"
            ids, written = [], ""
            continue
        ids.append(token)
        text = tokenizer.decode(ids)
        if text.startswith(written) and not text.endswith("\ufffd"):
            yield text[len(written) :]
            written = text
        if len(ids) > 64 and written == text:
            ids, written = ids[-8:], tokenizer.decode(ids[-8:])
    rest = tokenizer.decode(ids)
    if rest.startswith(written):
        yield rest[len(written) :]
