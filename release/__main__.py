"""`python -m release [--tag v0.1.0]`: dist/ gets a wheel and a source archive that passed every check."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

from release.contents import ROOT, sdist_problems, wheel_problems
from release.trial import trial_problems

DIST = ROOT / "dist"
NEXT_STEPS = """
Next steps:
  1. In CHANGELOG.md, rename "Unreleased" to "{version}" with today's date, and commit it with the version.
  2. git tag -a v{version} -m "seqlab {version}"
  3. git push origin v{version}      the release workflow builds, checks and publishes it
  4. Write the release notes from that section of CHANGELOG.md.
  5. Raise `version` in pyproject.toml, the only place where it stands, for the next release."""


def project_version() -> str:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def build(out: Path) -> tuple[Path, Path]:
    """Build the wheel, from the source archive, with the pinned tools of this environment."""
    shutil.rmtree(out, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m release", description="Build and check a release.")
    parser.add_argument("--tag", default="", help="the tag of the release, which must be that of the version")
    tag, version = parser.parse_args().tag, project_version()
    if tag and tag != f"v{version}":
        print(f"The tag {tag} is not that of version {version}: v{version}.", file=sys.stderr)
        return 1
    wheel, sdist = build(DIST)
    problems = [
        *wheel_problems(wheel, version=version),
        *sdist_problems(sdist, version=version),
        *trial_problems(wheel, version=version),
    ]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    print(f"Built and checked: {', '.join(path.relative_to(ROOT).as_posix() for path in (wheel, sdist))}")
    if not tag:
        print(NEXT_STEPS.format(version=version))
    return 0


if __name__ == "__main__":
    sys.exit(main())
