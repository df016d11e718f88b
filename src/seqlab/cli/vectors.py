"""seqlab predict --vectors: the network's vector of each text, as JSON lines or as one array."""

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
    """One line {"input", "vector"} per text as it arrives; with --json one object; with --out only a file."""
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
            cure="Choose another file with --out.",
        ) from error
    say(
        f"{len(whole):,} vectors with {whole.shape[1]} dimensions: {path}\nread them in Python:\n "
        f" numpy.load({quoted(path)!r})"
    )
