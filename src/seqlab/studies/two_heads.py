"""Do two heads attend to different things? The attention of the word "it" in a small network with two
heads.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.attention.masks import AttentionMask
from seqlab.attention.multi_head import MultiHeadSelfAttention
from seqlab.attention.recording import record_alignments
from seqlab.pages.charts.token_heatmap import HeatmapRow, TokenHeatmap, draw_token_heatmap
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_training import TrainingRecord, seeded, train_small

NOUNS = ("dog", "cat", "wolf", "fox", "bear", "lion", "goat", "duck", "frog", "snake", "horse", "mouse")
VERBS = ("chased", "followed", "hunted", "caught")
OF_THE_FIRST = ("hungry", "angry", "bored", "fast")
OF_THE_SECOND = ("slow", "small", "weak", "tasty")
WORDS = ("the", "because", "it", "was", *VERBS, *NOUNS, *OF_THE_FIRST, *OF_THE_SECOND)
WORD_IDS = {word: number for number, word in enumerate(WORDS)}
FIRST, SECOND, IT, REASON, LENGTH = 1, 4, 6, 8, 9
"""Positions of the nouns, of "it" and of the adjective."""
ASKED = 400
DIVIDED = 0.8
"""Minimum share of a head's weight on noun and adjective for it to count as belonging to one of them."""


@dataclass(frozen=True)
class TwoHeadsConfig:
    """Sizes of the training."""

    networks: int
    steps: int
    hidden_size: int = 32
    head_size: int = 8
    batch_size: int = 64


FULL, QUICK = TwoHeadsConfig(networks=8, steps=600), TwoHeadsConfig(networks=2, steps=400)
WARM_UP = 60
"""With a warm-up, more of the networks learn the task."""


@dataclass(frozen=True)
class PronounSentences:
    """Sentences as ids, and for each the noun that "it" refers to, and its position."""

    tokens: Int[Tensor, "batch time"]
    noun: Int[Tensor, " batch"]
    noun_position: Int[Tensor, " batch"]

    @property
    def reason(self) -> Int[Tensor, " batch"]:
        return self.tokens[:, REASON]


def draw_sentences(count: int, generator: torch.Generator) -> PronounSentences:
    """'the N V the N because it was A': only the adjective determines which of the two nouns is meant."""

    def pick(words: tuple[str, ...]) -> Int[Tensor, " batch"]:
        return torch.randint(WORD_IDS[words[0]], WORD_IDS[words[-1]] + 1, (count,), generator=generator)

    first, turn = pick(NOUNS), torch.randint(1, len(NOUNS), (count,), generator=generator)
    second = (first - WORD_IDS[NOUNS[0]] + turn) % len(NOUNS) + WORD_IDS[NOUNS[0]]  # never the same noun
    is_first = torch.randint(2, (count,), generator=generator).bool()
    reason = torch.where(is_first, pick(OF_THE_FIRST), pick(OF_THE_SECOND))
    the, because, it, was = (torch.full((count,), WORD_IDS[word]) for word in WORDS[:4])
    tokens = torch.stack([the, first, pick(VERBS), the, second, because, it, was, reason], dim=1)
    return PronounSentences(
        tokens, torch.where(is_first, first, second), torch.where(is_first, FIRST, SECOND)
    )


class TwoHeads(nn.Module):
    """The word "it" attends to the sentence once to form a query; then two heads retrieve the answer from the
    other words.

        it      = attention(words)
        answers = W join_heads(attention of it to the other words)

    The answers depend only on the output of the two heads, so that their weights show where the answers come
    from.
    """

    def __init__(self, config: TwoHeadsConfig) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), config.hidden_size)
        self.positions = nn.Parameter(torch.randn(LENGTH, config.hidden_size))
        self.norm = nn.LayerNorm(config.hidden_size)
        self.read = MultiHeadSelfAttention(config.hidden_size, num_heads=1)
        self.second_norm = nn.LayerNorm(config.hidden_size)
        self.heads = MultiHeadSelfAttention(config.hidden_size, num_heads=2, head_size=config.head_size)
        self.noun = nn.Linear(config.hidden_size, len(WORDS))
        self.reason = nn.Linear(config.hidden_size, len(WORDS))

    def forward(
        self, tokens: Int[Tensor, "batch time"]
    ) -> tuple[Float[Tensor, "batch words"], Float[Tensor, "batch words"]]:
        steps = self.norm(self.embed(tokens) + self.positions)  # (batch, time, hidden)
        is_it = torch.arange(LENGTH).unsqueeze(1) == IT
        steps = self.second_norm(torch.where(is_it, self.read(steps)[0], steps))
        others = AttentionMask(
            tensor=~torch.eye(LENGTH, dtype=torch.bool)[None, None]
        )  # no step attends to itself
        attended = self.heads(steps, mask=others)[0][:, IT]  # (batch, hidden)
        return self.noun(attended), self.reason(attended)


@studies.register("two_heads")
def two_heads(*, seed: int, quick: bool) -> Finding:
    """The same sentences and questions for several networks: which noun is meant, and which word reveals it?

    The attention weights of "it" show where each head found the answer.
    """
    config = QUICK if quick else FULL
    rows: list[dict[str, Value]] = []
    series: list[LineSeries] = []
    networks: list[TwoHeads] = []
    for number in range(1, config.networks + 1):
        model, training = train_network(config, seed=seed, number=number)
        with seeded(seed, "two_heads", "asked", number) as generator:
            rows += _rows(number, model, draw_sentences(ASKED, generator))
        series.append(LineSeries(f"network {number}", range(1, config.steps + 1, 5), training.losses[::5]))
        networks.append(model)
    shown_network = max(range(1, config.networks + 1), key=lambda number: _contrast(rows, number))
    return Finding(
        claim=(
            'From one query word ("it"), two heads attend to two things: what the word refers to, and why.'
        ),
        conclusion=_conclude(rows, config, shown_network),
        rows=rows,
        curves=[LineChart("Loss on both questions", "update", "nats", series)],
        figures=[
            draw_token_heatmap(heatmap, ident=f"it-{heatmap.tokens[REASON]}")
            for heatmap in head_heatmaps(networks[shown_network - 1], number=shown_network)
        ],
        notes=[
            (
                f"'the dog chased the cat because it was hungry' (the dog) or 'slow' (the cat): {len(NOUNS)}"
                f" nouns, {len(VERBS)} verbs."
            ),
            (
                f"{len(OF_THE_FIRST)} adjectives refer to the first noun, {len(OF_THE_SECOND)} to the"
                " second. The network predicts the noun and the reason."
            ),
            (
                f"{config.steps} updates on {config.batch_size} sentences for each network; weights are"
                f" means over {ASKED} new sentences."
            ),
            (
                f"Divided: of the weight on noun and adjective, one head has over {DIVIDED:.0%} on the"
                " noun meant, the other on the adjective. The loss does not ask for this."
            ),
            "Attention weights do not tell everything: a few percent on the adjective can suffice.",
            "The figures show the network whose heads differ most.",
        ],
    )


def train_network(config: TwoHeadsConfig, *, seed: int, number: int) -> tuple[TwoHeads, TrainingRecord]:
    """Train network number `number`, independent of the others."""
    with seeded(seed, "two_heads", number) as generator:
        model = TwoHeads(config)

        def loss() -> Tensor:
            sentences = draw_sentences(config.batch_size, generator)
            noun, reason = model(sentences.tokens)
            return F.cross_entropy(noun, sentences.noun) + F.cross_entropy(reason, sentences.reason)

        return model, train_small(model, loss, steps=config.steps, warm_up=WARM_UP)


@torch.no_grad()
def _attention(
    model: TwoHeads, tokens: Int[Tensor, "batch time"]
) -> tuple[Float[Tensor, "batch heads time"], Tensor, Tensor]:
    """The attention weights of "it", and both answers."""
    with record_alignments(model.heads) as alignments:
        noun, reason = model(tokens)
    return alignments[""][0][:, :, IT], noun.argmax(dim=-1), reason.argmax(dim=-1)


def _rows(number: int, model: TwoHeads, sentences: PronounSentences) -> list[dict[str, Value]]:
    weights, noun, reason = _attention(model, sentences.tokens)
    rows = torch.arange(len(noun))
    return [
        {
            "network": number,
            "head": head + 1,
            "on the noun meant": (meant := weights[rows, head, sentences.noun_position].mean().item()),
            "on the other noun": (
                other := weights[rows, head, FIRST + SECOND - sentences.noun_position].mean().item()
            ),
            "on the adjective": (adjective := weights[:, head, REASON].mean().item()),
            "elsewhere": 1 - meant - other - adjective,
            "noun right": (noun == sentences.noun).float().mean().item(),
            "reason right": (reason == sentences.reason).float().mean().item(),
        }
        for head in range(2)
    ]


def _shares(rows: list[dict[str, Value]], number: int) -> list[float]:
    """For each head of a network, the share of its weight on noun and adjective that is on the noun."""
    shares = []
    for row in rows:
        if row["network"] == number:
            noun, adjective = float(row["on the noun meant"]), float(row["on the adjective"])
            shares.append(noun / max(noun + adjective, 1e-9))
    return shares


def _contrast(rows: list[dict[str, Value]], number: int) -> float:
    first, second = _shares(rows, number)
    return abs(first - second)


def _conclude(rows: list[dict[str, Value]], config: TwoHeadsConfig, shown_network: int) -> str:
    shares = [_shares(rows, number) for number in range(1, config.networks + 1)]
    divided = sum(max(pair) > DIVIDED and min(pair) < 1 - DIVIDED for pair in shares)
    first, second = (
        f"{float(row['on the noun meant']):.0%} on the noun meant, {float(row['on the other noun']):.0%} on"
        f" the other, {float(row['on the adjective']):.0%} on the adjective"
        for row in rows
        if row["network"] == shown_network
    )
    rest = "" if divided in (0, config.networks) else ", but not in the others"
    right = sum(float(row["noun right"]) for row in rows) / len(rows)
    return (
        f"The heads divide the work in {divided} of {config.networks} networks{rest}. In network"
        f" {shown_network}, one head has {first}, the other {second}. Over all networks, the noun is right"
        f" for {right:.0%} of new sentences."
    )


def head_heatmaps(model: TwoHeads, *, number: int) -> list[TokenHeatmap]:
    """The attention of "it" in two sentences that differ in their last word."""
    return [
        _head_heatmap(model, f"the dog chased the cat because it was {reason}", number)
        for reason in (OF_THE_FIRST[0], OF_THE_SECOND[0])
    ]


def _head_heatmap(model: TwoHeads, sentence: str, number: int) -> TokenHeatmap:
    words = sentence.split()
    weights, noun, _ = _attention(model, torch.tensor([[WORD_IDS[word] for word in words]]))
    rows = [HeatmapRow(f"head {head}", line.tolist()) for head, line in enumerate(weights[0], start=1)]
    title = f"Attention of 'it' in network {number}, which answers: the {WORDS[int(noun)]}"
    return TokenHeatmap(title, words, rows, query_index=IT)
