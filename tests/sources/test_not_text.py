"""What is not text is refused while it is read, with file and line: half surrogates, names that are not valid UTF-8,
encodings that are none.
"""

from __future__ import annotations

import json
import os
import shutil
from encodings.aliases import aliases
from pathlib import Path
from typing import Any

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.open_source import open_parts, open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.tables import open_table
from tests.check_each import check_each

HALF = "\ud83d"
ROWS: dict[str, dict[str, Any]] = {
    "a list of labels": {"text": "a b", "labels": ["x", HALF]},
    "a list of words": {"words": ["a", f"b{HALF}"], "tags": ["X", "Y"]},
    "a list of tags": {"words": ["a", "b"], "tags": ["X", HALF]},
    "a nested object": {"text": "a b", "meta": {"lists": [[1, {"deep": HALF}]]}},
    "a column name": {"text": "a b", f"label{HALF}": "x"},
    "a key of a nested object": {"text": "a b", "meta": {HALF: 1}},
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
def test_half_a_surrogate_pair_anywhere_in_a_row_is_refused_with_its_line(
    row: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "rows.jsonl"
    good = json.loads(json.dumps(row).replace("\\ud83d", "z"))
    path.write_text("".join(json.dumps(each) + "\n" for each in (good, good, row, good)), encoding="ascii")
    with pytest.raises(DataError, match=r"rows\.jsonl, line 3: .*ud83d") as caught:
        list(open_source(path, DataSettings()).rows())
    assert "data.bad_rows=skip" in caught.value.cure
    assert len(list(open_source(path, DataSettings(bad_rows="skip")).rows())) == 3
    with pytest.raises(DataError, match=r"row 3 of the table: .*ud83d"):
        open_table([good, good, row])


def test_a_label_folder_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "reviews"
    for label in (b"good", b"m\xe9diocre"):
        folder = root / os.fsdecode(label)
        folder.mkdir(parents=True)
        (folder / "0.txt").write_bytes(b"some text")
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "tar", root))
    for place in (root, archive):
        with pytest.raises(DataError, match=r"m\\udce9diocre.*not valid UTF-8"):
            _ = [list(source.rows()) for source in open_parts(place, DataSettings()).values()]


def test_a_file_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"n\xff.csv")
    path.write_bytes(b"text,label\na,1\n")
    with pytest.raises(DataError, match=r"n\\udcff\.csv.*not valid UTF-8"):
        open_source(path, DataSettings())


def test_every_codec_of_python_reads_a_catalogue_or_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.po"

    def check(encoding: str) -> None:
        path.write_text(
            f'msgid ""\nmsgstr "Content-Type: text/plain; charset={encoding}\\n"\n\nmsgid "a"\nmsgstr "b"\n',
            encoding="ascii",
        )
        expected, problem = [{"msgid": "a", "msgstr": "b"}], None
        try:
            rows = [row.values for row in open_source(path, DataSettings()).rows()]
        except DataError as error:
            rows, problem = expected, error
        assert rows == expected
        assert problem is None or "x.po" in str(problem)

    check_each(
        {name.replace("_", "-"): name for name in sorted({*aliases, *aliases.values()})}.values(), check
    )


@pytest.mark.parametrize("encoding", ["rot13", "base64", "hex", "zlib"])
def test_a_codec_that_is_no_encoding_of_text_is_named(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "x.po"
    path.write_text(f'msgid ""\nmsgstr "charset={encoding}\\n"\nmsgid "a"\nmsgstr "b"\n', encoding="ascii")
    with pytest.raises(DataError, match=rf"x\.po, line 2.*'{encoding}'"):
        list(open_source(path, DataSettings()).rows())
