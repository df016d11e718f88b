"""Beam search: at every step the k best continuations of all open hypotheses are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from seqlab.core.errors import UsageError
from seqlab.decoding.beam_slots import placed
from seqlab.decoding.constraints import Constraint, Step
from seqlab.decoding.coverage import CoveragePenalty
from seqlab.decoding.diversity import Diversity
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.length_normalization import ScoreRule, Sum
from seqlab.decoding.protocol import Aligner, Translator
from seqlab.decoding.search import Search, Sources, Symbols, normalised, ones_like
from seqlab.decoding.search_tree import Fate, Node, Seen, Watch
from seqlab.decoding.top_candidates import top_candidates
from seqlab.models.decoders.base import Writing

ROOT = Node(None, -1, 0.0)


class BeamSearch(Search):
    """Of all continuations of the open hypotheses of a sentence, the `width` likeliest are kept; those that end become complete and leave.

    Complete hypotheses are ranked by score = rule(log_prob, length) + coverage penalty, and the `n_best` of them are answered. All
    continuations at one step are equally long, so no rule is needed to keep the best.

    A sentence is finished when nothing is open, or when `n_best` hypotheses are complete and no open one can still beat the worst of
    them: rule.bound(highest open log_prob) ≤ its score (a coverage penalty, never above 0, cannot help an open one). So stopping early
    never changes the answer, and with a width of V^T, where nothing is ever left out, the answer is that of an exhaustive search.
    A width of 1 is greedy decoding, whatever the rule.

    Sums are of float64; rows of a batch never meet, but for the order in which a matrix product adds. Finished sentences leave the batch.
    """

    def __init__(
        self,
        symbols: Symbols,
        *,
        width: int,
        max_tokens: int,
        n_best: int = 1,
        rule: ScoreRule | None = None,
        coverage: CoveragePenalty | None = None,
        diversity: Diversity | None = None,
        constraints: Sequence[Constraint] = (),
    ) -> None:
        super().__init__(symbols, max_tokens=max_tokens, constraints=constraints)
        if n_best > width:
            raise UsageError(
                f"the {n_best} best hypotheses of a beam of {width} cannot be given.",
                where="search.n_best",
                cure="Widen the beam, or ask for fewer.",
            )
        self.n_best = n_best
        self.rule = rule or Sum()
        self.coverage = coverage
        self.diversity = diversity or Diversity()
        self.width = self.diversity.width_of_each(width)  # of every group

    def run(self, model: Translator, sources: Sources) -> list[list[Hypothesis]]:
        return self.watched(model, sources, None)

    @torch.inference_mode()
    def watched(self, model: Translator, sources: Sources, watch: Watch | None) -> list[list[Hypothesis]]:
        """The same, while somebody is told of every step's candidates."""
        groups = self.diversity.groups
        beams = [_Beam(number, group) for number in sources.numbers for group in range(groups)]
        running = beams
        now = _Now.start(model, sources, self.symbols.start_id)
        for length in range(self.max_tokens):
            if not running:
                break
            before = self._penalties(now, len(now.tokens))
            log_probs, now = self._ahead(model, now)
            if length == 0 and groups > 1:  # all groups begin alike
                each = torch.arange(len(log_probs), device=log_probs.device).repeat_interleave(groups)
                log_probs, now = log_probs[each], now.pick(each)
            numbers = [beam.number for beam in running for _ in beam.open]
            step = Step(log_probs, numbers, lambda: [node.tokens() for beam in running for node in beam.open], length)  # noqa: B023  # asked at once
            allowed = self.allowed(step)
            if self.constraints:
                self._complete_stuck(running, allowed, length, before if length else [0.0] * len(log_probs))
            self._go_on(running, allowed, length + 1, self._penalties(now, len(log_probs)), watch)
            running, now = self._stay(running, now, length + 1)
        return [self._answer(beams[place : place + groups]) for place in range(0, len(beams), groups)]

    def _ahead(self, model: Translator, now: _Now) -> tuple[Tensor, _Now]:
        """Log-probabilities after the newest tokens (hypotheses, vocab)."""
        tokens = now.tokens.unsqueeze(1)
        if self.coverage is None:
            logits, writing = model.decode(tokens, ones_like(tokens), now.writing)
            return normalised(logits[:, -1]), now._replace(writing=writing)
        if not isinstance(model, Aligner):
            raise _does_not_look()
        logits, writing, alignment = model.align(tokens, ones_like(tokens), now.writing)
        if alignment is None:
            raise _does_not_look()
        looked = alignment[:, -1] if now.looked is None else now.looked + alignment[:, -1]  # (hypotheses, source)
        return normalised(logits[:, -1]), now._replace(writing=writing, looked=looked)

    def _penalties(self, now: _Now, hypotheses: int) -> list[float]:
        if self.coverage is None or now.looked is None:
            return [0.0] * hypotheses
        looked = now.looked.unflatten(0, (len(now.is_token), -1))  # (sentences, hypotheses, source)
        return [float(penalty) for penalty in self.coverage.of(looked, now.is_token).flatten()]

    def _go_on(self, running: list[_Beam], allowed: Tensor, length: int, penalties: list[float], watch: Watch | None) -> None:
        """Every beam chooses its next open hypotheses, and takes those that became complete."""
        open_now = len(running[0].open)
        num_seen = self.width + (watch.num_pruned if watch else 0)
        for place, (beam, seen) in enumerate(zip(running, self._best(running, allowed, num_seen), strict=True)):
            open_before, beam.chosen = beam.open, []
            told: list[Seen] = []
            for rank, (parent, token, log_prob) in enumerate(seen):
                node = Node(open_before[parent], token, log_prob)
                score = self.rule.score(log_prob, length) + penalties[place * open_now + parent]
                fate: Fate = "kept"
                if rank >= self.width:
                    fate = "pruned"
                elif token == self.symbols.end_id or length == self.max_tokens:
                    fate = "ended" if token == self.symbols.end_id else "cut"
                    beam.complete(node, score, self._num_kept, ended=fate == "ended")
                else:
                    beam.chosen.append((parent, node))
                if watch:
                    told.append(Seen(node, score, fate))
            if watch:
                watch.step(beam.group, length, told)

    @property
    def _num_kept(self) -> int:
        """Complete hypotheses that each group keeps."""
        return min(self.n_best, self.width)

    def _best(self, running: list[_Beam], allowed: Tensor, num_seen: int) -> list[list[tuple[int, int, float]]]:
        """For each beam its best continuations: the place of the parent among the open ones, the token, the log_prob of the whole."""
        groups, open_now = self.diversity.groups, len(running[0].open)
        sums = torch.tensor([[node.log_prob for node in beam.open] for beam in running], dtype=torch.float64, device=allowed.device)
        found: list[list[list[tuple[int, int, float]]]] = []
        times: Tensor | None = None  # how often earlier groups have chosen each token
        for group in range(groups):
            own = allowed.view(-1, groups, open_now, allowed.shape[1])[:, group]  # (sentences, open, vocab)
            ranked = own if times is None else self.diversity.less(own, times)
            values, tokens = top_candidates(ranked.reshape(-1, allowed.shape[1]), num_seen)  # (sentences * open, some)
            some = values.shape[1]
            before = sums[group::groups].unsqueeze(2)  # (sentences, open, 1)
            ranks, order = (values.view(-1, open_now, some) + before).flatten(1).sort(dim=1, descending=True, stable=True)
            order, ranks = order[:, :num_seen], ranks[:, :num_seen]
            parents = order // some
            tokens = tokens.view(len(order), -1).gather(1, order)
            log_probs = ranks if times is None else _at(own, parents, tokens) + before[:, :, 0].gather(1, parents)
            rows = zip(parents.tolist(), tokens.tolist(), log_probs.tolist(), strict=True)
            found.append([[one for one in zip(*row, strict=True) if one[2] > -torch.inf] for row in rows])
            if group + 1 < groups:
                times = torch.zeros_like(own[:, 0]) if times is None else times
                is_chosen = (log_probs[:, : self.width] > -torch.inf).to(times.dtype)
                times = times.scatter_add(1, tokens[:, : self.width], is_chosen)
        return [seen for sentence in zip(*found, strict=True) for seen in sentence]

    def _complete_stuck(self, running: list[_Beam], allowed: Tensor, length: int, penalties: list[float]) -> None:
        """Open hypotheses after which everything is forbidden are complete as they are."""
        is_stuck = (allowed.amax(dim=1) == -torch.inf).tolist()
        nodes = [(beam, node) for beam in running for node in beam.open]
        for (beam, node), stuck, penalty in zip(nodes, is_stuck, penalties, strict=True):
            if stuck and node.is_alive:
                beam.complete(node, self.rule.score(node.log_prob, length) + penalty, self._num_kept, ended=False)

    def _stay(self, running: list[_Beam], now: _Now, length: int) -> tuple[list[_Beam], _Now]:
        """The beams of the sentences that are not finished, each with its new open hypotheses, as many for each."""
        groups, open_before = self.diversity.groups, len(running[0].open)
        is_finished = [self._is_finished(beam, length) for beam in running]
        going_on = [place for place in range(0, len(running), groups) if not all(is_finished[place : place + groups])]
        staying = [place + group for place in going_on for group in range(groups)]
        open_now = max((len(running[place].chosen) for place in staying), default=0)
        rows: list[int] = []
        for place in staying:
            parents, running[place].open = placed(running[place].chosen, before=open_before, now=open_now)
            rows += [place * open_before + parent for parent in parents]
        if len(going_on) * groups < len(running):
            now = now.keep(torch.tensor([place // groups for place in going_on], dtype=torch.long, device=now.tokens.device))
        beams = [running[place] for place in staying]
        newest = torch.tensor([max(node.token, 0) for beam in beams for node in beam.open], dtype=torch.long, device=now.tokens.device)
        if rows != list(range(len(now.tokens))):
            now = now.move(torch.tensor(rows, dtype=torch.long, device=now.tokens.device))
        return beams, now._replace(tokens=newest)

    def _is_finished(self, beam: _Beam, length: int) -> bool:
        if not beam.chosen:
            return True
        if len(beam.completed) < self._num_kept:
            return False
        highest = max(node.log_prob for _, node in beam.chosen)
        return self.rule.bound(highest, length=length, longest=self.max_tokens) <= beam.completed[-1].score

    def _answer(self, groups: Sequence[_Beam]) -> list[Hypothesis]:
        """The best of all groups; what several have found is there once."""
        found = sorted((hypothesis for beam in groups for hypothesis in beam.completed), key=lambda hypothesis: -hypothesis.score)
        different = {(tuple(hypothesis.tokens), hypothesis.ended): hypothesis for hypothesis in reversed(found)}
        return sorted(different.values(), key=lambda hypothesis: -hypothesis.score)[: self.n_best]


@dataclass
class _Beam:
    """One group of one sentence: its open hypotheses, and the best of the complete ones."""

    number: int
    group: int
    open: list[Node] = field(default_factory=lambda: [ROOT])
    chosen: list[tuple[int, Node]] = field(default_factory=list)
    """The next open ones, each with the place of its parent among those of before."""
    completed: list[Hypothesis] = field(default_factory=list)

    def complete(self, node: Node, score: float, num_kept: int, *, ended: bool) -> None:
        if len(self.completed) == num_kept and score <= self.completed[-1].score:
            return
        tokens = node.tokens()
        self.completed.append(Hypothesis(tokens[:-1] if ended else tokens, node.token_log_probs(), score, ended))
        self.completed.sort(key=lambda hypothesis: -hypothesis.score)
        del self.completed[num_kept:]


def _does_not_look() -> UsageError:
    return UsageError(
        "a coverage penalty needs a model that says where it looks, and this one does not.", where="search.coverage", cure="Leave it at 0."
    )


def _at(
    log_probs: Float[Tensor, "sentences open vocab"], parents: Int[Tensor, "sentences some"], tokens: Int[Tensor, "sentences some"]
) -> Float[Tensor, "sentences some"]:
    sentences = torch.arange(len(parents), device=parents.device).unsqueeze(1)
    return log_probs[sentences, parents, tokens].double()


class _Now(NamedTuple):
    """The tensors of the sentences that are not finished."""

    writing: Writing
    tokens: Tensor
    """The newest token of each hypothesis."""
    is_token: Bool[Tensor, "sentences source"]
    looked: Float[Tensor, "hypotheses source"] | None = None

    @classmethod
    def start(cls, model: Translator, sources: Sources, start_id: int) -> _Now:
        tokens = torch.full((len(sources.tokens),), start_id, device=sources.tokens.device)
        return cls(model.start(sources.tokens, sources.is_token), tokens, sources.is_token)

    def pick(self, rows: Tensor) -> _Now:
        return self._replace(writing=self.writing.pick(rows), tokens=self.tokens[rows], looked=None if self.looked is None else self.looked[rows])

    def move(self, rows: Tensor) -> _Now:
        """As `pick`; nobody needs the hypotheses before any more."""
        return self._replace(writing=self.writing.move(rows), tokens=self.tokens[rows], looked=None if self.looked is None else self.looked[rows])

    def keep(self, sentences: Tensor) -> _Now:
        return self._replace(writing=self.writing.keep(sentences), is_token=self.is_token[sentences])
