"""Few queries at a time give what the attention of a whole pass gives."""

from __future__ import annotations

import pytest
import torch

from seqlab.attention.few_queries import BMM_MIN_SEQUENCES, BMM_MIN_STEPS, attend_few_queries
from seqlab.attention.heads import attend_heads
from seqlab.attention.masks import AttentionMask


@pytest.mark.parametrize("kv_heads", [6, 2])
@pytest.mark.parametrize("with_padding", [False, True])
@pytest.mark.parametrize(
    ("batch", "source"),
    [(BMM_MIN_SEQUENCES - 1, 20), (BMM_MIN_SEQUENCES, BMM_MIN_STEPS - 1), (BMM_MIN_SEQUENCES, BMM_MIN_STEPS)],
)
def test_they_see_what_they_may_see(batch: int, source: int, with_padding: bool, kv_heads: int) -> None:
    generator = torch.Generator().manual_seed(1)
    q = torch.randn(batch, 3, 6, 5, generator=generator, dtype=torch.float64).transpose(1, 2)
    k, v = torch.randn(2, batch, kv_heads, source + 4, 5, generator=generator, dtype=torch.float64)[
        :, :, :, :source
    ]  # with room behind
    may_attend = (torch.arange(source) <= torch.arange(batch)[:, None])[:, None, None, :]
    bias = torch.zeros(may_attend.shape, dtype=torch.float64).masked_fill(~may_attend, -torch.inf)
    expected = attend_heads(q, k, v, AttentionMask(may_attend if with_padding else None))
    found = attend_few_queries(q, k, v, bias if with_padding else None)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
