"""Names of settings in other libraries, so that an error can suggest seqlab's name."""

from __future__ import annotations

SYNONYMS: dict[str, str] = {
    "amp": "training.precision",
    "batchsize": "training.batch_size",
    "beam_size": "decoding.beam",
    "beam_width": "decoding.beam",
    "bf16": "training.precision",
    "clip": "training.clip_norm",
    "d_model": "model.hidden_size",
    "dim_feedforward": "model.feedforward_size",
    "dropout_rate": "model.dropout",
    "early_stopping": "training.patience",
    "early_stopping_patience": "training.patience",
    "early_stopping_rounds": "training.patience",
    "embedding_dim": "model.embedding_size",
    "eval_steps": "training.evaluate_every",
    "fp16": "training.precision",
    "grad_clip": "training.clip_norm",
    "gradient_accumulation_steps": "training.gradient_accumulation",
    "gradient_clip_val": "training.clip_norm",
    "gradient_clipping": "training.clip_norm",
    "hidden_dim": "model.hidden_size",
    "lr": "training.learning_rate",
    "lr_scheduler": "training.schedule",
    "max_epochs": "training.epochs",
    "max_grad_norm": "training.clip_norm",
    "max_len": "data.max_length",
    "max_new_tokens": "decoding.max_tokens",
    "max_steps": "training.steps",
    "n_epochs": "training.epochs",
    "n_heads": "model.heads",
    "n_layers": "model.layers",
    "nhead": "model.heads",
    "no_repeat_ngram_size": "decoding.no_repeat_ngram",
    "num_attention_heads": "model.heads",
    "num_beams": "decoding.beam",
    "num_epochs": "training.epochs",
    "num_heads": "model.heads",
    "num_hidden_layers": "model.layers",
    "num_layers": "model.layers",
    "num_return_sequences": "decoding.n_best",
    "num_train_epochs": "training.epochs",
    "per_device_train_batch_size": "training.batch_size",
    "random_state": "training.seed",
    "teacher_forcing_ratio": "scheduled_sampling.min_teacher_forcing_ratio",
    "validation_split": "data.valid_share",
    "vocab_size": "tokens.size",
    "warmup": "training.warmup_steps",
    "wd": "training.weight_decay",
}


def setting_for(name: str) -> str:
    """Return the setting for a name from another library, with or without a section in front.

    >>> setting_for("training.lr"), setting_for("Early_Stopping"), setting_for("learning_rate")
    ('training.learning_rate', 'training.patience', '')
    """
    return SYNONYMS.get(name.rpartition(".")[2].casefold(), "")
