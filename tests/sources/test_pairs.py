"""Sources of pairs: line-aligned files, TMX, gettext, and tables whose columns are two languages."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.base import Source
from seqlab.sources.open_source import is_there, open_parts, open_source
from seqlab.sources.settings import DataSettings

PAIR = DataSettings(source="en", target="de")
SKIPPING = DataSettings(source="en", target="de", bad_rows="skip")


def values(source: Source) -> list[tuple[str, ...]]:
    return [tuple(row.values.values()) for row in source.rows()]


@pytest.mark.spec(7)
def test_two_files_are_read_line_by_line_packed_or_not(tmp_path: Path) -> None:
    english, german = (
        "A dog.\nTwo cats\u2028run.\r\nA bad\rword.\n\n",
        "Ein Hund.\nZwei Katzen rennen.\nEin Wort.\n\n",
    )
    for name, pack in ((".gz", gzip.compress), (".xz", lzma.compress), (".bz2", bz2.compress), ("", bytes)):
        (tmp_path / f"train{name[1:]}.en{name}").write_bytes(pack(english.encode()))
        (tmp_path / f"train{name[1:]}.de").write_bytes(german.encode())
        source = open_source(tmp_path / f"train{name[1:]}", PAIR)
        assert source.columns == ["en", "de"]
        assert values(source) == [
            ("A dog.", "Ein Hund."),
            ("Two cats\u2028run.", "Zwei Katzen rennen."),
            ("A bad word.", "Ein Wort."),
        ]
    assert next(source.rows()).where == f"{tmp_path / 'train.en'}, line 1"
    assert (
        source.fingerprint() == open_source(tmp_path / "train.de", PAIR).fingerprint()
    )  # one of the two names is enough
    assert open_source(tmp_path / "train.en", DataSettings()).columns == ["text"]  # not asked for as a pair
    assert is_there(str(tmp_path / "train"), PAIR)
    assert not is_there(str(tmp_path / "train"), DataSettings())
    assert (
        len(values(open_source(tmp_path / "train", DataSettings(source="de", target="en", max_rows=2)))) == 2
    )


def test_parts_of_a_folder_are_pairs_of_files(tmp_path: Path) -> None:
    for part in ("train", "val", "other"):
        for language in ("en", "de"):
            (tmp_path / f"{part}.{language}.gz").write_bytes(gzip.compress(f"{part} {language}\n".encode()))
    parts = open_parts(tmp_path, PAIR)
    assert {name: values(part) for name, part in parts.items()} == {
        "train": [("train en", "train de")],
        "valid": [("val en", "val de")],
    }


def test_files_that_do_not_fit_are_refused_with_both_counts(tmp_path: Path) -> None:
    (tmp_path / "train.en").write_text("a\nb\nc")
    (tmp_path / "train.de").write_text("x\ny\n")
    with pytest.raises(
        DataError, match=r"train: train.en has 3 lines, train.de has 2\.\n.*the same number of lines"
    ):
        open_source(tmp_path / "train", PAIR)
    (tmp_path / "train.de").write_text("x\n \nz\n")
    with pytest.raises(
        DataError,
        match=r"train.de, line 2: the line is empty, but line 2 of train.en is not\.\n.*data\.bad_rows=skip",
    ):
        values(open_source(tmp_path / "train", PAIR))
    skipping = open_source(tmp_path / "train", SKIPPING)
    assert values(skipping) == [("a", "x"), ("c", "z")]
    assert skipping.bad_rows.count == 1
    (tmp_path / "train.de").write_bytes(b"x\n\xff\nz\n")
    with pytest.raises(DataError, match=r"train\.de, line 2, column 1: not UTF-8"):
        values(open_source(tmp_path / "train", PAIR))
    assert values(open_source(tmp_path / "train", SKIPPING)) == [("a", "x"), ("c", "z")]
    (tmp_path / "train.de").rename(tmp_path / "train.ger")
    with pytest.raises(
        DataError, match=r"train\.de: no such file .*train\.en\.\n  Did you mean 'train\.ger'"
    ):
        open_source(tmp_path / "train", PAIR)


def test_columns_of_tables_and_json_are_pairs_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "pairs.tsv").write_text('en\tde\nA "dog"\tEin "Hund"\n')
    assert values(open_source(tmp_path / "pairs.tsv", PAIR)) == [('A "dog"', 'Ein "Hund"')]
    (tmp_path / "pairs.jsonl").write_text(
        '{"id": 1, "en": "A dog", "de": "Ein Hund"}\n{"en": "A cat", "de": "Eine Katze"}\n{"id": 3, "en":'
        ' "Alone"}\n'
    )
    with pytest.raises(DataError, match=r"line 3: .*'de'"):
        values(open_source(tmp_path / "pairs.jsonl", PAIR))


TMX = """<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE tmx SYSTEM "tmx14.dtd">
<tmx version="1.4"><header srclang="en-US"/><body>
<tu><tuv xml:lang="en-US"><seg>Save <bpt i="1">&lt;b&gt;<sub>x</sub></bpt>all<ept i="1">&lt;/b&gt;</ept> &amp; <hi>close</hi></seg></tuv>
    <tuv xml:lang="en-GB"><seg>second</seg></tuv><tuv xml:lang="de"><seg>Alle sichern\n und schließen</seg></tuv></tu>
<tu><tuv xml:lang="en-US"><seg>Only here</seg></tuv></tu>
{more}
</body></tmx>
"""


def tmx(more: str = "", encoding: str = "UTF-8") -> bytes:
    return TMX.format(more=more, encoding=encoding).encode(encoding)


@pytest.mark.spec(7)
@pytest.mark.parametrize("encoding", ["UTF-8", "UTF-16", "ISO-8859-1"])
def test_units_of_a_translation_memory_are_rows(encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "memory.tmx.gz"
    path.write_bytes(gzip.compress(tmx(encoding=encoding)))
    source = open_source(path, PAIR)
    assert source.columns == ["en", "de"]
    assert values(source) == [("Save all & close", "Alle sichern und schließen")]
    assert next(source.rows()).line == 4
    assert open_source(path, DataSettings()).columns == ["en-US", "en-GB", "de"]
    assert values(open_source(path, DataSettings(source="de", target="en-GB"))) == [
        ("Alle sichern und schließen", "second", "Save all & close")
    ]


def unit(**segments: str) -> str:
    return (
        "<tu>"
        + "".join(
            f'<tuv xml:lang="{language}"><seg>{text}</seg></tuv>' for language, text in segments.items()
        )
        + "</tu>"
    )


def test_languages_that_are_asked_for_are_looked_for_to_the_end_and_that_of_the_header_comes_first(
    tmp_path: Path,
) -> None:
    many = "".join(unit(fr=f"f{number}", en=f"e{number}") for number in range(1001))
    (tmp_path / "late.tmx").write_text(
        f'<tmx><header srclang="en"/><body>{many}{unit(en="late", de="spät")}</body></tmx>', encoding="utf-8"
    )
    late = open_source(tmp_path / "late.tmx", DataSettings(source="de", target="en"))
    assert late.columns == ["de", "en", "fr"]
    assert [(row.values["de"], row.values["en"]) for row in late.rows()] == [("spät", "late")]
    assert open_source(tmp_path / "late.tmx", DataSettings()).columns == ["en", "fr"]
    assert open_source(tmp_path / "late.tmx", DataSettings(source="it")).columns == ["en", "fr", "de"]


EMPTY = '<tu><tuv xml:lang="en"><seg> </seg></tuv><tuv xml:lang="de"><seg>voll</seg></tuv></tu>'
NAMELESS = (
    '<tu><tuv><seg>x</seg></tuv><tuv xml:lang="en"><seg>a</seg></tuv><tuv'
    ' xml:lang="de"><seg>b</seg></tuv></tu>'
)
LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><tmx><tu><tuv'
    b' xml:lang="en"><seg>&b;</seg></tuv></tu></tmx>'
)
SECRET = b'<?xml version="1.0"?><!DOCTYPE tmx [<!ENTITY a SYSTEM "file:///etc/passwd">]><tmx><body/></tmx>'


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (tmx(EMPTY), r"line 8: the segment in 'en' is empty.*data\.bad_rows=skip"),
        (tmx(NAMELESS), "line 8: a <tuv> .*language"),
        (tmx(EMPTY.replace("> <", ">&huge;<")), "line 8: unknown entity '&huge;'"),
        (LAUGHS, "line 1: declares its own entity .'a'"),
        (SECRET, "declares its own entity"),
        (tmx()[:300], r"invalid XML"),
        (b"<html><body/></html>", "<html>, not <tmx>"),
        (b"<tmx>" + b"<tu>" * 200, "more than 100 levels"),
        (b"<tmx><body></body></tmx>", "no translation units"),
        (b'<?xml version="1.0" encoding="klingon"?><tmx/>', "encoding"),
        (b"\0\1\2", "invalid XML"),
        (b"", "invalid XML"),
    ],
)
def test_bad_memories_are_refused_with_words(content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / "bad.tmx").write_bytes(content)
    with pytest.raises(DataError, match=f"(?s)bad.tmx.*{words}") as caught:
        values(open_source(tmp_path / "bad.tmx", PAIR))
    assert caught.value.cure


def test_units_that_cannot_be_used_can_be_skipped_and_a_missing_language_is_named(tmp_path: Path) -> None:
    (tmp_path / "memory.tmx").write_bytes(tmx(EMPTY))
    source = open_source(tmp_path / "memory.tmx", SKIPPING)
    assert len(values(source)) == 1
    assert source.bad_rows.count == 1
    (tmp_path / "apart.tmx").write_bytes(
        tmx()
        .replace(b'xml:lang="de"', b'xml:lang="fr"')
        .replace(b"Only", b'x</seg></tuv></tu><tu><tuv xml:lang="de"><seg>')
    )
    with pytest.raises(DataError, match=r"no unit contains all of en, de\.\n.*en, de, fr"):
        values(open_source(tmp_path / "apart.tmx", PAIR))


PO = r'''# comment
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\n"

#: file.c:3
msgctxt "menu"
msgid "Save \"all\"\n"
"files"
msgstr ""
"Alle Dateien\t"
"sichern"

#, c-format, fuzzy
msgid "unsure"
msgstr "unsicher"

msgid "not yet"
msgstr ""
msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d Datei"
msgstr[1] "%d Dateien"

#~ msgid "old"
#~ msgstr "alt"
'''  # fmt: skip
ROWS = [('Save "all"\nfiles', "Alle Dateien\tsichern"), ("%d file", "%d Datei"), ("%d files", "%d Dateien")]


def compiled(order: str, encoding: str = "UTF-8") -> bytes:
    """A .mo file as the manual of gettext draws it."""
    header = f"Content-Type: text/plain; charset={encoding}\n"
    messages = [
        ("", header),
        ("%d file\0%d files", "%d Datei\0%d Dateien"),
        ('menu\x04Save "all"\nfiles', "Alle Dateien\tsichern"),
    ]
    texts = [text.encode(encoding) for pair in zip(*messages, strict=True) for text in pair]
    place = 28 + 16 * len(messages)
    table = b""
    for text in texts:
        table += struct.pack(f"{order}2I", len(text), place)
        place += len(text) + 1
    return (
        struct.pack(f"{order}7I", 0x950412DE, 0, len(messages), 28, 28 + 8 * len(messages), 0, 0)
        + table
        + b"\0".join(texts)
        + b"\0"
    )


@pytest.mark.spec(7)
def test_catalogues_give_what_is_translated_written_or_compiled(tmp_path: Path) -> None:
    (tmp_path / "de.po").write_text(PO, encoding="utf-8")
    source = open_source(tmp_path / "de.po", DataSettings())
    assert source.columns == ["msgid", "msgstr"]
    assert values(source) == ROWS
    assert [row.line for row in source.rows()] == [9, 21, 21]
    for order in "<>":
        (tmp_path / "de.mo").write_bytes(compiled(order))
        assert sorted(values(open_source(tmp_path / "de.mo", DataSettings()))) == sorted(ROWS)
    (tmp_path / "de.mo").write_bytes(compiled("<", "KOI8-R").replace(b"sichern", "закрыть".encode("koi8-r")))
    assert ('Save "all"\nfiles', "Alle Dateien\tзакрыть") in values(
        open_source(tmp_path / "de.mo", DataSettings())
    )
    latin = PO.replace("UTF-8", "ISO-8859-1").replace("sichern", "schließen").encode("latin-1")
    (tmp_path / "latin.po").write_bytes(latin)
    assert values(open_source(tmp_path / "latin.po", DataSettings()))[0][1] == "Alle Dateien\tschließen"


ODD_PO = r'''msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\n"
#, fuzzy
#~ msgid "gone"
#~ msgstr "weg"
msgid "after what is gone"
msgstr "bleibt"
#~ msgid "gone too"
#~ msgstr "auch weg"
#, fuzzy

msgid "unsure"
msgstr "unsicher"
msgid "bold \033[1m \x1b[0m" msgstr "fett \303\244"
msgid
  "a" "b"
msgstr
"c"  "d"
msgid "%d" msgid_plural "%ds"
msgstr [0] "e" msgstr[ 1 ] "f"
'''  # fmt: skip
ODD_ROWS = [
    ("after what is gone", "bleibt"),
    ("bold \x1b[1m \x1b[0m", "fett ä"),
    ("ab", "cd"),
    ("%d", "e"),
    ("%ds", "f"),
]


def test_flags_end_with_an_obsolete_entry_and_line_ends_mean_nothing(tmp_path: Path) -> None:
    (tmp_path / "odd.po").write_text(ODD_PO, encoding="utf-8")
    assert values(open_source(tmp_path / "odd.po", DataSettings())) == ODD_ROWS


@pytest.mark.skipif(shutil.which("msgfmt") is None, reason="gettext is not installed")
@pytest.mark.parametrize(("content", "rows"), [(PO, ROWS), (ODD_PO, ODD_ROWS)])
def test_what_msgfmt_compiles_is_read(content: str, rows: list[tuple[str, str]], tmp_path: Path) -> None:
    (tmp_path / "de.po").write_text(content, encoding="utf-8")
    subprocess.run(["msgfmt", "-o", tmp_path / "de.mo", tmp_path / "de.po"], check=True)
    assert sorted(values(open_source(tmp_path / "de.mo", DataSettings()))) == sorted(rows)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        (
            "bad.po",
            b'msgid "a"\nmsgstr "b\n',
            r"line 2: expected msgid, msgstr or a quoted string.*data\.bad_rows=skip",
        ),
        ("bad.po", b'"lost"\n', "line 1: expected msgid"),
        ("bad.po", b'msgid "a"\nmsgid "b"\nmsgstr "c"\n', "line 2: a second msgid in one entry"),
        ("bad.po", b'msgid "a"\nmsgstr "\\q"\n', r"line 2: '.q' is not a valid escape"),
        ("bad.po", b'msgid "a"\nmsgstr "\\777"\n', r"line 2: '.777' is not a valid escape"),
        ("bad.po", b'msgid "a"\nmsgstr "\\303 "\n', r"line 2: '.303' is not a valid escape"),
        ("bad.po", b'msgid "a"\n#~ msgid "old"\nmsgstr "b"\n', "line 1: an entry has no msgstr"),
        ("bad.po", b'msgid\nmsgstr "b"\n', "line 1: an entry has no text after msgid"),
        ("bad.po", b'msgid ""\nmsgstr "charset=klingon"\n', "encoding 'klingon'"),
        ("bad.po", b'msgid "a"\nmsgstr ""\n', "no translated messages"),
        ("bad.po", b'msgid "a"\nmsgstr "\xff"\n', "line 2, column 9: not UTF-8"),
        ("bad.mo", compiled("<")[:10], "20-byte header: not a complete .mo file"),
        ("bad.mo", compiled("<")[:40], "3 messages but has only 40 bytes"),
        ("bad.mo", compiled("<")[:-30], "message 2: a string of 19 bytes .* end of the file"),
        ("bad.mo", struct.pack("<5I", 0x950412DE, 0, 0xFFFFFFFF, 28, 28), "4,294,967,295 messages"),
        ("bad.mo", compiled("<").replace(b"Datei", b"\xff\xff\xff\xff\xff"), "message 2: 'utf-8' codec"),
    ],
)
def test_bad_catalogues_are_refused_with_words(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=f"(?s){name}.*{words}") as caught:
        values(open_source(tmp_path / name, DataSettings()))
    assert caught.value.cure


def test_bad_entries_can_be_skipped(tmp_path: Path) -> None:
    (tmp_path / "half.po").write_bytes(
        b'msgid "a"\nmsgstr "\\q"\n\nmsgid "c"\nmsgstr "d"\nmsgid "e"\nmsgstr "\xff"\n'
    )
    source = open_source(tmp_path / "half.po", DataSettings(bad_rows="skip"))
    assert values(source) == [("c", "d")]
    assert source.bad_rows.count == 2


@pytest.mark.spec(7)
def test_words_of_a_pronouncing_dictionary_come_with_each_of_their_pronunciations(tmp_path: Path) -> None:
    (tmp_path / "words.dict").write_text(
        ";;; comment\nREAD  R EH1 D\nREAD(1)  R IY1  D # verb\nREAD(2)\tR AA1 D\t# dialect\n\n(PAREN  P ER EH"
        " N\nALONE\n"
    )
    source = open_source(tmp_path / "words.dict", DataSettings(bad_rows="skip"))
    assert source.columns == ["word", "phonemes"]
    assert values(source) == [
        ("READ", "R EH1 D"),
        ("READ", "R IY1 D"),
        ("READ", "R AA1 D"),
        ("(PAREN", "P ER EH N"),
    ]
    with pytest.raises(DataError, match=r"line 7: 'ALONE' has no phonemes.*\n.*data\.bad_rows=skip"):
        values(open_source(tmp_path / "words.dict", DataSettings()))
