"""Recurrent decoders: conditioned on the encoder's final state, only initially or at every step, or with
attention after or inside the scan.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from seqlab.attention.attend import Attention, ProjectedSource
from seqlab.blocks.attention_step import InputFeeding, OutputAttention
from seqlab.blocks.bridge import Bridge
from seqlab.blocks.dropout import Dropout
from seqlab.blocks.recurrent import RecurrentStack
from seqlab.models.base import ModelState
from seqlab.models.decoders.base import Alignment, Decoder, DecoderState

Steps = Float[Tensor, "hypotheses time input"]
Features = Float[Tensor, "hypotheses time output"]
IsToken = Bool[Tensor, "hypotheses time"]


class FixedContextDecoder(Decoder):
    """A stack of recurrent layers initialized from the encoder's final state: one vector for the whole
    source.

    Paper: Sutskever et al. 2014, "Sequence to Sequence Learning with Neural Networks", arXiv:1409.3215.

    The cache holds the number of steps so far and the parts of the state.
    """

    def __init__(self, stack: RecurrentStack, bridge: Bridge, *, input_size: int, dropout: float) -> None:
        super().__init__()
        self.stack = stack
        self.bridge = bridge
        self.dropout = Dropout(dropout)
        self.input_size = input_size
        self.output_size = stack.output_size

    def init_state(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: ModelState,
    ) -> DecoderState:
        counts = torch.zeros(len(features), dtype=torch.long, device=features.device)
        return DecoderState(
            self.project_source(features, is_token), (counts, *self.bridge(features, is_token, final_state))
        )

    def project_source(
        self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"]
    ) -> ModelState:
        """What later steps need of the source; nothing here."""
        return ()

    def forward(
        self, steps: Steps, is_token: IsToken, decoder_state: DecoderState
    ) -> tuple[Features, DecoderState]:
        features, decoder_state, _ = self.forward_with_alignment(steps, is_token, decoder_state)
        return features, decoder_state

    def forward_with_alignment(
        self, steps: Steps, is_token: IsToken, decoder_state: DecoderState
    ) -> tuple[Features, DecoderState, Alignment | None]:
        counts, *state = decoder_state.cache
        outputs, final_state = self.stack(self.dropout(steps), is_token, tuple(state))
        return (
            self.dropout(outputs),
            decoder_state.with_cache((counts + is_token.sum(dim=1), *final_state)),
            None,
        )


class ConstantContextDecoder(FixedContextDecoder):
    """The context c = f(the encoder's final state) is an input of every step, together with the token, and of
    the output.

        state_t = cell([token_t; c], state_{t-1}),   output_t = tanh(W [c; state_t])

    This is still one vector for the whole source, but the state need not carry it from the first step to the
    last. Paper: Cho et al. 2014, "Learning Phrase Representations using RNN Encoder-Decoder",
    arXiv:1406.1078, section 2.2.
    """

    def __init__(
        self, stack: RecurrentStack, bridge: Bridge, summary: Bridge, *, input_size: int, dropout: float
    ) -> None:
        super().__init__(stack, bridge, input_size=input_size, dropout=dropout)
        self.summary = summary
        self.combine = nn.Linear(sum(summary.sizes) + stack.output_size, stack.output_size, bias=False)

    def init_state(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: ModelState,
    ) -> DecoderState:
        return DecoderState(
            self.summary(features, is_token, final_state),
            super().init_state(features, is_token, final_state).cache,
        )

    def forward_with_alignment(
        self, steps: Steps, is_token: IsToken, decoder_state: DecoderState
    ) -> tuple[Features, DecoderState, Alignment | None]:
        counts, *state = decoder_state.cache
        (context,) = decoder_state.source  # (batch, size)
        hypotheses, time, _ = steps.shape
        contexts = (
            self.dropout(context)
            .repeat_interleave(hypotheses // len(context), dim=0)
            .unsqueeze(1)
            .expand(-1, time, -1)
        )
        outputs, final_state = self.stack(
            torch.cat([self.dropout(steps), contexts], dim=-1), is_token, tuple(state)
        )
        joined = torch.tanh(self.combine(torch.cat([contexts, outputs], dim=-1)))
        return (
            self.dropout(joined),
            decoder_state.with_cache((counts + is_token.sum(dim=1), *final_state)),
            None,
        )


class AttentiveDecoder(FixedContextDecoder):
    """output_t = [state_t; context_t]: all steps are scanned first, then all attend to the source at once.

    Paper: Luong et al. 2015, "Effective Approaches to Attention-based Neural Machine Translation",
    arXiv:1508.04025, section 3.
    """

    def __init__(
        self,
        stack: RecurrentStack,
        bridge: Bridge,
        attention_step: OutputAttention,
        *,
        input_size: int,
        dropout: float,
    ) -> None:
        super().__init__(stack, bridge, input_size=input_size, dropout=dropout)
        self.look = attention_step
        self.output_size = attention_step.output_size

    def project_source(
        self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"]
    ) -> ModelState:
        return (is_token, *self.look.attention.project_source(features))

    def forward_with_alignment(
        self, steps: Steps, is_token: IsToken, decoder_state: DecoderState
    ) -> tuple[Features, DecoderState, Alignment | None]:
        counts = decoder_state.cache[0]
        outputs, after, _ = super().forward_with_alignment(steps, is_token, decoder_state)
        query_positions = counts[:, None] + torch.arange(
            steps.shape[1], device=counts.device
        )  # (hypotheses, time)
        contexts, alignment = attend_source(
            self.look.attention, outputs, decoder_state.source, query_positions
        )
        return self.look.combine_context(self.dropout(contexts), outputs), after, alignment


class InputFeedingDecoder(FixedContextDecoder):
    """attentional_t = tanh(W [context_t; state_t]) is the output and, with the next token, an input of the
    next step (input feeding), so steps run sequentially.

    Paper: Luong et al. 2015, arXiv:1508.04025, section 3.3.

    The cache also holds the last attentional vector.
    """

    def __init__(
        self,
        stack: RecurrentStack,
        bridge: Bridge,
        attention_step: InputFeeding,
        *,
        input_size: int,
        dropout: float,
    ) -> None:
        super().__init__(stack, bridge, input_size=input_size, dropout=dropout)
        self.look = attention_step
        self.output_size = attention_step.output_size

    def init_state(
        self,
        features: Float[Tensor, "batch source size"],
        is_token: Bool[Tensor, "batch source"],
        final_state: ModelState,
    ) -> DecoderState:
        decoder_state = super().init_state(features, is_token, final_state)
        return decoder_state.with_cache((*decoder_state.cache, self.look.initial_feed(features)))

    def project_source(
        self, features: Float[Tensor, "batch source size"], is_token: Bool[Tensor, "batch source"]
    ) -> ModelState:
        return (is_token, *self.look.attention.project_source(features))

    def forward_with_alignment(
        self, steps: Steps, is_token: IsToken, decoder_state: DecoderState
    ) -> tuple[Features, DecoderState, Alignment | None]:
        counts, *state, attentional = decoder_state.cache
        attentionals, alignments = [], []
        for step, is_real in zip(self.dropout(steps).unbind(1), is_token.unbind(1), strict=True):
            fed = self.look.feed_input(step, attentional).unsqueeze(1)  # (hypotheses, 1, input + attentional)
            outputs, after = self.stack(fed, torch.ones_like(is_real).unsqueeze(1), tuple(state))
            contexts, alignment = attend_source(
                self.look.attention, outputs, decoder_state.source, counts.unsqueeze(1)
            )
            joined = self.dropout(self.look.combine_context(contexts, outputs)).squeeze(1)
            attentionals.append(joined)
            alignments.append(alignment)
            kept = is_real.unsqueeze(1)  # padding changes nothing
            state = [torch.where(kept, new, old) for new, old in zip(after, state, strict=True)]
            attentional = torch.where(kept, joined, attentional)
            counts = counts + is_real
        return (
            torch.stack(attentionals, dim=1),
            decoder_state.with_cache((counts, *state, attentional)),
            torch.cat(alignments, dim=1),
        )


def attend_source(
    attention: Attention,
    queries: Float[Tensor, "hypotheses time query"],
    source: ModelState,
    query_positions: Int[Tensor, "hypotheses time"],
) -> tuple[Float[Tensor, "hypotheses time value"], Alignment]:
    """The contexts of all hypotheses; the hypotheses of one source are treated as additional queries."""
    is_token, keys, values = source
    hypotheses, time = query_positions.shape
    side_by_side = queries.reshape(len(is_token), -1, queries.shape[2])
    contexts, alignment = attention.attend(
        side_by_side,
        ProjectedSource(keys, values),
        is_token.unsqueeze(1),
        query_positions=query_positions.reshape(len(is_token), -1),
    )
    return contexts.reshape(hypotheses, time, -1), alignment.reshape(hypotheses, time, -1)
