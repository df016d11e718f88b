"""Convolutional networks: dilated convolutions that double the dilation in each layer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from jaxtyping import Bool, Float
from torch import Tensor, nn

from seqlab.blocks.convolution import ConvolutionLayer
from seqlab.core.errors import ArgumentError
from seqlab.models.base import Backbone, ModelState, backbones
from seqlab.models.settings.convolutional import ConvolutionalSettings


@backbones.register("convolutional")
class ConvolutionalBackbone(Backbone):
    """Residual convolutions with dilations 1, 2, 4, …: the receptive field is 1 + (kernel - 1)(2^layers - 1)
    steps.

    Paper: Bai et al. 2018, "An Empirical Evaluation of Generic Convolutional and Recurrent Networks",
    arXiv:1803.01271.
    """

    is_stateful = False

    def __init__(self, layers: Sequence[ConvolutionLayer], *, hidden_size: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.norm = nn.LayerNorm(hidden_size)
        self.input_size = self.output_size = hidden_size
        self.receptive_field = 1 + sum(layer.context_size for layer in layers)

    @classmethod
    def from_settings(cls, settings: ConvolutionalSettings, *, causal: bool) -> Self:
        if not causal and settings.kernel_size % 2 == 0:
            raise ArgumentError(
                "kernel_size",
                settings.kernel_size,
                f"a kernel of {settings.kernel_size} steps has no center.",
                allowed="odd numbers",
                cure=f"Use {settings.kernel_size - 1} or {settings.kernel_size + 1}.",
            )
        layers = [
            ConvolutionLayer(
                settings.hidden_size,
                kernel_size=settings.kernel_size,
                dilation=2**depth,
                causal=causal,
                dropout=settings.dropout,
            )
            for depth in range(settings.layers)
        ]
        return cls(layers, hidden_size=settings.hidden_size)

    def forward(
        self,
        steps: Float[Tensor, "batch time input"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], ModelState]:
        left_contexts: list[Tensor] = []
        for depth, layer in enumerate(self.layers):
            steps, left_context = layer(steps, is_token, None if state is None else state[depth])
            left_contexts.append(left_context)
        return self.norm(steps), tuple(left_contexts)
