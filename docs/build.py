"""Builds the documentation into site/ and checks that its pages load nothing from elsewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SITE = ROOT / "site"
# What a browser fetches by itself when it opens a page; a link is only followed by the reader.
FETCHED = re.compile(
    r"""<(?:script|img|iframe|source)\b[^>]*\bsrc=["']?((?:https?:)?//[^"'\s>]+)|<link\b[^>]*\bhref=["']?((?:https?:)?//[^"'\s>]+)"""
)


def main() -> int:
    built = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--clean", "--strict"], cwd=ROOT, check=False
    )
    if built.returncode:
        return built.returncode
    for script in SITE.glob("*.py"):  # every file of docs/ is copied, these too
        script.unlink()
    outside = list(fetched_from_outside(SITE))
    for page, address in outside:
        print(f"{page}: loads {address}", file=sys.stderr)
    if not outside:
        print(
            f"{len(list(SITE.rglob('*.html')))} pages in {SITE.relative_to(ROOT)}/, start with"
            " site/index.html"
        )
    return 1 if outside else 0


def fetched_from_outside(site: Path) -> Iterator[tuple[str, str]]:
    """Every page with every outside address that it would load."""
    for page in sorted(site.rglob("*.html")):
        for found in FETCHED.finditer(page.read_text(encoding="utf-8")):
            address = found[1] or found[2]
            if 'rel="canonical"' not in found[0]:
                yield str(page.relative_to(site)), address


if __name__ == "__main__":
    sys.exit(main())
