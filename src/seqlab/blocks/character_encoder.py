"""Encode the characters of a word as one vector, in two ways.

convolutional   features of every window of each width, followed by max-pooling
recurrent       a bidirectional LSTM, whose two final states are concatenated
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.blocks.embedding import TokenEmbedding
from seqlab.blocks.recurrent import build_stack
from seqlab.cells.lstm import LSTM

PAD_CHARACTER = 0
"""The id that pads the rows of short words."""
EMBEDDING_STD = 0.3


class CharacterEncoder(nn.Module, ABC):
    """Maps each row of character ids to one vector.

    Padding has no effect, and a row of padding only gives a vector, too.
    """

    output_size: int

    @abstractmethod
    def forward(self, characters: Int[Tensor, "words characters"]) -> Float[Tensor, "words hidden"]: ...


class CharacterCNN(CharacterEncoder):
    """feature = max over places p of relu(W · [embed(c_p), …, embed(c_{p+width-1})] + b), for several widths.

    A window may extend past the end of the word, which is padded with zeros. `output_size` is divided among
    the widths.

    W · [embed(c_p), …] = Σ_k W_k embed(c_{p+k}), and W_k embed(c) does not depend on the position of c: it is
    computed once for every character and then looked up. That takes less than half the time of a convolution
    over all positions.

    Papers: dos Santos & Zadrozny 2014, "Learning Character-level Representations for Part-of-Speech Tagging",
    ICML; several widths with max-pooling: Kim et al. 2016, "Character-Aware Neural Language Models",
    arXiv:1508.06615.
    """

    def __init__(
        self, num_characters: int, output_size: int, *, embedding_size: int, widths: Sequence[int]
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.embed = TokenEmbedding(num_characters, embedding_size, pad_id=PAD_CHARACTER, std=EMBEDDING_STD)
        share, left = divmod(output_size, len(widths))
        sizes = [share + (place < left) for place in range(len(widths))]
        self.windows = nn.ModuleList(
            nn.Conv1d(embedding_size, size, width) for width, size in zip(widths, sizes, strict=True) if size
        )

    def forward(self, characters: Int[Tensor, "words characters"]) -> Float[Tensor, "words hidden"]:
        is_begin = characters != PAD_CHARACTER  # (words, characters): a window begins at a real character
        flat_places = is_begin.flatten().nonzero().squeeze(1)  # (places,)
        pooled = []
        for windows in self.windows:
            assert isinstance(windows, nn.Conv1d)
            sums = self._sums(windows, characters, is_begin)  # (places, features)
            everywhere = sums.new_full((characters.numel(), sums.shape[1]), -torch.inf).index_copy(
                0, flat_places, sums
            )
            largest = everywhere.unflatten(0, characters.shape).amax(dim=1)  # (words, features)
            pooled.append(F.relu(largest + windows.bias))
        return torch.cat(pooled, dim=1)

    def _sums(
        self,
        windows: nn.Conv1d,
        characters: Int[Tensor, "words characters"],
        is_begin: Bool[Tensor, "words characters"],
    ) -> Float[Tensor, "places features"]:
        """Σ_k W_k embed(c_{p+k}) at every position where a window begins."""
        width, num_characters = windows.kernel_size[0], self.embed.num_embeddings
        embedded = self.embed(torch.arange(num_characters, device=characters.device).unsqueeze(0))[
            0
        ]  # padding stays zero
        by_place = torch.einsum("ce, fek -> kcf", embedded, windows.weight)  # (width, characters, features)
        seen = F.pad(characters, (0, width - 1)).unfold(1, width, 1)[is_begin]  # (places, width)
        rows = seen + num_characters * torch.arange(width, device=seen.device)
        return F.embedding_bag(rows, by_place.flatten(0, 1), mode="sum")


class CharacterLSTM(CharacterEncoder):
    """vector = [last forward state ; last backward state].

    Papers: Ling et al. 2015, "Finding Function in Form", arXiv:1508.02096; Lample et al. 2016, "Neural
    Architectures for Named Entity Recognition", arXiv:1603.01360, section 4.1.
    """

    def __init__(self, num_characters: int, output_size: int, *, embedding_size: int) -> None:
        super().__init__()
        self.output_size = output_size
        self.embed = TokenEmbedding(num_characters, embedding_size, pad_id=PAD_CHARACTER, std=EMBEDDING_STD)
        self.stack = build_stack(embedding_size, LSTM, [(output_size + 1) // 2], bidirectional=True)

    def forward(self, characters: Int[Tensor, "words characters"]) -> Float[Tensor, "words hidden"]:
        is_character = characters != PAD_CHARACTER  # (words, characters)
        is_character[:, 0] = True  # an empty row counts as one character: no scan is empty
        _, (forward_state, _, backward_state, _) = self.stack(
            self.embed(characters), is_character
        )  # (words, hidden / 2) each
        return torch.cat([forward_state, backward_state], dim=1)[:, : self.output_size]
