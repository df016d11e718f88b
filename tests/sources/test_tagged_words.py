"""Files of tagged words: sentences with the lists of their columns, in every form that is around, and what is
said of damaged ones.
"""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from seqlab.core.errors import DataError
from seqlab.sources.base import Row
from seqlab.sources.file_format import format_of
from seqlab.sources.formats.tagged_words import TaggedWords
from seqlab.sources.open_source import open_source
from seqlab.sources.settings import DataSettings
from seqlab.sources.survey.survey import survey
from seqlab.sources.word_lists import pairs_of, words_of
from tests.sources.guessing import guess

CONLLU = """\
# newdoc
# text = Don't!
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t0\troot\t_\t_
2\tn't\tnot\tPART\tRB\t_\t1\tadvmod\t_\t_
2.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_
3\t!\t!\tPUNCT\t.\t_\t1\tpunct\t_\t_

# text = # 1
1\t#\t#\tSYM\tNN\t_\t0\troot\t_\t_
2\t1 000\t1000\tNUM\tCD\t_\t1\tnummod\t_\t_
"""


def write(folder: Path, content: str, name: str = "words.tsv") -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def read(path: Path, **settings: object) -> list[Row]:
    return list(TaggedWords(path, DataSettings.model_validate(settings)).rows())


def test_a_row_is_a_sentence_and_knows_its_first_line(tmp_path: Path) -> None:
    rows = read(write(tmp_path, "\n\nThe\tDET\ndog\tNOUN\n\n  \nIt\tPRON\r\nbarks\tVERB"))
    assert [row.values for row in rows] == [
        {"word": ["The", "dog"], "tag": ["DET", "NOUN"]},
        {"word": ["It", "barks"], "tag": ["PRON", "VERB"]},
    ]
    assert [row.line for row in rows] == [3, 7]
    assert rows[1].where == f"{tmp_path / 'words.tsv'}, line 7"


def test_blanks_may_part_the_columns_and_a_hash_may_be_a_word(tmp_path: Path) -> None:
    rows = read(write(tmp_path, "# a comment of several words\nThe  DET\n# SYM\n\ndog NOUN\n"))
    assert [row.values for row in rows] == [
        {"word": ["The", "#"], "tag": ["DET", "SYM"]},
        {"word": ["dog"], "tag": ["NOUN"]},
    ]


def test_universal_dependencies_have_their_own_names_and_no_repeated_words(tmp_path: Path) -> None:
    rows = read(write(tmp_path, CONLLU, "x.conllu"))
    assert [row.values["form"] for row in rows] == [["Do", "n't", "!"], ["#", "1 000"]]
    assert [row.values["upos"] for row in rows] == [["AUX", "PART", "PUNCT"], ["SYM", "NUM"]]
    assert rows[0].values["xpos"] == ["VB", "RB", "."]
    assert [row.line for row in rows] == [4, 10]


@pytest.mark.spec(11)
def test_lines_that_open_a_document_of_conll_are_no_words(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "-DOCSTART- -X- -X- O\n\nEU NNP B-NP I-ORG\nrejects VBZ B-VP O\n\n-DOCSTART- -X- -X- O\n\nPeter NNP"
        " B-NP I-PER\n",
        "eng.conll",
    )
    rows = read(path)
    assert [(row.values["1"], row.values["4"], row.line) for row in rows] == [
        (["EU", "rejects"], ["I-ORG", "O"], 3),
        (["Peter"], ["I-PER"], 8),
    ]
    found = guess(TaggedWords(path, DataSettings()))
    assert (found.task, found.text, found.label) == ("tagging", "1", "4")


def test_a_line_that_opens_a_document_may_have_no_other_columns(tmp_path: Path) -> None:
    rows = read(write(tmp_path, "-DOCSTART-\n\nEU\tB-ORG\nrejects\tO\n\n-DOCSTART-\n\nPeter\tB-PER\n"))
    assert [(row.values["word"], row.line) for row in rows] == [(["EU", "rejects"], 3), (["Peter"], 8)]


def test_an_empty_node_may_come_first_in_universal_dependencies(tmp_path: Path) -> None:
    source = TaggedWords(
        write(tmp_path, "0.1\tgo" + "\t_" * 8 + "\n1\tDogs\tdog\tNOUN" + "\t_" * 6 + "\n", "x.conllu"),
        DataSettings(),
    )
    assert source.columns[1:4] == ["form", "lemma", "upos"]
    assert [row.values["form"] for row in source.rows()] == [["Dogs"]]


def test_a_comment_before_a_sentence_may_have_as_many_words_as_there_are_columns(tmp_path: Path) -> None:
    rows = read(write(tmp_path, "# first\nEU B-ORG\n# SYM\n\n# second\n#tags O\n", "x.conll"))
    assert [(row.values["word"], row.values["tag"], row.line) for row in rows] == [
        (["EU", "#"], ["B-ORG", "SYM"], 2),
        (["#tags"], ["O"], 6),
    ]
    tabbed = read(write(tmp_path, "#\tSYM\n1\tNUM\n"))
    assert tabbed[0].values["word"] == ["#", "1"]


def test_accents_emoji_and_right_to_left_words_stay_as_they_are(tmp_path: Path) -> None:
    words = ["e\u0301te\u0301", "שלום", "👩‍💻", "مرحبا\u200f", "\u00a0x"]
    rows = read(write(tmp_path, "".join(f"{word}\tX\n" for word in words)))
    assert rows[0].values["word"] == [*words[:4], "x"]


def test_other_columns_are_numbered(tmp_path: Path) -> None:
    source = TaggedWords(
        write(tmp_path, "EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n", "x.conll"), DataSettings()
    )
    assert source.columns == ["1", "2", "3", "4"]
    assert next(iter(source.rows())).values["4"] == ["B-ORG", "O"]
    found = guess(source)
    assert (found.task, found.text, found.label) == ("tagging", "1", "4")
    chosen = guess(source, settings=DataSettings(label="2"))
    assert (chosen.label, "tags in column" in " ".join(chosen.reasons)) == ("2", False)


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.conllu", CONLLU, "tagged"),
        ("a.tsv", "The\tDET\n\ndog\tNOUN\n", "tagged"),
        ("a.txt", "The\tDET\n\ndog\tNOUN\n", "tagged"),
        ("a", "The\tDET\n\ndog\tNOUN\n", "tagged"),
        ("a.tsv", "text\tlabel\nThe dog\tgood\n\n", "tsv"),
        ("a.tsv", "text\tlabel\nThe dog\tgood\n", "tsv"),
        ("a.txt", "two words\n\nper line\n", "text"),
        ("a.tsv", "он\tPRON\nхорошо\tADV\n\nона\tPRON\n", "tagged"),  # a byte of х is a line end in Latin-1
        ("a", "Århus\tPROPN\n\nÅse\tPROPN\n", "tagged"),
        ("a", "Åse läuft\tpos\nÅse schläft\tneg\nÅse ruft\tpos\n", "tsv"),
        ("a.tsv", "text\tlabel\nGreat\tpos\n\nAwful\tneg\n", "tsv"),
        ("a.tsv", "\ufeffid\ttweet\tairline_sentiment\n1\tGreat\tpos\n\n2\tAwful\tneg\n", "tsv"),
        ("a.tsv", "I love this film\tpos\nI hate it\tneg\n\nGreat\tpos\n", "tsv"),
        ("a.tsv", "1 000\tNUM\ndogs\tNOUN\n\nword\ttag\nbark\tVERB\n", "tagged"),
        ("a.tsv", "-DOCSTART-\n\nEU\tB-ORG\n\n-DOCSTART-\n\nPeter\tB-PER\n", "tagged"),
    ],
)
def test_tagged_files_are_told_from_tables_and_text(
    tmp_path: Path, name: str, content: str, expected: str
) -> None:
    assert format_of(write(tmp_path, content, name)) == expected


def test_packed_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.conllu.xz"
    path.write_bytes(lzma.compress(CONLLU.encode()))
    assert len(list(open_source(path, DataSettings()).rows())) == 2


def test_the_guess_knows_words_and_tags_also_in_json(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '{"id": 1, "tokens": ["a", "b"], "ner_tags": ["O", "B"]}\n{"id": 2, "tokens": ["c"], "ner_tags":'
        ' ["O"]}\n',
        "x.jsonl",
    )
    found = guess(open_source(path, DataSettings()))
    assert (found.task, found.text, found.label) == ("tagging", "tokens", "ner_tags")
    assert found.reasons == [
        "word column 'tokens'; set data.text=NAME to change it",
        "tag column 'ner_tags'; set data.label=NAME to change it",
        "a tag for every word: tagging; set task=NAME to change the task",
    ]
    assert guess(TaggedWords(write(tmp_path, CONLLU), DataSettings())).label == "upos"


def test_whole_numbers_are_tags_as_published_tables_have_them(tmp_path: Path) -> None:
    lines = [
        '{"id": "7", "tokens": ["EU", "rejects", "it"], "ner_tags": [3, 0, 0]}',
        '{"id": "8", "tokens": ["Peter"], "ner_tags": [1]}',
    ]
    source = open_source(write(tmp_path, "\n".join(lines), "x.jsonl"), DataSettings())
    found = guess(source)
    assert (found.task, found.text, found.label) == ("tagging", "tokens", "ner_tags")
    assert [pairs_of(row, words="tokens", tags="ner_tags")[1] for row in source.rows()] == [
        ["3", "0", "0"],
        ["1"],
    ]
    part = survey({"train": source}, text="tokens", label="ner_tags").parts["train"]
    assert part.labels == {"0": 2, "3": 1, "1": 1}
    steps = write(
        tmp_path, '{"frames": [[0.5], [0.7]], "tags": [1, 0]}\n{"frames": [[0.1]], "tags": [1]}\n', "y.jsonl"
    )
    assert guess(open_source(steps, DataSettings())).label == "tags"


def test_numbers_beside_a_text_are_not_taken_for_tags(tmp_path: Path) -> None:
    lines = [
        '{"text": "a fine film", "ids": [4, 7, 1], "label": "pos"}',
        '{"text": "a dull film", "ids": [4, 2, 1], "label": "neg"}',
    ]
    found = guess(open_source(write(tmp_path, "\n".join(lines), "x.jsonl"), DataSettings()))
    assert (found.task, found.text, found.label) == ("classification", "text", "label")


def test_words_without_tags_are_told(tmp_path: Path) -> None:
    source = open_source(
        write(tmp_path, '{"tokens": ["a", "b"]}\n{"tokens": ["c"]}\n', "x.jsonl"), DataSettings()
    )
    with pytest.raises(DataError, match=r"x.jsonl: column 'tokens' contains words, but no column has a tag"):
        guess(source)


def test_the_survey_counts_tags_word_by_word(tmp_path: Path) -> None:
    source = TaggedWords(write(tmp_path, "The\tDET\ndog\tNOUN\n\ndog\tNOUN\n"), DataSettings())
    part = survey({"train": source}, text="word", label="tag").parts["train"]
    assert (part.rows, part.characters, part.labels) == (2, 3, {"NOUN": 2, "DET": 1})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "words.tsv: is empty."),
        ("# only\n# comments\n", "is empty."),
        (
            "The\ndog\n",
            "the first line contains only 'The', without a tag.\n  Each line must contain a word and its tag",
        ),
        (
            "The\tDET\ndog\tNOUN\tx\n",
            (
                "words.tsv, line 2: 3 columns, expected 2 (word, tag): 'dog\\tNOUN\\tx'.\n  Columns must be"
                " separated by a tab"
            ),
        ),
        ("The\tDET\n\n\ndog\n", "words.tsv, line 4: 1 column, expected 2"),
        (
            "The DET\nthe big dog\n",
            (
                "line 2: 3 columns, expected 2 (word, tag): 'the big dog'.\n  Columns must be separated by"
                " spaces"
            ),
        ),
        ("The\tDET\n\tNOUN\n", "line 2: column 'word' is empty."),
        ("The\tDET\ndog\t\n", "line 2: column 'tag' is empty."),
    ],
)
def test_what_cannot_be_read_is_told_with_its_line(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(DataError) as caught:
        read(write(tmp_path, content))
    assert words in str(caught.value)


def test_a_sentence_with_a_bad_line_is_skipped_as_a_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "a\tA\n\nb\tB\nc\n\n\nd\tD\ne\tE\n")
    source = TaggedWords(path, DataSettings(bad_rows="skip"))
    assert [row.values["word"] for row in source.rows()] == [["a"], ["d", "e"]]
    sentence = source.bad_rows.sentence()
    assert sentence.startswith("skipped 1 of 3 rows (33%)")
    assert f"{path}, line 4: 1 column, expected 2 (word, tag): 'c'." in sentence
    path.write_bytes(b"a\tA\nb\xff\tB\n\nc\tC\n")
    assert [row.values["word"] for row in TaggedWords(path, DataSettings(bad_rows="skip")).rows()] == [["c"]]
    with pytest.raises(DataError, match="line 2, column 2"):
        read(path)


def test_sentences_can_be_counted_and_delimiters_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, "a|A\n\nb|B\n\nc|C\n")
    assert [row.values for row in read(path, max_rows=2, delimiter="|")] == [
        {"word": ["a"], "tag": ["A"]},
        {"word": ["b"], "tag": ["B"]},
    ]
    assert (
        TaggedWords(path, DataSettings(delimiter="|")).fingerprint()
        != TaggedWords(path, DataSettings(delimiter="|", max_rows=1)).fingerprint()
    )


def test_reading_is_one_sentence_at_a_time(tmp_path: Path) -> None:
    """A mistake at the end is not seen at the beginning."""
    rows = TaggedWords(write(tmp_path, "a\tA\n\n" * 5 + "b\n"), DataSettings()).rows()
    assert [next(rows).values["word"] for _ in range(5)] == [["a"]] * 5
    with pytest.raises(DataError, match="line 11"):
        next(rows)


def test_cells_may_be_lists_or_texts() -> None:
    assert words_of(Row({"w": " The  dog "}, "f", 3), "w") == ["The", "dog"]
    assert pairs_of(Row({"w": ["The", "dog"], "t": "D N"}, "f", 3), words="w", tags="t") == (
        ["The", "dog"],
        ["D", "N"],
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "f, line 3: column 't' does not contain a list of tags."),
        ([], "column 't' has no tags."),
        (["A", " "], "tag 2 of column 't' is empty."),
        (["A", None], "tag 2 of column 't' is empty."),
    ],
)
def test_cells_without_tags_are_refused(value: object, words: str) -> None:
    with pytest.raises(DataError) as caught:
        pairs_of(Row({"w": ["a", "b"], "t": value}, "f", 3), words="w", tags="t")
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "f, line 3: column 'w' does not contain a list of words."),
        ([1, 2], "column 'w' does not contain a list of words."),
        ([], "column 'w' has no words."),
        ("  ", "column 'w' has no words."),
        (["a", " "], "word 2 of column 'w' is empty."),
        (["a", "b", "c"], "3 words in column 'w', but 2 tags in column 't'."),
    ],
)
def test_cells_without_words_are_refused(value: object, words: str) -> None:
    with pytest.raises(DataError) as caught:
        pairs_of(Row({"w": value, "t": ["A", "B"]}, "f", 3), words="w", tags="t")
    assert words in str(caught.value)
