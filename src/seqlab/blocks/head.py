"""Classification heads: from one vector to the logits of the classes."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.dropout import Dropout


def linear_head(size: int, num_classes: int) -> nn.Linear:
    """logits = W x + b, initialized near zero, since large features would otherwise give confident
    predictions before training.
    """
    head = nn.Linear(size, num_classes)
    nn.init.normal_(head.weight, std=0.01)
    nn.init.zeros_(head.bias)
    return head


class MLPHead(nn.Module):
    """logits = V dropout(relu(W x + b)) + c.

    Two mutually exclusive classes share one logit z: the logits are (0, z), so their softmax gives σ(z) to
    the second class.
    """

    def __init__(
        self, size: int, num_classes: int, *, hidden_size: int, dropout: float, is_exclusive: bool = True
    ) -> None:
        super().__init__()
        self.hidden = nn.Linear(size, hidden_size)
        self.dropout = Dropout(dropout)
        self.has_one_logit = is_exclusive and num_classes == 2
        self.output = linear_head(hidden_size, 1 if self.has_one_logit else num_classes)

    def forward(self, features: Float[Tensor, "batch hidden"]) -> Float[Tensor, "batch classes"]:
        logits = self.output(self.dropout(F.relu(self.hidden(features))))
        return torch.cat([torch.zeros_like(logits), logits], dim=-1) if self.has_one_logit else logits
