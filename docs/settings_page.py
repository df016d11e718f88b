"""Writes docs/reference/settings.md from the settings themselves: `python docs/settings_page.py`.

A test compares the two.
"""

from __future__ import annotations

from pathlib import Path

from seqlab.cli.setting_help import format_value
from seqlab.core.settings import describe, sentence_of
from seqlab.recipes.sections import KINDS, section_names, settings_of

PAGE = Path(__file__).parent / "reference" / "settings.md"
INTRODUCTION = (
    "Every setting of a recipe, made from the code by `python docs/settings_page.py`. `seqlab explain NAME`"
    " shows the same."
)


def default_of(value: object) -> str:
    return "empty" if value in ("", ()) else f"`{format_value(value)}`"


def page() -> str:
    """All sections as tables; those that differ by kind once per kind."""
    lines = ["# Settings", "", INTRODUCTION, ""]
    for section in section_names():
        for settings in settings_of(section):
            kind = f": {settings.model_fields['kind'].default}" if section in KINDS else ""
            lines += [
                f"## {section}{kind}",
                "",
                sentence_of(settings),
                "",
                "| setting | type | default | meaning |",
                "|---|---|---|---|",
            ]
            for entry in describe(settings, prefix=f"{section}."):
                lines.append(
                    f"| `{entry.name}` | {entry.kind.replace('|', 'or')} | {default_of(entry.default)} |"
                    f" {entry.sentence} |"
                )
            lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
