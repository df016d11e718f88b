"""Find hidden tokens from both sides, as BERT learns: text without labels, for a model that is fine-tuned
later.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.baselines.neighbours import UNKNOWN, NeighborModel
from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.columns import StepColumn, smallest_dtype
from seqlab.batches.loader import Cursor, Loader, one_pass
from seqlab.batches.masking import NO_TARGET, Masker
from seqlab.batches.padding import pad
from seqlab.batches.samplers import BucketSampler, Indices, LengthOrderSampler
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter
from seqlab.batches.windows import Spans
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.core.errors import DataError, UsageError
from seqlab.losses.cross_entropy import class_cross_entropy
from seqlab.metrics.slices import ScoreSlices
from seqlab.models.base import backbones
from seqlab.models.masked_language_model import NORM_EPS, MaskedLanguageModel
from seqlab.models.settings import require_sequence_settings
from seqlab.pages.report_data import WrongExample
from seqlab.pages.sections.examples import MostWrong
from seqlab.pages.sections.facts import Facts
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source, TextSource
from seqlab.tasks.base import ENCODING, Evaluation, Prediction, Task, shown
from seqlab.tasks.inputs import digest_of, encode_texts, learn_tokenizer, pieces_of
from seqlab.tasks.masked_language_model.blanks import read_gaps, show_gap, with_gap
from seqlab.tasks.masked_language_model.predictions import FoundTokens, items_of, score, slices_by_frequency
from seqlab.tasks.masked_language_model.settings import MaskedLanguageModelSettings
from seqlab.tasks.sections import sliced_scores
from seqlab.tasks.text.stream import has_documents, in_parts, read_texts
from seqlab.tasks.text.stream_scores import counts_of
from seqlab.tokens.base import Tokenizer
from seqlab.tokens.tokenizer_folder import load_tokenizer, save_tokenizer
from seqlab.tokens.vocabulary import EOS, MASK, PAD, UNK
from seqlab.tokens.word_boundaries import WordBorders
from seqlab.training.base import BatchLoss, Carry, Validation

VALIDATED, SCORED = 100_000, 500_000
"""At most so many tokens of a split are read while training, and for the final score."""
EVALUATION_BATCH, EVALUATION_STEPS = 128, 8_192
MOST_WRONG, CONTEXT = 25, 12
"""Mistakes in the report, and tokens shown on either side of each."""


class MaskedLanguageModelling(Task):
    """Hides tokens of a text, learns to find them again, says how well, and fills gaps."""

    def __init__(self, recipe: Recipe, tokenizer: Tokenizer) -> None:
        self.recipe = recipe
        self.tokenizer = tokenizer
        self.stores: dict[str, Store] = {}
        self.spans: dict[str, Spans] = {}
        self.sources: dict[str, Source] = {}
        self.notes: list[str] = []
        vocabulary = tokenizer.vocabulary
        self.is_ordinary = np.ones(len(vocabulary), np.bool_)
        self.is_ordinary[list(vocabulary.special_ids)] = False

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        return cls(recipe, learn_tokenizer(recipe, read_texts(train, recipe), specials=[UNK, PAD, EOS, MASK]))

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(recipe, load_tokenizer(folder))

    def save(self, folder: Path) -> None:
        save_tokenizer(self.tokenizer, folder)

    def attach(self, split: str, source: Source) -> None:
        made_from = {
            "task": "masked_language_model",
            "encoding": ENCODING,
            "source": source.fingerprint(),
            "column": self.recipe.data.text,
            "tokenizer": digest_of(self.save),
        }
        store = cached_store(made_from, lambda folder: self._write(source, folder))
        tokens = store["tokens"]
        spans = Spans.cut(
            tokens.offsets, window=self.recipe.section(MaskedLanguageModelSettings).window
        ).with_any(tokens.values, self.is_ordinary)
        if not len(spans):
            raise DataError(
                "there is no token that could be hidden.",
                where=source.name,
                cure="Give some text of known words.",
            )
        self.sources[split], self.stores[split], self.spans[split] = source, store, spans

    def _write(self, source: Source, folder: Path) -> None:
        """A text is one sequence, every document of a table one of its own; documents and lines of words end
        with a token for it.
        """
        writer = StoreWriter(folder, [StepColumn("tokens", smallest_dtype(len(self.tokenizer.vocabulary)))])
        end = np.array([self.tokenizer.vocabulary.ids[EOS]], np.int32)
        is_text = isinstance(source, TextSource)
        for texts in in_parts(read_texts(source, self.recipe)):
            for ids in self.tokenizer.encode_many(texts):
                writer.extend(tokens=ids)
                if has_documents(source, self.recipe):
                    writer.extend(tokens=end)
                if not is_text:
                    writer.end_sequence()
        if is_text:
            writer.end_sequence()
        writer.finish()

    def build_model(self) -> MaskedLanguageModel:
        settings = require_sequence_settings(self.recipe.model)
        backbone = backbones.get(settings.kind).from_settings(settings, causal=False)
        embed = TokenEmbedding(
            len(self.tokenizer.vocabulary),
            backbone.input_size,
            pad_id=None,
            std=backbone.input_size**-0.5 if settings.tied else 1.0,
        )
        eps = getattr(
            settings, "embedding_norm_eps", NORM_EPS
        )  # one number for both norms that stand beside the embedding
        return MaskedLanguageModel(
            embed, backbone, dropout=settings.dropout, tied=settings.tied, norm_eps=eps
        )

    @cached_property
    def masker(self) -> Masker:
        """Hides tokens while training."""
        mask_id = self.tokenizer.vocabulary.ids[MASK]
        return Masker(
            self.recipe.section(MaskedLanguageModelSettings),
            mask_id=mask_id,
            is_ordinary=self.is_ordinary,
            seed=self.recipe.training.seed,
        )

    @cached_property
    def examiner(self) -> Masker:
        """Hides tokens for scores: the same ones every time, and all that are chosen."""
        settings = self.recipe.section(MaskedLanguageModelSettings).model_copy(
            update={"mask_replace_prob": 1.0, "random_replace_prob": 0.0, "dynamic_masking": False}
        )
        return Masker(
            settings,
            mask_id=self.masker.mask_id,
            is_ordinary=self.is_ordinary,
            seed=self.recipe.training.seed,
        )

    @cached_property
    def borders(self) -> WordBorders | None:
        return (
            WordBorders.of(self.tokenizer)
            if self.recipe.section(MaskedLanguageModelSettings).whole_word_mask
            else None
        )

    def loader(self, cursor: Cursor) -> Loader:
        spans, training = self.spans["train"], self.recipe.training
        sampler = BucketSampler(
            spans.lengths, batch_size=min(training.batch_size, len(spans)), seed=training.seed
        )
        loader = Loader(
            sampler,
            lambda rows, _: self._collate("train", rows, self.masker, epoch=loader.cursor.epoch),
            cursor=cursor,
        )
        return loader

    def _collate(self, split: str, rows: Indices, masker: Masker, *, epoch: int = 0) -> Batch:
        stream, spans = self.stores[split]["tokens"], self.spans[split]
        masked = []
        for row in rows.tolist():
            tokens = stream.window(int(spans.starts[row]), int(spans.ends[row]))
            groups = self.borders.groups(tokens) if self.borders else None
            masked.append(masker.mask(tokens, row=row, epoch=epoch, groups=groups))
        inputs, is_token = pad(
            [sequence.inputs for sequence in masked], value=self.tokenizer.vocabulary.pad_id
        )
        targets, _ = pad([sequence.targets for sequence in masked], value=NO_TARGET)
        return Batch(inputs, is_token, {"masked_tokens": targets}, torch.from_numpy(rows))

    def loss(self, model: nn.Module, batch: Batch, *, step: int, carry: Carry) -> BatchLoss:
        is_target = batch["masked_tokens"] != NO_TARGET
        logits, targets = (
            model(batch.inputs, batch.is_token, is_target),
            batch["masked_tokens"][is_target],
        )  # (targets, vocab), (targets,)
        total = class_cross_entropy(logits, targets, label_smoothing=self.recipe.training.label_smoothing)
        if self.teacher is not None:
            total = self.teacher.soft_targets(self.teacher.look(batch.inputs, batch.is_token, is_target)).mix(
                total, logits
            )
        return BatchLoss(
            total=total, count=len(targets), correct=int((logits.detach().argmax(dim=-1) == targets).sum())
        )

    def validate(self, model: nn.Module) -> Validation:
        found = self.find(model, "valid", at_most=VALIDATED)
        loss = -float(found.guesses.log_probs.mean())
        facts = {"valid_loss": loss, "valid_accuracy": float(found.correct.mean())}
        return Validation(loss, higher_is_better=False, facts=facts)

    @torch.inference_mode()
    def find(self, model: nn.Module, split: str, *, at_most: int) -> FoundTokens:
        """Ask the model about hidden tokens at the beginning of a split, the same ones every time."""
        spans, device = self.spans[split].beginning(at_most=at_most), next(model.parameters()).device
        sampler = LengthOrderSampler(spans.lengths, batch_size=EVALUATION_BATCH, most_steps=EVALUATION_STEPS)
        parts = []
        for batch in one_pass(sampler, lambda rows, _: self._collate(split, rows, self.examiner)):
            is_target = batch["masked_tokens"] != NO_TARGET
            log_probs = (
                model(batch.inputs.to(device), batch.is_token.to(device), is_target.to(device))
                .float()
                .log_softmax(dim=-1)
                .cpu()
            )
            truth = batch["masked_tokens"][is_target]  # (targets,)
            within, places = is_target.nonzero(as_tuple=True)
            beside, likeliest, right = (
                self._neighbours(batch, within, places),
                log_probs.max(dim=-1),
                log_probs.gather(1, truth.unsqueeze(1)).squeeze(1),
            )
            found = (
                batch.rows[within],
                places,
                truth,
                *beside,
                likeliest.indices,
                right.double(),
                likeliest.values,
            )
            parts.append([part.numpy() for part in found])
        return FoundTokens.joined(parts)

    def _neighbours(
        self, batch: Batch, rows: torch.Tensor, places: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """What the model sees beside each gap; nothing where another token is hidden or the sequence ends."""
        visible = batch.inputs.masked_fill((batch.inputs == self.masker.mask_id) | ~batch.is_token, UNKNOWN)
        framed = nn.functional.pad(visible, (1, 1), value=UNKNOWN)  # (batch, time + 2)
        return framed[rows, places], framed[rows, places + 2]

    def describe_rows(self, batch: Batch) -> str:
        starts = self.spans["train"].starts[batch.rows[:5].cpu().numpy()]
        return (
            f"{len(batch.rows)} sequences, at tokens {', '.join(map(str, starts.tolist()))} … of"
            f" {self.sources['train'].name}"
        )

    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        found = self.find(model, split, at_most=SCORED)
        facts: dict[str, Any] = {"hidden_tokens": len(found.truth)}
        how, beside, name = f"{len(found.truth):,} hidden tokens", None, ""
        cuts: list[ScoreSlices] = []
        if "train" in self.stores:
            naive = NeighborModel.fit(
                self.stores["train"]["tokens"].values,
                len(self.is_ordinary),
                candidate_ids=np.flatnonzero(self.is_ordinary),
            )
            beside, name = naive.predict(found.left, found.right, found.truth), "both neighbours"
            blind = naive.predict_unigram(found.truth)
            facts["most_frequent"] = {
                "nats": -float(blind.log_probs.mean()),
                "accuracy": float((blind.best == found.truth).mean()),
            }
            how += "; the most frequent token alone gets {nats:.4f} nats and {accuracy:.4f} right".format(
                **facts["most_frequent"]
            )
            times = counts_of(self.stores["train"]["tokens"], len(self.is_ordinary))[found.truth]
            cuts = slices_by_frequency(found, times)
        scores = score(found, baseline=beside, baseline_name=name, how=how)
        sections = [Facts(facts), MostWrong(self._most_wrong(split, found)), sliced_scores(cuts, scores)]
        return Evaluation(split, scores, sections, items_of(found))

    def _most_wrong(self, split: str, found: FoundTokens) -> list[WrongExample]:
        """The gaps that the model filled wrongly and was surest about, each with its surroundings."""
        starts = self.spans[split].starts
        return [
            WrongExample(
                where=f"{split}, token {starts[found.rows[number]] + found.places[number]:,}",
                text=self._around(split, int(found.rows[number]), int(found.places[number])),
                truth=self._piece(int(found.truth[number])),
                predicted=self._piece(int(found.guesses.best[number])),
                predicted_probability=float(np.exp(found.sureness[number])),
                truth_probability=float(np.exp(found.guesses.log_probs[number])),
            )
            for number in found.surest_mistakes(MOST_WRONG).tolist()
        ]

    def _around(self, split: str, row: int, place: int) -> str:
        first, last = int(self.spans[split].starts[row]), int(self.spans[split].ends[row])
        start = max(first, first + place - CONTEXT)
        ids = self.stores[split]["tokens"].window(start, min(last, first + place + CONTEXT + 1)).tolist()
        return with_gap(self.tokenizer, ids, first + place - start)

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return encode_texts(self.tokenizer, inputs, self.recipe.model)

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokenizer, steps)

    def predict(self, model: nn.Module, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """For each gap of each text the candidates with their probabilities, highest first."""
        if not bool(model.get_parameter("norm.weight").any()):
            raise UsageError(
                "these weights were published without a head that finds masked tokens.",
                cure="Their vectors: seqlab predict RUN TEXT --vectors",
            )
        return [prediction for text in inputs for prediction in self._predict(model, str(text), top)]

    @torch.inference_mode()
    def _predict(self, model: nn.Module, text: str, top: int) -> list[Prediction]:
        gapped = read_gaps(text, self.tokenizer)
        window = self.recipe.section(MaskedLanguageModelSettings).window
        device = next(model.parameters()).device
        found = []
        for number, gap in enumerate(gapped.gaps):
            start = max(0, min(gap - window // 2, len(gapped.ids) - window))
            tokens = torch.tensor([gapped.ids[start : start + window]], device=device)
            is_target = torch.arange(tokens.shape[1], device=device).unsqueeze(0) == gap - start
            logits = model(tokens, torch.ones_like(is_target), is_target)[0].float().cpu()  # (vocab,)
            probs = logits.masked_fill(~torch.from_numpy(self.is_ordinary), -torch.inf).softmax(dim=-1)
            best = probs.topk(min(top, int(self.is_ordinary.sum())))
            ranking = [
                (self._piece(token), share)
                for token, share in zip(best.indices.tolist(), best.values.tolist(), strict=True)
            ]
            found.append(Prediction(shown(show_gap(text, number)), ranking[0][0], ranking[0][1], ranking))
        return found

    def _piece(self, token: int) -> str:
        return self.tokenizer.decode([token]) or self.tokenizer.vocabulary.pieces[token]
