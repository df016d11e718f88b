"""The sections of a recipe about training, for all tasks: `training`, `start`, `distillation` and
`scheduled_sampling`. Does not import torch.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import Field, WithJsonSchema, field_validator, model_validator

from seqlab.core.settings import Settings
from seqlab.training.optimizers.registry import OptimizerName

LoRATarget = Literal["qkv", "output", "feed_forward"]
StepCount = Literal["warmup_steps", "decay_steps", "evaluate_every", "ema_decay", "average_every"]
STEP_COUNTS: tuple[StepCount, ...] = get_args(StepCount)
"""Settings that count or span updates, relative to the planned length of the run."""
RATE_OR_AUTO = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, {"const": "auto"}]}
"""The learning rate as a recipe may spell it; `auto` becomes find_learning_rate=true."""


class TrainingSettings(Settings):
    """Budget, batches, optimizer and early stopping."""

    steps: int = Field(0, ge=0, description="Number of updates; 0 lets epochs or minutes decide.")
    epochs: float = Field(
        0, ge=0, description="Number of passes over the training data; 0 lets steps or minutes decide."
    )
    minutes: float = Field(
        0,
        ge=0,
        description=(
            "Time limit for the whole command, including reading and scoring. Without minutes, steps or epochs: 5"
            " minutes or 30 epochs, whichever is first."
        ),
    )
    batch_size: int = Field(0, ge=0, description="Sequences per update; 0 lets the task decide.")
    batch_tokens: int = Field(
        0,
        ge=0,
        description=(
            "Tokens per batch with padding, source and target together, in place of batch_size; 0 uses batch_size."
        ),
    )
    gradient_accumulation: int = Field(
        1,
        ge=1,
        description="Number of batches whose gradients are accumulated for each update; every target counts equally.",
    )
    group_by_length: bool = Field(
        True, description="Batch sequences of similar length, which reduces padding."
    )
    pad_to: int = Field(
        0,
        ge=0,
        description="Pad every batch to at least this many steps; 0 pads to the longest in the batch.",
    )
    optimizer: OptimizerName = Field(
        OptimizerName("adamw"),
        description=(
            "Optimizer; radam needs no warm-up, sgd needs a higher learning rate, adam_2k starts to update weights"
            " after measured_steps."
        ),
    )
    learning_rate: Annotated[float, WithJsonSchema(RATE_OR_AUTO)] = Field(
        1e-3,
        gt=0,
        description="Peak learning rate; auto runs a range test first and uses the rate that it suggests.",
    )
    find_learning_rate: bool = Field(
        False,
        description=(
            "Run a learning-rate range test first and train with the rate that it suggests; learning_rate=auto"
            " means the same."
        ),
    )
    momentum: float = Field(0.9, ge=0, lt=1, description="Momentum of optimizer=sgd.")
    measured_steps: int = Field(
        2000,
        ge=0,
        description="Number of initial updates in which optimizer=adam_2k only estimates the second moment and changes no weights.",
    )
    weight_decay: float = Field(
        0.01,
        ge=0,
        description="Decoupled weight decay; not applied to biases, norms and embeddings.",
    )
    decay_all: bool = Field(
        False,
        description="Apply weight decay to biases, norms and embeddings too, as torch's AdamW does by default.",
    )
    schedule: Literal["cosine", "constant"] = Field(
        "cosine", description="Learning-rate schedule after the warm-up: cosine decay to zero, or constant."
    )
    warmup_steps: int = Field(
        -1, ge=-1, description="Learning-rate warm-up in updates; -1 uses 5% of the run."
    )
    decay_steps: int = Field(
        0, ge=0, description="Update at which the cosine schedule reaches zero; 0 uses the end of the run."
    )
    clip_norm: float = Field(
        1.0,
        ge=0,
        description="Gradient clipping: maximum global norm of the gradient; 0 disables clipping.",
    )
    ema_decay: float = Field(
        0.0,
        ge=0,
        lt=1,
        description=(
            "Decay of an exponential moving average (EMA) of the weights; saves the averaged or the last weights,"
            " whichever validate better. 0 disables it."
        ),
    )
    average_checkpoints: int = Field(
        0,
        ge=0,
        le=100,
        description=(
            "Average the weights of this many recent snapshots; saves the averaged or the last weights, whichever"
            " validate better. 0 disables it."
        ),
    )
    average_every: int = Field(
        0,
        ge=0,
        description=(
            "Updates between the snapshots of average_checkpoints; 0 spreads them over the last 20% of the run."
        ),
    )
    label_smoothing: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Label smoothing: share of the target probability that is spread over all classes.",
    )
    evaluate_every: int = Field(
        0,
        ge=0,
        description=(
            "Updates between validations; 0 validates every epoch, but 10 to 50 times in a run and at least 25"
            " updates apart."
        ),
    )
    scale_with_budget: tuple[StepCount, ...] = Field(
        (),
        description=(
            "Settings that shrink if a run makes fewer updates than its steps or epochs; filled in if a recipe gets"
            " a smaller budget."
        ),
    )
    patience: int = Field(
        -1,
        ge=-1,
        description=(
            "Early stopping: stop after this many validations without a new best; -1 uses 25% of the planned"
            " validations, at least 5; 0 disables it."
        ),
    )
    precision: Literal["float32", "bfloat16"] = Field(
        "float32",
        description="Numeric precision; bfloat16 is mixed precision (slower than float32 on most CPUs).",
    )
    seed: int = Field(
        1, ge=0, description="Random seed for the split, the initial weights, the data order and dropout."
    )
    threads: int = Field(
        0,
        ge=0,
        description=(
            "CPU threads; 0 uses all cores. Saved with the run, because the last bits of a result depend on it."
        ),
    )
    device: str = Field("auto", description="Device: auto (a GPU if there is one), cpu, cuda, cuda:1 or mps.")

    @property
    def averages_weights(self) -> bool:
        return bool(self.ema_decay or self.average_checkpoints)

    @model_validator(mode="before")
    @classmethod
    def _find_rate(cls, values: Any) -> Any:
        if isinstance(values, dict) and values.get("learning_rate") == "auto":
            others = {name: value for name, value in values.items() if name != "learning_rate"}
            return {**others, "find_learning_rate": True}
        return values

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
                f"ema_decay={self.ema_decay:g} and average_checkpoints={self.average_checkpoints} cannot be"
                " combined: both average the weights. Set one of them to 0."
            )
        return self

    @model_validator(mode="after")
    def _something_moves(self) -> Self:
        if self.optimizer == "adam_2k" and 0 < self.steps <= self.measured_steps:
            raise ValueError(
                f"optimizer=adam_2k changes no weights in its first measured_steps={self.measured_steps} updates,"
                f" and the run has only steps={self.steps}. Lower measured_steps, or set more steps."
            )
        return self


class StartSettings(Settings):
    """Fine-tuning: the run to start from, what is frozen, and how fast the rest learns."""

    run: str = Field(
        "",
        description=(
            "Finished run to fine-tune: its folder, or its name under runs/. Its tokenizer, sizes and weights are"
            " reused."
        ),
    )
    digest: str = Field(
        "",
        description="SHA-256 of the weights or vectors that training starts from; filled in when a run starts.",
    )
    weights: Literal["learned", "new"] = Field(
        "learned",
        description=(
            "Start from the learned weights, or from random ones with the same network and tokens, to measure what"
            " pretraining gains."
        ),
    )
    vectors: str = Field(
        "",
        description=(
            "File of pretrained word vectors (word2vec, GloVe) that initializes the embedding; all other weights"
            " start at random."
        ),
    )
    every: int = Field(
        1,
        ge=1,
        description="Keep only the first of every N layers: 2 starts a student of half the depth.",
    )
    freeze: Literal["none", "embedding", "backbone"] = Field(
        "none",
        description=(
            "What to freeze: nothing, the embedding with its positions, or everything except the new head."
        ),
    )
    freeze_layers: int = Field(
        0, ge=0, description="Freeze this many of the lowest layers, and the embedding with them."
    )
    layer_decay: float = Field(
        1.0,
        gt=0,
        le=1,
        description=(
            "Layer-wise learning-rate decay: the rate of each layer relative to the one above it; lowest for"
            " the embedding."
        ),
    )
    lora_rank: int = Field(
        0,
        ge=0,
        description=(
            "Rank of LoRA adapters, which are trained in place of the network's own weights; 0 disables LoRA."
        ),
    )
    lora_alpha: float = Field(
        16.0, gt=0, description="LoRA scaling: the adapters' output is multiplied by lora_alpha / lora_rank."
    )
    lora_targets: tuple[LoRATarget, ...] = Field(
        ("qkv", "output"),
        min_length=1,
        description=(
            "Where to add LoRA adapters: the projections into attention (qkv), out of it (output), and those of the"
            " feed-forward network."
        ),
    )


class DistillationSettings(Settings):
    """Knowledge distillation: a finished run is the teacher, whose probabilities are learned in addition to
    the targets.
    """

    run: str = Field("", description="The teacher: the folder of a finished run, or its name under runs/.")
    digest: str = Field(
        "",
        description=(
            "SHA-256 of the teacher's weights; filled in when a run starts, so that a resume uses the same"
            " teacher."
        ),
    )
    weight: float = Field(
        0.5,
        gt=0,
        le=1,
        description="Weight of the distillation loss; the loss on the targets has the rest.",
    )
    temperature: float = Field(
        2.0,
        gt=0,
        description="Temperature that divides the logits of teacher and student; above 1 softens both.",
    )


class ScheduledSamplingSettings(Settings):
    """Scheduled sampling: how often a decoder reads its own predictions instead of the targets during
    training.
    """

    schedule: Literal["none", "constant", "linear", "exponential", "inverse_sigmoid"] = Field(
        "none",
        description=(
            "How the teacher-forcing ratio decays during training; none: the decoder always reads the targets"
            " (teacher forcing)."
        ),
    )
    half_life: float = Field(2000, gt=0, description="Updates after which the teacher-forcing ratio is 0.5.")
    min_teacher_forcing_ratio: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Lower bound of the teacher-forcing ratio; with schedule=constant, the ratio itself.",
    )
    per: Literal["sequence", "token"] = Field(
        "sequence", description="Sample once per sequence, or once per token."
    )
