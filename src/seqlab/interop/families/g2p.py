"""The GRU encoder-decoder of the package g2p_en: from characters of an English word to phonemes.

Its file is a list of arrays without a config: the assignment of rows to characters and phonemes is defined in
the package's code, and here.

    enc_emb (29, e)    padding, unknown, end of word, a … z
    dec_emb (74, e)    padding, unknown, start, end, the phonemes of ARPAbet in alphabetical order, vowels with their stress
    *_w_ih, *_w_hh     torch's GRU: reset, update, candidate; the reset gate acts after the recurrent product

Source: https://github.com/Kyubyong/g2p (Park and Kim 2019).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from string import ascii_lowercase

import torch
from torch import Tensor

from seqlab.cells.settings import named_cell
from seqlab.core.errors import DataError, listed
from seqlab.interop.families.published_model import PublishedModel
from seqlab.interop.formats.npz import NpzTensors
from seqlab.interop.tensor_map import TensorSpec, as_is, check_tensors
from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.tasks.seq2seq.codec import SPECIALS
from seqlab.tasks.translation.pair_tokens import PairTokens
from seqlab.tokens.characters import Characters
from seqlab.tokens.vocabulary import Vocabulary
from seqlab.tokens.whitespace import Whitespace

VOWELS = ("AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW")
CONSONANTS = (
    "B",
    "CH",
    "D",
    "DH",
    "F",
    "G",
    "HH",
    "JH",
    "K",
    "L",
    "M",
    "N",
    "NG",
    "P",
    "R",
    "S",
    "SH",
    "T",
    "TH",
    "V",
    "W",
    "Y",
    "Z",
    "ZH",
)
PHONEMES = sorted([*CONSONANTS, "UW", *(vowel + stress for vowel in VOWELS for stress in "012")])
"""70 symbols; UW also occurs without stress, as in the published list."""
CHARACTER_ROWS, PHONEME_ROWS = 3 + len(ascii_lowercase), 4 + len(PHONEMES)
ARRAYS = (
    "enc_emb",
    "dec_emb",
    "fc_w",
    "fc_b",
    *(f"{side}_{part}" for side in ("enc", "dec") for part in ("w_ih", "w_hh", "b_ih", "b_hh")),
)
MAX_PHONEMES = 20
"""Maximum number of phonemes that the package generates."""


def read_g2p(path: Path) -> tuple[PublishedModel, NpzTensors, PairTokens]:
    """The model in an .npz file with these arrays."""
    arrays = NpzTensors(path)
    if set(arrays.shapes) != set(ARRAYS) or not all(
        len(arrays.shapes[name]) == 2 for name in ("enc_emb", "enc_w_hh")
    ):
        raise DataError(
            f"the arrays do not belong to a known model{_difference(arrays.shapes)}.",
            where=str(path),
            cure="The only supported .npz file is that of the package g2p_en (checkpoint20.npz).",
        )
    embedding, hidden = arrays.shapes["enc_emb"][1], arrays.shapes["enc_w_hh"][1]
    weights = _weights(embedding, hidden)
    check_tensors(
        weights,
        arrays.shapes,
        unused=(),
        where=str(path),
        described="of a GRU encoder-decoder that reads letters and writes phonemes",
    )
    model = RecurrentSettings(
        cell=named_cell("gru"), hidden_size=hidden, embedding_size=embedding, dropout=0.0, tied=False
    )
    published = PublishedModel(
        family="GRU encoder-decoder of g2p_en",
        task="translation",
        model=model,
        decoder=DecoderSettings(attention="none", bridge="identity"),
        weights=weights,
        vocabulary_size=PHONEME_ROWS,
        context=0,
        notes=[
            "reads the letters a to z, in either case; any other character is unknown",
            f"generates at most {MAX_PHONEMES} phonemes, like the original",
        ],
        sections={
            "tokens": {"kind": "characters", "target_kind": "whitespace", "lowercase": True},
            "decoding": {"max_tokens": MAX_PHONEMES},
        },
    )
    return published, arrays, _tokens()


def _difference(tensor_names: Collection[str]) -> str:
    """Unexpected and missing names; empty if all names are correct."""
    sides = {
        "unknown": [name for name in tensor_names if name not in ARRAYS],
        "missing": [name for name in ARRAYS if name not in tensor_names],
    }
    return "".join(
        f"; {side}: {listed([name[:40] for name in names])}" for side, names in sides.items() if names
    )


def _tokens() -> PairTokens:
    characters = Characters(Vocabulary(list(ascii_lowercase), specials=SPECIALS), lowercase=True)
    return PairTokens(characters, Whitespace(Vocabulary(PHONEMES, specials=SPECIALS)))


def _weights(embedding: int, hidden: int) -> dict[str, TensorSpec]:
    return {
        "embed_source.weight": TensorSpec((("enc_emb", (CHARACTER_ROWS, embedding)),), _character_rows),
        "embed_target.weight": TensorSpec((("dec_emb", (PHONEME_ROWS, embedding)),), _phoneme_rows),
        **_gru("encoder", "enc", embedding, hidden),
        **_gru("decoder", "dec", embedding, hidden),
        "weight": TensorSpec((("fc_w", (PHONEME_ROWS, hidden)),), _phoneme_rows),
        "bias": TensorSpec((("fc_b", (PHONEME_ROWS,)),), _phoneme_rows),
    }


def _gru(new: str, old: str, embedding: int, hidden: int) -> dict[str, TensorSpec]:
    """Only the sum of the two biases of a gate matters, except for the candidate, whose second bias the
    reset gate scales.
    """
    cell, gates = f"{new}.stack.layers.0.cell", 3 * hidden
    inner = (f"{old}_b_hh", (gates,))

    def combined(of_input: Tensor, of_state: Tensor) -> Tensor:
        return of_input + torch.cat([of_state[: 2 * hidden], torch.zeros(hidden)])

    return {
        f"{cell}.input": as_is(f"{old}_w_ih", gates, embedding),
        f"{cell}.recurrent": as_is(f"{old}_w_hh", gates, hidden),
        f"{cell}.bias": TensorSpec(((f"{old}_b_ih", (gates,)), inner), combined),
        f"{cell}.recurrent_bias": TensorSpec((inner,), lambda of_state: of_state[2 * hidden :]),
    }


def _character_rows(table: Tensor) -> Tensor:
    """Published as padding, unknown, end; a source has no start token, so our row for it is zero."""
    padding, unknown, end = table[:3]
    return torch.cat([_specials(unknown, padding, torch.zeros_like(end), end), table[3:]])


def _phoneme_rows(table: Tensor) -> Tensor:
    """Published as padding, unknown, start, end."""
    padding, unknown, start, end = table[:4]
    return torch.cat([_specials(unknown, padding, start, end), table[4:]])


def _specials(unknown: Tensor, padding: Tensor, start: Tensor, end: Tensor) -> Tensor:
    """In the order of SPECIALS."""
    return torch.stack([unknown, padding, start, end])
