"""Generating 30 tokens with an encoder-decoder of 4 + 4 layers, compared with Hugging Face's generate.

Width 256, inner width 1,024, 8,000 tokens, sources of 20 tokens; greedy and with a beam of 5, for one source
and for 32. Every target has exactly 30 tokens on both sides, and they must be the same. With one thread
CPU time is compared; the best of interleaved repeats counts. Our weights are laid out for single steps
by the first search, as they are for a stream of sources; what that adds to it is printed, and is not in the
times. Beside it stands the floor: the matrix products of the 30 steps alone, with matrices laid out in the
same way.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from benchmarks.timing import interleaved, verdict
from seqlab.decoding.beam import BeamSearch
from seqlab.decoding.constraints import MinTokens
from seqlab.decoding.length_normalization import PowerLengthPenalty
from seqlab.decoding.prepared_decoder import prepare_decoder
from seqlab.decoding.protocol import Seq2SeqModel
from seqlab.decoding.search import Search, SourceBatch, SpecialTokens
from seqlab.decoding.stepwise import StepwiseSearch
from seqlab.decoding.token_choice import Greedy
from seqlab.interop.families.seq2seq import read_bart
from seqlab.interop.formats.config import ConfigReader
from seqlab.models.encoder_decoder import EncoderDecoder, build_encoder_decoder
from seqlab.models.single_step.product import PackedLinear

VOCABULARY, SOURCE, NEW = 8000, 20, 30
PAD, START, END = 1, 2, 3
TARGETS = {(1, 1): 0.45, (5, 1): 0.60, (1, 32): 0.72, (5, 32): 0.95}
"""By beam and batch: at most this share of the other's time."""


def both_models() -> tuple[Any, EncoderDecoder]:
    """One network of random weights, in both libraries."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from transformers import BartConfig, BartForConditionalGeneration
    torch.manual_seed(1)
    config = BartConfig(
        vocab_size=VOCABULARY,
        d_model=256,
        encoder_layers=4,
        decoder_layers=4,
        encoder_attention_heads=8,
        decoder_attention_heads=8,
        encoder_ffn_dim=1024,
        decoder_ffn_dim=1024,
        max_position_embeddings=64,
        pad_token_id=PAD,
        bos_token_id=0,
        eos_token_id=END,
        decoder_start_token_id=START,
        forced_eos_token_id=None,
        init_std=0.08,
        attn_implementation="sdpa",
    )
    theirs = BartForConditionalGeneration(config).eval()
    for name, parameter in theirs.named_parameters():
        if name.endswith("bias"):  # at first all are zero, which those of a trained network are not
            torch.nn.init.normal_(parameter, std=0.08)
    tensors = {name: tensor.detach() for name, tensor in theirs.state_dict().items()}
    published = read_bart(
        ConfigReader(config.to_dict(), where="benchmark"),
        {name: tuple(tensor.shape) for name, tensor in tensors.items()},
    )
    weights = {
        name: wanted.combine(*(tensors[part] for part, _ in wanted.parts))
        for name, wanted in published.weights.items()
    }
    ours = build_encoder_decoder(
        published.model,
        published.decoder,
        num_source_tokens=VOCABULARY,
        num_target_tokens=VOCABULARY,
        source_pad_id=PAD,
        target_pad_id=PAD,
        shared=True,
    )
    ours.load_state_dict(weights, strict=True)
    return theirs, ours.eval()


def search_of(beam: int) -> Search:
    symbols, constraints = SpecialTokens(START, END, (PAD,)), [MinTokens(NEW, end_id=END)]
    if beam == 1:
        return StepwiseSearch(symbols, Greedy(), max_tokens=NEW, constraints=constraints)
    return BeamSearch(
        symbols,
        beam_size=beam,
        max_tokens=NEW,
        length_penalty=PowerLengthPenalty(1.0),
        constraints=constraints,
    )


def their_way(model: Any, source: Tensor, beam: int) -> Callable[[], list[list[int]]]:
    options = {
        "num_beams": beam,
        "do_sample": False,
        "min_new_tokens": NEW,
        "max_new_tokens": NEW,
        "bad_words_ids": [[PAD]],
        "use_cache": True,
    }
    is_token = torch.ones_like(source)

    @torch.inference_mode()
    def once() -> list[list[int]]:
        return [
            row[1 : 1 + NEW] for row in model.generate(source, attention_mask=is_token, **options).tolist()
        ]

    return once


def our_way(model: Seq2SeqModel, source: Tensor, beam: int) -> Callable[[], list[list[int]]]:
    search, sources = (
        search_of(beam),
        SourceBatch.from_tokens(source, torch.ones_like(source, dtype=torch.bool)),
    )
    return lambda: [targets[0].tokens for targets in search.run(model, sources)]


def products_alone(model: EncoderDecoder, rows: int) -> Callable[[], None]:
    """The products of one step for so many rows, 30 times: what no decoder of these weights can do
    without.
    """
    stepping = ("qkv.weight", "output.weight", "query.weight", "expand.weight", "contract.weight")
    used = [part for name, part in model.decoder.named_parameters() if name.endswith(stepping)]
    matrices = [*used, model.output_weight]
    products = [(PackedLinear(matrix, None), torch.randn(rows, matrix.shape[1])) for matrix in matrices]

    @torch.inference_mode()
    def once() -> None:
        for _ in range(NEW):
            for product, inputs in products:
                product(inputs)

    return once


def compare(theirs: Any, ours: EncoderDecoder, *, beam: int, batch: int, repeats: int) -> None:
    source = torch.randint(4, VOCABULARY, (batch, SOURCE), generator=torch.Generator().manual_seed(2))
    ways: dict[str, Callable[[], Any]] = {
        "Hugging Face": their_way(theirs, source, beam),
        "seqlab": our_way(prepare_decoder(ours).step_model, source, beam),
        "products": products_alone(ours, batch * beam),
    }
    expected, found = ways["Hugging Face"](), ways["seqlab"]()
    same = sum(one == other for one, other in zip(expected, found, strict=True))
    fresh = {"first": lambda: our_way(prepare_decoder(ours).step_model, source, beam)()}  # noqa: PLW0108  # made ready anew each time
    timings = interleaved(ways, repeats=repeats, warm_up=1) | interleaved(fresh, repeats=3)
    seconds = {name: timing.best_cpu for name, timing in timings.items()}
    print(
        f"{'greedy' if beam == 1 else f'beam {beam}':<7} batch {batch:<3} Hugging Face"
        f" {seconds['Hugging Face'] * 1000:7.0f} ms   seqlab {seconds['seqlab'] * 1000:7.0f} ms   ratio"
        f" {verdict(seconds['seqlab'] / seconds['Hugging Face'], TARGETS[beam, batch], unit='')}   the same"
        f" {NEW} tokens: {same} of {batch}; {len({tuple(row) for row in found})} different   products alone"
        f" {seconds['products'] / seconds['Hugging Face']:.2f}   layout once"
        f" {(seconds['first'] - seconds['seqlab']) * 1000:.0f} ms",
        flush=True,
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--beam", type=int, choices=[1, 5])
    parser.add_argument("--batch", type=int, choices=[1, 32])
    chosen = parser.parse_args(arguments)
    torch.set_num_threads(chosen.threads)
    theirs, ours = both_models()
    for beam, batch in TARGETS:
        if chosen.beam in (None, beam) and chosen.batch in (None, batch):
            compare(theirs, ours, beam=beam, batch=batch, repeats=chosen.repeats * (4 if batch == 1 else 1))


if __name__ == "__main__":
    main(sys.argv[1:])
