"""Static or contextual word vectors? The word `bank` in the context of rivers and of money."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.core.seeds import derive
from seqlab.models.base import backbones
from seqlab.models.settings.recurrent import RecurrentSettings
from seqlab.models.settings.section import SequenceSettings
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.pages.charts.number_grids import NumberGrid, draw_number_grids
from seqlab.pages.html import Markup
from seqlab.pages.report_data import LineChart, LineSeries
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_training import TrainingRecord, seeded, train_small

SENSES = {
    "bank": (
        ("river", "water", "reeds", "fish", "mud", "ferry"),
        ("money", "loan", "clerk", "account", "vault", "interest"),
    ),
    "bat": (
        ("cave", "wings", "night", "moth", "roost", "squeak"),
        ("ball", "pitch", "swing", "batter", "team", "score"),
    ),
}
"""Words with two meanings, and their context words in each."""
GAP = "<gap>"
WORDS = [
    GAP,
    "the",
    "and",
    "of",
    *SENSES,
    *(word for both in SENSES.values() for word_uses in both for word in word_uses),
]
WIDTH = 32
NETWORKS: dict[str, SequenceSettings] = {
    "bidirectional recurrent": RecurrentSettings(
        cell="gru", hidden_size=WIDTH // 2, embedding_size=WIDTH, bidirectional=True, dropout=0.0
    ),
    "transformer": TransformerSettings(hidden_size=WIDTH, layers=2, dropout=0.0),
}
STATIC = "embedding alone"
SENTENCES_PER_MEANING = 3
"""Number of sentences of each meaning in the figure."""


@dataclass(frozen=True)
class WordUse:
    """A sentence with an ambiguous word, its meaning, and its position."""

    words: list[str]
    meaning: int
    position: int


class GapFillingModel(nn.Module):
    """Masked word prediction: logits = W backbone(embed(words)) + b at the masked positions."""

    def __init__(self, settings: SequenceSettings) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), WIDTH)
        self.backbone = backbones.get(settings.kind).from_settings(settings, causal=False)
        self.head = nn.Linear(self.backbone.output_size, len(WORDS))

    def features(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time hidden"]:
        return self.backbone(self.embed(tokens), torch.ones_like(tokens, dtype=torch.bool))[0]

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        return self.head(self.features(tokens))


def draw_use(word: str, rng: random.Random) -> WordUse:
    """Sentences such as `the ferry and the mud of the bank`: the word is first, in the middle or last."""
    meaning = rng.randrange(2)
    context_words = rng.sample(SENSES[word][meaning], 2)
    position = rng.randrange(3)
    nouns = [*context_words[:position], word, *context_words[position:]]
    joints = [rng.choice(("and", "of")) for _ in range(2)]
    return WordUse(
        ["the", nouns[0], joints[0], "the", nouns[1], joints[1], "the", nouns[2]],
        meaning,
        (1, 4, 7)[position],
    )


@studies.register("contexts")
def contexts(*, seed: int, quick: bool) -> Finding:
    """Two networks learn masked word prediction; then the vectors of one word are compared across many
    sentences.
    """
    steps = 250 if quick else 500
    rng = random.Random(derive(seed, "contexts", "uses"))  # noqa: S311 (not for secrets)
    uses = {
        word: sorted((draw_use(word, rng) for _ in range(40)), key=lambda use: use.meaning) for word in SENSES
    }
    models: dict[str, GapFillingModel] = {}
    trained: dict[str, TrainingRecord] = {}
    for name, settings in NETWORKS.items():
        models[name], trained[name] = _train(settings, steps, seed=seed)
    rows = _compare_vectors(models, uses)
    return Finding(
        claim=(
            "An embedding gives a word the same vector in every sentence; a network that reads the"
            " sentence gives it a different vector for each meaning."
        ),
        conclusion=_conclude(rows),
        rows=rows,
        curves=[
            LineChart(
                "Loss",
                "update",
                "nats",
                [LineSeries(name, range(len(run.losses)), run.losses) for name, run in trained.items()],
            )
        ],
        figures=[_draw_cosines(models, uses["bank"])],
        notes=[
            (
                f"{steps} updates on 32 sentences, each with one masked word to predict; the networks"
                " never see a label for the meaning."
            ),
            (
                "For your own run, use run.word_vectors() for the embedding and run.word_vectors(TEXT)"
                " for the vectors in that text."
            ),
        ],
    )


def _compare_vectors(
    models: Mapping[str, GapFillingModel], uses: Mapping[str, list[WordUse]]
) -> list[dict[str, Value]]:
    """Cosines within and between meanings: of one embedding, and of the vectors of every network in context."""
    rows: list[dict[str, Value]] = []
    for name, model in models.items():
        for word, word_uses in uses.items():
            static = np.stack(
                [
                    model.embed.weight[WORDS.index(use.words[use.position])].detach().numpy()
                    for use in word_uses
                ]
            )
            rows += [_row(STATIC, word, word_uses, static)] if name == next(iter(models)) else []
            rows.append(_row(name, word, word_uses, contextual_vectors(model, word_uses)))
    return rows


def _conclude(rows: Sequence[Mapping[str, Value]]) -> str:
    same, other = (
        np.mean([float(row[column]) for row in rows if row["vectors"] != STATIC])
        for column in ("same meaning", "other meaning")
    )
    return (
        f"For the embedding, the cosine is always 1. In context, it is {same:.2f} where a word has the"
        f" same meaning and {other:.2f} where it does not."
    )


def _draw_cosines(models: Mapping[str, GapFillingModel], uses: Sequence[WordUse]) -> Markup:
    """The vectors of one word in a few sentences of each meaning, each compared with each."""
    shown_uses = [
        use
        for meaning in range(2)
        for use in [use for use in uses if use.meaning == meaning][:SENTENCES_PER_MEANING]
    ]
    names = [" ".join(word for word in use.words if word not in ("the", "and", "of")) for use in shown_uses]
    grids = [
        NumberGrid(
            name,
            names,
            [str(index) for index in range(1, len(shown_uses) + 1)],
            cosines(contextual_vectors(model, shown_uses)).tolist(),
        )
        for name, model in models.items()
    ]
    return draw_number_grids(
        'Vectors of "bank", compared',
        [grids],
        ident="bank",
        description="Cosine similarities of the vectors of one word in six sentences.",
    )


def _train(settings: SequenceSettings, steps: int, *, seed: int) -> tuple[GapFillingModel, TrainingRecord]:
    rng = random.Random(derive(seed, "contexts", "training"))  # noqa: S311 (not for secrets)
    with seeded(seed, "contexts", settings.kind):
        model = GapFillingModel(settings)

    def loss() -> Tensor:
        tokens = torch.tensor([_ids(draw_use(rng.choice(list(SENSES)), rng)) for _ in range(32)])
        gaps = torch.tensor([rng.choice((1, 4, 7)) for _ in range(32)]).unsqueeze(1)
        targets = tokens.gather(1, gaps).squeeze(1)
        logits = model(tokens.scatter(1, gaps, WORDS.index(GAP)))  # (batch, time, vocab)
        return F.cross_entropy(logits[torch.arange(32), gaps.squeeze(1)], targets)

    training = train_small(model, loss, steps=steps)
    return model.eval(), training


def _ids(use: WordUse) -> list[int]:
    return [WORDS.index(word) for word in use.words]


@torch.no_grad()
def contextual_vectors(model: GapFillingModel, uses: list[WordUse]) -> Float[np.ndarray, "uses hidden"]:
    """The network's vector for the ambiguous word of each sentence."""
    features = model.features(torch.tensor([_ids(use) for use in uses]))
    return features[torch.arange(len(uses)), torch.tensor([use.position for use in uses])].numpy()


def cosines(vectors: Float[np.ndarray, "uses hidden"]) -> Float[np.ndarray, "uses uses"]:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(units @ units.T)


def _row(
    name: str, word: str, uses: list[WordUse], vectors: Float[np.ndarray, "uses hidden"]
) -> dict[str, Value]:
    meaning = np.array([use.meaning for use in uses])
    similarities, alike = cosines(vectors), meaning[:, None] == meaning
    pairs = ~np.eye(len(uses), dtype=bool)
    return {
        "vectors": name,
        "word": word,
        "same meaning": float(similarities[alike & pairs].mean()),
        "other meaning": float(similarities[~alike].mean()),
    }
