"""The attention of the class token of a Vision Transformer, as plain numbers."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.attention.recording import record_alignments
from seqlab.blocks.class_token import ClassToken
from seqlab.blocks.image import Images
from seqlab.blocks.patches import count_patches
from seqlab.core.errors import UsageError
from seqlab.models.images.vision_transformer import VisionTransformer


@torch.inference_mode()
def class_token_attention(
    network: VisionTransformer, images: Images
) -> Float[Tensor, "batch layers heads rows columns"]:
    """For every image, layer and head: the share of the class token's attention that each patch gets.

    The shares of an image sum to less than 1, since the token also attends to itself.
    """
    if not isinstance(network.class_token, ClassToken):
        raise UsageError("this network has no class token.", cure="Train one with model.pooling=first.")
    rows, columns = count_patches(images.shape[2], images.shape[3], network.patches.patch_size)
    with record_alignments(network) as recorded:
        network(images)
    alignments = [
        calls[0][:, :, 0, 1:] for calls in recorded.values()
    ]  # (batch, heads, patches) for each layer
    return torch.stack(alignments, dim=1).unflatten(-1, (rows, columns))
