"""seqlab predict --vectors: what a network makes of texts, as JSON lines or as one array."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from seqlab.cli.console import answer_json, quoted, say
from seqlab.cli.inputs import available_chunks
from seqlab.core.errors import EnvironmentProblem

if TYPE_CHECKING:
    from seqlab.runs.run import Run


def show_vectors(run: Run, inputs: Iterator[Any], *, pooling: Any, out: str, as_json: bool) -> None:
    """A line {"input", "vector"} for each text as it comes; with --json one object for all; with --out a file
    and no lines.
    """
    parts = ((part, run.vectors(part, pooling=pooling)) for part in available_chunks(inputs))
    if out:
        return _write([vectors for _, vectors in parts], Path(out))
    lines = (
        {"input": value, "vector": vector.tolist()}
        for part, vectors in parts
        for value, vector in zip(part, vectors, strict=True)
    )
    if as_json:
        return answer_json({"run": str(run.folder), "pooling": pooling, "vectors": list(lines)})
    for line in lines:
        answer_json(line)
    return None


def _write(parts: list[Any], path: Path) -> None:
    import numpy as np

    whole = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)
    try:
        with path.open("wb") as file:
            np.save(file, whole)
    except OSError as error:
        raise EnvironmentProblem(
            f"the vectors cannot be written ({error.strerror}).",
            where=str(path),
            cure="Choose another --out.",
        ) from error
    say(
        f"{len(whole):,} vectors of {whole.shape[1]} numbers: {path}\nread them in Python:\n "
        f" numpy.load({quoted(path)!r})"
    )
