"""One number for a set of weights: the same exactly when names, shapes, types and every bit are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from torch import Tensor, uint8


def digest_of_tensors(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 over all tensors in the order of their names; unlike that of a file, it names no run and no step."""
    digest = hashlib.sha256()
    for name, tensor in sorted(tensors.items()):
        plain = tensor.detach().cpu().contiguous()
        digest.update(f"{name} {plain.dtype} {tuple(plain.shape)}\n".encode())
        digest.update(plain.reshape(-1).view(uint8).numpy().tobytes())
    return digest.hexdigest()
