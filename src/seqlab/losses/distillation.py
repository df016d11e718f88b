"""Knowledge distillation: a student learns the full output distribution of a teacher."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F


def distillation_loss(
    student_logits: Float[Tensor, "*targets classes"],
    teacher_logits: Float[Tensor, "*targets classes"],
    *,
    temperature: float = 1.0,
) -> Float[Tensor, ""]:
    """Sum over the targets of T² · KL(softmax(teacher / T) ‖ softmax(student / T)), where both are logits and
    T is the temperature.

    The factor T² preserves the scale of the gradient, since softening the targets scales it by 1 / T².
    Papers: Hinton et al. 2015, "Distilling the Knowledge in a Neural Network", arXiv:1503.02531, section 2;
    Sanh et al. 2019, "DistilBERT", arXiv:1910.01108, section 2.
    """
    student_log_probs = (student_logits / temperature).log_softmax(dim=-1)
    teacher_log_probs = (teacher_logits / temperature).log_softmax(dim=-1)
    return F.kl_div(student_log_probs, teacher_log_probs, reduction="sum", log_target=True) * temperature**2


@dataclass(frozen=True)
class SoftTargets:
    """The teacher's logits for the targets of a batch, and their weight in the loss.

        loss = (1 - weight) · loss of the targets + weight · T² KL(softmax(teacher / T) ‖ softmax(student / T))

    Paper: Hinton et al. 2015, arXiv:1503.02531, section 2.
    """

    logits: Float[Tensor, "*targets classes"]
    weight: float
    temperature: float

    def mix(
        self, hard: Float[Tensor, ""], student_logits: Float[Tensor, "*targets classes"]
    ) -> Float[Tensor, ""]:
        """The total loss, from the loss of the targets and the student's logits.

        All are sums over the same targets.
        """
        return (1 - self.weight) * hard + self.weight * distillation_loss(
            student_logits, self.logits, temperature=self.temperature
        )
