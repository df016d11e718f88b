"""What every test may rely on: shape checks, a private cache, no working folder, and the index of the
specification.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from tests import shape_checks
from tests.spec_marks import SpecReport, check_marks

# Before the first import of seqlab, or its functions stay unchecked.
shape_checks.switch_on("seqlab")

hypothesis.settings.register_profile("seqlab", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("seqlab")

REPOSITORY = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--spec-report",
        metavar="PATH",
        default=None,
        help="write which tests proved which rows of the specification, as JSON",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Here and not in pyproject.toml: pytest imports the category before the shape checks are switched on.
    config.addinivalue_line("filterwarnings", "ignore::seqlab.core.errors.SeqlabWarning")
    path = config.getoption("--spec-report")
    is_worker = hasattr(config, "workerinput")
    if path is not None and not is_worker:
        config.pluginmanager.register(SpecReport(config.invocation_params.dir / path), "spec_report")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    check_marks(items)


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder that SEQLAB_CACHE names while the tests run: new in every session, and never the user's
    own.
    """
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session", autouse=True)
def empty_working_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Tests run in an empty folder, so that none depends on where pytest was started or leaves files in the
    project.
    """
    folder = tmp_path_factory.mktemp("working")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        yield folder


@pytest.fixture(scope="module")
def kernels() -> Iterator[Path]:
    """The kernels in C++, built once for all workers and used by every test of a module that asks for them.

    They are kept for the next test run. The name of the file has a digest of the sources, the compiler's flags and
    the versions of torch and Python, so that a change of any of them builds new ones.
    """
    import torch  # not at the top: most tests need no torch

    from seqlab.cells.native import build as native_build
    from seqlab.cells.native import library as native_library

    if shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("no C++ compiler here")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SEQLAB_CACHE", str(REPOSITORY / ".cache" / "tests"))
        path = native_build.build_library()
        assert native_library.native_kernels(torch.zeros(1)) is not None  # also loads them
        yield path
    native_library.reload_library()


@pytest.fixture(params=["without kernels", pytest.param("with kernels", marks=pytest.mark.slow)])
def either_way(request: pytest.FixtureRequest) -> Iterator[str]:
    """A test that asks for this runs twice: as if no kernels were built, and with them."""
    from seqlab.cells.native import library as native_library

    if request.param == "with kernels":
        request.getfixturevalue("kernels")
        yield request.param
    else:
        with native_library.disable_native():
            yield request.param


@pytest.fixture
def short_scans(monkeypatch: pytest.MonkeyPatch) -> None:
    """seqlab.nn scans packed sequences of any length; otherwise torch's own layer runs the short ones."""
    from seqlab.cells import kernel_choice

    monkeypatch.setattr(kernel_choice, "MIN_PACKED_STEPS", {"training": 1, "inference": 1})


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of benchmark data that may stand beside the project; tests that ask for it are skipped
    without it.
    """
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the benchmark data is not beside the project")
    return folder
