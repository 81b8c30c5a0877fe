"""How much a token says: rare ones much, common ones little, without a corpus to count.

Everything that decides the weights stands here. A change of any of it makes other vectors, so it takes a new NAME,
which is part of the embedder's identity: old vectors are then made anew instead of being compared with new ones.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NAME = "zipf-2"

# The smaller, the harder common tokens are pressed down. Between 1e-5 and 1e-3 retrieval hardly changes: measured in
# docs/retrieval.md.
SMOOTHING = 3e-5


def token_weights(tokens: Sequence[str], smoothing: float = SMOOTHING) -> NDArray[np.float32]:
    """The weight of each token: a / (a + p), as in SIF (Arora et al., 2017); none for what has no letter and no digit.

    There p is counted in a corpus. Here a stored vector must not depend on what else is stored, so p comes from
    Zipf's law over the token's rank. A tokenizer numbers its tokens in the order in which it learned them, the most
    frequent first, so that the id is the rank; but single signs come last, whatever their rank, and a full stop would
    count like the rarest word.
    """
    ranks = np.arange(1, len(tokens) + 1, dtype=np.float64)
    probabilities = 1 / (ranks * np.sum(1 / ranks))
    says_something = np.array([any(sign.isalnum() for sign in token) for token in tokens])
    return np.where(says_something, smoothing / (smoothing + probabilities), 0).astype(np.float32)
