"""Errors and warnings, and the form of their messages.

    SeqlabError                 the user can fix it                          exit code 2
    ├── DataError               a file, or its contents
    ├── RecipeError             one or more settings
    ├── RunError                a run folder, or a file inside one
    ├── UsageError              the arguments of a command or of a call
    │   └── ArgumentError       one argument of a part of a network or of a search (also a ValueError)
    ├── MissingExtra            an optional dependency that is not installed
    ├── TrainingError           training cannot continue (a loss that is not finite)
    └── EnvironmentProblem      disk, memory or port                         exit code 3

    SeqlabWarning               something about data or results that deserves a look; Python's `warnings` show it

A message says where, what was found, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches

from seqlab.core.as_python import as_python

LONGEST_LIST = 8
LONGEST_LINE_OF_NAMES = 12
LONGEST_COMPARED = 100
CLOSE = 0.55
"""Minimum similarity of two names for one to be suggested for the other."""


class SeqlabError(Exception):
    """A mistake the user can fix: `where: what was found` and, on the next line, the cure.

    Cures are written for the command line. `message` is what the commands print; `str(error)`, which Python users
    see, names arguments of `seqlab.train` in place of options.

    >>> error = SeqlabError("there is no model called 'x'.", where="--model", cure="For example --model lstm")
    >>> print(error)
    model=: there is no model called 'x'.
      For example model="lstm"
    """

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", cure: str = "") -> None:
        self.what = what
        self.where = where
        self.cure = cure
        self.message = _message(what, where=where, cure=cure)
        super().__init__(self.message)

    def __str__(self) -> str:
        where = as_python(self.where) if self.where.startswith("--") else self.where
        return _message(self.what, where=where, cure=as_python(self.cure))


def _message(what: str, *, where: str, cure: str) -> str:
    first = f"{where}: {what}" if where else what
    return f"{first}\n  {cure}" if cure else first


class DataError(SeqlabError):
    """A file that cannot be read, or whose contents cannot be used."""


class RecipeError(SeqlabError):
    """Settings that are unknown, of the wrong type, or that contradict each other."""

    def __str__(self) -> str:
        return _message(as_python(self.what), where=self.where, cure=as_python(self.cure))

    @classmethod
    def of(cls, mistakes: Sequence[str], *, where: str) -> RecipeError:
        """One error for all mistakes of a recipe."""
        if len(mistakes) == 1:
            return cls(mistakes[0], where=where)
        shown = [f"  - {mistake}" for mistake in mistakes[:LONGEST_LIST]]
        if len(mistakes) > LONGEST_LIST:
            shown.append(f"  - and {len(mistakes) - LONGEST_LIST} more")
        return cls(f"{len(mistakes)} mistakes.\n" + "\n".join(shown), where=where)


class RunError(SeqlabError):
    """A run folder that is missing, damaged, of another version, or in use."""


class UsageError(SeqlabError):
    """A call or command with invalid arguments."""


class ArgumentError(UsageError, ValueError):
    """An argument that a part (a layer, a network, a search) cannot use.

    Parts know their arguments, not recipes. `recipes/setting_names.py` turns such an error into a
    `RecipeError` that names the setting. In a cure, an argument is written `name=value`, so that its setting's
    name can take its place there too.

    part: the part of a model that has the argument ("decoder"), where a model has several.

    >>> str(ArgumentError("num_heads", 3, "hidden_size 8 cannot be divided over 3 heads.", allowed="1, 2, 4, 8"))
    'num_heads=3: hidden_size 8 cannot be divided over 3 heads.\\n  Allowed: 1, 2, 4, 8.'
    """

    def __init__(
        self, argument: str, value: object, what: str, *, allowed: str = "", cure: str = "", part: str = ""
    ) -> None:
        self.argument = argument
        self.value = value
        self.allowed = allowed
        self.part = part
        advice = " ".join(filter(None, (f"Allowed: {allowed}." if allowed else "", cure)))
        super().__init__(what, where=f"{argument}={value!r}", cure=advice)


class MissingExtra(SeqlabError):
    """An optional dependency that this use needs."""

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package '{package}'.", cure=f"pip install 'seqlab[{extra}]'")


class TrainingError(SeqlabError):
    """Training stopped because it cannot continue correctly."""


class EnvironmentProblem(SeqlabError):
    """A problem with the machine: disk, memory, port."""

    exit_code = 3


class SeqlabWarning(UserWarning):
    """Leaks between splits, skipped rows, a model that does not beat its baseline."""


def nearest(name: str, allowed: Iterable[str]) -> str:
    """A hint for an unknown name: the closest known name, and the names there are.

    >>> nearest("LSTN", ["gru", "lstm", "rnn"])
    "Did you mean 'lstm'? Available: gru, lstm, rnn."
    """
    names = sorted(set(allowed))
    close = closest(name, names)
    hint = f"Did you mean '{shortened(close)}'? " if close else ""
    return f"{hint}Available: {listed(_likeliest_first(name, names))}."


def closest(name: str, allowed: Iterable[str]) -> str:
    """The allowed name that the user may have meant, or an empty string. Case-insensitive.

    >>> closest("Clip_Nrom", ["clip_norm", "steps"]), closest("wheel", ["clip_norm", "steps"])
    ('clip_norm', '')
    """
    by_fold = {other[:LONGEST_COMPARED].casefold(): other for other in allowed}
    matches = get_close_matches(name[:LONGEST_COMPARED].casefold(), by_fold, n=1, cutoff=CLOSE)
    return by_fold[matches[0]] if matches else ""


def listed(names: Sequence[str]) -> str:
    """Names in one readable line: the first few, and the number of others.

    >>> listed(["a", "b"]), listed([])
    ('a, b', 'nothing')
    """
    shown = names if len(names) <= LONGEST_LINE_OF_NAMES else names[: LONGEST_LINE_OF_NAMES - 1]
    more = f" and {len(names) - len(shown):,} more" if len(shown) < len(names) else ""
    return (", ".join(map(shortened, shown)) + more) or "nothing"


def shortened(text: str, longest: int = 60) -> str:
    """A text from the user's data, shortened for a message."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _likeliest_first(name: str, names: list[str]) -> list[str]:
    """Alphabetical order if all names are shown, else those most similar to `name` first."""
    if len(names) <= LONGEST_LINE_OF_NAMES:
        return names
    likeness = SequenceMatcher(b=name[:LONGEST_COMPARED].casefold())

    def unlike(other: str) -> float:
        likeness.set_seq1(other[:LONGEST_COMPARED].casefold())
        return -likeness.ratio()

    return sorted(names, key=unlike)
