"""One text file per label, each line an example; and folders of text in encodings other than UTF-8."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.runs.find_recipe import find_recipe
from seqlab.runs.train.prepare import prepare
from seqlab.sources.formats.label_files import LabelFiles
from seqlab.sources.formats.text_file import TextFile
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings

SURNAMES = {
    "French": ["Abel", "Dubois", "Lefèvre", "Moreau", "Fournier", "Girard", "Bonnet", "De la Fontaine"] * 6,
    "German": ["Abel", "Müller", "Schmidt", "Schäfer", "Fischer", "von Weber", "Wagner", "Becker"] * 6,
}


def write(folder: Path, files: dict[str, list[str]], *, encoding: str = "utf-8") -> Path:
    folder.mkdir()
    for name, lines in files.items():
        (folder / f"{name}.txt").write_bytes("\n".join([*lines, ""]).encode(encoding))
    return folder


def rows_of(path: Path) -> list[tuple[str, str, int]]:
    rows = open_source(path, DataSettings()).rows()
    return [(row.values["text"], row.values["label"], row.line) for row in rows]


EXPECTED = [
    (name, label, line) for label, names in SURNAMES.items() for line, name in enumerate(names, start=1)
]


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_each_line_is_an_example_and_the_file_its_label(encoding: str, tmp_path: Path) -> None:
    folder = write(tmp_path / "names", SURNAMES, encoding=encoding)
    assert rows_of(folder) == EXPECTED
    source = open_source(folder, DataSettings())
    assert any("data.format=text" in note for note in source.notes)
    assert any("data.encoding" in note for note in source.notes) == (encoding != "utf-8")


@pytest.mark.parametrize("kind", ["zip", "gztar"])
def test_an_archive_of_such_a_folder_has_the_same_rows(kind: str, tmp_path: Path) -> None:
    write(tmp_path / "names", SURNAMES)
    archive = shutil.make_archive(str(tmp_path / "packed"), kind, tmp_path, "names")
    assert sorted(rows_of(Path(archive))) == sorted(EXPECTED)


def test_a_first_train_classifies_names_by_their_characters(tmp_path: Path) -> None:
    folder = write(tmp_path / "names", SURNAMES)
    recipe, _ = find_recipe(str(folder), ["training.steps=1"])
    recipe = prepare(recipe, out=str(tmp_path / "run")).recipe
    assert (recipe.task, recipe.data.text, recipe.data.label) == ("classification", "text", "label")
    assert recipe.tokens.kind == "characters"


LINE = "It was the best of times, it was the worst of times"


@pytest.mark.parametrize(
    ("files", "is_runner_up"),
    [
        ({"hamlet": [LINE] * 30, "macbeth": [LINE] * 30}, True),
        ({"chapter1": ["Call me"] * 30, "chapter2": ["Ishmael"] * 30}, False),
        ({"part": ["some words"] * 2, "other": ["few lines"] * 2}, True),
    ],
)
def test_long_lines_numbers_and_few_lines_are_a_text(
    files: dict[str, list[str]], is_runner_up: bool, tmp_path: Path
) -> None:
    folder = write(tmp_path / "texts", files)
    source = open_source(folder, DataSettings())
    assert isinstance(source, TextFile)
    assert any("data.format=label_files" in note for note in source.notes) == is_runner_up
    if is_runner_up:
        assert isinstance(open_source(folder, DataSettings(format="label_files")), LabelFiles)


def test_one_file_alone_has_no_labels(tmp_path: Path) -> None:
    folder = write(tmp_path / "one", {"French": ["Dubois"] * 20})
    with pytest.raises(DataError, match="1 text file"):
        open_source(folder, DataSettings(format="label_files"))


@pytest.mark.parametrize("layout", ["one text", "folders"])
def test_a_folder_of_cp1252_files_is_read_and_said(layout: str, tmp_path: Path) -> None:
    text = "Das Café öffnet früh, und die Gäste grüßen freundlich.\n"
    names = ["a1.txt", "b2.txt"] if layout == "one text" else ["gut/a.txt", "schlecht/b.txt"]
    for name in names:
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("cp1252"))
    source = open_source(tmp_path / "data", DataSettings())
    assert [row.values["text"].strip() for row in source.rows()] == [text.strip()] * 2
    assert sum("cp1252" in note for note in source.notes) == 1


def test_text_files_beside_label_folders_are_counted_where_they_are_left_out(tmp_path: Path) -> None:
    for name in ("pos/1.txt", "pos/2.txt", "neg/3.txt", "summary.txt", "unsup/4.txt", "logo.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("some words", encoding="utf-8")
    source = open_source(tmp_path, DataSettings())
    assert sorted(row.values["label"] for row in source.rows()) == ["neg", "pos", "pos"]
    (note,) = source.notes
    assert all(fact in note for fact in ("2 text files", "summary.txt"))
    (tmp_path / "summary.txt").unlink()
    (tmp_path / "unsup" / "4.txt").unlink()
    assert open_source(tmp_path, DataSettings()).notes == ()
