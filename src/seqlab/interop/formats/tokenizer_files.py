"""The tokenizer of a published model: its tokenizer.json, or the older files from which the same engine is
built.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import AddedToken, decoders, models, normalizers, pre_tokenizers, processors
from tokenizers import Tokenizer as Engine

from seqlab.core.errors import DataError, RunError
from seqlab.interop.formats.json_files import REDOWNLOAD_HINT, read_json, read_optional_json
from seqlab.interop.formats.sentencepiece import read_marian_tokenizer
from seqlab.tokens.engine_bounds import LARGEST_FILE
from seqlab.tokens.hugging_face import FILE, HuggingFace, check_merges

SPECIAL_TOKEN_NAMES = ("unk", "pad", "eos", "bos", "cls", "sep", "mask")
STARTS = {"start": "decoder_start_token_id", "forced_bos": "forced_bos_token_id"}
SEQ2SEQ_FAMILIES = ("Marian", "BART")
SOURCE, TARGET = "source.spm", "target.spm"
MAX_VOCABULARY_BYTES = 100_000_000
SpecialPieces = dict[str, str]
"""Special tokens by role: {"mask": "[MASK]"}."""


def read_tokenizer(folder: Path, *, family: str, size: int, ids: Mapping[str, Any]) -> HuggingFace:
    """size: the vocabulary size of the weights.  ids: the config, whose `eos_token_id` and the like decide
    where names do not.
    """
    specials = special_pieces(folder)
    path, tokenizer, unknown = _tokenizer(folder, family=family, size=size, specials=specials)
    if tokenizer.largest_id >= size and family != "Marian":  # whose vocabulary comes from two files
        raise DataError(
            f"the tokenizer has ids up to {tokenizer.largest_id:,}, but the weights have {size:,} rows.",
            where=str(path),
            cure=REDOWNLOAD_HINT,
        )
    token_ids = {**ids, **read_optional_json(folder / "generation_config.json")}
    return with_roles(
        tokenizer, specials, token_ids, unknown=unknown, writes=family in SEQ2SEQ_FAMILIES, path=path
    )


def with_roles(
    tokenizer: HuggingFace,
    specials: SpecialPieces,
    token_ids: Mapping[str, Any],
    *,
    unknown: str,
    writes: bool,
    path: Path,
) -> HuggingFace:
    """The tokenizer with the roles of its special tokens, from their names or, if these are unclear, from the
    ids of a config.

    unknown: the piece for unknown text. writes: whether it is used by a decoder. path: that of the
    tokenizer, for errors.
    """
    known = tokenizer.vocabulary.ids
    roles = {role: known[piece] for role, piece in specials.items() if piece in known and role != "unk"}
    for role, name in {**{role: f"{role}_token_id" for role in SPECIAL_TOKEN_NAMES[1:]}, **STARTS}.items():
        token_id = _id(token_ids.get(name), len(tokenizer.vocabulary))
        if token_id is not None and (role not in STARTS or writes):
            roles.setdefault(role, token_id)
    if unknown in known:
        roles["unk"] = known[unknown]
    if "eos" not in roles and "sep" in roles:
        roles["eos"] = roles["sep"]
    missing = [role for role in ("eos", *(["start"] if writes else [])) if role not in roles]
    if missing:
        raise DataError(
            f"the files do not say which token has the role {missing[0]}.",
            where=str(path),
            cure="Expected it in config.json or tokenizer_config.json.",
        )
    return tokenizer.with_roles(roles)


def _tokenizer(
    folder: Path, *, family: str, size: int, specials: SpecialPieces
) -> tuple[Path, HuggingFace, str]:
    """The file that was read, its tokenizer, and its piece for unknown text."""
    path = folder / FILE
    if path.is_file():
        try:
            return path, HuggingFace.read(path, size=size, roles={}, is_foreign=True), _unknown_piece(path)
        except RunError as error:  # same message as for a run's own files, different advice
            raise DataError(error.what, where=str(path), cure=REDOWNLOAD_HINT) from error
    if (folder / SOURCE).is_file() and (folder / "vocab.json").is_file():
        pieces = read_json(folder / "vocab.json", max_bytes=MAX_VOCABULARY_BYTES)
        specials.update({"eos": "</s>", "pad": "<pad>"} | specials)
        target = folder / TARGET if (folder / TARGET).is_file() else None
        return (
            folder / SOURCE,
            read_marian_tokenizer(folder / SOURCE, pieces, size=size, target=target),
            "<unk>",
        )
    if (folder / "vocab.txt").is_file():
        engine = _wordpiece(folder, specials)
        return folder / "vocab.txt", HuggingFace(engine, size=size, roles={}), specials["unk"]
    if (folder / "vocab.json").is_file() and (folder / "merges.txt").is_file():
        engine = _byte_pairs(folder, specials, has_template=family in ("RoBERTa", "BART"))
        return folder / "vocab.json", HuggingFace(engine, size=size, roles={}), ""
    raise DataError(
        "there is no supported tokenizer here.",
        where=str(folder),
        cure=(
            "Expected tokenizer.json, or vocab.txt (BERT), vocab.json and merges.txt (GPT-2),"
            f" {SOURCE} and vocab.json (Marian). Fast tokenizers of transformers save tokenizer.json."
        ),
    )


def special_pieces(folder: Path) -> SpecialPieces:
    """The pieces with special roles from two files, of which the second takes precedence; a piece is a
    string or an object with one.
    """
    pieces: SpecialPieces = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        values = read_optional_json(folder / name)
        for role in SPECIAL_TOKEN_NAMES:
            piece = values.get(f"{role}_token")
            piece = piece.get("content") if isinstance(piece, dict) else piece
            if isinstance(piece, str) and piece:
                pieces[role] = piece
    return pieces


def _unknown_piece(path: Path) -> str:
    """The engine's piece for unknown text; byte-level tokenizers never need one, whatever the files say."""
    model = read_json(path, max_bytes=LARGEST_FILE).get("model")
    if not isinstance(model, dict):
        return ""
    piece, token_id, pieces = model.get("unk_token"), model.get("unk_id"), model.get("vocab")
    if (
        isinstance(token_id, int)
        and isinstance(pieces, list)
        and 0 <= token_id < len(pieces)
        and isinstance(pieces[token_id], list)
        and pieces[token_id]
    ):
        return str(pieces[token_id][0])
    return piece if isinstance(piece, str) else ""


def _id(value: Any, size: int) -> int | None:
    """A token id of a config, the first if it lists several."""
    first = value[0] if isinstance(value, list) and value else value
    return first if isinstance(first, int) and not isinstance(first, bool) and 0 <= first < size else None


def _wordpiece(folder: Path, specials: SpecialPieces) -> Engine:
    """BERT's WordPiece: split words and punctuation, then take the longest known pieces."""
    settings = read_optional_json(folder / "tokenizer_config.json")
    pieces = _lines(folder / "vocab.txt")
    ids = {piece: token_id for token_id, piece in enumerate(pieces)}
    names = {"unk": "[UNK]", "pad": "[PAD]", "cls": "[CLS]", "sep": "[SEP]", "mask": "[MASK]"} | specials
    specials.update(names)
    missing = [names[role] for role in ("unk", "cls", "sep") if names[role] not in ids]
    if missing:
        raise DataError(
            f"the tokens {', '.join(missing)} are missing.",
            where=str(folder / "vocab.txt"),
            cure=REDOWNLOAD_HINT,
        )
    lowercase, accents = settings.get("do_lower_case", True) is not False, settings.get("strip_accents")
    engine = Engine(models.WordPiece(ids, unk_token=names["unk"]))
    engine.normalizer = normalizers.BertNormalizer(
        lowercase=lowercase,
        strip_accents=accents if isinstance(accents, bool) else None,
        handle_chinese_chars=settings.get("tokenize_chinese_chars", True) is not False,
    )
    engine.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    engine.decoder = decoders.WordPiece(prefix="##")
    cls, sep = names["cls"], names["sep"]
    engine.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {sep} $B:1 {sep}:1",
        special_tokens=[(cls, ids[cls]), (sep, ids[sep])],
    )
    return _with_specials(engine, [piece for piece in names.values() if piece in ids])


def _byte_pairs(folder: Path, specials: SpecialPieces, *, has_template: bool) -> Engine:
    """GPT-2's byte-level BPE; RoBERTa has the same, with <s> and </s> around a text."""
    path = folder / "merges.txt"
    ids = read_json(folder / "vocab.json", max_bytes=MAX_VOCABULARY_BYTES)
    merges = [line.split(" ") for line in _lines(path) if line and not line.startswith("#version")]
    try:
        check_merges(ids, merges)
        engine = Engine(
            models.BPE(
                {piece: int(str(token_id)) for piece, token_id in ids.items()},
                [(left, right) for left, right in merges],
            )
        )
    except Exception as error:  # the engine's own errors are plain Exceptions
        raise DataError(
            "the vocabulary and the merges do not match.", where=str(path), cure=REDOWNLOAD_HINT
        ) from error
    prefix_space = read_optional_json(folder / "tokenizer_config.json").get("add_prefix_space", False) is True
    engine.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix_space)
    engine.decoder = decoders.ByteLevel()
    if has_template:
        specials.update(
            {"cls": "<s>", "sep": "</s>", "eos": "</s>", "pad": "<pad>", "mask": "<mask>"} | specials
        )
        start, end = specials["cls"], specials["sep"]
        template_tokens = [
            (piece, token_id) for piece in (start, end) if (token_id := engine.token_to_id(piece)) is not None
        ]
        if len(template_tokens) < 2:
            raise DataError(
                f"the tokens {start} and {end} are missing.",
                where=str(folder / "vocab.json"),
                cure=REDOWNLOAD_HINT,
            )
        engine.post_processor = processors.TemplateProcessing(
            single=f"{start} $A {end}", special_tokens=template_tokens
        )
    else:
        specials.update({"eos": "<|endoftext|>"} | specials)
    return _with_specials(engine, [piece for piece in specials.values() if piece in ids])


def _with_specials(engine: Engine, pieces: list[str]) -> Engine:
    mask = ("<mask>",)  # includes the space before it, since it replaces a word with its space
    engine.add_special_tokens(
        [
            AddedToken(piece, special=True, normalized=False, lstrip=piece in mask)
            for piece in dict.fromkeys(pieces)
        ]
    )
    return engine


def _lines(path: Path) -> list[str]:
    if path.stat().st_size > MAX_VOCABULARY_BYTES:
        raise DataError("the file is larger than any vocabulary.", where=str(path), cure=REDOWNLOAD_HINT)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError("the file is not valid UTF-8.", where=str(path), cure=REDOWNLOAD_HINT) from error
    return text.removesuffix("\n").split("\n")
