"""From pictures to captions: word after word until the end token, likeliest or drawn, one or several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from seqlab.blocks.picture import Picture
from seqlab.decoding.sampling import choose
from seqlab.decoding.settings import DecodingSettings
from seqlab.models.captioner import Captioner


@dataclass
class Caption:
    """The words of a caption without start and end token."""

    words: list[int] = field(default_factory=list)
    log_prob: float = 0.0
    """Of all its words and the end token, as the network has it: without temperature, and with every word to choose from."""
    alignments: list[Float[Tensor, " regions"]] = field(default_factory=list)
    """For each word, then for the end token, how much each region was looked at; empty without attention."""
    ended: bool = False
    """Whether the end token came before the limit."""


@torch.inference_mode()
def write_captions(
    model: Captioner, pictures: Picture, settings: DecodingSettings, *, start_id: int, end_id: int, never_ids: Sequence[int] = ()
) -> list[Caption]:
    """One caption for each picture; at temperature 0 every word is the likeliest. `never_ids` (start, padding) are never chosen.

    A caption that has ended leaves the batch.
    """
    generator = torch.Generator().manual_seed(settings.seed)
    captions = [Caption() for _ in range(len(pictures))]
    never = torch.tensor([start_id, *never_ids], device=pictures.device)
    state = model.start(pictures)
    running = torch.arange(len(pictures), device=pictures.device)  # which captions have not ended
    words = torch.full_like(running, start_id)
    for _ in range(settings.max_tokens):
        logits, state, alignment = model.decode(words.unsqueeze(1), state)
        log_probs = logits[:, -1].log_softmax(dim=-1)  # (batch, vocab)
        words = choose(log_probs.index_fill(1, never, -torch.inf).cpu(), settings, generator).to(running.device)
        chosen = log_probs.gather(1, words.unsqueeze(1)).squeeze(1).tolist()
        for place, (row, word) in enumerate(zip(running.tolist(), words.tolist(), strict=True)):
            _add(captions[row], word, chosen[place], None if alignment is None else alignment[place, -1], end_id=end_id)
        going_on = (words != end_id).nonzero().squeeze(1)
        if not len(going_on):
            break
        running, words, state = running[going_on], words[going_on], tuple(part[going_on] for part in state)
    return captions


def candidate_captions(
    model: Captioner, picture: Float[Tensor, "channels height width"], settings: DecodingSettings, *, num_draws: int, start_id: int, end_id: int
) -> list[Caption]:
    """Different captions of one picture out of many draws, the likeliest first."""
    drawn = write_captions(model, picture.expand(num_draws, -1, -1, -1), settings, start_id=start_id, end_id=end_id)
    different = {(tuple(caption.words), caption.ended): caption for caption in drawn}
    return sorted(different.values(), key=lambda caption: -caption.log_prob)


def _add(caption: Caption, word: int, log_prob: float, alignment: Tensor | None, *, end_id: int) -> None:
    caption.log_prob += log_prob
    if alignment is not None:
        caption.alignments.append(alignment)
    if word == end_id:
        caption.ended = True
    else:
        caption.words.append(word)
