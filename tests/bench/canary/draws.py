"""Which count does a number between 0 and 1 stand for? Quantiles of the counting distributions, for whole arrays.

Small means are found exactly, by adding up probabilities; from `LARGE` on by the Cornish-Fisher expansion, whose error
stays far below a count (the tests compare mean and variance). Inverting keeps a run's chance in one place (`luck`).
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv, ndtri

Floats = NDArray[np.float64]
LARGE = 5.0


def poisson(u: Floats, mean: Floats) -> Floats:
    """How many events. Units: u and mean of one shape."""
    mean = np.broadcast_to(np.asarray(mean, float), u.shape)
    out = np.zeros(u.shape)
    small = (mean > 0.0) & (mean < LARGE)
    out[small] = _search(u[small], np.exp(-mean[small]), mean[small], np.zeros(small.sum()))
    large = mean >= LARGE
    out[large] = _expanded(u[large], mean[large], mean[large], mean[large] ** -0.5, 1.0 / mean[large])
    return out


def binomial(u: Floats, n: Floats, p: Floats) -> Floats:
    """How many of `n` with chance `p` each. Units: u, n, p of one shape; n whole numbers."""
    n, p = np.broadcast_to(n, u.shape), np.clip(np.broadcast_to(p, u.shape), 0.0, 1.0)
    flipped = p > 0.5
    few = np.where(flipped, 1.0 - p, p)
    found = _binomial(np.where(flipped, 1.0 - u, u), n, few)
    return np.where(flipped, n - found, found)


def _binomial(u: Floats, n: Floats, p: Floats) -> Floats:
    mean, out = n * p, np.zeros(u.shape)
    small = (mean > 0.0) & (mean < LARGE)
    odds = p[small] / (1.0 - p[small])
    out[small] = _search(u[small], np.exp(n[small] * np.log1p(-p[small])), (n[small] + 1.0) * odds, odds)
    large = mean >= LARGE
    m, q = mean[large], 1.0 - p[large]
    out[large] = _expanded(u[large], m, m * q, (q - p[large]) / np.sqrt(m * q), (1.0 - 6.0 * p[large] * q) / (m * q))
    return np.minimum(out, n)


def _search(u: Floats, chance: Floats, a: Floats, b: Floats) -> Floats:
    """The smallest k whose summed chance reaches u, where chance(k) = chance(k-1) * (a / k - b)."""
    out, k, total = np.zeros(u.shape), 0.0, chance.copy()
    left = np.flatnonzero(u > total)
    chance, total, a, b, u = chance[left], total[left], a[left], b[left], u[left]
    while left.size and k < 200.0:
        k += 1.0
        chance = chance * np.maximum(a / k - b, 0.0)
        total = total + chance
        out[left] = k
        on = u > total
        left, chance, total, a, b, u = left[on], chance[on], total[on], a[on], b[on], u[on]
    return out


def _expanded(u: Floats, mean: Floats, variance: Floats, skew: Floats, kurtosis: Floats) -> Floats:
    """Cornish-Fisher; 1/12 is the variance that rounding adds."""
    z = ndtri(u)
    z2 = z * z
    bent = z + skew * (z2 - 1.0) / 6.0 + z * (kurtosis * (z2 - 3.0) / 24.0 - skew * skew * (2.0 * z2 - 5.0) / 36.0)
    return np.maximum(np.floor(mean + np.sqrt(variance - 1.0 / 12.0) * bent + 0.5), 0.0)


def clumped(u: Floats, v: Floats, clumps: Floats, size: Floats) -> Floats:
    """The sum of `clumps` geometric sizes of mean `size`: each clump has at least one event.

    Beyond their first events the sizes add up to a negative binomial: a Poisson whose mean is gamma distributed.
    """
    size = np.broadcast_to(size, u.shape)
    out, some = clumps.copy(), (clumps > 0) & (size > 1.0)
    out[some] += poisson(v[some], gammaincinv(clumps[some], u[some]) * (size[some] - 1.0))
    return out
