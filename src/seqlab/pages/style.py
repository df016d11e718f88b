"""The style of pages: two palettes, one small style sheet, and system fonts only."""

from __future__ import annotations

from seqlab.pages.html import Markup

# Hues that are distinguishable with common forms of color blindness; darker on white, lighter on black.
LIGHT = {
    "ground": "#fdfdfc",
    "panel": "#f4f5f5",
    "ink": "#1b2126",
    "quiet": "#5a646d",
    "rule": "#e2e5e7",
    "strong": "#ffffff",
    "good": "#00664c",
    "bad": "#a8330f",
    "warn": "#fbf1dc",
    "c0": "#0b6aa8",
    "c1": "#cc5500",
    "c2": "#00835f",
    "c3": "#8a4bb5",
    "c4": "#9c6b00",
    "c5": "#b8336f",
    "c6": "#4d5b66",
}
DARK = {
    "ground": "#14171a",
    "panel": "#1c2024",
    "ink": "#e4e8ea",
    "quiet": "#9aa5ae",
    "rule": "#2d3338",
    "strong": "#0c0e10",
    "good": "#54cfa6",
    "bad": "#ff9270",
    "warn": "#33290f",
    "c0": "#5ab3ee",
    "c1": "#f39a4a",
    "c2": "#3fc79b",
    "c3": "#c394ec",
    "c4": "#d9b346",
    "c5": "#f283b3",
    "c6": "#a9b6c1",
}

SHEET = """
* { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 1100px; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; overflow-wrap: anywhere }
h1 { font-size: 1.9rem; line-height: 1.2; font-weight: 650; letter-spacing: -.015em; margin: .1rem 0 .4rem }
h2 { font-size: 1.15rem; font-weight: 650; letter-spacing: -.005em; margin: 0 0 .9rem }
h3 { font-size: .95rem; font-weight: 600; margin: 0 0 .25rem }
p { margin: 0 0 .8rem; max-width: 46rem }
section { padding-top: 1.5rem; margin-top: 1.8rem; border-top: 1px solid var(--rule) }
a { color: var(--c0); text-decoration-thickness: 1px; text-underline-offset: .2em }
.eyebrow { color: var(--quiet); font-size: .85rem; margin: 0 }
.subtitle { font-size: 1.05rem; color: var(--quiet); margin-bottom: 1rem; white-space: pre-wrap }
.quiet, footer { color: var(--quiet) }
.small { font-size: .82rem; font-weight: 400 }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: 1rem 0 0; padding: 0; font-size: .92rem }
.warnings { background: var(--warn); border-left: 3px solid var(--c4); border-radius: 4px; padding: .7rem 1rem; margin: 1rem 0 }
.warnings ul { margin: .2rem 0 0; padding-left: 1.1rem }
.warnings summary { cursor: pointer; margin-top: .3rem }
.chip { display: inline-block; background: var(--panel); border: 1px solid var(--rule); border-radius: 4px; padding: 0 .4em; font-size: .8rem;
  color: var(--quiet); font-weight: 400 }

.scoreboard { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, var(--narrowest)), 1fr)); gap: 1rem; margin-bottom: .8rem }
.score { background: var(--panel); border-radius: 8px; padding: .9rem 1.1rem .8rem; max-width: 520px }
.score-name { display: flex; justify-content: space-between; align-items: baseline; gap: .8rem; flex-wrap: wrap; font-weight: 600 }
.big { font-size: 1.7rem; line-height: 1.3; font-weight: 650; letter-spacing: -.02em; font-variant-numeric: tabular-nums }
.big.long { font-size: 1.2rem }
.interval { display: block; width: 100%; max-width: 420px; margin: .2rem 0 }
.verdict { margin: 0; font-weight: 600; font-size: .92rem }
.beats { color: var(--good) } .loses { color: var(--bad) } .unsure { color: var(--c4) } .none { color: var(--quiet); font-weight: 400 }

table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; overflow-wrap: normal }
th, td { text-align: left; padding: .38rem .9rem .38rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; font-weight: 400 }
thead th { color: var(--quiet); font-size: .82rem; white-space: nowrap }
tbody th { font-weight: 600 }
th.num, td.num { text-align: right; white-space: nowrap }
.keep { white-space: nowrap }
.how { max-width: 24rem; min-width: 12rem }
.scroll { overflow-x: auto; max-width: 100% }
.classes td.meter { min-width: 7.5rem }
.meter > span { display: block; padding-bottom: 4px;
  background: linear-gradient(var(--c0), var(--c0)) 0 100% / var(--share) 3px no-repeat,
    linear-gradient(var(--rule), var(--rule)) 0 100% / 100% 3px no-repeat }

.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(200px, 1fr)); gap: .9rem 1.6rem; margin: 0 }
.facts dt { color: var(--quiet); font-size: .82rem }
.facts dd { margin: 0; font-variant-numeric: tabular-nums }

.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 420px), 1fr)); gap: 2rem 2.2rem }
figure { margin: 0; max-width: 640px }
.chart { display: block; width: 100%; height: auto }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: 0 0 .3rem; padding: 0; font-size: .88rem }
.legend svg { display: inline-block; vertical-align: middle }
figcaption { font-size: .85rem }
svg text { fill: var(--quiet); font-size: 12px; font-variant-numeric: tabular-nums }
svg .axis-title { fill: var(--quiet); font-style: italic }
.grid, .tick { stroke: var(--rule); stroke-width: 1 }
.line { fill: none; stroke: var(--series); stroke-width: 2; stroke-linejoin: round; stroke-linecap: round }
.line.noisy { stroke-width: 1; opacity: .6 }
circle { fill: var(--series) }
.mark { stroke: var(--quiet); stroke-width: 1; stroke-dasharray: 2 3 }
.reference { stroke: var(--ink); stroke-width: 1.2; stroke-dasharray: 6 4; opacity: .65 }
svg .halo { fill: var(--ink); paint-order: stroke; stroke: var(--ground); stroke-width: 4px; stroke-linejoin: round }

.track { stroke: var(--quiet); stroke-width: 1; opacity: .45 }
.better { fill: var(--c2); fill-opacity: .17 }
.baseline { stroke: var(--ink); stroke-width: 2 }
.reach { fill: var(--c0); fill-opacity: .45 }
.value { fill: var(--c0) }
.interval-rows { display: block; width: 100%; height: auto }
.bar { fill: var(--c0); fill-opacity: .16 }
svg .strong-label { fill: var(--ink); font-weight: 600 }

.beside { display: flex; flex-wrap: wrap; gap: 1.5rem 2.5rem; align-items: flex-start }
.heat { display: block }
.heat text { font-size: inherit; fill: var(--ink) }
.heat-ground { fill: var(--panel) }
.hit { fill: var(--c0) } .miss { fill: var(--c1) }
.heat .count { font-size: 11px }
.heat .count.strong { fill: var(--strong) }

.examples { list-style: none; margin: 0; padding: 0 }
.examples li { padding: .7rem 0; border-top: 1px solid var(--rule) }
.examples li:first-child { border-top: 0; padding-top: 0 }
.text { white-space: pre-wrap; max-width: 52rem; unicode-bidi: isolate }
.mono, code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .86rem; line-height: 1.5 }
.facts-line { display: flex; flex-wrap: wrap; gap: .1rem 1.3rem; font-size: .86rem; margin-top: .25rem; font-variant-numeric: tabular-nums }
.is-wrong { color: var(--bad) } .is-true { color: var(--good) }
.sample { display: grid; grid-template-columns: 9rem 1fr; gap: .3rem 1.2rem; padding: .8rem 0; border-top: 1px solid var(--rule) }
.sample:first-child { border-top: 0 }
.prompt { background: color-mix(in srgb, var(--c0) 16%, transparent); border-radius: 2px; font-weight: 600 }

.block { background: var(--panel); border-radius: 6px; padding: .8rem 1rem; white-space: pre; overflow-x: auto; overflow-wrap: normal }
.recipe { max-height: 30rem; overflow: auto }
.command { margin-bottom: .5rem }
.command code::before { content: "$ "; color: var(--quiet) }
.toml-head { font-weight: 650; color: var(--c0) }
footer { margin-top: 3rem; font-size: .82rem }

@media (max-width: 560px) {
  body { padding: 1.3rem 1rem 3rem }
  h1 { font-size: 1.5rem }
  .sample { grid-template-columns: 1fr }
  .stage { display: flex; gap: .8rem; align-items: baseline }
  .chart text { font-size: 15px }
  .facts { grid-template-columns: repeat(auto-fill, minmax(140px, 1fr)) }
}
@media print {
  body { padding: 0; max-width: none; font-size: 10.5pt }
  nav { display: none }
  .recipe { max-height: none }
  .block { white-space: pre-wrap }
  .scroll { overflow: visible }
  .score, figure, .heat, .sample, .examples li, tr { break-inside: avoid }
  h2, h3 { break-after: avoid }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact }
}
"""


def style_sheet() -> Markup:
    """Both palettes and the rules that use them; paper is always light."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}"
    return Markup(f":root {{ {_variables(LIGHT)} }}\n{dark}\n{SHEET}")


def _variables(palette: dict[str, str]) -> str:
    return "; ".join(f"--{name}: {colour}" for name, colour in palette.items())
