"""Turn one sequence into another: languages, spelling into sound, dates into numbers; summaries with imported
models.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.columns import SequenceColumn, StepColumn, smallest_dtype
from seqlab.batches.padding import pad
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import DataError, UsageError
from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.models.encoder_decoder import EncoderDecoder, build_encoder_decoder
from seqlab.models.settings import max_known_length, require_sequence_settings
from seqlab.pages.sections.attention import AttentionExample, AttentionMaps
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Row, Source
from seqlab.sources.columns import text_of
from seqlab.tasks.base import ENCODING, Evaluation, Prediction, shown
from seqlab.tasks.inputs import digest_of, pieces_of, readable_pieces
from seqlab.tasks.seq2seq.generated import Answer, Written
from seqlab.tasks.seq2seq.scores import COPY, Translated, gathered, score_written
from seqlab.tasks.seq2seq.task import LONGEST_LOOKS, MOST_LOOKS, NO_LIMIT, PairTask
from seqlab.tasks.translation.rows import PairRows
from seqlab.tasks.translation.tokens import PairTokens, language_of
from seqlab.tasks.translation.unknown_words import with_copied_words

ROWS_AT_ONCE = 256
LONGEST = 1024
"""Tokens of a side that are learned from, where nothing else is said: a pair that is longer would need the
memory of hundreds.
"""


class Translation(PairTask):
    """Reads the tokens of a source, then writes those of the target."""

    tokens: PairTokens

    def __init__(self, recipe: Recipe, tokens: PairTokens) -> None:
        self.recipe = recipe
        self.tokens = tokens
        self.settings = require_sequence_settings(recipe.model)
        self.stores: dict[str, Store] = {}
        """With the columns `source` and `target`, both of tokens."""
        self.sources: dict[str, Source] = {}
        self.notes: list[str] = []

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
            "longest": [longest, self.longest_known, split],
            "tokens": digest_of(self.save),
        }
        self.sources[split] = rows
        store = self.stores[split] = cached_store(
            made_from, lambda folder: self._write(split, rows, folder, longest=longest)
        )
        if skipped := store.facts["skipped"]:
            self.notes.append(f"{split}: {skipped}")
        if too_long := store.facts["too_long"]:
            self.notes.append(
                f"{split}: {too_long:,} pairs of more than {longest:,} tokens on a side are left out"
            )
        if not len(store):
            raise _nothing_left(
                source.name,
                too_long,
                longest,
                limit="model.max_positions" if longest == self.longest_known else "data.max_length",
            )

    def _write(self, split: str, rows: PairRows, folder: Path, *, longest: int) -> None:
        sides = {"source": self.tokens.source, "target": self.tokens.target}
        columns = [
            StepColumn(name, smallest_dtype(len(tokenizer.vocabulary))) for name, tokenizer in sides.items()
        ]
        writer, too_long, data = (
            StoreWriter(folder, [*columns, SequenceColumn("line", np.dtype(np.int64))]),
            0,
            self.recipe.data,
        )
        for part in _parts(rows.rows()):
            languages = [language for row in part for language in language_of(row, data.language)]
            sources = self.tokens.read([text_of(row, data.source) for row in part], languages)
            targets = self.tokens.write([text_of(row, data.target) for row in part])
            for row, source, target in zip(part, sources, targets, strict=True):
                if longest and max(len(source), len(target)) > longest:
                    too_long += 1
                    continue
                read = max(
                    len(source), len(target) - 1 if split == "valid" else 0
                )  # other splits are written, and only then compared
                if read > self.longest_known:  # a score is of all pairs
                    raise DataError(
                        f"a side of {read} tokens, but the model reads {self.longest_known} at once.",
                        where=row.where,
                        cure=(
                            f"Shorten or leave out the pair, or train with model.max_positions={read} or"
                            " more."
                        ),
                    )
                writer.append(source=source, target=target, line=row.line)
        writer.finish(skipped=rows.bad_rows.sentence(), too_long=too_long)

    @property
    def _longest_learned(self) -> int:
        return min(self.recipe.data.max_length or LONGEST, self.longest_known)

    @property
    def longest_known(self) -> int:
        """Tokens of a side that the network's positions know."""
        return max_known_length(self.settings) or NO_LIMIT

    def build_model(self) -> EncoderDecoder:
        source, target = self.tokens.source.vocabulary, self.tokens.target.vocabulary
        return build_encoder_decoder(
            self.settings,
            self.recipe.decoder,
            num_source_tokens=len(source),
            num_target_tokens=len(target),
            source_pad_id=source.pad_id,
            target_pad_id=target.pad_id,
            shared=self.tokens.are_shared and self.recipe.decoder.shared_embedding,
        )

    def sides(self, split: str) -> NDArray[np.int64]:
        store = self.stores[split]
        return np.stack([store["source"].lengths, store["target"].lengths], axis=1)

    def collate(self, split: str, rows: Indices) -> Batch:
        source, target = self.stores[split]["source"], self.stores[split]["target"]
        inputs, is_token = pad(
            [source[row] for row in rows.tolist()], value=self.tokens.source.vocabulary.pad_id
        )
        targets, _ = pad([target[row] for row in rows.tolist()], value=self.tokens.target.vocabulary.pad_id)
        return Batch(inputs, is_token, {"target": targets}, torch.from_numpy(rows))

    @torch.inference_mode()
    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        questions = gathered(self.recipe, self.sources[split])
        found = self.translate_all(model, [(question.text, question.language) for question in questions])
        evaluation = score_written(
            self.recipe,
            split,
            questions,
            [one.text for one in found],
            baseline=[question.text for question in questions],
            baseline_name=COPY,
            lengths=[one.source_length for one in found],
        )
        looks = [
            one
            for each in questions[:MOST_LOOKS]
            if (one := self.looks(model, each.text, each.language)) and len(one.read) <= LONGEST_LOOKS
        ]
        evaluation.sections.append(
            AttentionMaps([each for each in looks if len(each.written) <= LONGEST_LOOKS])
        )
        return evaluation

    def translate_all(self, model: nn.Module, pairs: Sequence[tuple[str, str]]) -> list[Translated]:
        """(text, language) -> translations, in order; the language is empty where there is one."""
        texts = [text for text, _ in pairs]
        languages = [language for _, language in pairs] if self.recipe.data.language else []
        found = self.translate(model, texts, languages)
        return [
            Translated(answers[0].text, len(source))
            for answers, source in zip(found, self.tokens.read(texts, languages), strict=True)
        ]

    @torch.inference_mode()
    def translate(
        self, model: nn.Module, texts: Sequence[str], languages: Sequence[str] = (), *, num_answers: int = 1
    ) -> list[list[Answer]]:
        """For each text its translations, the best first: as many as are wanted, where the search finds so
        many.
        """
        sources = self._steps(texts, languages)
        written = self.write(model, sources, num_answers=num_answers)
        return [
            [self.answer(one, self._text(model, text, source, one)) for one in found]
            for text, source, found in zip(texts, sources, written, strict=True)
        ]

    def _text(self, model: nn.Module, text: str, source: torch.Tensor, found: Hypothesis) -> str:
        if self.recipe.decoding.unknown != "copy":
            return self.tokens.words(found.tokens)
        assert isinstance(model, EncoderDecoder | Ensemble)
        words = self.tokens.words_read(text, tagged=bool(self.recipe.data.language))
        return with_copied_words(model, self.tokens, source, words, found.tokens)

    def read_inputs(self, inputs: Sequence[Any]) -> list[torch.Tensor]:
        return self._steps(*self._questions(inputs))

    def _steps(self, texts: Sequence[str], languages: Sequence[str]) -> list[torch.Tensor]:
        return [torch.from_numpy(ids.astype(np.int64)) for ids in self._read(texts, languages)]

    def _read(self, texts: Sequence[str], languages: Sequence[str]) -> list[NDArray[Any]]:
        encoded = self.tokens.read(texts, languages)
        for text, ids in zip(texts, encoded, strict=True):
            if len(ids) > self.longest_known:
                raise UsageError(
                    f"a text of {len(ids)} tokens, but the model reads {self.longest_known} at once.",
                    where=repr(shown(text)),
                    cure="Give it sentence by sentence.",
                )
        return encoded

    def predict(self, model: nn.Module, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        texts, languages = self._questions(inputs)
        found = self.translate(model, texts, languages, num_answers=top)
        return [Written.of(shown(text), answers, top=top) for text, answers in zip(texts, found, strict=True)]

    def _questions(self, inputs: Sequence[Any]) -> tuple[list[str], list[str]]:
        """Texts; where the model writes several languages, each begins with the name of one: `de: A dog
        runs.`
        """
        if not self.recipe.data.language:
            return [str(text) for text in inputs], []
        parted = [str(text).partition(":") for text in inputs]
        for text, colon, _ in parted:
            if not colon:
                raise UsageError(
                    "the text does not say into which language.",
                    where=repr(shown(text)),
                    cure='For example: "de: A dog runs."',
                )
        return [text.strip() for _, _, text in parted], [language.strip() for language, _, _ in parted]

    @torch.inference_mode()
    def sample(self, model: nn.Module) -> str:
        """The first pair of the validation data, and what is made of it."""
        split = "valid" if "valid" in self.sources else "train"
        row, data = next(iter(self.sources[split].rows())), self.recipe.data
        text = text_of(row, data.source)
        return (
            f"{text}\n→ {self.translate(model, [text], language_of(row, data.language))[0][0].text}\n(wanted:"
            f" {text_of(row, data.target)})"
        )

    @torch.inference_mode()
    def looks(self, model: nn.Module, text: str, language: str = "") -> AttentionExample | None:
        """Where was looked for the best translation of a text; None where the decoder has no attention."""
        languages = [language] if language else []
        best = self.translate(model, [text], languages)[0][0].found
        source = self._read([text], languages)[0].astype(np.int64)
        weights = self.alignment(model, torch.from_numpy(source), best.tokens)
        if weights is None:
            return None
        written = np.array([*best.tokens, self.tokens.end_id])
        return AttentionExample(
            readable_pieces(self.tokens.source, source), readable_pieces(self.tokens.target, written), weights
        )

    def source_lengths(self, split: str) -> tuple[str, Float[np.ndarray, " items"]]:
        """In words, or in characters where those are the tokens."""
        texts = [question.text for question in gathered(self.recipe, self.sources[split])]
        if self.recipe.tokens.kind in ("characters", "bytes"):
            return "characters", np.array([len(text) for text in texts], np.float64)
        return "words", np.array([len(text.split()) for text in texts], np.float64)

    def tree(
        self, model: nn.Module, question: str, *, top: int = 1
    ) -> tuple[list[Answer], list[dict[str, Any]]]:
        """The translations of one text, and the candidates of every step of the beam that found them, as
        plain data with words.
        """
        (text,), languages = self._questions([question])
        (source,) = self._steps([text], languages)
        found, tree = self.search_tree(model, source, num_answers=top)
        answers = [self.answer(one, self._text(model, text, source, one)) for one in found]
        return answers, tree.to_dicts(lambda token: readable_pieces(self.tokens.target, np.array([token]))[0])

    def shown_items(self, split: str, wanted: Collection[int]) -> dict[int, tuple[str, Any]]:
        questions = enumerate(gathered(self.recipe, self.sources[split])) if wanted else ()
        return {number: (question.where, question.text) for number, question in questions if number in wanted}

    def example_input(self) -> str:
        """A multilingual model is told the target language first."""
        return f"{self.tokens.tags[0]}: some text" if self.tokens.tags else super().example_input()

    def encode(self, inputs: Sequence[Any]) -> list[NDArray[Any]]:
        return self.tokens.read(*self._questions(inputs))

    def pieces(self, steps: NDArray[Any]) -> list[str]:
        return pieces_of(self.tokens.source, steps)


def _nothing_left(name: str, too_long: int, longest: int, *, limit: str) -> DataError:
    """limit: the setting that says how long a side may be."""
    if not too_long:
        return DataError("no pair is left.", where=name, cure="Give more data.")
    return DataError(
        f"all {too_long:,} pairs have more than {longest:,} tokens on a side.",
        where=name,
        cure=f"Raise {limit}, or give shorter pairs.",
    )


def _parts(rows: Iterator[Row]) -> Iterator[list[Row]]:
    while part := list(islice(rows, ROWS_AT_ONCE)):
        yield part
