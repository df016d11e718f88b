"""Build the C++ kernels for this machine: `make native`, or `python -m seqlab.cells.native.build`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

from torch.utils import cpp_extension

from seqlab.cells.native.library import SOURCES, compiler_flags, library_path, reload_library
from seqlab.core.cache import CHOOSE_ANOTHER
from seqlab.core.errors import EnvironmentProblem, SeqlabError
from seqlab.core.locks import lock_file


def build_library() -> Path:
    """The path of the library, built if it does not exist yet. It is written atomically, so that no process
    loads half of it.
    """
    path = library_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.parent.chmod(0o755)  # kernels from a folder that others can write are not loaded
    with lock_file(path.parent / "building.lock", wait=True, cure=CHOOSE_ANOTHER):
        if not path.is_file():
            _compile(path)
    reload_library()
    return path


def _compile(path: Path) -> None:
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        raise EnvironmentProblem(
            "building the kernels needs a C++ compiler.",
            cure="On Debian or Ubuntu, run apt install g++. seqlab also works without the kernels.",
        )
    if not cpp_extension.is_ninja_available():
        raise EnvironmentProblem(
            "building the kernels needs ninja.",
            cure="Run pip install ninja. seqlab also works without the kernels.",
        )
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        try:
            cpp_extension.load(
                name="kernels",
                sources=[str(SOURCES / "kernels.cpp")],
                extra_cflags=compiler_flags(),
                extra_ldflags=["-fopenmp"],
                build_directory=folder,
                is_python_module=False,
            )
        except (RuntimeError, OSError) as error:
            raise EnvironmentProblem(
                f"the kernels could not be built: {error}", cure="seqlab also works without the kernels."
            ) from error
        built = next(Path(folder).glob("kernels*.so"))
        built.chmod(0o755)
        built.replace(path)


if __name__ == "__main__":
    try:
        sys.stdout.write(f"{build_library()}\n")
    except SeqlabError as error:
        sys.exit(error.message)
