"""A seeded shuffle of ``range(size)`` that can be asked for any position without a table.

Shuffling a billion windows through an index array costs 8 GB per process and a resume must build
it again. A Feistel network over two mixed-radix digits is a bijection by construction, needs only
its keys, and gives position 10^9 as fast as position 0.
"""

import math

import numpy as np
from numpy.typing import NDArray

# Four rounds are a strong pseudo-random permutation when the round function is random (Luby and
# Rackoff, 1988); twice as many make up for digits of a few values and a non-cryptographic hash.
ROUNDS = 8

U64 = NDArray[np.uint64]


def permute(
    positions: NDArray[np.int64], size: int, seed: int, epochs: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Where each position of ``range(size)`` goes in the shuffle of its epoch.

    ``positions`` and ``epochs`` have the same shape [n]; every (seed, epoch) pair is a shuffle of
    its own. The digits span slightly more than ``size`` values (by less than 2 sqrt(size) + 2);
    a result beyond it is sent through again until it falls inside ("cycle walking", Black and
    Rogaway, 2002), which keeps the map one to one.
    """
    radix = math.isqrt(size - 1) + 1
    rows = -(-size // radix)
    result = positions.astype(np.uint64)
    outside = np.ones(len(result), dtype=bool)
    keys = _mix(epochs.astype(np.uint64) ^ _mix(np.array([seed], dtype=np.uint64)))
    while outside.any():
        result[outside] = _network(result[outside], radix, rows, keys[outside])
        outside = result >= size
    return result.astype(np.int64)


def _network(values: U64, radix: int, rows: int, keys: U64) -> U64:
    """One pass over the digits (value // radix, value % radix); each step can be undone."""
    high, low = values // np.uint64(radix), values % np.uint64(radix)
    for round_ in range(ROUNDS):
        keys = _mix(keys + np.uint64(round_))
        high = (high + _mix(low ^ keys)) % np.uint64(rows)
        keys = _mix(keys)
        low = (low + _mix(high ^ keys)) % np.uint64(radix)
    return high * np.uint64(radix) + low


def _mix(x: U64) -> U64:
    """The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), element by element."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
