"""Which parameters of a Transformer are pulled towards zero: its matrices, and nothing that stands for a
place, a size or a token.
"""

from __future__ import annotations

import pytest

from seqlab.models.decoders.settings import DecoderSettings
from seqlab.models.encoder_decoder import build_encoder_decoder
from seqlab.models.settings.transformer import TransformerSettings
from seqlab.training.optimizers.parameter_groups import build_optimizer
from seqlab.training.settings import TrainingSettings

MATRICES = {"qkv", "output", "query", "key", "value", "expand", "contract"}


@pytest.mark.parametrize("norm_kind", ["layer", "rms"])
@pytest.mark.parametrize("positions", ["learned", "relative", "rotary"])
@pytest.mark.parametrize("norm", ["pre", "post", "rezero", "shared_rezero"])
def test_matrices_decay_and_norms_scales_biases_and_tables_do_not(
    norm: str, positions: str, norm_kind: str
) -> None:
    settings = TransformerSettings(
        layers=1,
        hidden_size=6,
        heads=3,
        norm=norm,
        positions=positions,
        norm_kind=norm_kind,
        embedding_norm=True,
    )
    model = build_encoder_decoder(
        settings,
        DecoderSettings(),
        num_source_tokens=5,
        num_target_tokens=7,
        source_pad_id=0,
        target_pad_id=0,
    )
    optimizer = build_optimizer(model, TrainingSettings(weight_decay=0.1))
    decayed = {
        name for group in optimizer.param_groups if group["weight_decay"] for name in group["param_names"]
    }
    expected = {
        name
        for name, _ in model.named_parameters()
        if name.endswith(".weight") and name.split(".")[-2] in MATRICES
    }
    assert decayed == expected
    assert len(decayed) == 4 + 8  # an encoder layer and a decoder layer
