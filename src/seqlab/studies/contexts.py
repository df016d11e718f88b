"""One vector for each word, or one for each use? The word `bank` beside rivers and beside money."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from seqlab.core.seeds import derive
from seqlab.models.base import bodies
from seqlab.models.settings import RecurrentSettings, SequenceSettings, TransformerSettings
from seqlab.pages.charts.number_grids import NumberGrid, draw_grids
from seqlab.pages.report_data import Curve, Series
from seqlab.studies.base import Finding, Value, studies
from seqlab.studies.kit.small_training import Training, seeded, train_small

SENSES = {
    "bank": (("river", "water", "reeds", "fish", "mud", "ferry"), ("money", "loan", "clerk", "account", "vault", "interest")),
    "bat": (("cave", "wings", "night", "moth", "roost", "squeak"), ("ball", "pitch", "swing", "batter", "team", "score")),
}
"""Words with two meanings, and what stands beside them in each."""
GAP = "<gap>"
WORDS = [GAP, "the", "and", "of", *SENSES, *(word for both in SENSES.values() for each in both for word in each)]
WIDTH = 32
NETWORKS: dict[str, SequenceSettings] = {
    "recurrent, both ways": RecurrentSettings(cell="gru", hidden_size=WIDTH // 2, embedding_size=WIDTH, bidirectional=True, dropout=0.0),
    "transformer": TransformerSettings(hidden_size=WIDTH, layers=2, dropout=0.0),
}
STATIC = "embedding alone"
SHOWN = 3
"""Sentences of each meaning in the picture."""


@dataclass(frozen=True)
class Use:
    """A sentence with an ambiguous word, which of its meanings is meant, and the place of the word."""

    words: list[str]
    meaning: int
    place: int


class FillsGaps(nn.Module):
    """Which word stands in the gap? logits = W body(embed(words)) + b; every word is predicted where it was taken out."""

    def __init__(self, settings: SequenceSettings) -> None:
        super().__init__()
        self.embed = nn.Embedding(len(WORDS), WIDTH)
        self.body = bodies.get(settings.kind).build(settings, causal=False)
        self.head = nn.Linear(self.body.output_size, len(WORDS))

    def features(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time hidden"]:
        return self.body(self.embed(tokens), torch.ones_like(tokens, dtype=torch.bool))[0]

    def forward(self, tokens: Int[Tensor, "batch time"]) -> Float[Tensor, "batch time vocab"]:
        return self.head(self.features(tokens))


def draw_use(word: str, chance: random.Random) -> Use:
    """Sentences such as `the ferry and the mud of the bank`: the word stands first, in the middle or last."""
    meaning = chance.randrange(2)
    beside = chance.sample(SENSES[word][meaning], 2)
    place = chance.randrange(3)
    nouns = [*beside[:place], word, *beside[place:]]
    joints = [chance.choice(("and", "of")) for _ in range(2)]
    return Use(["the", nouns[0], joints[0], "the", nouns[1], joints[1], "the", nouns[2]], meaning, (1, 4, 7)[place])


@studies.register("contexts")
def contexts(*, seed: int, quick: bool) -> Finding:
    """Two networks learn to fill gaps; then the vectors of one word are compared over many sentences."""
    steps = 250 if quick else 500
    chance = random.Random(derive(seed, "contexts", "uses"))  # noqa: S311 (not for secrets)
    uses = {word: sorted((draw_use(word, chance) for _ in range(40)), key=lambda use: use.meaning) for word in SENSES}
    rows: list[dict[str, Value]] = []
    grids = []
    trained: dict[str, Training] = {}
    for name, settings in NETWORKS.items():
        model, trained[name] = _trained(settings, steps, seed=seed)
        for word, each in uses.items():
            static = np.stack([model.embed.weight[WORDS.index(use.words[use.place])].detach().numpy() for use in each])
            rows += [_row(STATIC, word, each, static)] if name == next(iter(NETWORKS)) else []
            rows.append(_row(name, word, each, in_context(model, each)))
        shown = [use for meaning in range(2) for use in [use for use in uses["bank"] if use.meaning == meaning][:SHOWN]]
        names = [" ".join(word for word in use.words if word not in ("the", "and", "of")) for use in shown]
        grids.append(NumberGrid(name, names, [str(number) for number in range(1, len(shown) + 1)], cosines(in_context(model, shown)).tolist()))
    same, other = (np.mean([float(row[column]) for row in rows if row["vectors"] != STATIC]) for column in ("same meaning", "other meaning"))
    return Finding(
        claim="An embedding gives a word one vector in any sentence; a network that reads the sentence gives another in each, by what is meant.",
        found="Of the embedding the cosine is 1 everywhere. "
        f"In context it is {same:.2f} where a word means the same and {other:.2f} where it does not.",
        rows=rows,
        curves=[Curve("Loss", "update", "nats", [Series(name, range(len(run.losses)), run.losses) for name, run in trained.items()])],
        pictures=[draw_grids("The vectors of bank, compared", [grids], ident="bank", about="Cosines of the vectors of one word in six sentences.")],
        notes=[
            f"{steps} updates of 32 sentences, from each of which one word is taken out and asked for; nobody tells the networks about meanings.",
            "A run of your own: run.word_vectors() has the embedding, run.word_vectors(TEXT) the vectors in that text.",
        ],
    )


def _trained(settings: SequenceSettings, steps: int, *, seed: int) -> tuple[FillsGaps, Training]:
    chance = random.Random(derive(seed, "contexts", "training"))  # noqa: S311 (not for secrets)
    with seeded(seed, "contexts", settings.kind):
        model = FillsGaps(settings)

    def loss() -> Tensor:
        tokens = torch.tensor([_ids(draw_use(chance.choice(list(SENSES)), chance)) for _ in range(32)])
        gaps = torch.tensor([chance.choice((1, 4, 7)) for _ in range(32)]).unsqueeze(1)
        targets = tokens.gather(1, gaps).squeeze(1)
        logits = model(tokens.scatter(1, gaps, WORDS.index(GAP)))  # (batch, time, vocab)
        return F.cross_entropy(logits[torch.arange(32), gaps.squeeze(1)], targets)

    training = train_small(model, loss, steps=steps)
    return model.eval(), training


def _ids(use: Use) -> list[int]:
    return [WORDS.index(word) for word in use.words]


@torch.no_grad()
def in_context(model: FillsGaps, uses: list[Use]) -> Float[np.ndarray, "uses hidden"]:
    """What the network makes of the ambiguous word of each sentence."""
    features = model.features(torch.tensor([_ids(use) for use in uses]))
    return features[torch.arange(len(uses)), torch.tensor([use.place for use in uses])].numpy()


def cosines(vectors: Float[np.ndarray, "uses hidden"]) -> Float[np.ndarray, "uses uses"]:
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(units @ units.T)


def _row(name: str, word: str, uses: list[Use], vectors: Float[np.ndarray, "uses hidden"]) -> dict[str, Value]:
    meaning = np.array([use.meaning for use in uses])
    found, alike = cosines(vectors), meaning[:, None] == meaning
    pairs = ~np.eye(len(uses), dtype=bool)
    return {"vectors": name, "word": word, "same meaning": float(found[alike & pairs].mean()), "other meaning": float(found[~alike].mean())}
