"""The short name of a model: what `--model` would be called for its settings. Does not import torch."""

from __future__ import annotations

from seqlab.models.aliases import MODEL_ALIASES
from seqlab.models.settings.section import ModelSettings


def short_name(settings: ModelSettings) -> str:
    """The name that says most about the settings: `bilstm` rather than `lstm`, `bert-base` rather than
    `transformer`.

    >>> from seqlab.models.settings.convolutional import ConvolutionalSettings
    >>> from seqlab.models.settings.recurrent import RecurrentSettings
    >>> short_name(RecurrentSettings(bidirectional=True)), short_name(RecurrentSettings(cell={"kind": "gru"}))
    ('bilstm', 'gru')
    >>> short_name(ConvolutionalSettings())
    'cnn'
    """
    values = settings.model_dump()
    if isinstance(values.get("cell"), dict):
        values["cell"] = values["cell"]["kind"]
    fitting = {
        name: alias
        for name, alias in MODEL_ALIASES.items()
        if all(values.get(key) == value for key, value in alias.items())
    }
    most = max(map(len, fitting.values()), default=0)
    names = [name for name, alias in fitting.items() if len(alias) == most]
    return min(names, key=len) if names else settings.kind
