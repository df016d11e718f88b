"""Predict the next token: characters, bytes, words or subwords of any text, code or tunes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.baselines.simple_language_models import simple_language_models
from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.columns import StepColumn, smallest_dtype
from seqlab.batches.loader import Cursor, Loader
from seqlab.batches.samplers import BPTTSampler, Indices, RandomWindowSampler, Sampler
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter
from seqlab.batches.stored_column import StoredColumn
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import DataError
from seqlab.decoding.continuation import generate_tokens
from seqlab.decoding.settings import DecodingSettings
from seqlab.losses.sampled_softmax import SampledSoftmax, inclusion_probabilities
from seqlab.losses.token_loss import TokenLoss
from seqlab.metrics.bootstrap import score_with_interval
from seqlab.metrics.likelihood import bits_per_character, bits_per_token, nats_per_token, perplexity
from seqlab.metrics.score import Score
from seqlab.metrics.slices import ScoreSlices
from seqlab.metrics.text_likelihood import Surprisal, TextScore
from seqlab.metrics.token_stream import TokenStream
from seqlab.models.base import backbones
from seqlab.models.language_model import LanguageModel
from seqlab.models.settings import require_sequence_settings
from seqlab.pages.sections.facts import Facts
from seqlab.pages.sections.language_models import LanguageModelLine, LanguageModels
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.tasks.base import ENCODING, Evaluation, Prediction, Task, shown
from seqlab.tasks.inputs import digest_of, encode_texts, learn_tokenizer, pieces_of
from seqlab.tasks.language_model.defaults import LARGE_VOCABULARY, needs_all_logits
from seqlab.tasks.language_model.log_likelihood import log_probs_of, tokens_before
from seqlab.tasks.language_model.settings import LanguageModelSettings
from seqlab.tasks.language_model.text_scores import log_probs_of_texts
from seqlab.tasks.sections import sliced_scores
from seqlab.tasks.text.stream import BY_LINE, as_text, has_documents, in_parts, read_texts
from seqlab.tasks.text.stream_scores import counts_of, slices_by_context, slices_by_frequency, stream_of
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS, PAD, UNK
from seqlab.training.base import BatchLoss, Carry, Validation

SAMPLE_TOKENS = 240
VALIDATED, SCORED = 250_000, 1_000_000
"""At most so many tokens of a split are looked at while training, and for the final score: a tenth of a
gigabyte would take hours.
"""
VALIDATED_LOGITS = 2_000_000_000
"""Of a large vocabulary fewer tokens are looked at while training: the output layer gives at most so many
numbers, in about half a minute.
"""


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
        needed = self.recipe.section(LanguageModelSettings).window + 1 if split == "train" else 2
        if (num_tokens := self.tokens(split).num_steps) < needed:
            raise DataError(
                f"only {num_tokens} tokens, a window needs {needed}.",
                where=source.name,
                cure="Give more text, or lower language_model.window.",
            )

    def tokens(self, split: str) -> StoredColumn:
        """The stream of a split."""
        return self.stores[split]["tokens"]

    def _write(self, source: Source, folder: Path) -> None:
        """One stream: the text as it stands, or the documents of a table with an end token after each."""
        writer = StoreWriter(folder, [StepColumn("tokens", smallest_dtype(len(self.tokenizer.vocabulary)))])
        end = np.array([self.end_id], np.int32)
        characters = 0
        for texts in in_parts(read_texts(source, self.recipe)):
            characters += sum(map(len, texts))
            for ids in self.tokenizer.encode_many(texts):
                writer.extend(tokens=ids)
                if has_documents(source, self.recipe):
                    writer.extend(tokens=end)
                    characters += 1  # the line end that the end token stands for
        writer.end_sequence()
        writer.finish(characters=characters)

    def build_model(self) -> LanguageModel:
        settings = require_sequence_settings(self.recipe.model)
        backbone = backbones.get(settings.kind).from_settings(settings, causal=True)
        tied = settings.tied and backbone.input_size == backbone.output_size
        embed = TokenEmbedding(
            len(self.tokenizer.vocabulary),
            backbone.input_size,
            pad_id=None,
            std=backbone.input_size**-0.5 if tied else 1.0,
        )
        model = LanguageModel(
            embed,
            backbone,
            dropout=settings.dropout,
            tied=tied,
            start_id=self.end_id if self.starts_documents_anew else None,
        )
        if len(self.tokenizer.vocabulary) > LARGE_VOCABULARY and "train" in self.stores:
            model.init_bias_from_counts(torch.from_numpy(self._counts))
        return model

    @property
    def carries_state(self) -> bool:
        return (
            self.recipe.section(LanguageModelSettings).stateful
            and backbones.get(self.recipe.model.kind).is_stateful
        )

    @property
    def starts_documents_anew(self) -> bool:
        """Whether every document is read from the initial state on.

        The end token of one is the first that the next one reads.
        """
        return (
            self.recipe.section(LanguageModelSettings).reset_at_documents
            and backbones.get(self.recipe.model.kind).is_stateful
        )

    def loader(self, cursor: Cursor) -> Loader:
        training, num_steps = self.recipe.training, self.tokens("train").num_steps
        window = min(self.recipe.section(LanguageModelSettings).window, num_steps - 1)
        size = max(1, min(training.batch_size, (num_steps - 1) // window))
        kind: type[BPTTSampler] | type[RandomWindowSampler] = (
            BPTTSampler if self.carries_state else RandomWindowSampler
        )
        sampler: Sampler = kind(num_steps, batch_size=size, window=window, seed=training.seed)
        return Loader(
            sampler,
            lambda starts, is_first: self._collate(
                starts, window, continues=self.carries_state and not is_first
            ),
            cursor=cursor,
        )

    def _collate(self, starts: Indices, window: int, *, continues: bool) -> Batch:
        stream = self.tokens("train")
        tokens = torch.from_numpy(
            np.stack([stream.window(start, start + window + 1) for start in starts.tolist()]).astype(np.int64)
        )
        inputs = tokens[:, :-1]  # (batch, time); the targets are the same tokens one step later
        targets = {"next_tokens": tokens[:, 1:]}
        return Batch(
            inputs,
            torch.ones_like(inputs, dtype=torch.bool),
            targets,
            torch.from_numpy(starts),
            continues=continues,
        )

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        training = self.recipe.training
        own, theirs = self._split_carry(carry if batch.continues else ())
        soft_targets = None
        if self.teacher is not None:
            taught, theirs = self.teacher.tokens(batch.inputs, batch.is_token, theirs)  # (batch, time, vocab)
            soft_targets = self.teacher.soft_targets(taught)
        loss = TokenLoss(
            batch["next_tokens"],
            label_smoothing=training.label_smoothing,
            sampled_softmax=self.sampled_softmax,
            soft_targets=soft_targets,
        )
        value, state = model(
            batch.inputs,
            batch.is_token,
            own or None,
            loss=loss,
            detach_every=self.recipe.section(LanguageModelSettings).bptt_steps,
        )
        kept = (*(part.detach() for part in state), *theirs) if self.carries_state else ()
        return BatchLoss(
            total=value.total, count=batch["next_tokens"].numel(), correct=int(value.correct), carry=kept
        )

    def _split_carry(self, carry: Carry) -> tuple[Carry, Carry]:
        """What the student carries from window to window, and what its teacher does."""
        theirs = self.teacher.num_parts if self.teacher is not None and carry else 0
        return carry[: len(carry) - theirs], carry[len(carry) - theirs :]

    @cached_property
    def sampled_softmax(self) -> SampledSoftmax | None:
        """Of a large vocabulary only a part is looked at in each update; None looks at all of it."""
        settings, size = self.recipe.section(LanguageModelSettings), len(self.tokenizer.vocabulary)
        if settings.softmax == "full" or (
            settings.softmax == "auto" and (size <= LARGE_VOCABULARY or needs_all_logits(self.recipe))
        ):
            return None
        return SampledSoftmax(
            inclusion_probabilities(torch.from_numpy(self._counts), settings.softmax_samples)
        )

    @cached_property
    def _counts(self) -> NDArray[np.float32]:
        """How often each token stands in the training stream."""
        return counts_of(self.tokens("train"), len(self.tokenizer.vocabulary)).astype(np.float32)

    def validate(self, model: nn.Module) -> Validation:
        at_most = min(VALIDATED, VALIDATED_LOGITS // len(self.tokenizer.vocabulary))
        loss = -float(self.surprise(model, "valid", at_most=at_most).mean(dtype=np.float64))
        return Validation(
            loss, higher_is_better=False, facts={"valid_loss": loss, "sample": self.sample(model)}
        )

    def sample(self, model: nn.Module) -> str:
        return "".join(
            self.write(model, "", self.recipe.decoding.model_copy(update={"max_tokens": SAMPLE_TOKENS}))
        )

    def surprise(self, model: nn.Module, split: str, *, at_most: int) -> NDArray[np.float32]:
        """The natural-log probability of the tokens at the beginning of a split."""
        assert isinstance(model, LanguageModel)
        return log_probs_of(
            model,
            self.tokens(split),
            window=self.recipe.section(LanguageModelSettings).window,
            carries_state=self.carries_state,
            at_most=at_most,
        )

    def describe_rows(self, batch: Batch) -> str:
        return (
            f"windows at tokens {', '.join(map(str, batch.rows[:5].tolist()))} … of"
            f" {self.sources['train'].name}"
        )

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        log_probs = self.surprise(model, split, at_most=SCORED)
        tokens, count, total_nats = (
            self.tokens(split),
            len(log_probs),
            -float(log_probs.sum(dtype=np.float64)),
        )
        characters = round(
            self.stores[split].facts["characters"] * count / tokens.num_steps
        )  # the first token is read, not foreseen
        targets = tokens.window(1, count + 1)
        stream = stream_of(self.tokenizer, targets, log_probs, characters=characters)
        items = stream.items()
        simpler = self._simpler(split)
        baseline_name, baseline = min(simpler.items(), key=lambda entry: entry[1], default=("", None))
        part = "" if count + 1 == tokens.num_steps else f" at the beginning of {tokens.num_steps:,}"
        how = (
            f"{count:,} tokens{part}, {characters:,} characters; 95 % bootstrap interval over blocks of"
            f" {stream.block_size} tokens"
        )
        if others := [f"{name} {mean:.4f}" for name, mean in simpler.items() if name != baseline_name]:
            how += f"; nats per token of simpler models: {', '.join(others)}"

        def score(name: str, convert: Any, explanation: str) -> Score:
            naive = None if baseline is None else convert(baseline * count)
            return score_with_interval(
                name,
                items[name],
                baseline=naive,
                baseline_name=baseline_name,
                higher_is_better=False,
                method=f"{explanation}; {how}",
            )

        scores = [
            score("nats_per_token", lambda total: nats_per_token(total, count), "mean -log P(next token)"),
            score("bits_per_token", lambda total: bits_per_token(total, count), "nats / log 2"),
            score(
                "bits_per_character",
                lambda total: bits_per_character(total, characters),
                "total bits / characters",
            ),
            score("perplexity", lambda total: perplexity(total, count), "exp(nats per token)"),
        ]
        beside = {**simpler, "this network": total_nats / count}
        lines = [LanguageModelLine(name, mean, perplexity(mean, 1)) for name, mean in beside.items()]
        cuts = self._slices(stream, split, targets) if "train" in self.stores else []
        sections = [
            Facts({"tokens": count, "characters": characters}),
            LanguageModels(lines),
            sliced_scores(cuts, scores),
        ]
        return Evaluation(split, scores, sections, items, stream=stream)

    def _slices(self, stream: TokenStream, split: str, targets: NDArray[Any]) -> list[ScoreSlices]:
        times = counts_of(self.tokens("train"), len(self.tokenizer.vocabulary))[targets]
        window = self.recipe.section(LanguageModelSettings).window
        read = self.tokens(split).window(0, len(targets))
        start_id = self.end_id if self.starts_documents_anew else None
        before = tokens_before(read, window=window, carries_state=self.carries_state, start_id=start_id)
        return slices_by_frequency(stream, times) + slices_by_context(stream, before, window=window)

    def _simpler(self, split: str) -> dict[str, float]:
        """Nats per token of simpler models, learned from the training split."""
        if "train" not in self.stores:
            return {}
        models = simple_language_models(self.tokens("train").values, len(self.tokenizer.vocabulary))
        tokens = self.tokens(split).values[:SCORED]
        return {name: -float(model.log_probs(tokens)[1:].mean()) for name, model in models.items()}

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return encode_texts(self.tokenizer, inputs, self.recipe.model)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokenizer, steps)

    def predict(self, model: nn.Module, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """For each prefix the candidates for the next token with their probabilities, highest first."""
        return [self._predict(model, str(text), top) for text in inputs]

    @torch.inference_mode()
    def _predict(self, model: nn.Module, text: str, top: int) -> Prediction:
        prompt = self._prompt(text)
        tokens = torch.tensor(
            [prompt if self.carries_state else prompt[-self._context() :]],
            device=next(model.parameters()).device,
        )
        logits, _ = model(tokens, torch.ones_like(tokens, dtype=torch.bool))
        best = logits[0, -1].float().softmax(dim=-1).cpu().topk(min(top, logits.shape[-1]))
        ranking = [
            (self._piece(token), share)
            for token, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        ]
        return Prediction(shown(text), ranking[0][0], ranking[0][1], ranking)

    def score(self, model: nn.Module, texts: Sequence[str]) -> list[TextScore]:
        """How probable each token of each text is after those before it.

        A text begins like a line, or like a document that also has to end.
        """
        first, last = ([self.end_id], [self.end_id]) if self.knows_documents else (self._beginning(), [])
        ids = [encoded.tolist() + last for encoded in self.tokenizer.encode_many(texts)]
        found = log_probs_of_texts(
            model,
            [first + tokens for tokens in ids],
            window=self.recipe.section(LanguageModelSettings).window,
            carries_state=self.carries_state,
            vocabulary_size=len(self.tokenizer.vocabulary),
        )
        unknown = self.tokenizer.vocabulary.ids.get(UNK)
        return [
            TextScore(
                text,
                [
                    Surprisal(self._piece(token), log_prob)
                    for token, log_prob in zip(tokens, log_probs.tolist(), strict=True)
                ],
                num_characters=len(text) + len(last),
                num_unknown=tokens.count(unknown),
            )
            for text, tokens, log_probs in zip(texts, ids, found, strict=True)
        ]

    @property
    def knows_documents(self) -> bool:
        """Whether the training data were documents (rows, or lines of words), each with an end token after
        it.
        """
        return self.recipe.tokens.kind in BY_LINE or (
            bool(self.recipe.data.train) and self.recipe.section(LanguageModelSettings).reset_at_documents
        )

    def write(self, model: nn.Module, prompt: str, settings: DecodingSettings) -> Iterator[str]:
        """Continue a prompt, piece by piece of text as it is written."""
        model.eval()
        device = next(model.parameters()).device
        context = None if self.carries_state else self._context()
        stop_ids = [] if self.recipe.tokens.kind in BY_LINE else [self.end_id]
        tokens = generate_tokens(
            model,
            self._prompt(prompt),
            settings,
            stop_ids=stop_ids,
            suppressed_ids=self.never_ids,
            context=context,
            device=device,
        )
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
        return self.recipe.decoding.context or self.recipe.section(LanguageModelSettings).window

    def _piece(self, token: int) -> str:
        return self.tokenizer.decode([token]) or self.tokenizer.vocabulary.pieces[token]
