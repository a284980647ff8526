"""How sure is a part of so many runs? Wilson's interval, and the one of a mean.

Example: 0 of 100: 0 to 3.7 %. Example: 1 of 2,000: 0.01 to 0.28 %. Example: 50 of 100: 40.4 to 59.6 %.
Source: Wilson 1927.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

Z95 = 1.959964


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value and its 95 % interval."""

    value: float
    low: float
    high: float


def proportion(hits: float, of: float, among: int = 1) -> Estimate:
    """Of none nothing is known: 0 to 1. `among`: the most striking of so many parts: an interval that holds for all.

    Example: 1 of 6: 3.0 to 56 %. Example: the same as the worst of 40: 1.4 to 74 %.
    """
    if of == 0:
        return Estimate(float("nan"), 0.0, 1.0)
    z = Z95 if among == 1 else float(ndtri(1.0 - 0.025 / among))
    p, z2 = hits / of, z**2
    middle, reach = p + z2 / (2 * of), z * (p * (1 - p) / of + z2 / (4 * of * of)) ** 0.5
    return Estimate(p, max((middle - reach) / (1 + z2 / of), 0.0), min((middle + reach) / (1 + z2 / of), 1.0))


def mean(values: ArrayLike) -> Estimate:
    """The mean with its normal interval."""
    array = np.asarray(values, float)
    if array.size == 0:
        return Estimate(float("nan"), float("-inf"), float("inf"))
    reach = Z95 * float(array.std(ddof=1)) / array.size**0.5 if array.size > 1 else float("inf")
    middle = float(array.mean())
    return Estimate(middle, middle - reach, middle + reach)


def quantile(values: ArrayLike, part: float) -> Estimate:
    """A quantile with the interval that order statistics give."""
    ordered = np.sort(np.asarray(values, float))
    if ordered.size == 0:
        return Estimate(float("nan"), float("-inf"), float("inf"))
    reach = Z95 * (ordered.size * part * (1 - part)) ** 0.5
    low, high = (int(np.clip(round(ordered.size * part + sign * reach), 0, ordered.size - 1)) for sign in (-1, 1))
    return Estimate(float(np.quantile(ordered, part)), float(ordered[low]), float(ordered[high]))
