"""Where does a run's chance come from? From its own name, so that a run is the same beside any others.

A run is named by stream, scenario, shape, rate and seed. Each number it needs is a hash of that name, of what the
number is for (channel) and of the poll (SplitMix64 as a counter-based generator). So seed 17 alone repeats what
seed 17 did among a thousand; every policy meets the same traffic; and the counters that the whole controller reads
over HTTP are
those that the vectorised policy saw.

Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]
Words = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX = ((np.uint64(30), np.uint64(0xBF58476D1CE4E5B9)), (np.uint64(27), np.uint64(0x94D049BB133111EB)))
POLLS, WIDTH = np.uint64(1 << 16), np.uint64(1 << 12)


def key(*name: str | int | float) -> int:
    """64 bits that stand for a name."""
    text = "/".join(str(each) for each in name)
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class Luck:
    """The chance of many runs, one key each. Units: keys (runs,)."""

    keys: Words

    @classmethod
    def of(cls, names: Iterable[Sequence[str | int | float]]) -> "Luck":
        return cls(np.array([key(*name) for name in names], dtype=np.uint64))

    def take(self, where: NDArray[np.intp]) -> "Luck":
        return Luck(self.keys[where])

    def uniform(self, channel: int, poll: int, shape: tuple[int, ...]) -> Floats:
        """Numbers strictly between 0 and 1. Units: shape is one run's; result (runs, *shape)."""
        width = int(np.prod(shape, dtype=int))
        first = (np.uint64(channel) * POLLS + np.uint64(poll)) * WIDTH
        with np.errstate(over="ignore"):
            words = self.keys[:, None] + (first + np.arange(width, dtype=np.uint64)) * GOLDEN
            for shift, factor in MIX:
                words = (words ^ (words >> shift)) * factor
        words ^= words >> np.uint64(31)
        return ((words >> np.uint64(11)).astype(float) * 2.0**-53 + 2.0**-54).reshape(-1, *shape)

    def normal(self, channel: int, poll: int, shape: tuple[int, ...]) -> Floats:
        return np.asarray(ndtri(self.uniform(channel, poll, shape)))
