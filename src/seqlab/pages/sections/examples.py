"""Examples that readers can judge themselves: confident mistakes, and what a language model wrote as it
learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from seqlab.pages.html import Markup, tag, text
from seqlab.pages.numbers import format_number, format_probability
from seqlab.pages.report_data import GeneratedSample, WrongExample
from seqlab.pages.sections.base import ReportSection, report_sections

MAX_EXAMPLES = 100
MAX_EXAMPLE_CHARACTERS = 900
MAX_SAMPLE_CHARACTERS = 3000


@report_sections.register("most_wrong")
@dataclass(frozen=True)
class WorstMistakes(ReportSection):
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
    """The model's most confident mistakes; some of them are often label errors."""
    ordered = sorted(examples, key=lambda example: -(example.predicted_probability or 0.0))
    has_probabilities = any(example.predicted_probability is not None for example in examples)
    first = (
        "Most confident mistakes first. A very confident mistake is"
        if has_probabilities
        else "Largest errors first. A large error is"
    )
    hint = f"{first} sometimes a label error."
    note = f" Showing the first {MAX_EXAMPLES} of {len(examples):,}." if len(examples) > MAX_EXAMPLES else ""
    return tag(
        "div",
        tag("p", hint, note, class_="quiet"),
        tag("ol", *[_wrong(example) for example in ordered[:MAX_EXAMPLES]], class_="examples"),
    )


def _wrong(example: WrongExample) -> Markup:
    predicted = tag(
        "span",
        "predicted ",
        tag("b", tag("bdi", example.predicted)),
        _format_confidence(example.predicted_probability),
        class_="is-wrong",
    )
    truth = tag(
        "span",
        "truth ",
        tag("b", tag("bdi", example.truth)),
        _format_confidence(example.truth_probability),
        class_="is-true",
    )
    location = tag("span", example.where, class_="quiet where")
    words = (
        tag("div", text(example.text, limit=MAX_EXAMPLE_CHARACTERS), class_="text", dir="auto")
        if example.text
        else tag("div", "(empty)", class_="quiet")
    )
    return tag("li", words, tag("div", predicted, truth, location, class_="facts-line"))


def _format_confidence(share: float | None) -> str:
    return "" if share is None else f" {format_probability(share)}"


def samples_section(samples: Sequence[GeneratedSample]) -> Markup:
    """What the model wrote at each stage, the prompt set apart from the continuation."""
    rows = [_sample(sample) for sample in samples[:MAX_EXAMPLES]]
    hint = "Samples from the model, from early to late in training."
    if any(sample.prompt for sample in samples):
        hint += " The highlighted text is the prompt; the model generated the rest."
    return tag("div", tag("p", hint, class_="quiet"), tag("div", *rows, class_="samples"))


def _sample(sample: GeneratedSample) -> Markup:
    losses = [("training", sample.train_loss), ("valid", sample.valid_loss)]
    loss_lines = [
        tag("div", f"{name} loss {format_number(loss)}", class_="quiet small")
        for name, loss in losses
        if loss is not None
    ]
    stage = tag("div", tag("b", f"step {sample.step:,}"), *loss_lines, class_="stage")
    prompt = (
        tag("span", text(sample.prompt, limit=MAX_EXAMPLE_CHARACTERS), class_="prompt")
        if sample.prompt
        else Markup("")
    )
    return tag(
        "div",
        stage,
        tag("div", prompt, text(sample.text, limit=MAX_SAMPLE_CHARACTERS), class_="text mono", dir="auto"),
        class_="sample",
    )
