"""The whole recipe: every setting of a run, with its default and its sentence of help."""

from __future__ import annotations

from typing import Any

import tomli_w
from pydantic import Field

from seqlab.core.settings import SettingHelp, Settings, describe
from seqlab.decoding.settings import DecodingSettings
from seqlab.models.settings import MODEL_KINDS, ModelSettings, RecurrentSettings
from seqlab.sources.settings import DataSettings
from seqlab.tokens.settings import TokenSettings
from seqlab.training.settings import TrainingSettings

FORMAT = 1

SECTIONS: dict[str, tuple[type[Settings], ...]] = {
    "data": (DataSettings,),
    "tokens": (TokenSettings,),
    "model": tuple(MODEL_KINDS.values()),
    "training": (TrainingSettings,),
    "decoding": (DecodingSettings,),
}


class Recipe(Settings):
    """Everything that defines a run. Written into the run folder with every default spelled out."""

    format: int = Field(FORMAT, description="Version of the recipe format.")
    task: str = Field("", description="The job: classification or language_model; guessed from the data when empty.")
    data: DataSettings = Field(default_factory=DataSettings, description="Which files, which columns, which part is held out.")
    tokens: TokenSettings = Field(default_factory=TokenSettings, description="How text becomes ids.")
    model: ModelSettings = Field(default_factory=RecurrentSettings, description="The network; a short name such as lstm stands for a whole section.")
    training: TrainingSettings = Field(default_factory=TrainingSettings, description="The budget, the batches, the optimizer and when to stop.")
    decoding: DecodingSettings = Field(default_factory=DecodingSettings, description="How a language model chooses the next token.")

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
    """Every setting of a section with its dotted name; a setting of several model kinds is listed once per kind that has it."""
    return [entry for kind in SECTIONS[section] for entry in describe(kind, prefix=f"{section}.")]
