"""Settings that had another name in an earlier version, so that an error can give the new one."""

from __future__ import annotations

RENAMED: dict[str, str] = {
    "training.window": "language_model.window or masked_language_model.window",
    "training.carry_state": "language_model.stateful",
    "training.detach_every": "language_model.bptt_steps",
    "training.reset_at_documents": "language_model.reset_at_documents",
    "training.softmax": "language_model.softmax",
    "training.softmax_samples": "language_model.softmax_samples",
    "training.class_weights": "classification.class_weights",
    "training.regression_loss": "regression.loss",
    "training.accumulate": "training.gradient_accumulation",
    "training.buckets": "training.group_by_length",
    "training.average": "training.ema_decay",
    "training.average_last": "training.average_checkpoints",
    "training.own_outputs": "scheduled_sampling.schedule",
    "training.own_outputs_half": "scheduled_sampling.half_life",
    "training.own_outputs_for": "scheduled_sampling.per",
    "training.least_truth": "scheduled_sampling.min_teacher_forcing_ratio",
    "training.teacher": "distillation.run",
    "training.teacher_digest": "distillation.digest",
    "training.teacher_weight": "distillation.weight",
    "training.teacher_temperature": "distillation.temperature",
    "model.initialisation": "model.initialization",
    "bag.places": "bag.max_features",
    "bag.least": "bag.min_df",
    "data.pictures": "data.images",
    "data.picture_size": "data.image_size",
    "tagging.longest_word": "tagging.max_word_length",
    "masking.share": "masked_language_model.mlm_probability",
    "masking.mask_share": "masked_language_model.mask_replace_prob",
    "masking.random_share": "masked_language_model.random_replace_prob",
    "masking.whole_words": "masked_language_model.whole_word_mask",
    "masking.dynamic": "masked_language_model.dynamic_masking",
    "search.length_alpha": "decoding.length_penalty",
    "search.length_rule": "decoding.length_penalty_kind",
    "search.coverage": "decoding.coverage_penalty",
    "search.groups": "decoding.beam_groups",
    "search.diversity": "decoding.diversity_penalty",
    "search.no_repeat": "decoding.no_repeat_ngram",
}
RENAMED_SECTIONS = {"search": "decoding", "masking": "masked_language_model"}


def new_name(name: str) -> str:
    """Return the current name of a renamed setting; empty for a setting that was never renamed.

    >>> new_name("training.carry_state"), new_name("search.beam"), new_name("decoding.length_alpha")
    ('language_model.stateful', 'decoding.beam', 'decoding.length_penalty')
    """
    if name in RENAMED:
        return RENAMED[name]
    section, _, key = name.partition(".")
    if section in RENAMED_SECTIONS:
        return f"{RENAMED_SECTIONS[section]}.{key}" if key else RENAMED_SECTIONS[section]
    return next((new for old in old_sections(section) if (new := RENAMED.get(f"{old}.{key}"))), "")


def old_sections(section: str) -> list[str]:
    return [old for old, new in RENAMED_SECTIONS.items() if new == section]


def new_names_of_keyword(keyword: str) -> list[str]:
    """Return the current names of a renamed setting that is given without its section.

    >>> new_names_of_keyword("carry_state")
    ['language_model.stateful']
    """
    return [new for old, new in RENAMED.items() if old.partition(".")[2] == keyword]
