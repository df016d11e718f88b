"""The section `data` of a recipe: where the sequences are and how they are read."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from seqlab.core.settings import Settings
from seqlab.sources.formats.registry import FormatName

Split = Literal["content", "random", "tail"]


class DataSettings(Settings):
    """Which files, which columns, which part is held out."""

    train: str = Field("", description="File, folder or built-in dataset to learn from.")
    valid: str = Field(
        "", description="File or folder to choose the best model on; held out of train when empty."
    )
    test: str = Field("", description="File or folder for the final score; held out of train when empty.")
    text: str = Field(
        "",
        description=(
            "Column with the text, or with the words of a tagger; several of a classifier: title,body."
            " Guessed when empty."
        ),
    )
    label: str = Field(
        "",
        description=(
            "Column with the class, or with the tags of a tagger; several columns of 0 and 1 for multi_label:"
            " toxic,insult. Guessed when empty."
        ),
    )
    source: str = Field(
        "",
        description=(
            "Column to translate from; also the ending of line-aligned files: train.en beside train.de."
        ),
    )
    target: str = Field("", description="Column to translate into; also the ending of line-aligned files.")
    images: tuple[str, ...] = Field(
        (),
        description=(
            "Folders or .zip archives with the images that a table names; beside the table when empty."
        ),
    )
    image_size: int = Field(
        0,
        ge=0,
        le=1024,
        description="Pixels along each side to which images are scaled; 0 lets the task decide.",
    )
    language: str = Field(
        "",
        description=(
            "Column that names the language to write in, for one model with several; a token for it enters"
            " the source."
        ),
    )
    label_separator: str = Field(
        "",
        max_length=1,
        description=(
            "Character between the labels of a cell, for multi_label; guessed when empty. Lists in JSON need"
            " none."
        ),
    )
    max_labels: int = Field(
        1000,
        ge=2,
        description=(
            "Refuse data with more different labels than this. Scoring counts every pair of labels: 1,000"
            " labels take 200 MB, 5,000 take 5 GB."
        ),
    )
    sequence: str = Field(
        "",
        description=(
            "Column that names the sequence a row belongs to: for numeric series with one row per step, and"
            " for tagged words with one row per word."
        ),
    )
    features: tuple[str, ...] = Field(
        (), description="Numeric columns of one step of a series; all other columns when empty."
    )
    valid_share: float = Field(
        0.1, ge=0, lt=1, description="Share of train held out for validation when data.valid is empty."
    )
    test_share: float = Field(
        0.1,
        ge=0,
        lt=1,
        description=(
            "Share of train held out for testing when data.test is empty; 0 reports validation scores."
        ),
    )
    split: Split = Field(
        "content",
        description=(
            "How parts are held out: content (equal rows stay together), random (exact counts), tail (the end"
            " of the file)."
        ),
    )
    seed: int = Field(
        -1,
        ge=-1,
        description=(
            "Fixes which rows are held out, so that runs with other training seeds share them; -1:"
            " training.seed."
        ),
    )
    format: FormatName = Field(FormatName(""), description="Format of the files; from the name when empty.")
    header: Literal["auto", "true", "false"] = Field(
        "auto",
        description=(
            "Whether a CSV or TSV table begins with the names of its columns; auto looks at the first rows;"
            " without names columns are called 1, 2, 3 and so on."
        ),
    )
    first_line: int = Field(
        0,
        ge=0,
        description="Line on which a CSV or TSV table begins; 0 skips titles and comments above the table.",
    )
    decimal: Literal["", ".", ","] = Field(
        "", description="Character before the decimals of numbers; recognized from the cells when empty."
    )
    delimiter: str = Field(
        "", max_length=1, description="Character between the columns of a table; guessed when empty."
    )
    encoding: str = Field(
        "", description="Encoding of text files; detected when empty: utf-8, utf-16 or cp1252."
    )
    bad_rows: Literal["few", "stop", "skip"] = Field(
        "few",
        description=(
            "Rows that cannot be used: skip and count up to 5% malformed rows and up to half with an empty text"
            " or label (few), any number (skip), or stop at the first."
        ),
    )
    max_rows: int = Field(0, ge=0, description="Read at most this many rows of each file; 0 reads all.")
    train_rows: int = Field(
        0,
        ge=0,
        description=(
            "Learn from at most this many rows, drawn at random from the training part; 0 learns from all."
        ),
    )
    gap: int = Field(
        20,
        ge=2,
        le=10_000,
        description=(
            "Words between what is to be remembered and the question, in the built-in dataset recall."
        ),
    )
    length: int = Field(
        10,
        ge=3,
        le=10_000,
        description="Letters in the longest sequence of the built-in datasets copy and reverse.",
    )
    max_length: int = Field(
        0,
        ge=0,
        description=(
            "Cut sequences to this many steps, for a tagger into pieces of so many; 0 keeps them whole."
        ),
    )

    @field_validator("header", mode="before")
    @classmethod
    def _spell_out(cls, value: object) -> object:
        """TOML and Python have truth values of their own."""
        return str(value).lower() if isinstance(value, bool) else value
