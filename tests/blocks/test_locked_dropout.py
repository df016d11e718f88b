"""One mask per sequence, the same at all of its steps."""

from __future__ import annotations

import torch

from seqlab.blocks.locked_dropout import LockedDropout

SEQUENCES = torch.tensor([0, 1, 2, 0, 1, 0])  # of packed rows


def test_all_rows_of_a_sequence_share_a_mask_and_sequences_differ() -> None:
    torch.manual_seed(1)
    dropped = LockedDropout(0.5)(torch.ones(6, 50), SEQUENCES, 3)
    for row, other in [(0, 3), (0, 5), (1, 4)]:
        assert torch.equal(dropped[row], dropped[other])
    assert not torch.equal(dropped[0], dropped[1])
    assert not torch.equal(dropped[1], dropped[2])


def test_what_stays_is_scaled_so_that_the_mean_stays() -> None:
    torch.manual_seed(1)
    dropped = LockedDropout(0.25)(torch.ones(400, 100), torch.arange(400), 400)
    assert {round(value, 4) for value in dropped.unique().tolist()} == {0.0, round(1 / 0.75, 4)}
    assert abs(dropped.mean().item() - 1) < 0.01


def test_the_gradient_goes_through_the_same_mask() -> None:
    rows = torch.randn(6, 50, requires_grad=True)
    dropped = LockedDropout(0.5)(rows, SEQUENCES, 3)
    (gradient,) = torch.autograd.grad(dropped.sum(), rows)
    torch.testing.assert_close(gradient * rows, dropped)


def test_nothing_is_left_out_after_training_or_with_a_share_of_zero() -> None:
    rows = torch.randn(6, 5)
    assert LockedDropout(0.5).eval()(rows, SEQUENCES, 3) is rows
    assert LockedDropout(0.0)(rows, SEQUENCES, 3) is rows
