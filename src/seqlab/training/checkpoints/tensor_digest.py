"""A digest of a set of weights: equal if and only if names, shapes, types and every bit are equal."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from torch import Tensor, uint8


def digest_of_tensors(tensors: Mapping[str, Tensor]) -> str:
    """Return the SHA-256 of all tensors, sorted by name; unlike a file's digest, it is independent of run
    and step.
    """
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        plain = tensor.detach().cpu().contiguous()
        digest.update(f"{name} {plain.dtype} {tuple(plain.shape)}\n".encode())
        digest.update(plain.reshape(-1).view(uint8).numpy().tobytes())
    return digest.hexdigest()
