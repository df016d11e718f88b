"""A model prepared for searches: the weights of its decoder are packed once for any number of calls."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import nn

from seqlab.decoding.ensemble import Ensemble
from seqlab.decoding.protocol import Seq2SeqModel
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.models.single_step.model import SingleStepDecoder

Placement = tuple[torch.device, torch.dtype]


@dataclass(frozen=True)
class PreparedDecoder:
    """A model in eval mode and its packed decoder. Neither changes in use, so any number of searches in any
    number of threads may share them.

    Packing copies the decoder's weights. A model that has moved to another device or dtype since is packed
    again in every call; call `prepare_decoder` with the model to pack it once. Other changes cannot be
    detected, since fused optimizers update weights in place without a version bump: after a training step,
    `load_state_dict` or `.train()`, call `prepare_decoder` with the model. Forward hooks registered later do
    not fire for single steps.
    """

    model: Seq2SeqModel
    """The model that was prepared, unchanged."""
    step_model: Seq2SeqModel
    """The same logits, sooner where one token follows the other; the model itself where no layout is
    known.
    """
    placement: frozenset[Placement]
    """The devices and dtypes of the weights that were packed."""

    @property
    def device(self) -> torch.device | None:
        """The device of the model's parameters; None for a model without any."""
        return parameter_device(self.model)


DecodableModel = Seq2SeqModel | PreparedDecoder


def prepare_decoder(model: DecodableModel) -> PreparedDecoder:
    """Pack the weights for single steps if that is known to be faster. A prepared decoder is returned
    unchanged, unless its model has moved to another device or dtype.

    It takes about as long as decoding ten tokens of one sentence.
    """
    if isinstance(model, PreparedDecoder):
        return model if model.placement == _placement(model.model) else prepare_decoder(model.model)
    return PreparedDecoder(model, _step_model(model), _placement(model))


def step_model(model: DecodableModel) -> Seq2SeqModel:
    """The network that a search calls. A model that was never prepared is not packed for it."""
    return prepare_decoder(model).step_model if isinstance(model, PreparedDecoder) else model


def parameter_device(model: DecodableModel) -> torch.device | None:
    """The device for the inputs of a model."""
    network = model.model if isinstance(model, PreparedDecoder) else model
    parameter = next(network.parameters(), None) if isinstance(network, nn.Module) else None
    return None if parameter is None else parameter.device


def _placement(model: Seq2SeqModel) -> frozenset[Placement]:
    parameters = model.parameters() if isinstance(model, nn.Module) else ()
    return frozenset((parameter.device, parameter.dtype) for parameter in parameters)


def _step_model(model: Seq2SeqModel) -> Seq2SeqModel:
    if isinstance(model, Ensemble):
        return Ensemble([_step_model(member) for member in model.models])
    if isinstance(model, EncoderDecoder) and SingleStepDecoder.supports(model):
        return SingleStepDecoder(model)
    return model
