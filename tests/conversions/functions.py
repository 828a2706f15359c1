#!/usr/bin/env python3
"""The library's functions against long double, in units of the last place: functions.py TILEC [ENGINE...] [options]

Engines and options are those of exhaust.py. The bounds are those of docs/reference/language.md, for results below the least normal
number of their type as well: there a unit is the least number, and only `exp` and `exp2` may give 0.
"""
import decimal
import numpy as np

import exhaust
import kernels
from formats import FLOATS, U, decode, word

# Function: the bounds for f32 (and narrower types) and f64, and those that results below the least normal number may break by being 0.
BOUNDS = {"sqrt": (0.5, 0.5), "rsqrt": (2, 2), "exp": (4, 4), "exp2": (2, 2), "log": (4, 4), "log2": (2, 3), "sin": (2, 3), "cos": (2, 3),
          "tanh": (4, 4), "erf": (4, 4), "pow": (1, None), "quotient": (0.5, 0.5)}
GPU_BOUNDS = {"quotient": (2, 0.5)}  # what the reference allows there alone
MAY_BE_ZERO = ("exp", "exp2")
FAR = {"f64": 2.0 ** 20}  # beyond, sin and cos are NaN; else from 2^22 on
TYPES = ("f32", "f64", "f16", "bf16")
NAMES = [n for n in BOUNDS if n not in ("pow", "quotient")]
SLACK = 0.01  # what a narrow result that was rounded from f32 may add, and the judge's own error


def text(tile):
    parts = []
    for t in TYPES:
        rows = [(f"{n}_", t, f"{n}(x)") for n in NAMES]
        parts.append(kernels.kernel(f"one_{t}", [("x", t)], rows, tile))
        parts.append(kernels.kernel(f"two_{t}", [("x", t), ("y", t)], [("pow_", t, "pow(x, y)"), ("quotient", t, "x / y")], tile))
    return "\n".join(parts)


def value(t, words):
    """As long doubles, exactly."""
    negative, mantissa, exponent, kind = decode(t, words)
    x = np.ldexp(mantissa.astype(np.longdouble), exponent.astype(np.int32))
    x = np.where(kind == 1, np.longdouble(np.inf), np.where(kind == 2, np.longdouble(np.nan), x))
    return np.where(negative, -x, x)


def arguments(t, count):
    """Any patterns; those whose results are small, or near the ends; every subnormal's size."""
    e_bits, m_bits, spare, _ = FLOATS[t]
    bias, n = 2 ** (e_bits - 1) - 1, count
    if 1 + e_bits + m_bits <= 16:
        return np.arange(1 << (1 + e_bits + m_bits), dtype=word(t))
    dtype = np.float32 if t == "f32" else np.float64
    span = np.random.uniform(-bias - m_bits - 3, bias + 2, n)
    low = np.random.randint(0, 1 << m_bits, n) >> np.random.randint(0, m_bits, n)
    parts = [np.random.randint(0, 2 ** 63, n).astype(U).astype(word(t)).view(dtype), span.astype(dtype), (span * np.log(2)).astype(dtype),
             np.random.uniform(-30, 30, n).astype(dtype), np.random.uniform(0, 2, n).astype(dtype), (np.random.uniform(-1, 1, n) * 2.0 ** 19).astype(dtype),
             low.astype(word(t)).view(dtype), -low.astype(word(t)).view(dtype), (np.round(np.random.uniform(-6e5, 6e5, n)) * (np.pi / 2)).astype(dtype)]
    return np.concatenate(parts).view(word(t))


def powers(t, count):
    """Bases and exponents whose powers fall all over the range and a little beyond it."""
    e_bits, m_bits, _, _ = FLOATS[t]
    dtype = {"f32": np.float32, "f64": np.float64, "f16": np.float16}.get(t)
    bias = 2 ** (e_bits - 1) - 1
    x = np.exp2(np.random.uniform(-bias / 2, bias / 2, count) * np.random.choice([1e-3, 0.05, 1], count))
    y = np.random.uniform(-bias - m_bits - 2, bias + 2, count) / np.log2(x)
    whole = np.random.randint(0, 2, count) == 1
    y = np.where(whole, np.round(y), y)
    x = np.where(whole & (np.random.randint(0, 2, count) == 1), -x, x)
    if dtype == np.float16:
        x, y = np.clip(x, -65504, 65504), np.clip(y, -65504, 65504)
    if dtype:
        return x.astype(dtype).view(word(t)), y.astype(dtype).view(word(t))
    return tuple((v.astype(np.float32).view(np.uint32) >> np.uint32(16)).astype(np.uint16) for v in (x, y))


BITS = 200  # behind the point of whole numbers that stand for fractions
with decimal.localcontext() as digits:
    digits.prec = 80
    SLOPE = int(2 / decimal.Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899").sqrt() * 2 ** BITS)  # of erf at 0


def erf(v):
    """By its series in whole numbers."""
    if np.isnan(v) or abs(v) > 7:
        return np.longdouble(np.sign(v))
    slope = np.longdouble(SLOPE >> BITS - 62) * np.longdouble(2) ** -62 + np.longdouble(SLOPE >> BITS - 124 & (1 << 62) - 1) * np.longdouble(2) ** -124
    if abs(v) < 1e-8:
        return slope * (np.longdouble(v) - np.longdouble(v) ** 3 / 3)
    top, bottom = float(v).as_integer_ratio()
    x = (top << BITS) // bottom
    square, term, total, n = x * x >> BITS, x, x, 0
    while term not in (0, -1):
        n += 1
        term = -term * square // (n << BITS)
        total += term // (2 * n + 1)
    total = total * SLOPE >> BITS
    return np.longdouble(total >> BITS - 60) * np.longdouble(2) ** -60 + np.longdouble(total >> BITS - 120 & (1 << 60) - 1) * np.longdouble(2) ** -120


def exact(name, x, y=None):
    if name == "erf":
        return np.array([erf(v) for v in x])
    functions = {"sqrt": np.sqrt, "rsqrt": lambda v: 1 / np.sqrt(v), "pow": np.power, "quotient": np.divide}
    f = functions.get(name) or getattr(np, name)
    return f(x) if y is None else f(x, y)


def errors(t, got, want):
    """In units of the last place; infinite where one is no number, or is out of range, and the other is not."""
    e_bits, m_bits, _, _ = FLOATS[t]
    bias = 2 ** (e_bits - 1) - 1
    exponent = np.maximum(np.frexp(want)[1] - 1, 1 - bias)
    unit = np.ldexp(np.longdouble(1), exponent - m_bits)
    limit = np.ldexp(np.longdouble(2) - np.ldexp(np.longdouble(1), -m_bits), bias)
    found = np.abs(got - want) / unit
    # Next to the end of the range a result may be infinite or the greatest number.
    at_end = np.abs(want) > limit * (1 - np.ldexp(np.longdouble(1), 3 - m_bits))
    found = np.where(np.isinf(got) & at_end & (np.sign(got) == np.sign(want)), 0, found)
    found = np.where(at_end & np.isfinite(got) & (np.abs(want) <= limit * (1 + np.ldexp(np.longdouble(1), 3 - m_bits))), 0, found)
    found = np.where(np.isnan(want) | np.isnan(got), np.where(np.isnan(want) & np.isnan(got), 0, np.inf), found)
    return np.where(got == want, 0, found), np.abs(want) < np.ldexp(np.longdouble(1), 1 - bias)


def judged(judge, form, name, t, words, got, others=None):
    x, y = value(t, words), None if others is None else value(t, others)
    with np.errstate(all="ignore"):
        found, is_small = errors(t, value(t, got), exact(name, x, y))
        if name in ("sin", "cos"):
            found = np.where(np.abs(x) > FAR.get(t, 2.0 ** 22), 0, found)
        if name in MAY_BE_ZERO:
            found = np.where(is_small & (value(t, got) == 0), 0, found)
        bounds = GPU_BOUNDS if judge.engine.startswith("sm_") and name in GPU_BOUNDS else BOUNDS
        bound = bounds[name][t == "f64"]
        if bound is None:  # pow of f64: relative to what is raised
            bound = 2 + 2 * np.abs(y * np.log2(np.abs(x)))
            bound = np.where(np.isfinite(bound), bound, 2)
    judge.asked += len(found)
    wrong = ~(found <= bound + SLACK)
    worst = int(np.argmax(np.where(np.isnan(found), np.inf, found / bound)))
    note = f"{judge.engine} {form} {name}: {float(found[worst]):.3f} units at {hex(int(words[worst]))}{'' if y is None else ', ' + hex(int(others[worst]))}"
    if wrong.any():
        judge.failed += 1
        print(f"{note}: too many, {int(wrong.sum())} of {len(found)}")
    elif judge.tells:
        print(note)


def run(judge, count):
    for t in TYPES:
        words = arguments(t, count)
        for form in (f"one_{t}", f"one_{t}_alone"):
            status, results = judge.call(form, [words], [t] * len(NAMES))
            judge.failed += status != 0
            for name, got in zip(NAMES, results):
                chosen = slice(None) if name != "erf" else slice(None, None, max(1, len(words) // 4000))
                judged(judge, form, name, t, words[chosen], got[chosen])
        both = powers(t, 4 * count)
        status, (power, quotient) = judge.call(f"two_{t}", both, [t, t])
        judge.failed += status != 0
        judged(judge, f"two_{t}", "pow", t, both[0], power, both[1])
        judged(judge, f"two_{t}", "quotient", t, both[0], quotient, both[1])


if __name__ == "__main__":
    exhaust.main(text, lambda judge, full: run(judge, 20000 if full else 4000))
