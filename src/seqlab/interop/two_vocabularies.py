"""Marian models with a separate vocabulary for each side: vocab.json for the source, target_vocab.json for
the target.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seqlab.core.errors import DataError
from seqlab.interop.families.published_model import PublishedModel
from seqlab.interop.formats.json_files import read_json, read_optional_json
from seqlab.interop.formats.sentencepiece import read_marian_tokenizer
from seqlab.interop.formats.tokenizer_files import (
    MAX_VOCABULARY_BYTES,
    SOURCE,
    TARGET,
    special_pieces,
    with_roles,
)
from seqlab.tasks.translation.pair_tokens import PublishedPairTokens
from seqlab.tokens.hugging_face import HuggingFace

SOURCE_IDS, TARGET_IDS = "vocab.json", "target_vocab.json"
CONFIG, SWITCH = "tokenizer_config.json", "separate_vocabs"


def needs_two_vocabularies(folder: Path, published: PublishedModel) -> bool:
    """Whether the sides have separate vocabularies, according to the tokenizer or to the sizes of their
    tables.
    """
    sizes = {published.vocabulary_size, published.source_vocabulary_size or published.vocabulary_size}
    return published.family == "Marian" and (
        read_optional_json(folder / CONFIG).get(SWITCH) is True or len(sizes) > 1
    )


def read_two_vocabularies(
    folder: Path, published: PublishedModel, *, ids: Mapping[str, Any]
) -> PublishedPairTokens:
    """ids: the config, whose `eos_token_id` and the like are ids of the target."""
    sizes = (
        f"vocab_size {published.source_vocabulary_size:,}, decoder_vocab_size {published.vocabulary_size:,}"
    )
    missing = [name for name in (SOURCE, TARGET, SOURCE_IDS, TARGET_IDS) if not (folder / name).is_file()]
    if missing or read_optional_json(folder / CONFIG).get(SWITCH) is not True:
        raise DataError(
            f"source and target have separate vocabularies ({sizes}), but the folder does not contain both.",
            where=str(folder),
            cure=(
                f"Expected {SOURCE}, {TARGET}, {SOURCE_IDS} and {TARGET_IDS}, and {SWITCH} set to true in"
                f" {CONFIG}."
            ),
        )
    if published.decoder.shared_embedding:
        raise DataError(
            f"{SWITCH} gives source and target separate vocabularies, but the weights have one"
            " embedding table for both.",
            where=str(folder / CONFIG),
            cure=(
                "Do the tokenizer and the weights belong together? A model with two vocabularies sets"
                " share_encoder_decoder_embeddings to false."
            ),
        )
    specials = {"eos": "</s>", "pad": "<pad>"} | special_pieces(folder)
    token_ids = {**ids, **read_optional_json(folder / "generation_config.json")}

    def side(pieces: str, ids_file: str, size: int) -> HuggingFace:
        vocabulary = read_json(folder / ids_file, max_bytes=MAX_VOCABULARY_BYTES)
        tokenizer = read_marian_tokenizer(
            folder / pieces, vocabulary, size=size, target=folder / pieces, ids_file=ids_file
        )
        is_target = ids_file == TARGET_IDS
        return with_roles(
            tokenizer,
            specials,
            token_ids if is_target else {},
            unknown="<unk>",
            writes=is_target,
            path=folder / ids_file,
        )

    return PublishedPairTokens(
        side(SOURCE, SOURCE_IDS, published.source_vocabulary_size),
        side(TARGET, TARGET_IDS, published.vocabulary_size),
    )
