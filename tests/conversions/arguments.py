"""What the kernels of this folder are asked: every number of up to 16 bits, and of wider types each end, tie and what lies beside them."""
import random

import numpy as np

from formats import FINITE, FLOATS, INTEGERS, TYPES, U, bits_of, decode, encode_float, is_signed, word


def around(t, words):
    """Words, and those just above and below, of both signs."""
    w = words.astype(U)
    near = np.concatenate([w, w + U(1), w - U(1)])
    if t in FLOATS:
        near = np.concatenate([near, near ^ U(1 << (bits_of(t) - 1))])
    return (near & U(2 ** bits_of(t) - 1)).astype(word(t))


def steps(s, t, stride):
    """Of a wider float s: the numbers of t that are not negative, and the middles between them."""
    spare = FLOATS[t][2]
    count = 1 << (bits_of(t) - 1 - spare)
    words = np.arange(0, count, stride, dtype=np.uint64) if count <= 1 << 16 else np.random.randint(0, count, 20000 if stride == 1 else 4000).astype(np.uint64)
    _, mantissa, exponent, kind = decode(t, (words << U(spare)).astype(word(t)))
    mantissa, exponent = mantissa[kind == FINITE], exponent[kind == FINITE]
    no = np.zeros(len(mantissa), bool)
    exact = encode_float(s, (no, mantissa, exponent, no.astype(int)))
    middle = encode_float(s, (no, mantissa * U(2) + U(1), exponent - 1, no.astype(int)))
    return np.concatenate([around(s, exact), around(s, middle)])


def of_float(s, stride):
    bits = bits_of(s)
    e_bits, m_bits, spare, _ = FLOATS[s]
    infinity = (2 ** e_bits - 1) << (m_bits + spare)
    ends = np.array([0, 1, 1 << spare, 1 << (m_bits + spare), infinity, infinity + 1, infinity + (1 << (m_bits + spare - 1)), 2 ** (bits - 1) - 1], dtype=U)
    parts = [around(s, ends.astype(word(s)))]
    parts += [steps(s, t, stride) for t in FLOATS if FLOATS[t][1] < m_bits or FLOATS[t][0] < e_bits]
    powers = np.arange(-3, 66)
    for mantissa, exponent in ((1, powers), (3, powers - 1), (2 ** 30 - 1, powers - 30), (2 ** 31 + 1, powers - 31)):
        n = len(powers)
        parts.append(around(s, encode_float(s, (np.zeros(n, bool), np.full(n, mantissa, U), exponent, np.zeros(n, int)))))
    parts.append(np.random.randint(0, 2 ** 32, 20000).astype(U).astype(word(s)) if bits == 32 else
                 (np.random.randint(0, 2 ** 63, 20000).astype(U) * U(2)).astype(word(s)))
    return np.concatenate(parts)


def of_integer(s, stride):
    bits, numbers, ties = bits_of(s), [], 40 if stride == 1 else 8
    for k in range(bits + 1):
        numbers += [(1 << k) + d for d in (-2, -1, 0, 1, 2)]
    for t in FLOATS:  # ties, and what lies beside them
        digits = FLOATS[t][1] + 2
        for k in range(0, max(bits - digits, 0) + 1):
            for _ in range(ties):
                odd = random.getrandbits(digits - 2) << 1 | 1 | 1 << (digits - 1)
                numbers += [(odd << k) + d for d in (-1, 0, 1, random.getrandbits(max(k - 1, 1)), -random.getrandbits(max(k - 1, 1)))]
    numbers += [random.getrandbits(random.randint(1, bits)) for _ in range(500 * ties)]
    numbers += [-x for x in numbers] if is_signed(s) else [2 ** bits - x for x in numbers]
    return np.array([x & (2 ** bits - 1) for x in numbers], dtype=U).astype(word(s))


def sources(s, stride):
    if s == "bool":
        return np.arange(2, dtype=np.uint8)
    if bits_of(s) <= 16:
        return np.arange(1 << bits_of(s), dtype=word(s))
    return of_integer(s, stride) if s in INTEGERS else of_float(s, stride)


def pairs(t):
    """Of integers: all pairs of 8 bits, else ends with ends and some others."""
    bits = bits_of(t)
    if bits == 8:
        a, b = np.meshgrid(np.arange(256), np.arange(256))
        return a.ravel().astype(np.uint8), b.ravel().astype(np.uint8)
    ends = {x & (2 ** bits - 1) for k in range(bits + 1) for x in ((1 << k) - 1, 1 << k, -(1 << k), 1 - (1 << k), (1 << k) + 1)}
    ends |= {x & (2 ** bits - 1) for x in (*range(-12, 13), *range(bits - 2, bits + 3))}
    few = sorted(random.sample(sorted(ends), min(len(ends), 90)) + [0, 1, 2 ** bits - 1, 2 ** (bits - 1)])
    both = [(x, y) for x in few for y in few]
    both += [(random.getrandbits(bits), random.getrandbits(random.randint(1, bits))) for _ in range(4000)]
    return np.array([x for x, _ in both], U).astype(word(t)), np.array([y for _, y in both], U).astype(word(t))


def triples(t, count):
    """Of floats: products and sums that meet at ties, cancel, leave the range at either end, and are not numbers."""
    e_bits, m_bits, spare, _ = FLOATS[t]
    top, bias = 2 ** e_bits - 1, 2 ** (e_bits - 1) - 1

    def make(field, mantissa, sign=None):
        sign = random.getrandbits(1) if sign is None else sign
        return ((sign << e_bits | min(max(field, 0), top)) << m_bits | mantissa) << spare

    def few():  # few digits at either end, so that sums are ties, or just are not
        kind = random.randrange(4)
        return [0, random.getrandbits(m_bits), 1 << random.randrange(m_bits), (1 << m_bits) - (1 << random.randrange(m_bits))][kind]

    special = [make(f, m, s) for f, m in ((0, 0), (0, 1), (0, (1 << m_bits) - 1), (1, 0), (bias, 0), (top - 1, (1 << m_bits) - 1), (top, 0), (top, 1)) for s in (0, 1)]
    out = [(x, y, z) for x in special for y in special for z in special]
    while len(out) < count:
        kind, low = random.randrange(6), random.randint(0, top - 1)
        a, b = random.randint(0, top - 1), random.randint(0, top - 1)
        if kind == 0:  # anything
            out.append(tuple(random.getrandbits(1 + e_bits + m_bits) << spare for _ in range(3)))
            continue
        if kind == 1:  # subnormal results
            b = bias - a + random.randint(-m_bits - 3, 3)
        if kind == 2:  # about the greatest number
            b = top - 1 + bias - a + random.randint(-3, 2)
        c = a + b - bias + random.choice([random.randint(-3, 3), m_bits + random.randint(-2, 4), -m_bits + random.randint(-4, 3), random.randint(-2 * m_bits - 4, 2 * m_bits + 4)])
        out.append((make(a, few()), make(b, few()), make(c if kind != 5 else low, few())))
    return [np.array([x[k] for x in out], U).astype(word(t)) for k in range(3)]
