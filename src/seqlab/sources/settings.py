"""The section `data` of a recipe: where the sequences are and how they are read."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator

from seqlab.core.settings import Settings
from seqlab.sources.formats.registry import FormatName

Split = Literal["content", "random", "tail"]
DateOrder = Literal["", "day", "month"]


class DataSettings(Settings):
    """Which files, which columns, which part is held out."""

    train: str = Field("", description="File, folder or built-in dataset to train on.")
    valid: str = Field(
        "",
        description="Validation data: file or folder used to select the best model; held out from train when"
        " empty.",
    )
    test: str = Field(
        "", description="Test data: file or folder for the final score; held out from train when empty."
    )
    text: str = Field(
        "",
        description=(
            "Text column, or word column for tagging; classifiers accept several (title,body)."
            " Guessed when empty."
        ),
    )
    label: str = Field(
        "",
        description=(
            "Column with the class, or with the tags for tagging; multi_label accepts several columns"
            " of 0 and 1 (toxic,insult). Guessed when empty."
        ),
    )
    source: str = Field(
        "",
        description=(
            "Column to translate from, or the extension of line-aligned files: train.en next to train.de."
        ),
    )
    target: str = Field(
        "",
        description=(
            "Column to translate into, or the extension of line-aligned files; for forecasting, the column"
            " to predict, or several (temperature,wind). Guessed when empty."
        ),
    )
    time: str = Field(
        "",
        description=(
            "Column with the times of a series to forecast, or several: Date,Time or year,month,day,hour."
            " Guessed when empty."
        ),
    )
    date_order: DateOrder = Field(
        "",
        description=(
            "Which number comes first in dates such as 01/02/2024; inferred from all dates and their order when empty,"
            " else month."
        ),
    )
    horizon: int = Field(
        0, ge=0, le=100_000, description="Number of steps to forecast; 0 uses a default for the frequency."
    )
    known: tuple[str, ...] = Field(
        (), description="Numeric columns that are known in advance, such as holidays or planned prices."
    )
    static: tuple[str, ...] = Field(
        (), description="Columns that are constant within a series, such as its region."
    )
    images: tuple[str, ...] = Field(
        (),
        description=(
            "Folders or .zip archives with the images that a table refers to; the table's folder when empty."
        ),
    )
    image_size: int = Field(
        0,
        ge=0,
        le=1024,
        description="Resize images to this many pixels on each side; 0 uses the task's default.",
    )
    language: str = Field(
        "",
        description=(
            "Column that names the target language, for one multilingual model; a token for the"
            " language is added to the source."
        ),
    )
    label_separator: str = Field(
        "",
        max_length=1,
        description=(
            "Separator between the labels of a cell, for multi_label; guessed when empty. JSON lists"
            " need none."
        ),
    )
    max_labels: int = Field(
        1000,
        ge=2,
        description=(
            "Reject data with more distinct labels than this. Scoring counts every pair of labels:"
            " 1,000 labels take 200 MB, 5,000 take 5 GB."
        ),
    )
    sequence: str = Field(
        "",
        description=(
            "Column that identifies the sequence of a row, in tables with one row per step or word; for forecasting,"
            " maybe several (store,item)."
        ),
    )
    features: tuple[str, ...] = Field(
        (), description="Numeric columns that form one step of a series; all other columns when empty."
    )
    valid_share: float = Field(
        0.1, ge=0, lt=1, description="Fraction of train held out for validation when data.valid is empty."
    )
    test_share: float = Field(
        0.1,
        ge=0,
        lt=1,
        description=(
            "Fraction of train held out for testing when data.test is empty; 0 reports validation scores."
        ),
    )
    split: Split = Field(
        "content",
        description=(
            "How rows are held out: content (identical rows stay in the same split), random (exact"
            " counts), tail (the end of the file)."
        ),
    )
    seed: int = Field(
        -1,
        ge=-1,
        description=(
            "Random seed of the split, so that runs with different training seeds share it; -1 uses"
            " training.seed."
        ),
    )
    format: FormatName = Field(
        FormatName(""), description="Format of the files; inferred from the file name when empty."
    )
    header: Literal["auto", "true", "false"] = Field(
        "auto",
        description=(
            "Whether a CSV or TSV table has a header line with column names; auto looks at the first"
            " rows. Without a header, columns are named 1, 2, 3 and so on."
        ),
    )
    first_line: int = Field(
        0,
        ge=0,
        description="Line on which a CSV or TSV table starts; 0 skips titles and comments above the table.",
    )
    decimal: Literal["", ".", ","] = Field(
        "", description="Decimal separator of numbers; detected when empty."
    )
    units: tuple[str, ...] = Field(
        (),
        description="Units after the numbers in cells (5.4 mmol/L), which are removed; detected when empty.",
    )
    delimiter: str = Field("", max_length=1, description="Column delimiter of a table; guessed when empty.")
    encoding: str = Field(
        "", description="Encoding of text files; detected when empty: utf-8, utf-16 or cp1252."
    )
    bad_rows: Literal["few", "stop", "skip"] = Field(
        "few",
        description=(
            "What to do with unusable rows: few skips up to 5% malformed and up to 50% empty ones; skip skips any"
            " number; stop raises an error at the first."
        ),
    )
    max_rows: int = Field(0, ge=0, description="Read at most this many rows of each file; 0 means no limit.")
    train_rows: int = Field(
        0,
        ge=0,
        description=(
            "Train on at most this many rows, drawn at random from the training split; 0 means no limit."
        ),
    )
    gap: int = Field(
        20,
        ge=2,
        le=10_000,
        description=(
            "Number of words between the word to remember and the question, in the built-in dataset recall."
        ),
    )
    length: int = Field(
        10,
        ge=3,
        le=10_000,
        description="Length of the longest sequence in the built-in datasets copy and reverse.",
    )
    max_length: int = Field(
        0,
        ge=0,
        description=(
            "Truncate sequences to this many steps; a tagger splits them into pieces of this length"
            " instead. 0 means no limit."
        ),
    )

    @field_validator("header", mode="before")
    @classmethod
    def _spell_out(cls, value: object) -> object:
        """TOML and Python have Boolean values."""
        return str(value).lower() if isinstance(value, bool) else value
