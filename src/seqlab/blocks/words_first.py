"""Move the words of every sentence to the front if other steps are in between."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor


def words_first(
    values: Shaped[Tensor, "batch time *rest"], is_word: Bool[Tensor, "batch time"]
) -> Shaped[Tensor, "batch words *rest"]:
    """The values at words, moved to the front in order; the result has as many steps as the longest sentence
    has words.

    >>> words_first(torch.tensor([[5, 6, 7]]), torch.tensor([[False, True, True]])).tolist()
    [[6, 7]]
    """
    most = int(is_word.sum(dim=1).max())
    if bool((is_word[:, :-1] >= is_word[:, 1:]).all()):  # the words already come first in every sentence
        return values[:, :most]
    order = torch.argsort((~is_word).byte(), dim=1, stable=True)[:, :most]  # (batch, words)
    return values[torch.arange(len(values), device=values.device).unsqueeze(1), order]
