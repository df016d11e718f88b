"""A language model: predicts the next token at every step."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.dropout import Dropout
from seqlab.blocks.embedding import TokenEmbedding
from seqlab.losses.base import LossValue
from seqlab.losses.token_loss import TokenLoss
from seqlab.models.base import Backbone, ModelState
from seqlab.models.document_boundaries import DocumentPieces
from seqlab.models.recurrent import RecurrentBackbone


class LanguageModel(nn.Module):
    """logits_t = W backbone(embed(tokens))_t + b, where the backbone has seen tokens up to t.

    If tied, W is the embedding table. Paper: Press & Wolf 2017, "Using the Output Embedding to Improve
    Language Models", arXiv:1608.05859.

    start_id: the token with which every document of a stream begins. A recurrent backbone resets to its
    initial state there, even in the middle of a row and regardless of the given state.
    """

    def __init__(
        self,
        embed: TokenEmbedding,
        backbone: Backbone,
        *,
        dropout: float,
        tied: bool,
        start_id: int | None = None,
    ) -> None:
        super().__init__()
        self.embed = embed
        self.backbone = backbone
        self.dropout = Dropout(dropout)
        num_tokens = embed.num_embeddings
        self.bias = nn.Parameter(torch.zeros(num_tokens))
        self.weight = (
            None
            if tied
            else nn.Parameter(torch.randn(num_tokens, backbone.output_size) * backbone.output_size**-0.5)
        )
        self.start_id = start_id

    def forward(
        self,
        tokens: Int[Tensor, "batch time"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None = None,
        *,
        loss: TokenLoss | None = None,
        detach_every: int = 0,
    ) -> tuple[Float[Tensor, "batch time vocab"] | LossValue, ModelState]:
        """The logits of the next token at each step or, if a loss is given, its value; and the state after
        the last token.

        detach_every: gradients flow back over at most this many steps (truncated backpropagation through
        time); 0 means no limit.
        """
        features, state = self._read_in_pieces(
            tokens, is_token, state, detach_every or tokens.shape[1]
        )  # (batch, time, output)
        return (
            F.linear(features, self.output_weight, self.bias)
            if loss is None
            else loss(features, self.output_weight, self.bias)
        ), state

    @torch.no_grad()
    def init_bias_from_counts(self, counts: Float[Tensor, " vocab"]) -> None:
        """b_w = log((count_w + ½) / Σ (count + ½)): initialize the bias to the log frequencies of the tokens.

        The bias of a rare token has to fall by ten or more. An Adam step is about as large as the learning
        rate, so this would take thousands of updates.
        """
        self.bias.copy_(((counts + 0.5) / (counts + 0.5).sum()).log())

    @property
    def output_weight(self) -> Float[Tensor, "vocab output"]:
        """W: one row for each token of the vocabulary."""
        return self.embed.weight if self.weight is None else self.weight

    def features(
        self,
        tokens: Int[Tensor, "batch time"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None = None,
    ) -> tuple[Float[Tensor, "batch time output"], ModelState]:
        """The input of the output layer at every step.

        For a large vocabulary a loss need not compute all logits at once.
        """
        features, state = self._run_backbone(tokens, is_token, state)
        return self.dropout(features), state

    def _read_in_pieces(
        self,
        tokens: Int[Tensor, "batch time"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None,
        size: int,
    ) -> tuple[Float[Tensor, "batch time output"], ModelState]:
        """Like `read`, with the state detached after every `size` steps."""
        if tokens.shape[1] <= size:
            return self.features(tokens, is_token, state)
        pieces = []
        for piece, is_real in zip(tokens.split(size, dim=1), is_token.split(size, dim=1), strict=True):
            features, state = self.features(
                piece, is_real, None if state is None else tuple(part.detach() for part in state)
            )
            pieces.append(features)
        assert state is not None
        return torch.cat(pieces, dim=1), state

    def _run_backbone(
        self,
        tokens: Int[Tensor, "batch time"],
        is_token: Bool[Tensor, "batch time"],
        state: ModelState | None,
    ) -> tuple[Float[Tensor, "batch time output"], ModelState]:
        if self.start_id is None or not bool((tokens == self.start_id).any()):
            return self.backbone(self.embed(tokens), is_token, state)
        assert isinstance(self.backbone, RecurrentBackbone), (
            "only a recurrent backbone accepts an initial state"
        )
        documents = DocumentPieces.split(tokens, is_token, start_id=self.start_id)
        steps = self.embed(documents.tokens)  # (pieces, longest, input)
        before = (
            None
            if state is None
            else documents.initial_states(state, self.backbone.initial_state(len(steps), steps))
        )
        features, after = self.backbone(steps, documents.is_token, before)
        return documents.merge_features(features, is_token), documents.final_states(after)
