"""Examples a reader can judge for themselves: confident mistakes, and what a language model wrote as it learned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.html import Markup, tag, text
from seqlab.pages.numbers import number, probability
from seqlab.pages.report_data import Sample, WrongExample
from seqlab.pages.sections.base import ReportSection, report_sections

MOST_EXAMPLES = 100
LONGEST_EXAMPLE = 900
LONGEST_SAMPLE = 3000


@report_sections.register("most_wrong")
@dataclass(frozen=True)
class MostWrong(ReportSection):
    """The model's most confident mistakes."""

    kind = "most_wrong"
    title = "Most wrong"
    position = 90
    examples: Sequence[WrongExample]

    @classmethod
    def from_json(cls, value: Any) -> Self:
        return cls([WrongExample(**example) for example in value["examples"]])

    def html(self) -> Markup | None:
        return wrong_section(self.examples) if self.examples else None


def wrong_section(examples: Sequence[WrongExample]) -> Markup:
    """The model's most confident mistakes; some of them are often mistakes of the labels."""
    ordered = sorted(examples, key=lambda example: -(example.predicted_probability or 0.0))
    is_sure = any(example.predicted_probability is not None for example in examples)
    first = "Sorted by how sure the model was. A mistake it is very sure of is" if is_sure else "The furthest off first. A large error is"
    hint = f"{first} worth a look at the label."
    note = f" The first {MOST_EXAMPLES} of {len(examples):,}." if len(examples) > MOST_EXAMPLES else ""
    return tag("div", tag("p", hint, note, class_="quiet"), tag("ol", *[_wrong(example) for example in ordered[:MOST_EXAMPLES]], class_="examples"))


def _wrong(example: WrongExample) -> Markup:
    predicted = tag("span", "predicted ", tag("b", tag("bdi", example.predicted)), _sure(example.predicted_probability), class_="is-wrong")
    truth = tag("span", "truth ", tag("b", tag("bdi", example.truth)), _sure(example.truth_probability), class_="is-true")
    place = tag("span", example.where, class_="quiet where")
    words = (
        tag("div", text(example.text, limit=LONGEST_EXAMPLE), class_="text", dir="auto") if example.text else tag("div", "(empty)", class_="quiet")
    )
    return tag("li", words, tag("div", predicted, truth, place, class_="facts-line"))


def _sure(share: float | None) -> str:
    return "" if share is None else f" {probability(share)}"


def samples_section(samples: Sequence[Sample]) -> Markup:
    """What the model wrote at each stage, the prompt set apart from the continuation."""
    rows = [_sample(sample) for sample in samples[:MOST_EXAMPLES]]
    hint = "What the model wrote, from its first updates to the last."
    if any(sample.prompt for sample in samples):
        hint += " The highlighted words are the prompt; the model wrote the rest."
    return tag("div", tag("p", hint, class_="quiet"), tag("div", *rows, class_="samples"))


def _sample(sample: Sample) -> Markup:
    losses = [("training", sample.train_loss), ("valid", sample.valid_loss)]
    shown = [tag("div", f"{name} loss {number(loss)}", class_="quiet small") for name, loss in losses if loss is not None]
    stage = tag("div", tag("b", f"step {sample.step:,}"), *shown, class_="stage")
    prompt = tag("span", text(sample.prompt, limit=LONGEST_EXAMPLE), class_="prompt") if sample.prompt else Markup("")
    return tag("div", stage, tag("div", prompt, text(sample.text, limit=LONGEST_SAMPLE), class_="text mono", dir="auto"), class_="sample")
