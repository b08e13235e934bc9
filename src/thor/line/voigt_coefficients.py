#!/usr/bin/python3
"""Coefficients of VoigtTaylor in voigt.hpp: H_1(z) = (2/sqrt(pi)) (2 x F(x) - 1), z = x^2, F Dawson's integral, as
(P(z) + g e^{-z})/Q(z) with polynomials of degree 5 and 6, for all z >= 0.

Least squares of P + g e^{-z} - H_1 Q, weighted with 1/Q of the pass before and, after Lawson (1961), with the errors of
all passes, until the error is even. The error that counts is that of H = e^{-z} + a H_1 at a = 0.1, relative to H.

    /usr/bin/python3 src/thor/line/voigt_coefficients.py
"""
import numpy as np
from numpy.polynomial.polynomial import polyval
from scipy.special import dawsn

A, SCALE, P_DEGREE, Q_DEGREE = 0.1, 9.0, 5, 6


def first_order(z):
    series = (1 + (1.5 + (3.75 + (13.125 + 59.0625 / z) / z) / z) / z) / (np.sqrt(np.pi) * z)
    x = np.sqrt(z)
    return np.where(z > 400, series, 2 / np.sqrt(np.pi) * (2 * x * dawsn(x) - 1))


def fit(passes=600):
    z = np.concatenate([[1e-12], np.linspace(1e-3, 40, 6000), np.geomspace(40, 1e7, 2000)])
    h = first_order(z)
    weight = A / (np.exp(-z) + A * h)
    u = z / SCALE
    size = (1 + u) ** Q_DEGREE
    gauss = np.exp(-z)
    columns = [gauss] + [u**k for k in range(P_DEGREE + 1)] + [-h * u**k for k in range(1, Q_DEGREE + 1)]
    matrix = np.stack([c / size for c in columns], axis=1)
    q_before, lawson, best = np.ones_like(z), np.ones_like(z), (np.inf,)
    for _ in range(passes):
        w = np.abs(weight) * size / q_before * np.sqrt(lawson)
        solution = np.linalg.lstsq(matrix * w[:, None], h / size * w, rcond=None)[0]
        g, p, q = solution[0], solution[1 : P_DEGREE + 2], np.r_[1, solution[P_DEGREE + 2 :]]
        q_before = np.abs(polyval(u, q))
        error = np.abs(((polyval(u, p) + g * gauss) / polyval(u, q) - h) * weight)
        if error.max() < best[0] and polyval(u, q).min() > 0:
            best = error.max(), g, p, q
        lawson *= error / error.max() + 3e-4
        lawson /= lawson.mean()
    return best


if __name__ == "__main__":
    error, g, p, q = fit()
    scale = 1e-28 / (q[-1] / SCALE**Q_DEGREE)  # so that z^6 fits single precision up to z = 1e10
    print(f"error of H at a = {A}: {error:.2e}")
    for name, c in (("g", [g]), ("P", p), ("Q", q)):
        print(name, ", ".join(f"{v * scale / SCALE**k:.16e}" for k, v in enumerate(c)))
