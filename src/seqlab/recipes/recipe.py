"""The whole recipe: every setting of a run, with its default and its sentence of help."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import tomli_w
from pydantic import Field

from seqlab.batches.settings import MaskingSettings
from seqlab.cells.settings import CELL_KINDS
from seqlab.core.settings import SettingHelp, Settings, describe
from seqlab.decoding.settings import DecodingSettings, SearchSettings
from seqlab.metrics.settings import EvaluationSettings
from seqlab.models.settings import (
    MODEL_KINDS,
    BagSettings,
    DecoderSettings,
    ModelSettings,
    RecurrentSettings,
    TaggingSettings,
)
from seqlab.sources.settings import DataSettings
from seqlab.tokens.settings import TokenSettings
from seqlab.training.settings import StartSettings, TrainingSettings

FORMAT = 1

SECTIONS: dict[str, tuple[type[Settings], ...]] = {
    "data": (DataSettings,),
    "tokens": (TokenSettings,),
    "model": tuple(MODEL_KINDS.values()),
    "model.cell": tuple(CELL_KINDS.values()),
    "masking": (MaskingSettings,),
    "decoder": (DecoderSettings,),
    "bag": (BagSettings,),
    "tagging": (TaggingSettings,),
    "training": (TrainingSettings,),
    "start": (StartSettings,),
    "decoding": (DecodingSettings,),
    "search": (SearchSettings,),
    "evaluation": (EvaluationSettings,),
}
"""Every section by its dotted name, with the classes of settings that may stand there."""


KINDS: dict[str, dict[str, type[Settings]]] = {"model": MODEL_KINDS, "model.cell": CELL_KINDS}
"""The sections whose setting `kind` decides which other settings there are."""
DEFAULT_KINDS = {"model": "recurrent", "model.cell": "lstm"}


class Recipe(Settings):
    """Everything that defines a run. Written into the run folder with every default spelled out."""

    format: int = Field(FORMAT, description="Version of the recipe format.")
    task: str = Field(
        "",
        description="The job: classification, tagging, language_model, …; guessed from the data when empty.",
    )
    data: DataSettings = Field(
        default_factory=DataSettings, description="Which files, which columns, which part is held out."
    )
    tokens: TokenSettings = Field(default_factory=TokenSettings, description="How text becomes ids.")
    model: ModelSettings = Field(
        default_factory=RecurrentSettings,
        description="The network; a short name such as lstm stands for a whole section.",
    )
    decoder: DecoderSettings = Field(
        default_factory=DecoderSettings, description="The half of an encoder-decoder that writes."
    )
    masking: MaskingSettings = Field(
        default_factory=MaskingSettings, description="Which tokens a masked language model has to find again."
    )
    bag: BagSettings = Field(
        default_factory=BagSettings,
        description="The bag of n-grams that a classifier weighs, alone or beside its network.",
    )
    tagging: TaggingSettings = Field(
        default_factory=TaggingSettings,
        description="How words enter a tagger, and how their tags are decided.",
    )
    training: TrainingSettings = Field(
        default_factory=TrainingSettings,
        description="The budget, the batches, the optimizer and when to stop.",
    )
    start: StartSettings = Field(
        default_factory=StartSettings,
        description="The run from which training starts, and what of it stays as it was.",
    )
    decoding: DecodingSettings = Field(
        default_factory=DecodingSettings, description="How a language model chooses the next token."
    )

    search: SearchSettings = Field(
        default_factory=SearchSettings,
        description="How a translation is searched: greedily, by a beam, or by draws.",
    )
    evaluation: EvaluationSettings = Field(
        default_factory=EvaluationSettings,
        description="Which metrics are computed beside those of the task.",
    )

    def to_toml(self) -> str:
        return tomli_w.dumps(self.model_dump())

    def changed(self, section: str, **values: Any) -> Recipe:
        """A copy with some settings of a section replaced."""
        return self.model_copy(update={section: getattr(self, section).model_copy(update=values)})

    def with_defaults(self, section: str, **values: Any) -> Recipe:
        """A copy in which settings of a section that nobody has set take other defaults."""
        given = getattr(self, section).model_fields_set
        return self.changed(section, **{name: value for name, value in values.items() if name not in given})


def settings_help(section: str) -> list[SettingHelp]:
    """Every setting of a section with its dotted name.

    One that differs between the kinds of a section is listed in each of its forms.
    """
    if section not in KINDS:
        return describe(SECTIONS[section][0], prefix=f"{section}.")
    kinds = KINDS[section]
    about = kinds[DEFAULT_KINDS[section]].model_fields["kind"].description or ""
    forms: dict[SettingHelp, list[str]] = {}
    for kind, settings in kinds.items():
        for entry in describe(settings, prefix=f"{section}."):
            forms.setdefault(entry, []).append(kind)
    own = [
        replace(entry, kinds=() if len(having) == len(kinds) else tuple(having))
        for entry, having in forms.items()
    ]
    names = list(dict.fromkeys(entry.name for entry in own))  # all forms of a setting stand together
    first = SettingHelp(f"{section}.kind", " | ".join(kinds), DEFAULT_KINDS[section], about)
    return [
        first,
        *sorted(
            (entry for entry in own if entry.name != first.name), key=lambda entry: names.index(entry.name)
        ),
    ]
