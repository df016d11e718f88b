"""Put pictures into words: a network for pictures reads, a decoder looks at regions and writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seqlab.batches.batch import Batch
from seqlab.batches.cache import cached_store
from seqlab.batches.columns import SequenceColumn, StepColumn, smallest_dtype
from seqlab.batches.padding import pad
from seqlab.batches.samplers import Indices
from seqlab.batches.store import Store
from seqlab.batches.store_writer import StoreWriter
from seqlab.core.errors import DataError, RecipeError
from seqlab.decoding.search import Search
from seqlab.decoding.settings import DecodingSettings
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.models.images.encoder import ImageEncoder, build_image_encoder_decoder
from seqlab.pages.sections.attention import ImageAttention, ImageExample
from seqlab.recipes.recipe import Recipe
from seqlab.sources.base import Source
from seqlab.sources.columns import text_of
from seqlab.tasks.base import ENCODING, Evaluation, Prediction, shown
from seqlab.tasks.captioning.defaults import pictures_only
from seqlab.tasks.captioning.image_cells import PictureCells
from seqlab.tasks.captioning.inputs import LEARNED_FROM, PictureInputs
from seqlab.tasks.captioning.rows import CaptionRows
from seqlab.tasks.inputs import digest_of, pieces_of
from seqlab.tasks.seq2seq.generated import Written
from seqlab.tasks.seq2seq.scores import Question, score_written
from seqlab.tasks.seq2seq.target_tokens import SPECIALS, TargetTokens
from seqlab.tasks.seq2seq.task import LONGEST_LOOKS, MOST_LOOKS, PairTask
from seqlab.tokens.base import tokenizers

PATCH = 16
"""Pixels that cost about as much as one token of a text."""
SIDE_SHOWN = 32
"""Pixels along each side of a picture in a report."""
ALWAYS = "the commonest caption"


class Captioning(PairTask):
    """Reads a picture, then writes its caption.

    A picture may have several captions: each is a pair to learn from, and all together are the references of
    a score.
    """

    def __init__(
        self, recipe: Recipe, inputs: PictureInputs, tokens: TargetTokens, cells: PictureCells
    ) -> None:
        self.recipe = recipe
        self.inputs = inputs
        self.tokens = tokens
        self.cells = cells
        self.settings = pictures_only(recipe.model)
        self.stores: dict[str, Store] = {}
        """Every caption, with the number of its image."""
        self.pictures: dict[str, Store] = {}
        """Every image once, as rows of bytes."""
        self.sources: dict[str, Source] = {}
        self.notes: list[str] = []

    @classmethod
    def learn(cls, recipe: Recipe, train: Source) -> Self:
        cells = PictureCells(recipe)
        rows, tokens = CaptionRows(train, recipe, cells), recipe.tokens
        settings = tokens.model_copy(
            update={"kind": tokens.target_kind or tokens.kind, "size": tokens.target_size or tokens.size}
        )
        captions = (text_of(row, recipe.data.target) for row in rows.rows())
        target = TargetTokens(tokenizers.get(settings.kind).fit(captions, settings, specials=SPECIALS))
        pixels = (cells.pixels(row) for row in islice(rows.first_of_each().values(), LEARNED_FROM))
        return cls(
            recipe,
            PictureInputs.learn(pixels, pictures_only(recipe.model), size=recipe.data.picture_size),
            target,
            cells,
        )

    @classmethod
    def load(cls, recipe: Recipe, folder: Path) -> Self:
        return cls(
            recipe,
            PictureInputs.load(folder, pictures_only(recipe.model)),
            TargetTokens.load(folder),
            PictureCells(recipe),
        )

    def save(self, folder: Path) -> None:
        self.inputs.save(folder)
        self.tokens.save(folder)

    def attach(self, split: str, source: Source) -> None:
        rows, data = CaptionRows(source, self.recipe, self.cells), self.recipe.data
        firsts, inputs = rows.first_of_each(), self.inputs
        if not firsts:
            raise DataError("no picture with a caption is left.", where=source.name, cure="Give more data.")
        made_from: dict[str, Any] = {
            "task": "captioning",
            "encoding": ENCODING,
            "source": rows.fingerprint(),
            "columns": [data.source, data.target],
            "pictures": [inputs.height, inputs.width, inputs.channels],
        }

        def write_pictures(folder: Path) -> None:
            writer = StoreWriter(
                folder, [StepColumn("pixels", np.dtype(np.uint8), inputs.width * inputs.channels)]
            )
            for row in firsts.values():
                writer.append(pixels=inputs.rows(self.cells.pixels(row)))
            writer.finish()

        def write_captions(folder: Path) -> None:
            numbers = {key: number for number, key in enumerate(firsts)}
            caption = StepColumn("caption", smallest_dtype(len(self.tokens.target.vocabulary)))
            writer = StoreWriter(
                folder, [caption, *(SequenceColumn(name, np.dtype(np.int64)) for name in ("image", "line"))]
            )
            for row in rows.rows():
                writer.append(
                    caption=self.tokens.write([text_of(row, data.target)])[0],
                    image=numbers[self.cells.key(row)],
                    line=row.line,
                )
            writer.finish(skipped=rows.bad_rows.sentence())

        self.sources[split] = rows
        self.pictures[split] = cached_store(made_from, write_pictures)
        self.stores[split] = cached_store(
            {**made_from, "tokens": digest_of(self.tokens.save)}, write_captions
        )
        if skipped := self.stores[split].facts["skipped"]:
            self.notes.append(f"{split}: {skipped}")

    def build_model(self) -> EncoderDecoder:
        vocabulary = self.tokens.target.vocabulary
        return build_image_encoder_decoder(
            self.settings,
            self.recipe.decoder,
            num_features=self.inputs.width * self.inputs.channels,
            num_target_tokens=len(vocabulary),
            target_pad_id=vocabulary.pad_id,
        )

    def sides(self, split: str) -> NDArray[np.int64]:
        captions = self.stores[split]["caption"].lengths
        return np.stack(
            [np.full_like(captions, max(1, self.inputs.height * self.inputs.width // PATCH)), captions],
            axis=1,
        )

    def collate(self, split: str, rows: Indices) -> Batch:
        captions, images, pixels = (
            self.stores[split]["caption"],
            self.stores[split]["image"],
            self.pictures[split]["pixels"],
        )
        steps = self.inputs.steps(np.stack([pixels[image] for image in images[rows].tolist()]))
        targets, _ = pad([captions[row] for row in rows.tolist()], value=self.tokens.target.vocabulary.pad_id)
        return Batch(
            steps, torch.ones(steps.shape[:2], dtype=torch.bool), {"target": targets}, torch.from_numpy(rows)
        )

    @torch.inference_mode()
    def evaluate(self, model: nn.Module, split: str) -> Evaluation:
        questions, pictures = self.questions(split), self.pictures[split]["pixels"]
        found = self.write(model, (self.inputs.steps(pictures[number]) for number in range(len(questions))))
        outputs = [self.tokens.words(hypotheses[0].tokens) for hypotheses in found]
        always = Counter(
            text_of(row, self.recipe.data.target) for row in self.sources["train"].rows()
        ).most_common(1)[0][0]
        evaluation = score_written(
            self.recipe, split, questions, outputs, baseline=[always] * len(outputs), baseline_name=ALWAYS
        )
        looks = [
            self.looks(model, pictures[number], found[number][0].tokens)
            for number in range(min(MOST_LOOKS, len(questions)))
        ]
        evaluation.sections.append(ImageAttention([look for look in looks if look is not None]))
        return evaluation

    def questions(self, split: str) -> list[Question]:
        """Every picture once, in the order of their numbers, with its different captions."""
        found: dict[str, Question] = {}
        for row in self.sources[split].rows():
            question = found.setdefault(
                self.cells.key(row), Question(row.where, self.cells.name(row), "", [])
            )
            if (caption := text_of(row, self.recipe.data.target)) not in question.references:
                question.references.append(caption)
        return list(found.values())

    def looks(self, model: nn.Module, picture: NDArray[Any], caption: Sequence[int]) -> ImageExample | None:
        """A picture with a grid of weights for every word of a caption, the end last; None where the decoder
        has no attention.
        """
        sides = {network.grid for network in model.modules() if isinstance(network, ImageEncoder)}
        if len(sides) > 1:  # several networks that cut a picture into other regions
            return None
        (grid,) = sides
        weights = self.alignment(model, self.inputs.steps(picture), caption)
        if weights is None or len(weights) > LONGEST_LOOKS:
            return None
        words = pieces_of(self.tokens.target, np.array([*caption, self.tokens.end_id]))
        grids = [np.round(np.array(row).reshape(grid), 4).tolist() for row in weights]
        looks = [
            {"words": "the picture"},
            *({"words": word, "weights": grid} for word, grid in zip(words, grids, strict=True)),
        ]
        return ImageExample(
            shown(self.tokens.words(caption)), self.inputs.shown(picture, side=SIDE_SHOWN), looks
        )

    def build_search(self, settings: DecodingSettings) -> Search:
        if settings.coverage_penalty or settings.unknown == "copy":
            name = "coverage_penalty" if settings.coverage_penalty else "unknown"
            raise RecipeError(
                "regions of a picture are no words to be covered or copied.",
                where=f"search.{name}",
                cure="Leave it out.",
            )
        return super().build_search(settings)

    def predict(self, model: nn.Module, inputs: Sequence[Any], *, top: int) -> list[Prediction]:
        """Captions of picture files, by their names, or of pictures as rows of pixels."""
        written = self.write(model, self.read_inputs(inputs), num_answers=top)
        answers = [[self.answer(one, self.tokens.words(one.tokens)) for one in found] for found in written]
        names = [
            shown(str(value)) if isinstance(value, str | Path) else f"picture {number}"
            for number, value in enumerate(inputs, start=1)
        ]
        return [Written.of(name, found, top=top) for name, found in zip(names, answers, strict=True)]

    def read_inputs(self, inputs: Sequence[Any]) -> Iterator[torch.Tensor]:
        return (
            self.inputs.steps(self.inputs.rows(self.cells.asked(value, number)))
            for number, value in enumerate(inputs, start=1)
        )

    @torch.inference_mode()
    def sample(self, model: nn.Module) -> str:
        """The first picture of the validation data, and what is said of it."""
        split = "valid" if "valid" in self.sources else "train"
        question = self.questions(split)[0]
        found = self.write(model, [self.inputs.steps(self.pictures[split]["pixels"][0])])[0][0]
        return f"{question.text}\n→ {self.tokens.words(found.tokens)}\n(wanted: {question.references[0]})"

    def shown_items(self, split: str, wanted: Collection[int]) -> dict[int, tuple[str, Any]]:
        questions = enumerate(self.questions(split)) if wanted else ()
        return {number: (question.where, question.text) for number, question in questions if number in wanted}
