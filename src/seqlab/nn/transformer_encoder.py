"""torch.nn.TransformerEncoder: a stack of layers that attend to a source."""

from __future__ import annotations

from torch import Tensor, nn

from seqlab.nn.attention_masks import is_causal_mask
from seqlab.nn.fx_node import as_fx_node
from seqlab.nn.torch_layers import HasTorchLayer, adopt
from seqlab.nn.unknown_arguments import suggests_arguments

TorchTransformerEncoder = nn.TransformerEncoder
"""torch's original class, captured because a user may replace it in torch.nn with seqlab's."""


class TransformerEncoder(HasTorchLayer, nn.TransformerEncoder):
    """torch.nn.TransformerEncoder: same arguments, inputs, outputs and parameters.

    Layers may come from torch, from seqlab or from your own code. Padding is masked, not removed:
    enable_nested_tensor and mask_check are accepted, have no effect and cause no warning. The output at
    padded steps is the same in training and evaluation.
    """

    @suggests_arguments
    def __init__(
        self,
        encoder_layer: nn.Module,
        num_layers: int,
        norm: nn.Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__(encoder_layer, num_layers, norm, enable_nested_tensor=False, mask_check=mask_check)  # type: ignore[arg-type] # any layer
        self.enable_nested_tensor = enable_nested_tensor

    def forward(
        self,
        src: Tensor,
        mask: Tensor | None = None,
        src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        if (node := as_fx_node(self, src, mask, src_key_padding_mask, is_causal)) is not None:
            return node
        causal = is_causal_mask(mask, is_causal, num_steps(src, self.layers))
        for layer in self.layers:
            src = layer(src, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        return src if self.norm is None else self.norm(src)

    def to_torch(self) -> nn.Module:
        torch_stack = TorchTransformerEncoder(
            self.layers[0], 0, self.norm, enable_nested_tensor=False, mask_check=self.mask_check
        )
        torch_stack.num_layers = self.num_layers
        return adopt(torch_stack, self)


def num_steps(steps: Tensor, layers: nn.ModuleList) -> int | None:
    """The sequence length, with the axis order of the first layer; None for sequences of several lengths."""
    if steps.is_nested:
        return None
    batch_first = getattr(getattr(layers[0], "self_attn", None), "batch_first", False)
    return steps.shape[1 if batch_first and steps.dim() == 3 else 0]
