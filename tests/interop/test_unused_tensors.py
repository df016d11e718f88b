"""Every tensor of a file is used, or it is listed with a reason and is what the reason says; anything else is
an error that names it.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from seqlab.core.errors import DataError
from seqlab.interop.import_model import import_published_model
from tests.interop import folders
from tests.interop.folders import NUM_BYTE_PIECES, transformers
from tests.interop.test_embedding_tables import BART, MARIAN, bart, marian
from tests.interop.test_g2p import arrays
from tests.interop.test_gguf import write_file


def write_bytes(folder: Path) -> None:
    folders.write_bytes(folder, template="$A </s>", pad="<pad>", mask="<mask>")


ROTARY_RATES = 10000.0 ** (-torch.arange(0, 4, 2) / 4)  # heads of four numbers
CAUSAL = torch.ones(64, 64).tril()[None, None]


@dataclass(frozen=True)
class Family:
    """unknown: names that no reason covers, near to some that one does.  copies: names that repeat a tensor,
    and which.

    buffers: what some files hold besides weights.
    """

    kind: Any
    config: Any
    write_tokenizer: Callable[[Path], object] = write_bytes
    unknown: tuple[str, ...] = ()
    copies: dict[str, str] = field(default_factory=dict)
    buffers: dict[str, Tensor] = field(default_factory=dict)


FAMILIES: dict[str, Family] = {
    "bert": Family(
        transformers.BertForMaskedLM,
        folders.bert_config(),
        folders.write_words,
        unknown=(
            "bert.encoder.layer.0.pooler.dense.weight",
            "bert.encoder.position_ids",
            "bert.encoder.layer.1.classifier.bias",
            "embeddings.word_embeddings.weight",
        ),
        copies={
            "cls.predictions.decoder.weight": "bert.embeddings.word_embeddings.weight",
            "cls.predictions.decoder.bias": "cls.predictions.bias",
        },
        buffers={"bert.embeddings.position_ids": torch.arange(17)[None]},
    ),
    "bert without a head": Family(
        transformers.BertModel,
        folders.bert_config(),
        folders.write_words,
        unknown=("cls.predictions.decoder.weight", "cls.predictions.bias", "cls.predictions.decoder.bias"),
        buffers={"embeddings.position_ids": torch.arange(17)[None]},
    ),
    "bert, untied": Family(
        transformers.BertForMaskedLM,
        folders.bert_config(tie_word_embeddings=False),
        folders.write_words,
        unknown=("cls.predictions.weight",),
    ),
    "roberta": Family(
        transformers.RobertaForMaskedLM,
        folders.roberta_config(),
        unknown=("lm_head.decoder.scale", "lm_head.weight"),
        copies={
            "lm_head.decoder.weight": "roberta.embeddings.word_embeddings.weight",
            "lm_head.decoder.bias": "lm_head.bias",
        },
        buffers={"roberta.embeddings.position_ids": torch.arange(66)[None]},
    ),
    "distilbert": Family(
        transformers.DistilBertForMaskedLM,
        folders.distilbert_config(),
        folders.write_words,
        unknown=("vocab_projector.scale", "distilbert.transformer.layer.0.classifier.weight"),
        copies={"vocab_projector.weight": "distilbert.embeddings.word_embeddings.weight"},
        buffers={"distilbert.embeddings.position_ids": torch.arange(17)[None]},
    ),
    "gpt2": Family(
        transformers.GPT2LMHeadModel,
        folders.gpt2_config(),
        unknown=(
            "transformer.h.0.crossattn.bias",
            "transformer.h.3.attn.bias",
            "transformer.h.0.crossattn.masked_bias",
            "lm_head.bias",
            "score.weight",
        ),
        copies={"lm_head.weight": "transformer.wte.weight"},
        buffers={"transformer.h.1.attn.bias": CAUSAL, "transformer.h.1.attn.masked_bias": torch.tensor(-1e4)},
    ),
    "gpt2, untied": Family(
        transformers.GPT2LMHeadModel,
        folders.gpt2_config(tie_word_embeddings=False),
        unknown=("lm_head.bias",),
    ),
    "llama": Family(
        transformers.LlamaForCausalLM,
        folders.llama_config(tie_word_embeddings=True),
        unknown=(
            "model.layers.0.mlp.rotary_emb.inv_freq",
            "model.layers.0.self_attn.q_norm.weight",
            "lm_head.bias",
            "model.layers.0.self_attn.q_proj.bias",
        ),
        copies={"lm_head.weight": "model.embed_tokens.weight"},
        buffers={
            "model.layers.2.self_attn.rotary_emb.inv_freq": ROTARY_RATES,
            "model.rotary_emb.inv_freq": ROTARY_RATES.half(),
        },
    ),
    "llama, untied": Family(
        transformers.LlamaForCausalLM, folders.llama_config(), unknown=("lm_head.scale",)
    ),
    "mistral": Family(
        transformers.MistralForCausalLM,
        folders.mistral_config(tie_word_embeddings=True),
        unknown=("model.layers.0.self_attn.q_proj.bias",),
        copies={"lm_head.weight": "model.embed_tokens.weight"},
    ),
    "qwen2": Family(
        transformers.Qwen2ForCausalLM,
        folders.qwen2_config(tie_word_embeddings=True),
        unknown=("model.layers.0.self_attn.o_proj.bias",),
        copies={"lm_head.weight": "model.embed_tokens.weight"},
    ),
    "bart": Family(
        BART,
        bart(),
        unknown=(
            "model.encoder.layers.0.version",
            "model.encoder.layer_norm.weight",
            "encoder.embed_tokens.weight",
            "model.embed_positions._float_tensor",
        ),
        copies=dict.fromkeys(
            ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"),
            "model.shared.weight",
        ),
        buffers={"model.encoder.version": torch.tensor([3.0]), "model.decoder.version": torch.tensor([3.0])},
    ),
    "bart, untied": Family(
        BART, bart(tie_word_embeddings=False), unknown=("lm_head.bias", "model.encoder.shared.weight")
    ),
    "marian": Family(
        MARIAN,
        marian(),
        unknown=("model.decoder.layer_norm.weight", "model.encoder.layernorm_embedding.weight"),
        copies=dict.fromkeys(
            ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight", "lm_head.weight"),
            "model.shared.weight",
        ),
        buffers={"model.encoder.embed_positions._float_tensor": torch.zeros(1)},
    ),
    "marian, a table for each side": Family(
        MARIAN,
        marian(share_encoder_decoder_embeddings=False),
        unknown=("model.shared.weight",),
        copies={"lm_head.weight": "model.decoder.embed_tokens.weight"},
    ),
}


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    written: dict[str, Path] = {}

    def write(name: str) -> Path:
        if name not in written:
            family, folder = FAMILIES[name], tmp_path_factory.mktemp("published")
            folders.write_model(folder, family.kind, family.config)
            family.write_tokenizer(folder)
            written[name] = folder
        return written[name]

    return write


def with_tensors(folder: Path, out: Path, tensors: dict[str, Tensor]) -> Path:
    """A copy of a folder with more tensors in its file."""
    shutil.copytree(folder, out)
    weights = load_file(out / "model.safetensors")
    assert not set(tensors) & set(weights)
    save_file(
        weights | {name: tensor.contiguous() for name, tensor in tensors.items()}, out / "model.safetensors"
    )
    return out


def cases(part: str) -> list[tuple[str, str]]:
    return [(name, tensor) for name, family in FAMILIES.items() for tensor in getattr(family, part)]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_tensor_that_no_reason_covers_is_an_error_that_names_it(
    name: str, published: Any, tmp_path: Path
) -> None:
    unknown = FAMILIES[name].unknown
    folder = with_tensors(published(name), tmp_path / "more", {tensor: torch.zeros(5) for tensor in unknown})
    with pytest.raises(DataError) as error:
        import_published_model(folder, out=tmp_path / "run")
    assert f"({len(unknown)})" in str(error.value)  # and nothing else
    assert all(tensor in str(error.value) for tensor in unknown)
    assert str(folder) in str(error.value)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.copies])
def test_equal_copies_of_a_tied_tensor_are_left_out(name: str, published: Any, tmp_path: Path) -> None:
    weights = load_file(published(name) / "model.safetensors")
    copies = {copy: weights[original].clone() for copy, original in FAMILIES[name].copies.items()}
    expected = import_published_model(published(name), out=tmp_path / "alone").model.state_dict()
    found = import_published_model(
        with_tensors(published(name), tmp_path / "more", copies), out=tmp_path / "run"
    ).model.state_dict()
    assert all(torch.equal(found[key], value) for key, value in expected.items())


@pytest.mark.parametrize(("name", "copy"), cases("copies"))
def test_a_copy_that_differs_from_the_tied_tensor_is_an_error_that_names_both(
    name: str, copy: str, published: Any, tmp_path: Path
) -> None:
    original = FAMILIES[name].copies[copy]
    tensor = load_file(published(name) / "model.safetensors")[original]
    changed = tensor.clone()
    changed.view(-1)[-1] += 1e-3
    for number, other in enumerate((changed, tensor[:-1])):
        folder = with_tensors(published(name), tmp_path / f"changed{number}", {copy: other})
        with pytest.raises(DataError) as error:
            import_published_model(folder, out=tmp_path / "run")
        assert all(fact in str(error.value) for fact in (copy, original, "tie_word_embeddings", str(folder)))
        assert not (tmp_path / "run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.copies])
def test_a_tied_tensor_may_have_the_name_of_its_copy_alone(name: str, published: Any, tmp_path: Path) -> None:
    folder = shutil.copytree(published(name), tmp_path / "renamed")
    weights = load_file(folder / "model.safetensors")
    for copy, original in reversed(FAMILIES[name].copies.items()):
        if original in weights:
            weights[copy] = weights.pop(original)
    save_file(weights, folder / "model.safetensors")
    expected = import_published_model(published(name), out=tmp_path / "expected").model.state_dict()
    found = import_published_model(folder, out=tmp_path / "run").model.state_dict()
    assert all(torch.equal(found[key], value) for key, value in expected.items())


def test_the_output_bias_of_an_untied_head_may_have_either_name(published: Any, tmp_path: Path) -> None:
    folder = shutil.copytree(published("bert, untied"), tmp_path / "renamed")
    weights = load_file(folder / "model.safetensors")
    expected = weights["cls.predictions.bias"] = weights.pop("cls.predictions.decoder.bias")
    save_file(weights, folder / "model.safetensors")
    assert torch.equal(import_published_model(folder, out=tmp_path / "run").model.bias.data, expected)


@pytest.mark.parametrize(("name", "buffer"), cases("buffers"))
def test_a_buffer_is_left_out_when_it_holds_what_it_should(
    name: str, buffer: str, published: Any, tmp_path: Path
) -> None:
    tensor = FAMILIES[name].buffers[buffer]
    import_published_model(
        with_tensors(published(name), tmp_path / "right", {buffer: tensor}), out=tmp_path / "run"
    )
    wrong = (
        torch.cat([tensor, tensor])
        if tensor.numel() == 1 and tensor.ndim
        else torch.zeros(2, 3)
        if not tensor.ndim
        else tensor.flip(-1) * 2
    )
    folder = with_tensors(published(name), tmp_path / "wrong", {buffer: wrong})
    with pytest.raises(DataError) as error:
        import_published_model(folder, out=tmp_path / "refused")
    assert buffer in str(error.value)


@pytest.mark.parametrize(
    "rates", [ROTARY_RATES / 2, 500.0 ** (-torch.arange(0, 4, 2) / 4), ROTARY_RATES * 1.05]
)
def test_rotary_rates_of_another_base_or_scale_are_an_error(
    rates: Tensor, published: Any, tmp_path: Path
) -> None:
    name = "model.layers.0.self_attn.rotary_emb.inv_freq"
    with pytest.raises(DataError, match=r"model\.layers\.0\.self_attn\.rotary_emb\.inv_freq .* base 10000"):
        import_published_model(
            with_tensors(published("llama"), tmp_path / "other", {name: rates}), out=tmp_path / "run"
        )


def test_all_differing_copies_are_in_one_message(published: Any, tmp_path: Path) -> None:
    copies = FAMILIES["bart"].copies
    tensor = load_file(published("bart") / "model.safetensors")["model.shared.weight"]
    with pytest.raises(DataError) as error:
        import_published_model(
            with_tensors(
                published("bart"),
                tmp_path / "more",
                {name: tensor + number for number, name in enumerate(copies, start=1)},
            ),
            out=tmp_path / "run",
        )
    assert all(copy in str(error.value) for copy in copies)


def test_other_heads_of_an_encoder_are_left_out_with_a_note(published: Any, tmp_path: Path) -> None:
    from seqlab.interop.import_model import import_details

    heads = [
        "bert.pooler.dense.weight",
        "cls.seq_relationship.bias",
        "classifier.out_proj.weight",
        "qa_outputs.weight",
    ]
    folder = with_tensors(
        published("bert"),
        tmp_path / "more",
        {name: torch.full((3,), number) for number, name in enumerate(heads)},
    )
    notes = "\n".join(import_details(import_published_model(folder, out=tmp_path / "run"))["notes"])
    assert all(word in notes for word in ("pooler", "next-sentence", "classifier", "answer"))


def test_an_additional_array_of_a_pair_of_grus_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "more.npz", **arrays(zz_attention=np.zeros(3, np.float32)))
    with pytest.raises(DataError, match="zz_attention"):
        import_published_model(tmp_path / "more.npz", out=tmp_path / "run")
    missing = arrays()
    del missing["dec_b_hh"]
    np.savez(tmp_path / "less.npz", **missing)
    with pytest.raises(DataError, match="dec_b_hh"):
        import_published_model(tmp_path / "less.npz", out=tmp_path / "run")


@pytest.mark.parametrize(
    "unknown",
    ["rope_freqs.weight", "blk.0.attn_q_norm.weight", "blk.0.attn_q.bias", "model.embed_tokens.weight"],
)
def test_an_additional_tensor_of_a_gguf_file_is_named(unknown: str, tmp_path: Path) -> None:
    write_file(tmp_path / "tiny.gguf", kind="F32", tensors={unknown: np.zeros(64, np.float32)})
    with pytest.raises(DataError) as error:
        import_published_model(tmp_path / "tiny.gguf", out=tmp_path / "run")
    assert unknown in str(error.value)


def test_old_and_new_name_of_one_tensor_are_not_both_taken(published: Any, tmp_path: Path) -> None:
    """gamma is what weight was called once: a file with both holds a tensor that nobody would read."""
    old = "bert.embeddings.LayerNorm.gamma"
    folder = with_tensors(published("bert"), tmp_path / "more", {old: torch.ones(12)})
    with pytest.raises(DataError) as error:
        import_published_model(folder, out=tmp_path / "run")
    assert old in str(error.value)
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(DataError) as error:
        import_published_model(folder, out=tmp_path / "run")
    assert old in str(error.value)


def test_a_tensor_that_the_index_does_not_name_is_an_error(published: Any, tmp_path: Path) -> None:
    folder = with_tensors(
        published("gpt2"), tmp_path / "more", {"transformer.forgotten.weight": torch.ones(3)}
    )
    (folder / "model.safetensors").rename(folder / "a.safetensors")
    names = [name for name in load_file(folder / "a.safetensors") if "forgotten" not in name]
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": dict.fromkeys(names, "a.safetensors")})
    )
    with pytest.raises(DataError) as error:
        import_published_model(folder, out=tmp_path / "run")
    assert "transformer.forgotten.weight" in str(error.value)
    assert "a.safetensors" in str(error.value)


def test_an_untied_table_of_a_gguf_file_is_the_output_table(tmp_path: Path) -> None:
    theirs = write_file(tmp_path / "tiny.gguf", kind="F32", tied=False)
    run = import_published_model(tmp_path / "tiny.gguf", out=tmp_path / "run")
    tokens = torch.randint(NUM_BYTE_PIECES, (3, 11), generator=torch.Generator().manual_seed(4))
    found, _ = run.model(tokens, torch.ones_like(tokens, dtype=torch.bool))
    torch.testing.assert_close(found, theirs(input_ids=tokens).logits, rtol=1e-4, atol=1e-4)
    assert not torch.equal(run.model.weight, run.model.embed.weight)
