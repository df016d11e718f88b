"""Beam search: keeps the k best continuations of all open hypotheses at every step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from seqlab.core.errors import ArgumentError
from seqlab.decoding.beam_policy import BeamPolicy, BeamStatus, OpenBeam
from seqlab.decoding.beam_slots import assign_slots
from seqlab.decoding.constraints import Constraint, SearchStep
from seqlab.decoding.coverage import CoveragePenalty
from seqlab.decoding.diversity import Diversity
from seqlab.decoding.hypothesis import Hypothesis
from seqlab.decoding.length_normalization import LengthPenalty, NoLengthPenalty
from seqlab.decoding.protocol import AttentionSeq2SeqModel, Seq2SeqModel
from seqlab.decoding.search import Search, SourceBatch, SpecialTokens, full_mask, to_log_probs
from seqlab.decoding.search_tree import CandidateFate, CandidateOutcome, Node, SearchRecorder
from seqlab.decoding.top_candidates import top_candidates
from seqlab.models.decoders.base import DecoderState

ROOT = Node(None, -1, 0.0)


class BeamSearch(Search):
    """Keeps the `beam_size` most likely continuations of the open hypotheses of a sentence; those that end
    are complete. The policy says whether these take a place in the beam, and when a sentence is finished.

    Complete hypotheses are ranked by score = rule(log_prob, length) + coverage penalty, and the `n_best` of
    them are returned. All continuations at one step have the same length, so pruning needs no length rule; a
    coverage penalty is never above 0, so it cannot help an open hypothesis. With a beam size of V^T, which
    prunes nothing, the search is exhaustive.

    Sums are in float64; rows of a batch are independent, except for the order of summation in matrix
    products. Finished sentences leave the batch.
    """

    def __init__(
        self,
        special_tokens: SpecialTokens,
        *,
        beam_size: int,
        max_tokens: int,
        n_best: int = 1,
        length_penalty: LengthPenalty | None = None,
        coverage_penalty: CoveragePenalty | None = None,
        diversity: Diversity | None = None,
        constraints: Sequence[Constraint] = (),
        policy: BeamPolicy | None = None,
    ) -> None:
        super().__init__(special_tokens, max_tokens=max_tokens, constraints=constraints)
        if n_best > beam_size:
            raise ArgumentError(
                "n_best",
                n_best,
                f"the beam keeps only {beam_size} hypotheses.",
                allowed=f"at most {beam_size}",
                cure=f"Use a wider beam: beam_size={n_best}",
            )
        self.n_best = n_best
        self.length_penalty = length_penalty or NoLengthPenalty()
        self.coverage_penalty = coverage_penalty
        self.diversity = diversity or Diversity()
        self.policy = policy or OpenBeam()
        self.group_size = self.diversity.group_size(beam_size)  # of every group

    def run(self, model: Seq2SeqModel, sources: SourceBatch) -> list[list[Hypothesis]]:
        return self.run_recorded(model, sources, None)

    @torch.inference_mode()
    def run_recorded(
        self, model: Seq2SeqModel, sources: SourceBatch, recorder: SearchRecorder | None
    ) -> list[list[Hypothesis]]:
        """Like `run`, but passes the candidates of every step to a recorder."""
        groups = self.diversity.groups
        beams = [_Beam(source_id, group) for source_id in sources.source_ids for group in range(groups)]
        running = beams
        state = _BeamState.start(model, sources, self.special_tokens.start_id)
        for length in range(self.max_tokens):
            if not running:
                break
            penalties_before = self._penalties(state, len(state.tokens))
            log_probs, state = self._next_log_probs(model, state)
            if length == 0 and groups > 1:  # all groups start identically
                rows = torch.arange(len(log_probs), device=log_probs.device).repeat_interleave(groups)
                log_probs, state = log_probs[rows], state.select(rows)
            source_ids = [beam.source_id for beam in running for _ in beam.open]
            step = SearchStep(
                log_probs,
                source_ids,
                partial(_tokens_so_far, running),
                length,
            )
            allowed = self.allowed_log_probs(step)
            if self.constraints:
                self._complete_dead_ends(
                    running, allowed, length, penalties_before if length else [0.0] * len(log_probs)
                )
            self._extend(running, allowed, length + 1, self._penalties(state, len(log_probs)), recorder)
            running, state = self._prune(running, state, length + 1)
        return [self._merge_groups(beams[index : index + groups]) for index in range(0, len(beams), groups)]

    def _next_log_probs(self, model: Seq2SeqModel, state: _BeamState) -> tuple[Tensor, _BeamState]:
        """Log-probabilities after the newest tokens (hypotheses, vocab)."""
        tokens = state.tokens.unsqueeze(1)
        if self.coverage_penalty is None:
            logits, decoder_state = model.decode(tokens, full_mask(tokens), state.decoder_state)
            return to_log_probs(logits[:, -1]), state._replace(decoder_state=decoder_state)
        if not isinstance(model, AttentionSeq2SeqModel):
            raise _no_attention_error(self.coverage_penalty)
        logits, decoder_state, alignment = model.decode_with_alignment(
            tokens, full_mask(tokens), state.decoder_state
        )
        if alignment is None:
            raise _no_attention_error(self.coverage_penalty)
        attention_sum = (
            alignment[:, -1] if state.attention_sum is None else state.attention_sum + alignment[:, -1]
        )  # (hypotheses, source)
        return to_log_probs(logits[:, -1]), state._replace(
            decoder_state=decoder_state, attention_sum=attention_sum
        )

    def _penalties(self, state: _BeamState, hypotheses: int) -> list[float]:
        if self.coverage_penalty is None or state.attention_sum is None:
            return [0.0] * hypotheses
        attention_sum = state.attention_sum.unflatten(
            0, (len(state.is_token), -1)
        )  # (sentences, hypotheses, source)
        return [
            float(penalty)
            for penalty in self.coverage_penalty.penalty(attention_sum, state.is_token).flatten()
        ]

    def _extend(
        self,
        running: list[_Beam],
        allowed: Tensor,
        length: int,
        penalties: list[float],
        recorder: SearchRecorder | None,
    ) -> None:
        """Every beam selects its next open hypotheses and collects the complete ones."""
        open_now = len(running[0].open)
        num_candidates = self.policy.num_candidates(self.group_size) + (
            recorder.num_pruned if recorder else 0
        )
        for index, (beam, candidates) in enumerate(
            zip(running, self._top_continuations(running, allowed, num_candidates), strict=True)
        ):
            open_before, beam.chosen = beam.open, []
            outcomes: list[CandidateOutcome] = []
            for parent, token, log_prob, is_taken in candidates:
                if not (is_taken or recorder):
                    continue
                node = Node(open_before[parent], token, log_prob)
                score = self.length_penalty.score(log_prob, length) + penalties[index * open_now + parent]
                fate: CandidateFate = "kept"
                if not is_taken:
                    fate = "pruned"
                elif token == self.special_tokens.end_id or length == self.max_tokens:
                    fate = "ended" if token == self.special_tokens.end_id else "cut"
                    beam.add_complete(node, score, self._num_complete_kept, ended=fate == "ended")
                else:
                    beam.chosen.append((parent, node))
                if recorder:
                    outcomes.append(CandidateOutcome(node, score, fate))
            if recorder:
                recorder.record(beam.group, length, _with_few_pruned(outcomes, recorder.num_pruned))

    @property
    def _num_complete_kept(self) -> int:
        """The number of complete hypotheses that each group keeps."""
        return self.policy.num_complete(width=self.group_size, n_best=self.n_best)

    def _top_continuations(
        self, running: list[_Beam], allowed: Tensor, num_candidates: int
    ) -> list[list[tuple[int, int, float, bool]]]:
        """The best continuations of each beam: index of the parent among the open hypotheses, token, total
        log_prob, and whether it stays open or is complete.
        """
        groups, open_now = self.diversity.groups, len(running[0].open)
        sums = torch.tensor(
            [[node.log_prob for node in beam.open] for beam in running],
            dtype=torch.float64,
            device=allowed.device,
        )
        by_group: list[list[list[tuple[int, int, float, bool]]]] = []
        counts: Tensor | None = None  # how often earlier groups have chosen each token
        for group in range(groups):
            group_log_probs = allowed.view(-1, groups, open_now, allowed.shape[1])[
                :, group
            ]  # (sentences, open, vocab)
            ranked = group_log_probs if counts is None else self.diversity.penalize(group_log_probs, counts)
            values, tokens = top_candidates(
                ranked.reshape(-1, allowed.shape[1]), num_candidates
            )  # (sentences * open, some)
            num_tokens = values.shape[1]
            before = sums[group::groups].unsqueeze(2)  # (sentences, open, 1)
            ranks, order = (
                (values.view(-1, open_now, num_tokens) + before)
                .flatten(1)
                .sort(dim=1, descending=True, stable=True)
            )
            order, ranks = order[:, :num_candidates], ranks[:, :num_candidates]
            parents = order // num_tokens
            tokens = tokens.view(len(order), -1).gather(1, order)
            log_probs = (
                ranks
                if counts is None
                else _gather_log_probs(group_log_probs, parents, tokens) + before[:, :, 0].gather(1, parents)
            )
            is_taken = self.policy.is_taken(tokens, end_id=self.special_tokens.end_id, width=self.group_size)
            rows = zip(parents.tolist(), tokens.tolist(), log_probs.tolist(), is_taken.tolist(), strict=True)
            by_group.append(
                [
                    [candidate for candidate in zip(*row, strict=True) if candidate[2] > -torch.inf]
                    for row in rows
                ]
            )
            if group + 1 < groups:
                counts = torch.zeros_like(group_log_probs[:, 0]) if counts is None else counts
                is_chosen = (is_taken & (log_probs > -torch.inf)).to(counts.dtype)
                counts = counts.scatter_add(1, tokens, is_chosen)
        return [candidates for sentence in zip(*by_group, strict=True) for candidates in sentence]

    def _complete_dead_ends(
        self, running: list[_Beam], allowed: Tensor, length: int, penalties: list[float]
    ) -> None:
        """Open hypotheses without an allowed continuation become complete."""
        is_dead_end = (allowed.amax(dim=1) == -torch.inf).tolist()
        nodes = [(beam, node) for beam in running for node in beam.open]
        for (beam, node), dead_end, penalty in zip(nodes, is_dead_end, penalties, strict=True):
            if dead_end and node.is_alive:
                beam.add_complete(
                    node,
                    self.length_penalty.score(node.log_prob, length) + penalty,
                    self._num_complete_kept,
                    ended=False,
                )

    def _prune(self, running: list[_Beam], state: _BeamState, length: int) -> tuple[list[_Beam], _BeamState]:
        """The beams of the unfinished sentences, with their new open hypotheses, the same number for each."""
        groups, open_before = self.diversity.groups, len(running[0].open)
        is_finished = [self._is_finished(beam, length) for beam in running]
        unfinished = [
            index for index in range(0, len(running), groups) if not all(is_finished[index : index + groups])
        ]
        kept = [index + group for index in unfinished for group in range(groups)]
        open_now = max((len(running[index].chosen) for index in kept), default=0)
        rows: list[int] = []
        for index in kept:
            parents, running[index].open = assign_slots(
                running[index].chosen, num_before=open_before, num_after=open_now
            )
            rows += [index * open_before + parent for parent in parents]
        if len(unfinished) * groups < len(running):
            state = state.keep_sources(
                torch.tensor(
                    [index // groups for index in unfinished], dtype=torch.long, device=state.tokens.device
                )
            )
        beams = [running[index] for index in kept]
        newest = torch.tensor(
            [max(node.token, 0) for beam in beams for node in beam.open],
            dtype=torch.long,
            device=state.tokens.device,
        )
        if rows != list(range(len(state.tokens))):
            state = state.reorder(torch.tensor(rows, dtype=torch.long, device=state.tokens.device))
        return beams, state._replace(tokens=newest)

    def _is_finished(self, beam: _Beam, length: int) -> bool:
        if not beam.chosen:
            return True
        best_open = max(node.log_prob for _, node in beam.chosen)
        status = BeamStatus(beam.complete, best_open, length, self.max_tokens, self.length_penalty)
        return self.policy.is_finished(status, width=self.group_size, n_best=self.n_best)

    def _merge_groups(self, groups: Sequence[_Beam]) -> list[Hypothesis]:
        """The best hypotheses of all groups, without duplicates."""
        hypotheses = sorted(
            (hypothesis for beam in groups for hypothesis in beam.complete),
            key=lambda hypothesis: -hypothesis.score,
        )
        distinct = {
            (tuple(hypothesis.tokens), hypothesis.ended): hypothesis for hypothesis in reversed(hypotheses)
        }
        return sorted(distinct.values(), key=lambda hypothesis: -hypothesis.score)[: self.n_best]


@dataclass
class _Beam:
    """One group of one sentence: its open hypotheses, and the best of the complete ones."""

    source_id: int
    group: int
    open: list[Node] = field(default_factory=lambda: [ROOT])
    chosen: list[tuple[int, Node]] = field(default_factory=list)
    """The next open hypotheses, each with the index of its parent among the previous ones."""
    complete: list[Hypothesis] = field(default_factory=list)

    def add_complete(self, node: Node, score: float, num_kept: int, *, ended: bool) -> None:
        if len(self.complete) == num_kept and score <= self.complete[-1].score:
            return
        tokens = node.tokens()
        self.complete.append(
            Hypothesis(tokens[:-1] if ended else tokens, node.token_log_probs(), score, ended)
        )
        self.complete.sort(key=lambda hypothesis: -hypothesis.score)
        del self.complete[num_kept:]


def _with_few_pruned(outcomes: Sequence[CandidateOutcome], num_pruned: int) -> list[CandidateOutcome]:
    """Candidates, best first, without those that were pruned after the first few."""
    pruned = [index for index, outcome in enumerate(outcomes) if outcome.fate == "pruned"][num_pruned:]
    return [outcome for index, outcome in enumerate(outcomes) if index not in pruned]


def _no_attention_error(penalty: CoveragePenalty) -> ArgumentError:
    return ArgumentError(
        "coverage",
        penalty.beta,
        "a coverage penalty needs attention weights, and this model has none.",
        cure="Use coverage=0.",
    )


def _gather_log_probs(
    log_probs: Float[Tensor, "sentences open vocab"],
    parents: Int[Tensor, "sentences some"],
    tokens: Int[Tensor, "sentences some"],
) -> Float[Tensor, "sentences some"]:
    sentences = torch.arange(len(parents), device=parents.device).unsqueeze(1)
    return log_probs[sentences, parents, tokens].double()


class _BeamState(NamedTuple):
    """The tensors of the unfinished sentences."""

    decoder_state: DecoderState
    tokens: Tensor
    """The newest token of each hypothesis."""
    is_token: Bool[Tensor, "sentences source"]
    attention_sum: Float[Tensor, "hypotheses source"] | None = None

    @classmethod
    def start(cls, model: Seq2SeqModel, sources: SourceBatch, start_id: int) -> _BeamState:
        tokens = torch.full((len(sources.tokens),), start_id, device=sources.tokens.device)
        return cls(model.encode(sources.tokens, sources.is_token), tokens, sources.is_token)

    def select(self, rows: Tensor) -> _BeamState:
        return self._replace(
            decoder_state=self.decoder_state.select(rows),
            tokens=self.tokens[rows],
            attention_sum=None if self.attention_sum is None else self.attention_sum[rows],
        )

    def reorder(self, rows: Tensor) -> _BeamState:
        """Like `select`, but the previous hypotheses must not be used afterwards."""
        return self._replace(
            decoder_state=self.decoder_state.reorder(rows),
            tokens=self.tokens[rows],
            attention_sum=None if self.attention_sum is None else self.attention_sum[rows],
        )

    def keep_sources(self, sentences: Tensor) -> _BeamState:
        return self._replace(
            decoder_state=self.decoder_state.keep_sources(sentences), is_token=self.is_token[sentences]
        )


def _tokens_so_far(beams: list[_Beam]) -> list[list[int]]:
    """The tokens of every open hypothesis."""
    return [node.tokens() for beam in beams for node in beam.open]
