"""Log-likelihood of targets: nats, bits and perplexity.

    nats        = -Σ log p(target)                     summed over the targets
    perplexity  = exp(nats / count)                    per token
    bits        = nats / (count · log 2)               per token, or per character with the number of characters

Perplexity is exp of the mean negative log-likelihood and therefore 1 / (Π p(target))^(1/count): the inverse
of the geometric mean of the probabilities that the targets got. It is 1 when every target was certain, V when
all V tokens were equally likely each time, and infinite as soon as one target got probability 0. (Some texts
call it a harmonic mean or an average number of choices; those differ unless all probabilities are equal.) The
mean in bits is the length of the best code for the text under the model.
"""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Float

from seqlab.core.errors import UsageError


def total_nats(log_probs: Float[np.ndarray, " targets"]) -> float:
    """The negative log-likelihood -Σ log p of some targets; infinite if one of them has probability 0."""
    return -float(np.sum(log_probs, dtype=np.float64)) + 0.0  # + 0.0 turns -0.0 into 0.0


def nats_per_token(nats_total: float, count: int) -> float:
    """The mean negative log-likelihood, which is also the mean cross-entropy.

    >>> nats_per_token(6.0, 4)
    1.5
    """
    if count < 1:
        raise UsageError(f"the mean over {count} targets is undefined.", cure="Pass at least one target.")
    return nats_total / count


def perplexity(nats_total: float, count: int) -> float:
    """exp(nats / count): the inverse geometric mean of the target probabilities.

    >>> perplexity(0.0, 7), round(perplexity(3 * math.log(50), 3), 9), perplexity(math.inf, 5)
    (1.0, 50.0, inf)
    """
    mean = nats_per_token(nats_total, count)
    return math.exp(mean) if mean < math.log(np.finfo(np.float64).max) else math.inf


def bits_per_token(nats_total: float, count: int) -> float:
    """The mean code length in bits.

    >>> bits_per_token(6 * math.log(2), 3)
    2.0
    """
    return nats_per_token(nats_total, count) / math.log(2)


def bits_per_character(nats_total: float, num_characters: int) -> float:
    """The code length of a text in bits per character, which is comparable between models with different
    tokenizers.

    Divide by the number of characters of the scored text, not by its tokens.
    """
    return bits_per_token(nats_total, num_characters)
