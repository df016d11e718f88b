"""The tasks, networks and instruments that studies share."""

from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from seqlab.studies.from_recurrence_to_attention import marked_symbols
from seqlab.studies.kit.critical_path import critical_path_length
from seqlab.studies.kit.cue_and_question import NUM_CUES, NUM_NOISE, RecallTask
from seqlab.studies.kit.saved_memory import saved_for_backward
from seqlab.studies.kit.small_models import FixedWindowModel, PerStepModel, SmallRecurrentModel, cell_maker
from seqlab.studies.kit.small_text import small_text
from seqlab.studies.kit.small_training import seeded, train_small
from seqlab.studies.moving_ball import ball_paths, crossing_paths
from seqlab.studies.no_memory import changes, first_signs
from seqlab.studies.truncation import SummaryModel, TruncatedModel
from seqlab.training.optimizers.sgd import SGD


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(5)


@pytest.mark.spec(19)
@pytest.mark.parametrize("gap", [0, 1, 7])
def test_the_cue_comes_first_then_noise_for_the_gap_then_the_question(gap: int) -> None:
    steps, cue = RecallTask(gap).draw(50, generator())
    symbols = steps.argmax(dim=-1)
    assert symbols.shape == (50, gap + 2)
    assert torch.equal(symbols[:, 0], cue)
    assert bool(((symbols[:, 1:-1] >= NUM_CUES) & (symbols[:, 1:-1] < NUM_CUES + NUM_NOISE)).all())
    assert bool((symbols[:, -1] == NUM_CUES + NUM_NOISE).all())
    assert set(cue.tolist()) == set(range(NUM_CUES))


def test_two_cues_differ_and_the_first_is_asked_for() -> None:
    task = RecallTask(3, two_cues=True)
    steps, cue = task.draw(60, generator())
    symbols = steps.argmax(dim=-1)
    assert symbols.shape[1] == task.length == 6
    assert torch.equal(symbols[:, 0], cue)
    assert bool((symbols[:, 1] != cue).all())
    assert bool((symbols[:, 1] < NUM_CUES).all())


def test_two_balls_meet_and_part() -> None:
    one, other = crossing_paths(6)
    assert torch.equal(one[4], other[4])
    assert (one[5] - other[5]).norm() > 0.2
    for path in (one, other, *ball_paths(5, 7, generator())):
        moves = path[1:] - path[:-1]
        assert torch.allclose(moves, moves[:1].expand_as(moves), atol=1e-6)  # straight and at constant speed


def test_labels_of_the_memory_tasks_follow_from_their_signs() -> None:
    steps, labels = changes(3, 5, generator())
    for signs, row in zip(steps[..., 0].tolist(), labels.tolist(), strict=True):
        assert row == [float(now != before) for before, now in zip([1.0, *signs], signs, strict=False)]
    steps, first = first_signs(9, 4, generator())
    assert first.tolist() == [float(signs[0] > 0) for signs in steps[..., 0].tolist()]
    inputs, answers, place = marked_symbols(6, 7, generator())
    assert torch.equal(inputs[torch.arange(6), place, :4].argmax(dim=-1), answers)
    assert torch.equal(inputs[..., 4].sum(dim=1), torch.ones(6))


@pytest.mark.spec(4)
def test_the_per_step_network_sees_its_step_alone() -> None:
    network = PerStepModel(3, 5, 2)
    steps = torch.randn(2, 4, 3, generator=generator())
    other = steps.clone()
    other[:, :3] += 1.0
    assert torch.equal(network(steps)[:, 3], network(other)[:, 3])
    assert not torch.equal(network(steps)[:, 2], network(other)[:, 2])
    alone = torch.stack([network.layers(step) for step in steps.unbind(dim=1)], dim=1)
    assert torch.allclose(network(steps), alone, atol=1e-6)


@pytest.mark.spec(4)
def test_the_fixed_size_classifier_sees_its_last_steps_and_fills_up_short_ones() -> None:
    network = FixedWindowModel(2, 5, num_steps=3)
    steps = torch.randn(4, 6, 2, generator=generator())
    assert torch.equal(network(steps), network(steps[:, 3:]))
    filled = torch.cat([torch.zeros(4, 1, 2), steps[:, :2]], dim=1)
    assert torch.equal(network(steps[:, :2]), network(filled))
    assert network(steps).shape == (4,)


@pytest.mark.spec(88)
def test_gradients_end_at_the_cut_and_the_answer_does_not_change() -> None:
    with seeded(0, "test"):
        model = TruncatedModel(3, 4, k=2)
    steps = torch.randn(2, 7, 3, generator=generator(), requires_grad=True)
    (gradient,) = torch.autograd.grad(model(steps).sum(), steps)
    assert gradient[:, :5].abs().max() == 0
    assert gradient[:, 5:].abs().amin(dim=(1, 2)).min() > 0
    model.k = 7
    whole = model(steps)
    model.k = 2
    assert torch.allclose(model(steps), whole, atol=1e-6)  # the state is carried over the cut


@pytest.mark.spec(89)
def test_a_summary_knows_what_was_there_but_not_in_which_order() -> None:
    with seeded(0, "test"):
        model = SummaryModel(3, 4, k=2)
    steps = torch.randn(2, 7, 3, generator=generator())
    swapped = steps[:, [1, 0, 3, 2, 4, 5, 6]]
    assert torch.allclose(model(steps), model(swapped), atol=1e-6)
    swapped = steps[:, [0, 1, 2, 3, 4, 6, 5]]  # among the steps that are walked
    assert not torch.allclose(model(steps), model(swapped), atol=1e-4)


def test_saved_memory_counts_each_tensor_once_and_no_parameters() -> None:
    weight = nn.Parameter(torch.randn(5, 5))
    rows = torch.randn(7, 5)
    with saved_for_backward() as saved:
        product = rows @ weight  # keeps rows (and weight, which does not count: rows have no gradient)
        kept = [torch.tanh(product), product * product]  # keep tanh's output, and product once
    assert saved.num_bytes == 4 * (7 * 5 + 7 * 5 + 7 * 5)
    assert len(kept) == 2


def test_the_longest_chain_of_a_walk_grows_with_its_steps() -> None:
    cell = cell_maker("rnn")(3, 4)
    chains = []
    for time in (5, 10, 400):  # 400 is beyond what recursion could follow
        state = cell.zero_state(torch.zeros(1, 3))
        for step in torch.randn(time, 1, 3, generator=generator()):
            _, state = cell(step, state)
        chains.append(critical_path_length(state[0]))
    assert chains[1] - chains[0] == 5 * (chains[0] // 5)
    assert chains[2] > 400


def test_plain_descent_follows_the_gradient_and_clipping_shortens_it() -> None:
    for clip, move in ((0.0, 0.1 * 6.0), (2.0, 0.1 * 2.0)):
        weight = nn.Parameter(torch.tensor([3.0]))
        model = nn.Module()
        model.weight = weight
        run = train_small(
            model,
            lambda weight=weight: weight.square().sum(),
            steps=1,
            learning_rate=0.1,
            clip_norm=clip,
            build_optimizer=SGD,
            constant=True,
        )
        assert weight.item() == pytest.approx(3.0 - move)
        assert run.norms == pytest.approx([6.0])
        assert run.losses == pytest.approx([9.0])


def test_training_stops_where_the_loss_is_no_number() -> None:
    model = nn.Linear(1, 1)
    values = iter([1.0, 2.0, math.inf, 1.0])
    run = train_small(model, lambda: next(values) * model(torch.ones(1, 1)).sum(), steps=4)
    assert len(run.losses) == 3
    assert run.diverged


def test_seeded_weights_repeat_and_leave_the_callers_numbers_alone() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    found = []
    for _ in range(2):
        with seeded(4, "a") as data:
            found.append(
                (
                    SmallRecurrentModel(3, cell_maker("gru"), 4, 2).head.weight.detach().clone(),
                    torch.rand(2, generator=data),
                )
            )
    assert torch.equal(torch.rand(3), expected)
    assert torch.equal(found[0][0], found[1][0])
    assert torch.equal(found[0][1], found[1][1])


@pytest.mark.parametrize(("name", "gate"), [("lstm", 1), ("gru", 1)])
def test_a_cell_told_to_remember_opens_the_gate_that_keeps(name: str, gate: int) -> None:
    cell = cell_maker(name, keep_bias=50.0)(3, 4)
    assert cell.bias is not None
    assert cell.bias[gate * 4 : gate * 4 + 4].tolist() == [50.0] * 4
    state = tuple(torch.randn(2, size, generator=generator()) for size in cell.state_sizes)
    _, after = cell(torch.randn(2, 3, generator=generator()), state)
    if name == "gru":
        assert torch.allclose(after[0], state[0], atol=1e-5)
    else:
        assert (after[1] - state[1]).abs().max() < 1.0  # all of the old memory is there, and what was written


def test_the_small_text_is_split_and_shifted_by_one() -> None:
    text = small_text()
    tokens, targets = text.draw(3, 11, generator())
    assert torch.equal(tokens[:, 1:], targets[:, :-1])
    rows, following = text.valid_rows(7, 5)
    assert rows.flatten()[1:].tolist() == following.flatten()[:-1].tolist()
    assert 2.5 < text.unigram_nats < math.log(text.num_symbols)
