"""Saves and loads tokenizers: a folder with the kind of tokenizer and its data."""

from __future__ import annotations

import json
from pathlib import Path

from seqlab.core.errors import RunError, nearest
from seqlab.core.files import write_whole
from seqlab.core.plugins import PLUGIN_HINT
from seqlab.tokens.base import Tokenizer, tokenizers
from seqlab.tokens.untrusted_json import damaged, read_json_object

FORMAT = 1
HEADER = "tokenizer.settings.json"
LARGEST_HEADER = 100_000


def save_tokenizer(tokenizer: Tokenizer, folder: Path) -> None:
    """Write a tokenizer of any kind into a folder, which is created if missing."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(folder)


def load_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in a folder, whatever its kind."""
    header = read_tokenizer_header(folder)
    kind = header.get("kind")
    if not isinstance(kind, str) or kind not in tokenizers.names():
        raise RunError(
            f"unknown kind of tokenizer ({str(kind)[:40]!r}).",
            where=str(folder / HEADER),
            cure=f"{nearest(str(kind)[:40], tokenizers.names())} {PLUGIN_HINT}",
        )
    return tokenizers.get(kind).load(folder)


def write_header(folder: Path, *, kind: str, lowercase: bool) -> None:
    """Write the header of a tokenizer. Written last, so that a folder with a header is complete."""
    write_whole(
        folder / HEADER, json.dumps({"format": FORMAT, "kind": kind, "lowercase": lowercase}, indent=2) + "\n"
    )


def read_tokenizer_header(folder: Path) -> dict[str, object]:
    """The header of a saved tokenizer, of a supported version."""
    path = folder / HEADER
    header = read_json_object(path, largest=LARGEST_HEADER)
    version = header.get("format")
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise damaged(path, "does not state its format version")
    if version > FORMAT:
        raise RunError(
            f"the tokenizer has format {version}, but this version of seqlab reads formats up to {FORMAT}.",
            where=str(path),
            cure="Update seqlab: pip install --upgrade seqlab (in a checkout: git pull)",
        )
    if not isinstance(header.get("lowercase"), bool):
        raise damaged(path, "does not say whether the text is lowercased (true or false)")
    return header
