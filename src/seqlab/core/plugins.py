"""Plug-ins: user code that registers parts with seqlab when it is imported.

A plug-in comes from an installed package (entry points of the group ``seqlab``) or from a file that is
loaded with `load_plugin_file`. Recipes and run folders never name code, so that untrusted ones are safe to
load.
"""

from __future__ import annotations

import hashlib
import sys
from functools import cache
from importlib import metadata, util
from pathlib import Path

from seqlab.core.errors import UsageError

GROUP = "seqlab"
PLUGIN_HINT = "If it comes from a plug-in, add --plugin FILE; in Python, import the plug-in."
"""Advice for a name that is not a built-in part."""


@cache
def load_installed_plugins() -> tuple[str, ...]:
    """Import the plug-in of every installed package, once; returns their names."""
    entry_points = metadata.entry_points(group=GROUP)
    for entry_point in entry_points:
        try:
            entry_point.load()
        except Exception as error:
            raise UsageError(
                f"the plug-in cannot be imported: {type(error).__name__}: {error}",
                where=f"{entry_point.name} ({entry_point.value})",
                cure="Fix or uninstall the package that provides it.",
            ) from error
    return tuple(entry_point.name for entry_point in entry_points)


def load_plugin_file(path: Path) -> None:
    """Run a Python file that registers parts."""
    if not path.is_file():
        raise UsageError(
            "there is no such file.", where=str(path), cure="Pass a Python file, such as my_cell.py."
        )
    place = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]  # two files may have the same name
    name = f"seqlab_plugin_{path.stem}_{place}"
    spec = util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(
            "a plug-in is a Python file.", where=str(path), cure="Pass a file whose name ends in .py."
        )
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise UsageError(
            f"the plug-in cannot be imported: {type(error).__name__}: {error}",
            where=str(path),
            cure="Fix the file; --debug shows the traceback.",
        ) from error
