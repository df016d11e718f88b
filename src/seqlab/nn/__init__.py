"""Drop-in replacements for torch.nn built on seqlab's cells, attention and blocks: the same names, arguments,
shapes and state dicts.

>>> from seqlab import nn
>>> nn.LSTM(10, 20, cell="coupled")
LSTM(10, 20, cell=coupled_lstm)
"""

from __future__ import annotations

from seqlab.nn.cells import GRUCell, LSTMCell, RNNCell
from seqlab.nn.gru import GRU
from seqlab.nn.lstm import LSTM
from seqlab.nn.multihead_attention import MultiheadAttention
from seqlab.nn.rnn import RNN
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
]
