"""Word analogies (a is to b as c is to d) by vector arithmetic, for single questions or a standard
question file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from seqlab.core.errors import DataError
from seqlab.inspection.nearest_words import top_words
from seqlab.sources.files.compression import open_binary
from seqlab.tokens.word_vectors import WordVectors

AnalogyMethod = Literal["add", "multiply"]
EPSILON = 0.001
BATCH_SIZE = 256
"""Questions that are answered at once."""
MAX_LINE_BYTES = 10_000


@dataclass(frozen=True)
class AnalogyQuestion:
    """One analogy question (a is to b as c is to d) and its line in the file."""

    section: str
    words: tuple[str, str, str, str]


@dataclass(frozen=True)
class SectionScore:
    """The questions of one section. Only those whose four words have vectors can be answered."""

    section: str
    questions: int
    covered: int
    right: int
    baseline_right: int
    """How many would be correct if the answer were simply the word nearest to c."""

    @property
    def accuracy(self) -> float:
        """Accuracy on the covered questions."""
        return self.right / self.covered if self.covered else float("nan")

    @property
    def baseline(self) -> float:
        return self.baseline_right / self.covered if self.covered else float("nan")


def solve_analogy(
    table: WordVectors, a: str, b: str, c: str, *, method: AnalogyMethod = "add", top: int = 5
) -> list[tuple[str, float]]:
    """Words d such that a is to b as c is to d, best first. The three words of the question are excluded.

        add        d = argmax cos(d, b − a + c)                        of unit vectors (3CosAdd)
        multiply   d = argmax cos⁺(d, b) cos⁺(d, c) / (cos⁺(d, a) + ε)    with cos⁺ = (cos + 1) / 2 (3CosMul)

    Papers: Mikolov, Yih, Zweig 2013, NAACL; Levy, Goldberg 2014, CoNLL.
    """
    indices = [table.place(word) for word in (a, b, c)]
    return top_words(table, _scores(table, np.array([indices]), method)[0], top=top, exclude=indices)


def read_questions(path: str | Path) -> list[AnalogyQuestion]:
    """Read the word2vec question file: a line `: name` begins a section, every other line is a question of
    four words.
    """
    questions, section = [], ""
    with open_binary(Path(path)) as stream:
        for number, line in enumerate(iter(lambda: stream.readline(MAX_LINE_BYTES), b""), start=1):
            try:
                words = line.decode("utf-8").split()
            except UnicodeDecodeError as error:
                raise DataError(
                    "is not UTF-8.", where=f"{path}, line {number}", cure="Convert the file to UTF-8 first."
                ) from error
            if words[:1] == [":"]:
                section = " ".join(words[1:])
            elif len(words) == 4:
                questions.append(AnalogyQuestion(section, (words[0], words[1], words[2], words[3])))
            elif words:
                raise DataError(
                    f"{len(words)} words; a question has exactly four, and a section starts with a colon"
                    " and a space.",
                    where=f"{path}, line {number}",
                    cure="For example: man woman king queen",
                )
    if not questions:
        raise DataError(
            "contains no questions.",
            where=str(path),
            cure="Write one question of four words per line: man woman king queen",
        )
    return questions


def score_analogies(
    table: WordVectors, questions: Sequence[AnalogyQuestion], *, method: AnalogyMethod = "add"
) -> list[SectionScore]:
    """Evaluate every section, in the order of the file. Words that are not in the table are looked up in
    lower case.
    """
    names = list(dict.fromkeys(question.section for question in questions))
    counts = {name: np.zeros(4, int) for name in names}  # questions, covered, right, right by the baseline
    known: list[tuple[str, list[int]]] = []
    for question in questions:
        counts[question.section][0] += 1
        indices = [_index(table, word) for word in question.words]
        if None not in indices:
            known.append((question.section, [index for index in indices if index is not None]))
    for start in range(0, len(known), BATCH_SIZE):
        batch = known[start : start + BATCH_SIZE]
        question_ids = np.array([indices for _, indices in batch])  # (questions, 4)
        right = _best(_scores(table, question_ids[:, :3], method), question_ids) == question_ids[:, 3]
        baseline = _best(table.units[question_ids[:, 2]] @ table.units.T, question_ids) == question_ids[:, 3]
        for (section, _), *hits in zip(batch, right, baseline, strict=True):
            counts[section] += np.array([0, 1, *hits])
    return [SectionScore(name, *map(int, counts[name])) for name in names]


def total_score(scores: Sequence[SectionScore]) -> SectionScore:
    """All sections combined."""
    sums = [
        sum(getattr(score, name) for score in scores)
        for name in ("questions", "covered", "right", "baseline_right")
    ]
    return SectionScore("all", *sums)


def offset_similarity(table: WordVectors, first_pair: tuple[str, str], second_pair: tuple[str, str]) -> float:
    """The cosine of two differences: 1 if E(aunt) − E(uncle) points where E(woman) − E(man) does."""
    first, second = (table.vector(pair[1]) - table.vector(pair[0]) for pair in (first_pair, second_pair))
    return float(first @ second / max(float(np.linalg.norm(first) * np.linalg.norm(second)), 1e-12))


def _index(table: WordVectors, word: str) -> int | None:
    index = table.places.get(word)
    return table.places.get(word.lower()) if index is None else index


def _scores(table: WordVectors, indices: np.ndarray, method: AnalogyMethod) -> np.ndarray:
    """The score of every word for every question: (questions, words)."""
    units = table.units
    a, b, c = (units[indices[:, number]] for number in range(3))  # (questions, width) each
    if method == "add":
        target = b - a + c
        target /= np.maximum(np.linalg.norm(target, axis=1, keepdims=True), 1e-12)
        return np.asarray(target @ units.T)
    near_a, near_b, near_c = ((vectors @ units.T + 1) / 2 for vectors in (a, b, c))
    return np.asarray(near_b * near_c / (near_a + EPSILON))


def _best(scores: np.ndarray, question_ids: np.ndarray) -> np.ndarray:
    """The best word of every question, excluding the words of the question itself."""
    np.put_along_axis(scores, question_ids[:, :3], -np.inf, axis=1)
    return np.asarray(scores.argmax(axis=1))
