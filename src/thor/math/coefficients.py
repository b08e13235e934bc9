#!/usr/bin/python3
"""Prints the polynomial coefficients of functions.hpp.

Each function is reduced to a short interval; the remainder is interpolated at Chebyshev nodes, which is
within a few per cent of the minimax polynomial. Needs mpmath and numpy (python3-mpmath, python3-numpy).
"""
import mpmath as mp
import numpy as np

mp.mp.dps = 50


def chebyshev(f, lo, hi, degree):
    """Monomial coefficients (constant first) of the Chebyshev interpolant of f on [lo, hi]."""
    n = degree + 1
    nodes = [mp.cos(mp.pi * (k + mp.mpf(1) / 2) / n) for k in range(n)]
    xs = [(hi + lo) / mp.mpf(2) + (hi - lo) / mp.mpf(2) * t for t in nodes]
    matrix = mp.matrix(n, n)
    rhs = mp.matrix(n, 1)
    for i, x in enumerate(xs):
        for j in range(n):
            matrix[i, j] = x**j
        rhs[i] = f(x)
    return list(mp.lu_solve(matrix, rhs))


def show(name, coefficients, single):
    kind = np.float32 if single else np.float64
    digits = 9 if single else 17
    print(f"{name} ({'single' if single else 'double'}):")
    for c in coefficients:
        print(f"    {np.format_float_scientific(kind(float(c)), precision=digits, unique=True)}")


def series(g, z, small):
    """g(z), through a Taylor series about 0 where the closed form cancels."""
    if abs(z) > mp.mpf("1e-3"):
        return g(z)
    return mp.polyval(small[::-1], z)


def main():
    half = mp.log(2) / 2 * mp.mpf("1.001")
    exp_tail = mp.taylor(lambda r: mp.exp(r), 0, 30)[2:]
    for single, degree in ((True, 4), (False, 9)):
        show("exp: (e^r - 1 - r)/r^2", chebyshev(lambda r: mp.polyval(exp_tail[::-1], r), -half, half, degree), single)

    log_tail = [mp.mpf((-1) ** k) / (k + 3) for k in range(60)]
    show("log: (log(1+f) - f + f^2/2)/f^3",
         chebyshev(lambda f: series(lambda t: (mp.log(1 + t) - t + t * t / 2) / t**3, f, log_tail),
                   mp.sqrt(2) / 2 - 1, mp.sqrt(2) - 1, 8), True)
    atanh_tail = [mp.mpf(1) / (2 * k + 3) for k in range(40)]
    smax = ((mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)) ** 2
    show("log: (atanh(s)/s - 1)/z, z = s^2",
         chebyshev(lambda z: mp.polyval(atanh_tail[::-1], z), 0, smax * mp.mpf("1.001"), 7), False)

    quarter = mp.mpf(1) / 64 * mp.mpf("1.001")
    for single, degree in ((True, 3), (False, 6)):
        show("sin(2 pi y)/y in y^2",
             chebyshev(lambda z: mp.sin(2 * mp.pi * mp.sqrt(z)) / mp.sqrt(z), mp.mpf("1e-30"), quarter, degree), single)
        show("(cos(2 pi y) - 1)/y^2 in y^2",
             chebyshev(lambda z: -2 * mp.sin(mp.pi * mp.sqrt(z)) ** 2 / z, mp.mpf("1e-30"), quarter, degree), single)

    for single, degree in ((True, 4), (False, 8)):
        show("cos(pi v/2)/(1 - v^2) in v^2",
             chebyshev(lambda z: mp.cos(mp.pi / 2 * mp.sqrt(z)) / (1 - z), mp.mpf("1e-30"), mp.mpf(1), degree), single)
        show("sin(pi v/2)/v in v^2",
             chebyshev(lambda z: mp.sin(mp.pi / 2 * mp.sqrt(z)) / mp.sqrt(z), mp.mpf("1e-30"), mp.mpf(1), degree), single)

    tan_pi_8 = (mp.sqrt(2) - 1) ** 2 * mp.mpf("1.001")
    for single, degree in ((True, 3), (False, 10)):
        show("(atan(t)/t - 1)/t^2 in t^2",
             chebyshev(lambda z: (mp.atan(mp.sqrt(z)) / mp.sqrt(z) - 1) / z, mp.mpf("1e-20"), tan_pi_8, degree), single)


if __name__ == "__main__":
    main()
