"""Recurrent decoders: the encoder's end as their first state or before their eyes, attention after the walk, or attention at every step of it."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.attention.attend import Attention, Source
from seqlab.blocks.attention_step import ContextBeforeOutput, InputFeeding
from seqlab.blocks.bridge import Bridge
from seqlab.blocks.dropout import Dropout
from seqlab.blocks.recurrent import RecurrentStack
from seqlab.models.base import State
from seqlab.models.decoders.base import Alignment, Decoder, Writing

Steps = Float[Tensor, "hypotheses time input"]
Features = Float[Tensor, "hypotheses time output"]
IsToken = Bool[Tensor, "hypotheses time"]


class FixedContextDecoder(Decoder):
    """A stack of recurrent layers that starts from what the encoder's end became: one vector for the whole source.

    Paper: Sutskever et al. 2014, "Sequence to Sequence Learning with Neural Networks", arXiv:1409.3215.

    Of the past it keeps the number of steps so far and the parts of the state.
    """

    def __init__(self, stack: RecurrentStack, bridge: Bridge, *, input_size: int, dropout: float) -> None:
        super().__init__()
        self.stack = stack
        self.bridge = bridge
        self.dropout = Dropout(dropout)
        self.input_size = input_size
        self.output_size = stack.output_size

    def start(self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"], ended: State) -> Writing:
        counts = torch.zeros(len(features), dtype=torch.long, device=features.device)
        return Writing(self.read(features, is_token), (counts, *self.bridge(features, is_token, ended)))

    def read(self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"]) -> State:
        """What is kept of the source for the steps to come; here nothing."""
        return ()

    def forward(self, steps: Steps, is_token: IsToken, writing: Writing) -> tuple[Features, Writing]:
        features, writing, _ = self.align(steps, is_token, writing)
        return features, writing

    def align(self, steps: Steps, is_token: IsToken, writing: Writing) -> tuple[Features, Writing, Alignment | None]:
        counts, *state = writing.past
        outputs, ended = self.stack(self.dropout(steps), is_token, tuple(state))
        return self.dropout(outputs), writing.after((counts + is_token.sum(dim=1), *ended)), None


class ConstantContextDecoder(FixedContextDecoder):
    """c = f(the encoder's end) stays before the decoder's eyes: it enters every step beside the token, and the output again.

        state_t = cell([token_t; c], state_{t-1}),   output_t = tanh(W [c; state_t])

    Still one vector for the whole source, but the state need not carry it from the first step to the last.
    Paper: Cho et al. 2014, "Learning Phrase Representations using RNN Encoder-Decoder", arXiv:1406.1078, section 2.2.
    """

    def __init__(self, stack: RecurrentStack, bridge: Bridge, summary: Bridge, *, input_size: int, dropout: float) -> None:
        super().__init__(stack, bridge, input_size=input_size, dropout=dropout)
        self.summary = summary
        self.combine = nn.Linear(sum(summary.sizes) + stack.output_size, stack.output_size, bias=False)

    def start(self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"], ended: State) -> Writing:
        return Writing(self.summary(features, is_token, ended), super().start(features, is_token, ended).past)

    def align(self, steps: Steps, is_token: IsToken, writing: Writing) -> tuple[Features, Writing, Alignment | None]:
        counts, *state = writing.past
        (context,) = writing.source  # (batch, size)
        hypotheses, time, _ = steps.shape
        shown = self.dropout(context).repeat_interleave(hypotheses // len(context), dim=0).unsqueeze(1).expand(-1, time, -1)
        outputs, ended = self.stack(torch.cat([self.dropout(steps), shown], dim=-1), is_token, tuple(state))
        joined = torch.tanh(self.combine(torch.cat([shown, outputs], dim=-1)))
        return self.dropout(joined), writing.after((counts + is_token.sum(dim=1), *ended)), None


class AttentiveDecoder(FixedContextDecoder):
    """output_t = [state_t; context_t]: all steps are walked first, then all look at the source at once.

    Paper: Luong et al. 2015, "Effective Approaches to Attention-based Neural Machine Translation", arXiv:1508.04025, section 3.
    """

    def __init__(self, stack: RecurrentStack, bridge: Bridge, look: ContextBeforeOutput, *, input_size: int, dropout: float) -> None:
        super().__init__(stack, bridge, input_size=input_size, dropout=dropout)
        self.look = look
        self.output_size = look.output_size

    def read(self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"]) -> State:
        return (is_token, *self.look.attention.read(features))

    def align(self, steps: Steps, is_token: IsToken, writing: Writing) -> tuple[Features, Writing, Alignment | None]:
        counts = writing.past[0]
        outputs, after, _ = super().align(steps, is_token, writing)
        places = counts[:, None] + torch.arange(steps.shape[1], device=counts.device)  # (hypotheses, time)
        contexts, alignment = look_at_source(self.look.attention, outputs, writing.source, places)
        return self.look.join(self.dropout(contexts), outputs), after, alignment


class InputFeedingDecoder(FixedContextDecoder):
    """attentional_t = tanh(W [context_t; state_t]) is the output, and enters the next step beside its token: steps wait for each other.

    Paper: Luong et al. 2015, arXiv:1508.04025, section 3.3.

    Of the past it keeps the last attentional vector too.
    """

    def __init__(self, stack: RecurrentStack, bridge: Bridge, look: InputFeeding, *, input_size: int, dropout: float) -> None:
        super().__init__(stack, bridge, input_size=input_size, dropout=dropout)
        self.look = look
        self.output_size = look.output_size

    def start(self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"], ended: State) -> Writing:
        writing = super().start(features, is_token, ended)
        return writing.after((*writing.past, self.look.first(features)))

    def read(self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"]) -> State:
        return (is_token, *self.look.attention.read(features))

    def align(self, steps: Steps, is_token: IsToken, writing: Writing) -> tuple[Features, Writing, Alignment | None]:
        counts, *state, attentional = writing.past
        found, alignments = [], []
        for step, is_real in zip(self.dropout(steps).unbind(1), is_token.unbind(1), strict=True):
            fed = self.look.feed(step, attentional).unsqueeze(1)  # (hypotheses, 1, input + attentional)
            outputs, after = self.stack(fed, torch.ones_like(is_real).unsqueeze(1), tuple(state))
            contexts, alignment = look_at_source(self.look.attention, outputs, writing.source, counts.unsqueeze(1))
            joined = self.dropout(self.look.join(contexts, outputs)).squeeze(1)
            found.append(joined)
            alignments.append(alignment)
            kept = is_real.unsqueeze(1)  # padding leaves everything as it was
            state = [torch.where(kept, new, old) for new, old in zip(after, state, strict=True)]
            attentional = torch.where(kept, joined, attentional)
            counts = counts + is_real
        return torch.stack(found, dim=1), writing.after((counts, *state, attentional)), torch.cat(alignments, dim=1)


def look_at_source(
    attention: Attention, queries: Float[Tensor, "hypotheses time query"], source: State, places: Int[Tensor, "hypotheses time"]
) -> tuple[Float[Tensor, "hypotheses time value"], Alignment]:
    """The contexts of all hypotheses: those of one source are further queries to it."""
    is_token, keys, values = source
    hypotheses, time = places.shape
    side_by_side = queries.reshape(len(is_token), -1, queries.shape[2])
    contexts, alignment = attention.look(side_by_side, Source(keys, values), is_token.unsqueeze(1), places=places.reshape(len(is_token), -1))
    return contexts.reshape(hypotheses, time, -1), alignment.reshape(hypotheses, time, -1)
