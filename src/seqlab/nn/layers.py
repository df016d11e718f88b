"""The names that seqlab.nn has of its own; all others are torch.nn's."""

from __future__ import annotations

from seqlab.nn.cells import GRUCell, LSTMCell, RNNCell
from seqlab.nn.gru import GRU
from seqlab.nn.lstm import LSTM
from seqlab.nn.multihead_attention import MultiheadAttention
from seqlab.nn.rnn import RNN
from seqlab.nn.torch_layers import to_torch
from seqlab.nn.transformer import Transformer
from seqlab.nn.transformer_decoder import TransformerDecoder
from seqlab.nn.transformer_decoder_layer import TransformerDecoderLayer
from seqlab.nn.transformer_encoder import TransformerEncoder
from seqlab.nn.transformer_encoder_layer import TransformerEncoderLayer

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "GRUCell",
    "LSTMCell",
    "MultiheadAttention",
    "RNNCell",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "to_torch",
]
