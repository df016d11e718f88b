"""The sections of a recipe that every task can use while it learns: `training`, `start`, `distillation` and
`scheduled_sampling`. No torch here.
"""

from __future__ import annotations

from typing import Literal, Self, get_args

from pydantic import Field, field_validator, model_validator

from seqlab.core.settings import Settings
from seqlab.training.optimizers.registry import OptimizerName

LoRATarget = Literal["qkv", "output", "feed_forward"]
StepCount = Literal["warmup_steps", "decay_steps", "evaluate_every", "ema_decay", "average_every"]
STEP_COUNTS: tuple[StepCount, ...] = get_args(StepCount)
"""Settings that count updates, or span them, and mean a part of the planned run."""


class TrainingSettings(Settings):
    """The budget, the batches, the optimizer and when to stop."""

    steps: int = Field(0, ge=0, description="Updates to make; 0 lets epochs or minutes decide.")
    epochs: float = Field(
        0, ge=0, description="Passes over the training data; 0 lets steps or minutes decide."
    )
    minutes: float = Field(
        0,
        ge=0,
        description=(
            "Time limit of the whole command, reading and scoring included. Without minutes, steps and epochs: 5"
            " minutes or 30 epochs, unless early stopping ends it."
        ),
    )
    batch_size: int = Field(0, ge=0, description="Sequences per update; 0 lets the task decide.")
    batch_tokens: int = Field(
        0,
        ge=0,
        description=(
            "Padded tokens of a batch, both sides of a pair together, in place of batch_size; 0: batch_size."
        ),
    )
    gradient_accumulation: int = Field(
        1,
        ge=1,
        description="Batches whose gradients are summed for one update; every target counts the same.",
    )
    group_by_length: bool = Field(
        True, description="Put sequences of similar length into one batch, which saves padding."
    )
    pad_to: int = Field(
        0,
        ge=0,
        description="Pad every batch to at least this many steps; 0 pads to the longest in the batch.",
    )
    optimizer: OptimizerName = Field(
        OptimizerName("adamw"),
        description=(
            "How gradients become updates; radam warms up by itself, sgd needs a higher rate, adam_2k"
            " measures before it moves."
        ),
    )
    learning_rate: float = Field(1e-3, gt=0, description="Highest learning rate.")
    momentum: float = Field(
        0.9, ge=0, lt=1, description="Share of its last step that optimizer=sgd keeps up."
    )
    measured_steps: int = Field(
        2000,
        ge=0,
        description="Updates in which optimizer=adam_2k moves nothing and learns how large gradients are.",
    )
    weight_decay: float = Field(
        0.01,
        ge=0,
        description="Pull of the weights towards zero; biases, norms and embeddings are left alone.",
    )
    decay_all: bool = Field(
        False, description="Decay biases, norms and embeddings too, as torch's AdamW does by itself."
    )
    schedule: Literal["cosine", "constant"] = Field(
        "cosine", description="The learning rate after the warm-up: down to zero along a cosine, or constant."
    )
    warmup_steps: int = Field(
        -1, ge=-1, description="Updates over which the learning rate rises; -1 takes a twentieth of the run."
    )
    decay_steps: int = Field(
        0, ge=0, description="Update at which the cosine reaches zero; 0 takes the end of the run."
    )
    clip_norm: float = Field(
        1.0,
        ge=0,
        description="Largest global norm of the gradient, applied before every update; 0 does not clip.",
    )
    ema_decay: float = Field(
        0.0,
        ge=0,
        lt=1,
        description=(
            "Decay of an exponential moving average of the weights; the better of averaged and last weights"
            " on validation data is saved. 0: no average."
        ),
    )
    average_checkpoints: int = Field(
        0,
        ge=0,
        le=100,
        description=(
            "Average the weights of this many recent updates; the better of averaged and last weights on"
            " validation data is saved. 0: no average."
        ),
    )
    average_every: int = Field(
        0,
        ge=0,
        description=(
            "Updates between two of the average_checkpoints; 0 spreads them over the last fifth of the run."
        ),
    )
    label_smoothing: float = Field(
        0.0, ge=0, lt=1, description="Share of the target that is spread over all classes."
    )
    evaluate_every: int = Field(
        0,
        ge=0,
        description=(
            "Updates between validations; 0 validates every epoch, but at least 10 and at most 50 times in a"
            " run and not below every 25 updates."
        ),
    )
    scale_with_budget: tuple[StepCount, ...] = Field(
        (),
        description=(
            "Settings that shrink if a run makes fewer updates than its steps or epochs; filled in from a"
            " recipe that gets a smaller budget."
        ),
    )
    patience: int = Field(
        -1,
        ge=-1,
        description=(
            "Early stopping: end after this many validations without a new best; -1 takes a quarter of the"
            " planned validations, at least 5; 0 disables early stopping."
        ),
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description="bfloat16 computes in half precision where the hardware can (slower on most CPUs).",
    )
    seed: int = Field(1, ge=0, description="Fixes the split, the initial weights, the order and the dropout.")
    threads: int = Field(
        0,
        ge=0,
        description=(
            "CPU threads; 0 takes all cores. Part of the run: the last bits of a result depend on it."
        ),
    )
    device: str = Field("auto", description="auto (a GPU when there is one), cpu, cuda, cuda:1, mps.")

    @property
    def averages_weights(self) -> bool:
        return bool(self.ema_decay or self.average_checkpoints)

    @field_validator("precision", mode="before")
    @classmethod
    def _explain_float16(cls, value: object) -> object:
        if value in ("float16", "fp16", "half"):
            raise ValueError(
                f"precision={value} is not supported, because small gradients become 0 without loss"
                " scaling. Use bfloat16, which has the range of float32, or float32."
            )
        return value

    @model_validator(mode="after")
    def _one_average(self) -> Self:
        if self.ema_decay and self.average_checkpoints:
            raise ValueError(
                f"ema_decay={self.ema_decay:g} and average_checkpoints={self.average_checkpoints} are two ways"
                " to average the weights. Set one of them to 0."
            )
        return self

    @model_validator(mode="after")
    def _something_moves(self) -> Self:
        if self.optimizer == "adam_2k" and 0 < self.steps <= self.measured_steps:
            raise ValueError(
                f"optimizer=adam_2k moves nothing in its first measured_steps={self.measured_steps} updates,"
                f" and there are steps={self.steps}. Lower measured_steps, or make more updates."
            )
        return self


class StartSettings(Settings):
    """The run from which training starts: what is taken over, what stays as it was, how fast the rest
    moves.
    """

    run: str = Field(
        "",
        description=(
            "A finished run whose tokens, sizes and weights are taken over: its folder, or its name below"
            " runs/."
        ),
    )
    digest: str = Field(
        "", description="SHA-256 of the weights or vectors that were taken over; filled in when a run starts."
    )
    weights: Literal["learned", "new"] = Field(
        "learned",
        description=(
            "Start from the learned weights, or from new ones in the same network and tokens, to see what the"
            " learned ones are worth."
        ),
    )
    vectors: str = Field(
        "",
        description=(
            "A file of word vectors (word2vec, GloVe) from which the rows of the embedding start; all else"
            " starts anew."
        ),
    )
    every: int = Field(
        1,
        ge=1,
        description="Take over the first of every so many layers: 2 starts a student of half the depth.",
    )
    freeze: Literal["none", "embedding", "backbone"] = Field(
        "none",
        description=(
            "What stays as it was: nothing, the embedding with its positions, or all but the new head."
        ),
    )
    freeze_layers: int = Field(
        0, ge=0, description="So many of the lowest layers stay as they were, and the embedding with them."
    )
    layer_decay: float = Field(
        1.0,
        gt=0,
        le=1,
        description="Each layer learns at this share of the rate of the one above it; the embedding slowest.",
    )
    lora_rank: int = Field(
        0,
        ge=0,
        description=(
            "Rank of the adapters that are trained in place of the network's own weights (LoRA); 0 has none."
        ),
    )
    lora_alpha: float = Field(
        16.0, gt=0, description="The adapters count by this number divided by their rank."
    )
    lora_targets: tuple[LoRATarget, ...] = Field(
        ("qkv", "output"),
        min_length=1,
        description=(
            "Where adapters stand: the projections into and out of attention, and those of the feed-forward"
            " network."
        ),
    )


class DistillationSettings(Settings):
    """A teacher: a finished run whose answers are learned besides the targets."""

    run: str = Field("", description="The teacher: the folder of a finished run, or its name below runs/.")
    digest: str = Field(
        "",
        description=(
            "SHA-256 of the teacher's weights; filled in when a run starts, so that it never continues with"
            " others."
        ),
    )
    weight: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Weight of the teacher's answers in the loss; the targets have the rest.",
    )
    temperature: float = Field(
        2.0, gt=0, description="Divides the logits of teacher and student: above 1 softens both."
    )


class ScheduledSamplingSettings(Settings):
    """How often a decoder reads its own predictions in place of the targets while it learns."""

    schedule: Literal["none", "constant", "linear", "exponential", "inverse_sigmoid"] = Field(
        "none",
        description=(
            "How the teacher-forcing ratio falls during training; none: the decoder always reads the targets"
            " (teacher forcing)."
        ),
    )
    half_life: float = Field(2000, gt=0, description="Updates after which the teacher-forcing ratio is 0.5.")
    min_teacher_forcing_ratio: float = Field(
        0.0,
        ge=0,
        le=1,
        description="The teacher-forcing ratio never falls below this; with schedule=constant it is this.",
    )
    per: Literal["sequence", "token"] = Field(
        "sequence", description="Draw once for a whole sequence, or for each token."
    )
