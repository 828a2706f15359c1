#!/usr/bin/env python3
"""Derives the polynomial coefficients of src/passes/math_*.cpp: weighted minimax fits by Remez exchange.

Needs mpmath. Run it to print every table; the C++ tables are its output, rounded to the element type. Coefficients are
rounded one at a time, lowest power first, and the rest is fitted again, so that rounding does not add up.
"""
import struct
import sys

import mpmath as mp

mp.mp.dps = 60


def round_to(kind, value):
    if kind == "f32":
        return mp.mpf(struct.unpack("f", struct.pack("f", float(value)))[0])
    return mp.mpf(float(value))


def solve(f, weight, powers, points):
    """Coefficients and the levelled error on len(powers) + 1 points."""
    n = len(powers)
    a, b = mp.matrix(n + 1, n + 1), mp.matrix(n + 1, 1)
    for i, x in enumerate(points):
        for j, power in enumerate(powers):
            a[i, j] = x ** power
        a[i, n] = (-1) ** i / max(weight(x), mp.mpf(10) ** -15)  # a weight may vanish at one point
        b[i] = f(x)
    s = mp.lu_solve(a, b)
    return [s[j] for j in range(n)], abs(s[n])


def remez(f, weight, powers, low, high, grid=1500, rounds=12):
    n = len(powers)
    xs = [low + (high - low) * (1 - mp.cos(mp.pi * i / grid)) / 2 for i in range(grid + 1)]
    fs, ws = [f(x) for x in xs], [weight(x) for x in xs]
    points = [xs[round(grid * (i + 0.5) / (n + 1))] for i in range(n + 1)]
    best = None
    for _ in range(rounds):
        c, _level = solve(f, weight, powers, points)
        errors = [(fs[i] - sum(c[j] * xs[i] ** p for j, p in enumerate(powers))) * ws[i] for i in range(grid + 1)]
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = (c, worst)
        peaks = []  # the greatest error of each run of one sign
        for i, e in enumerate(errors):
            if peaks and (e > 0) == (errors[peaks[-1]] > 0):
                if abs(e) > abs(errors[peaks[-1]]):
                    peaks[-1] = i
            else:
                peaks.append(i)
        while len(peaks) > n + 1:
            peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
        if len(peaks) < n + 1:
            break
        points = [xs[i] for i in peaks]
    return best


def fit(name, kind, f, powers, low, high, weight=lambda x: 1, fixed=()):
    """`fixed`: (power, value) terms that are given."""
    fixed, free = list(fixed), list(powers)
    low, high = mp.mpf(low), mp.mpf(high)
    # The fit is of the highest-order part in powers scaled to the lowest free one, which is well conditioned.
    while free:
        rest = lambda x: f(x) - sum(v * x ** p for p, v in fixed)
        c, error = remez(rest, weight, free, low, high)
        fixed.append((free[0], round_to(kind, c[0])))
        free = free[1:]
    worst = 0
    for i in range(4001):
        x = low + (high - low) * i / 4000
        worst = max(worst, abs((f(x) - sum(v * x ** p for p, v in fixed)) * weight(x)))
    digits = 9 if kind == "f32" else 17
    print(f"// {name}, {kind}: weighted error 2^{float(mp.log(worst, 2)):.1f}")
    print("{" + ", ".join(mp.nstr(v, digits, strip_zeros=True) for p, v in fixed) + "},", flush=True)
    return fixed


def exp2_m1(x):
    return mp.expm1(x * mp.log(2))


def series(value, at_zero):
    """A function that is 0/0 at zero."""
    return lambda x: value(x) if abs(x) > mp.mpf(10) ** -25 else mp.mpf(at_zero)


LN2 = mp.log(2)
ROOT = mp.sqrt(mp.mpf(1) / 2)


def main(only):
    def want(name):
        return not only or name in only
    for kind, exp_terms, expm1_terms, log_terms, sin_terms, cos_terms in (
            ("f32", 6, 5, 8, 3, 3), ("f64", 11, 11, 8, 6, 6)):
        if want("exp2"):  # 2^x = 1 + x P(x), x in [0, 1]; both ends are to come out exact
            fit("exp2", kind, series(lambda x: exp2_m1(x) / x, LN2), range(exp_terms), 0, 1, lambda x: x)
        if want("exp"):  # e^x = 1 + x (1 + x P(x)), x in [0, ln 2]
            fit("exp", kind, series(lambda x: (mp.expm1(x) - x) / x ** 2, 0.5), range(exp_terms - 1),
                0, LN2, lambda x: x ** 2)
        if want("expm1"):  # e^x - 1 = x + x^2 P(x), |x| <= ln 2 / 2, relative
            fit("expm1", kind, series(lambda x: (mp.expm1(x) - x) / x ** 2, 0.5), range(expm1_terms), -LN2 / 2, LN2 / 2,
                series(lambda x: abs(x ** 2 / mp.expm1(x)), 0))
        if want("sin"):  # sin x = x + x^3 P(x^2), |x| <= pi / 4, in z = x^2, relative
            fit("sin", kind, lambda z: (mp.sin(mp.sqrt(z)) / mp.sqrt(z) - 1) / z if z > 1e-30 else -mp.mpf(1) / 6,
                range(sin_terms), 0, (mp.pi / 4) ** 2 * 1.02, lambda z: z)
        if want("cos"):  # cos x = 1 - z / 2 + z^2 P(z)
            fit("cos", kind, lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z ** 2 if z > 1e-20 else mp.mpf(1) / 24,
                range(cos_terms), 0, (mp.pi / 4) ** 2 * 1.02, lambda z: z ** 2)
    low, high = ROOT - 1, 2 * ROOT - 1
    if want("log2"):  # log2(1 + x) = x P(x), relative
        fit("log2", "f32", series(lambda x: mp.log1p(x) / LN2 / x, 1 / LN2), range(10), low, high,
            series(lambda x: x * LN2 / mp.log1p(x), 1))
    if want("log"):  # log(1 + x) = x - x^2 / 2 + x^3 P(x), relative
        fit("log", "f32", series(lambda x: (mp.log1p(x) - x + x ** 2 / 2) / x ** 3, mp.mpf(1) / 3), range(8), low, high,
            series(lambda x: x ** 3 / mp.log1p(x), 0))
    if want("atanh"):  # 2 atanh(s) = 2 s + s z P(z), z = s^2
        top = ((high) / (2 + high)) ** 2
        fit("atanh", "f64", lambda z: (2 * mp.atanh(mp.sqrt(z)) / mp.sqrt(z) - 2) / z if z > 1e-30 else mp.mpf(2) / 3,
            range(8), 0, top, lambda z: z)
    # erf: near zero x P(z) in z = x^2; beyond it 1 - exp(P(x)), weighted by what erfc leaves of an error.
    near = lambda z: (mp.erf(mp.sqrt(z)) / mp.sqrt(z) if z > 1e-30 else 2 / mp.sqrt(mp.pi))
    far = lambda x: mp.log(mp.erfc(x))
    if want("erf"):
        fit("erf near", "f32", near, range(7), 0, 1, lambda z: 1)
        fit("erf far", "f32", lambda x: far(1 + x), range(8), 0, mp.mpf("2.95"), lambda x: mp.erfc(1 + x))
        fit("erf near", "f64", near, range(13), 0, 1, lambda z: 1)
        fit("erf far 1", "f64", lambda x: far(1 + x), range(15), 0, 1.25, lambda x: mp.erfc(1 + x))
        fit("erf far 2", "f64", lambda x: far(2.25 + x), range(15), 0, 3.7, lambda x: mp.erfc(2.25 + x))


if __name__ == "__main__":
    main(sys.argv[1:])
