"""Score the captions of a split against their references."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from typing import Any

from seqlab.pages.sections.attention import ImageAttention
from seqlab.sources.base import text_of
from seqlab.tasks.captioning.codec import CaptioningCodec, collect_image_items
from seqlab.tasks.captioning.encoding import CaptionSplit
from seqlab.tasks.captioning.predictor import CaptioningPredictor
from seqlab.tasks.evaluation import Evaluation
from seqlab.tasks.evaluator import Evaluator
from seqlab.tasks.seq2seq.predictor import MAX_MAPS
from seqlab.tasks.seq2seq.scores import score_outputs, show_numbered

BASELINE = "the most frequent caption"


class CaptioningEvaluator(Evaluator[CaptioningCodec, CaptionSplit, CaptioningPredictor]):
    """Scores captions, with the most frequent caption as the baseline, and draws attention maps."""

    def evaluate(self, predictor: CaptioningPredictor, split: str) -> Evaluation:
        items = collect_image_items(self.codec, self.splits[split])
        images = self.splits[split].images["pixels"]
        sources = (self.codec.inputs.steps(images[number]) for number in range(len(items)))
        captions = [hypotheses[0].tokens for hypotheses in predictor.generate(sources)]
        evaluation = score_outputs(
            self.recipe,
            split,
            items,
            [self.codec.tokens.decode(caption) for caption in captions],
            baseline=self._baseline(len(items)),
            baseline_name=BASELINE,
        )
        examples = [
            predictor.attention_example(images[number], caption)
            for number, caption in enumerate(captions[:MAX_MAPS])
        ]
        evaluation.sections.append(ImageAttention([example for example in examples if example is not None]))
        return evaluation

    def _baseline(self, num_images: int) -> list[str] | None:
        """Return the most frequent training caption for every image; None without a training split."""
        if "train" not in self.splits:
            return None
        captions = (text_of(row, self.recipe.data.target) for row in self.splits["train"].rows.rows())
        return [Counter(captions).most_common(1)[0][0]] * num_images

    def show_items(self, split: str, numbers: Collection[int]) -> dict[int, tuple[str, Any]]:
        return show_numbered(collect_image_items(self.codec, self.splits[split]), numbers) if numbers else {}
