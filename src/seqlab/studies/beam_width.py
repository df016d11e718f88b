"""What does a wider beam buy? Beams of several widths, and the most probable target of all, found by exact
search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from seqlab.cells.settings import named_cell
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.length_normalization import LengthPenalty, NoLengthPenalty, PowerLengthPenalty
from seqlab.decoding.search import Search, SourceBatch, SpecialTokens
from seqlab.metrics.bleu import corpus_bleu
from seqlab.metrics.seeds import SeedSummary
from seqlab.models.decoders.settings import DecoderAttentionName, DecoderSettings
from seqlab.models.encoder_decoder import EncoderDecoder
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.pages.charts.interval_rows import IntervalRow, draw_interval_rows
from seqlab.pages.html import Markup, tag
from seqlab.pages.report_data import LineChart, LineSeries, ReferenceLine
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.exact_search import ExactSearch
from seqlab.studies.kit.seed_difference import direction, format_difference, seed_differences
from seqlab.studies.kit.small_pairs import END, PAD, START, UNKNOWN, SmallPairs, german_numbers
from seqlab.studies.kit.small_training import seeded, train_small
from seqlab.studies.kit.small_translator import small_translator, translation_nats

SPECIAL_TOKENS = SpecialTokens(START, END, (START, PAD, UNKNOWN))
MAX_TOKENS = 16
"""The longest number has nine words."""
GREEDY, EXACT = "greedy", "exact"
PENALTIES: dict[float, LengthPenalty] = {0.0: NoLengthPenalty(), 1.0: PowerLengthPenalty(1.0)}
EQUAL = 1e-4
"""Two log-probabilities this close are of the same target."""


@dataclass(frozen=True)
class Translator:
    """One network: how its decoder sees the source, and for how many updates it is trained."""

    attention: str
    steps: int

    def __str__(self) -> str:
        return f"{'attention' if self.attention != 'none' else 'one vector'}, {self.steps} updates"


@dataclass(frozen=True)
class BeamWidthConfig:
    """Sizes of the experiment."""

    num_seeds: int
    num_sources: int
    widths: tuple[int, ...]
    translators: tuple[Translator, ...] = (
        Translator("none", 150),
        Translator("none", 300),
        Translator("additive", 150),
    )
    hidden_size: int = 32
    batch_size: int = 32


FULL = BeamWidthConfig(num_seeds=8, num_sources=200, widths=(1, 2, 4, 8, 32))
QUICK = BeamWidthConfig(num_seeds=5, num_sources=80, widths=(1, 4, 32))


@dataclass(frozen=True)
class SearchResult:
    """What one search finds on all sources of one seed."""

    log_prob: float
    """Mean per target."""
    optimum_found: float
    """The share of targets that are the most probable ones."""
    bleu: float
    length_ratio: float
    """Tokens of all targets per token of the references."""


Key = tuple[str, float]
"""A search and its length penalty."""


@studies.register("beam_width")
def beam_width(*, seed: int, quick: bool) -> Finding:
    """Beams of growing width with and without a length penalty, against exact search, for three small
    translators.
    """
    config = QUICK if quick else FULL
    pairs = SmallPairs.from_pairs(german_numbers())
    results = {
        str(translator): over_seeds(
            [run_searches(translator, config, pairs, seed + number) for number in range(config.num_seeds)]
        )
        for translator in config.translators
    }
    return Finding(
        claim=(
            "A wider beam finds more probable targets, but not always better ones: without a length penalty"
            " the most probable target is often too short."
        ),
        conclusion=conclude(results),
        rows=[row for name, searches in results.items() for row in _rows(name, searches)],
        curves=_charts(results, config.widths),
        figures=[_draw_score_changes(results)],
        notes=[
            (
                "The task is translating German numbers to English (zwei und vierzig → forty two), held-out"
                f" numbers only; {config.num_sources} sources, {config.num_seeds} seeds, GRUs of width"
                f" {config.hidden_size}."
            ),
            (
                "Exact: branch and bound over all targets of at most"
                f" {MAX_TOKENS} tokens. It maximizes log P, so it has no length penalty. Penalty 1 ranks"
                " complete targets by the mean log P per token."
            ),
            "Differences are paired by seed; intervals are Student's t over seeds.",
        ],
    )


def run_searches(
    translator: Translator, config: BeamWidthConfig, pairs: SmallPairs, seed: int
) -> dict[Key, SearchResult]:
    """Train one network and decode with every search."""
    model = _train(translator, config, pairs, seed)
    source, target = (side[: config.num_sources] for side in pairs.validation_batch())
    sources = SourceBatch.from_tokens(source, source != PAD)
    references = [[token for token in row if token not in (PAD, START, END)] for row in target.tolist()]
    exact = ExactSearch(_beam(4, PENALTIES[0.0])).run(model, sources)
    searches: dict[Key, Search] = {
        (search_name(width), alpha): _beam(width, penalty)
        for width in config.widths
        for alpha, penalty in PENALTIES.items()
        if width > 1 or not alpha  # greedy decoding has one target, so nothing to rank
    }
    found = {key: search.run(model, sources) for key, search in searches.items()} | {(EXACT, 0.0): exact}
    best = [hypotheses[0] for hypotheses in exact]
    return {key: measure([each[0] for each in targets], best, references) for key, targets in found.items()}


def search_name(width: int) -> str:
    return GREEDY if width == 1 else f"beam {width}"


def measure(
    targets: Sequence[Hypothesis], best: Sequence[Hypothesis], references: Sequence[Sequence[int]]
) -> SearchResult:
    """best: the most probable target of each source."""
    words = [[str(token) for token in target.tokens] for target in targets]
    return SearchResult(
        log_prob=fmean(target.log_prob for target in targets),
        optimum_found=fmean(
            target.log_prob > optimum.log_prob - EQUAL for target, optimum in zip(targets, best, strict=True)
        ),
        bleu=corpus_bleu(words, [[[str(token) for token in reference]] for reference in references]),
        length_ratio=sum(map(len, words)) / sum(map(len, references)),
    )


def _train(translator: Translator, config: BeamWidthConfig, pairs: SmallPairs, seed: int) -> EncoderDecoder:
    encoder = RecurrentSettings(cell=named_cell("gru"), hidden_size=config.hidden_size, dropout=0.0)
    decoder = DecoderSettings(attention=DecoderAttentionName(translator.attention))
    with seeded(seed, "beam width", translator.attention) as generator:
        model = small_translator(pairs, encoder, decoder)
        train_small(
            model,
            lambda: translation_nats(model, *pairs.draw(config.batch_size, generator)),
            steps=translator.steps,
        )
    return model.eval()


def _beam(width: int, penalty: LengthPenalty) -> BeamSearch:
    return BeamSearch(SPECIAL_TOKENS, beam_size=width, max_tokens=MAX_TOKENS, length_penalty=penalty)


@dataclass(frozen=True)
class SearchSummary:
    """One search over all seeds, next to greedy decoding with the same networks."""

    results: Sequence[SearchResult]
    bleu_change: SeedSummary
    log_prob_change: SeedSummary

    def mean(self, measure: str) -> float:
        return fmean(getattr(result, measure) for result in self.results)


Summaries = dict[Key, SearchSummary]


def over_seeds(runs: Sequence[dict[Key, SearchResult]]) -> Summaries:
    greedy = [run[GREEDY, 0.0] for run in runs]
    return {key: _summarize([run[key] for run in runs], greedy) for key in runs[0]}


def _summarize(results: Sequence[SearchResult], greedy: Sequence[SearchResult]) -> SearchSummary:
    return SearchSummary(
        results,
        seed_differences([result.bleu for result in results], [result.bleu for result in greedy]),
        seed_differences([result.log_prob for result in results], [result.log_prob for result in greedy]),
    )


def _rows(name: str, searches: Summaries) -> list[dict[str, Value]]:
    return [
        {
            "network": name,
            "search": search,
            "length penalty": f"{alpha:g}",
            "log P": summary.mean("log_prob"),
            "optimum found": summary.mean("optimum_found"),
            "BLEU": summary.mean("bleu"),
            "BLEU compared with greedy": "" if search == GREEDY else format_difference(summary.bleu_change),
            "length / reference": summary.mean("length_ratio"),
        }
        for (search, alpha), summary in searches.items()
    ]


def conclude(results: dict[str, Summaries]) -> str:
    """The verdict on the most probable targets, and the numbers of every network."""
    exact = [searches[EXACT, 0.0] for searches in results.values()]
    scores = {direction(summary.bleu_change) for summary in exact}
    more_probable = all(direction(summary.log_prob_change) == "above" for summary in exact)
    holds = "Depends on the network" if "above" in scores else "Holds"
    verdict = holds if more_probable and "below" in scores else "Does not hold here"
    return f"{verdict}: {'; '.join(_describe(name, searches) for name, searches in results.items())}."


def _describe(name: str, searches: Summaries) -> str:
    widest = next(search for search, _ in reversed(searches) if search != EXACT)
    greedy, exact, wide = searches[GREEDY, 0.0], searches[EXACT, 0.0], searches[widest, 0.0]
    return (
        f"with {name}, greedy decoding finds {greedy.mean('optimum_found'):.0%} of the most probable targets"
        f" and {widest} {wide.mean('optimum_found'):.0%}; exact search changes BLEU"
        f" ({greedy.mean('bleu'):.3f}) by {format_difference(exact.bleu_change)}, at"
        f" {exact.mean('length_ratio'):.2f} of the references' length ({widest} with length penalty 1:"
        f" {searches[widest, 1.0].mean('length_ratio'):.2f})"
    )


def _charts(results: dict[str, Summaries], widths: Sequence[int]) -> list[LineChart]:
    def series(searches: Summaries, name: str, measure: str, alpha: float = 0.0) -> LineSeries:
        greedy = searches[GREEDY, 0.0]  # with any penalty
        summaries = [searches.get((search_name(width), alpha), greedy) for width in widths]
        return LineSeries(name, widths, [summary.mean(measure) for summary in summaries])

    weakest_name, weakest = next(iter(results.items()))
    lengths = [
        series(weakest, f"length penalty {alpha:g}", "length_ratio", alpha) for alpha in sorted(PENALTIES)
    ]
    return [
        LineChart(
            "Most probable targets found, without a length penalty",
            "beam width",
            "share",
            [series(searches, name, "optimum_found") for name, searches in results.items()],
            is_over_time=False,
            log_x=True,
        ),
        LineChart(
            f"Length of the output ({weakest_name})",
            "beam width",
            "length / reference",
            lengths,
            is_over_time=False,
            log_x=True,
            references=[ReferenceLine("most probable targets", weakest[EXACT, 0.0].mean("length_ratio"))],
        ),
    ]


def _draw_score_changes(results: dict[str, Summaries]) -> Markup:
    """BLEU of every search without a length penalty, minus BLEU of greedy decoding."""
    title = "BLEU compared with greedy decoding, without a length penalty"
    bars = [
        IntervalRow(f"{name}: {search}", change.mean, change.low, change.high)
        for name, searches in results.items()
        for (search, alpha), change in ((key, summary.bleu_change) for key, summary in searches.items())
        if search != GREEDY and alpha == 0.0
    ]
    drawing = draw_interval_rows(bars, title=title, reference=0.0, reference_name="greedy")
    return tag("figure", tag("h3", title), drawing, class_="chart-box")
