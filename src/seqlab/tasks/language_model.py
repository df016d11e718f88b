"""Predict the next token: characters, bytes, words or subwords of any text, code or tunes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor, nn

from seqlab.baselines.ngram import NGram
from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.feed import Feed, Position
from seqlab.batches.plans import Indices, LanePlan, Plan, RandomWindowPlan
from seqlab.batches.store import Store, StoreWriter, smallest_dtype
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import DataError, RecipeError
from seqlab.decoding.continuation import continue_tokens
from seqlab.decoding.settings import DecodingSettings
from seqlab.losses.cross_entropy import token_cross_entropy
from seqlab.metrics.bootstrap import ratio_interval
from seqlab.metrics.likelihood import bits_per_character, bits_per_token, nats_per_token, perplexity
from seqlab.metrics.score import Score
from seqlab.models.base import State, bodies
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings import for_sequences
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.base import ENCODING, Evaluation, Prediction, Task, shown, tasks
from seqlab.tasks.inputs import digest_of, encode_texts, learn_tokenizer, pieces_of
from seqlab.tasks.surprise import log_probs_of
from seqlab.tasks.text_stream import BY_LINE, as_text, has_documents, has_more_than, in_parts, read_texts
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.saving import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS, PAD, UNK
from seqlab.training.base import BatchLoss, Carry, Validation

LARGE_TEXT = 20_000_000
"""Characters from which a text is cut into subwords rather than characters."""
BLOCK = 512
"""Tokens that a bootstrap interval draws together, because neighbours are not independent."""
SAMPLE_TOKENS = 240
VALIDATED, SCORED = 250_000, 1_000_000
"""At most so many tokens of a split are looked at while training, and for the final score: a tenth of a gigabyte would take hours."""


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
            large = has_more_than(train, recipe, LARGE_TEXT)
            kind = "bpe" if large else "characters"
            recipe = recipe.changed("tokens", kind=kind)
            why = f"more than {LARGE_TEXT // 1_000_000} million characters" if large else "a small text"
            reasons.append(f"tokens are {kind} ({why}); another: tokens.kind=NAME")
        if not has_documents(train, recipe):
            recipe = recipe.changed("training", reset_at_documents=False)
        if recipe.model.kind == "recurrent":  # chosen on validation data: docs/recipes/characters.md
            recipe = recipe.with_defaults("model", hidden_size=384, embedding_size=128, dropout=0.1)
            recipe = recipe.with_defaults("training", learning_rate=4e-3, window=64)
        elif recipe.training.detach_every:
            raise RecipeError(
                f"a {recipe.model.kind} model carries no state whose gradient could be cut.",
                where="training.detach_every",
                cure="Leave it 0, or take a recurrent model: --model lstm",
            )
        if not recipe.training.batch_size:
            recipe = recipe.changed("training", batch_size=16)
        return recipe, reasons

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        return cls(recipe, learn_tokenizer(recipe, read_texts(train, recipe), specials=[UNK, PAD, EOS]))

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_tokenizer(folder))

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder)

    def attach(self, split: str, source: Source) -> None:
        made_from = {
            "task": "language_model",
            "encoding": ENCODING,
            "source": source.fingerprint(),
            "column": self.recipe.data.text,
            "tokenizer": digest_of(self.save),
        }
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
        for texts in in_parts(read_texts(source, self.recipe)):
            characters += sum(map(len, texts))
            for ids in self.tokenizer.encode_many(texts):
                writer.extend(ids)
                if has_documents(source, self.recipe):
                    writer.extend(end)
                    characters += 1  # the line end that the end token stands for
        writer.end_sequence()
        writer.finish(characters=characters, skipped=source.bad_rows.sentence())

    def build_model(self) -> LanguageModel:
        settings = for_sequences(self.recipe.model)
        body = bodies.get(settings.kind).build(settings, causal=True)
        tied = settings.tied and body.input_size == body.output_size
        embed = TokenEmbedding(len(self.tokenizer.vocabulary), body.input_size, pad_id=None, std=body.input_size**-0.5 if tied else 1.0)
        return LanguageModel(embed, body, dropout=settings.dropout, tied=tied, start_id=self.end_id if self.starts_documents_anew else None)

    @property
    def carries_state(self) -> bool:
        return self.recipe.training.carry_state and bodies.get(self.recipe.model.kind).carries_state

    @property
    def starts_documents_anew(self) -> bool:
        """Whether every document is read from the initial state on. The end token of one is the first that the next one reads."""
        return self.recipe.training.reset_at_documents and bodies.get(self.recipe.model.kind).carries_state

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
        own, theirs = self._split_carry(carry if batch.continues else ())
        logits, state = self._read(model, batch, own or None)
        total = token_cross_entropy(logits, batch.targets, batch.is_token, smoothing=self.recipe.training.label_smoothing)
        correct = int((logits.detach().argmax(dim=-1) == batch.targets).sum())
        kept = tuple(part.detach() for part in state) if self.carries_state else ()
        if self.teacher is not None:
            taught, theirs = self.teacher.tokens(batch.inputs, batch.is_token, theirs)
            total = self.teacher.mixed(total, logits, taught)
            kept = (*kept, *theirs) if self.carries_state else ()
        return BatchLoss(total=total, count=batch.targets.numel(), correct=correct, carry=kept)

    def _split_carry(self, carry: Carry) -> tuple[Carry, Carry]:
        """What the student carries from window to window, and what its teacher does."""
        theirs = self.teacher.num_parts if self.teacher is not None and carry else 0
        return carry[: len(carry) - theirs], carry[len(carry) - theirs :]

    def _read(self, model: nn.Module, batch: Batch, state: State | None) -> tuple[Float[Tensor, "batch time vocab"], State]:
        """The logits of a window. Where gradients are to flow over a few steps only, it is read in pieces with the state cut off between."""
        every = self.recipe.training.detach_every or batch.inputs.shape[1]
        logits = []
        for inputs, is_token in zip(batch.inputs.split(every, dim=1), batch.is_token.split(every, dim=1), strict=True):
            piece, state = model(inputs, is_token, None if state is None else tuple(part.detach() for part in state))
            logits.append(piece)
        assert state is not None
        return (torch.cat(logits, dim=1) if len(logits) > 1 else logits[0]), state  # (batch, time, vocab)

    def validate(self, model: nn.Module) -> Validation:
        loss = -float(self.surprise(model, "valid", at_most=VALIDATED).mean(dtype=np.float64))
        sample = self.write(model, "", self.recipe.decoding.model_copy(update={"max_tokens": SAMPLE_TOKENS}))
        return Validation(loss, higher_is_better=False, facts={"valid_loss": loss, "sample": "".join(sample)})

    def surprise(self, model: nn.Module, split: str, *, at_most: int) -> NDArray[np.float32]:
        """The natural-log probability of the tokens at the beginning of a split."""
        return log_probs_of(model, self.stores[split], window=self.recipe.training.window, carries_state=self.carries_state, at_most=at_most)

    def describe_rows(self, batch: Batch) -> str:
        return f"windows at tokens {', '.join(map(str, batch.rows[:5].tolist()))} … of {self.sources['train'].name}"

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        log_probs = self.surprise(model, split, at_most=SCORED)
        store, count, total_nats = self.stores[split], len(log_probs), -float(log_probs.sum(dtype=np.float64))
        characters = round(store.facts["characters"] * (count + 1) / store.num_steps)
        starts = np.arange(0, count, BLOCK)
        nats = -np.add.reduceat(log_probs.astype(np.float64), starts)
        sizes = np.diff(np.append(starts, count)).astype(np.float64)
        interval = ratio_interval(nats, sizes)
        baseline_name, baseline = self._baseline(split)
        part = "" if count + 1 == store.num_steps else f" at the beginning of {store.num_steps:,}"
        how = f"{count:,} tokens{part}, {characters:,} characters; 95 % bootstrap interval over blocks of {BLOCK} tokens"

        def score(name: str, convert: Any, explanation: str) -> Score:
            beside = None if baseline is None else convert(baseline * count)
            return Score(
                name, convert(total_nats), convert(interval.low * count), convert(interval.high * count),
                baseline=beside, baseline_name=baseline_name, higher_is_better=False, how=f"{explanation}; {how}",
            )  # fmt: skip

        scores = [
            score("nats_per_token", lambda total: nats_per_token(total, count), "mean -log P(next token)"),
            score("bits_per_token", lambda total: bits_per_token(total, count), "nats / log 2"),
            score("bits_per_character", lambda total: bits_per_character(total, characters), "total bits / characters"),
            score("perplexity", lambda total: perplexity(total, count), "exp(nats per token)"),
        ]
        return Evaluation(split, scores, {"tokens": count, "characters": characters})

    def _baseline(self, split: str) -> tuple[str, float | None]:
        """Nats per token of an n-gram model learned from the training split."""
        if "train" not in self.stores:
            return "", None
        ngram = NGram.fit(self.stores["train"].values, len(self.tokenizer.vocabulary))
        log_probs = ngram.log_probs(self.stores[split].values[:SCORED])[1:]
        return f"{ngram.order}-gram", -float(log_probs.mean())

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return encode_texts(self.tokenizer, inputs, self.recipe.model)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokenizer, steps)

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
        stop_ids = [] if self.recipe.tokens.kind in BY_LINE else [self.end_id]
        tokens = continue_tokens(model, self._prompt(prompt), settings, stop_ids=stop_ids, never_ids=self.never_ids, context=context, device=device)
        yield from as_text(self.tokenizer, tokens, end_id=self.end_id)

    def _prompt(self, text: str) -> list[int]:
        """The prompt's ids; without one, the end of the text before."""
        ids: list[int] = self.tokenizer.encode(text).tolist()
        if self.starts_documents_anew:
            return [self.end_id, *ids]
        return ids or self._beginning()

    def _beginning(self) -> list[int]:
        newline: list[int] = self.tokenizer.encode("\n").tolist()
        return newline if newline and newline[0] not in self.never_ids else [self.end_id]

    def _context(self) -> int:
        return self.recipe.decoding.context or self.recipe.training.window

    def _piece(self, token: int) -> str:
        return self.tokenizer.decode([token]) or self.tokenizer.vocabulary.pieces[token]
