"""Numbers of every type as exact integers: what the kernels of this folder are judged by. No arithmetic on floats happens here.

A number is (sign, mantissa, exponent, kind): sign * mantissa * 2^exponent where kind is FINITE. Arrays of 64-bit words hold many.
"""
import numpy as np

FINITE, INFINITE, NAN = 0, 1, 2
INTEGERS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
# Bits of the exponent and of the mantissa, bits below that no value has, whether there are infinities.
FLOATS = {"f16": (5, 10, 0, True), "bf16": (8, 7, 0, True), "tf32": (8, 10, 13, True), "f32": (8, 23, 0, True), "f64": (11, 52, 0, True),
          "f8e4m3": (4, 3, 0, False), "f8e5m2": (5, 2, 0, True)}
TYPES = ["bool", *INTEGERS, *FLOATS]
U = np.uint64


def bits_of(t):
    if t in INTEGERS:
        return INTEGERS[t]
    return 8 if t == "bool" else 1 + sum(FLOATS[t][:3])


def word(t):
    return np.dtype(f"uint{bits_of(t)}")


def is_signed(t):
    return t[0] == "i"


def shifted(x, by):
    """x * 2^by of words, toward zero; what leaves the word is gone."""
    left, right = np.clip(by, 0, 63).astype(U), np.clip(-by, 0, 63).astype(U)
    return np.where(np.abs(by) > 63, U(0), x << left >> right)


def length(x):
    """The number of binary digits."""
    high, low = (x >> U(32)).astype(np.float64), (x & U(0xffffffff)).astype(np.float64)
    return np.where(high > 0, 32 + np.frexp(high)[1], np.frexp(low)[1]).astype(np.int64)


def decode(t, words):
    w = words.astype(U)
    if t == "bool" or t in INTEGERS:
        bits = bits_of(t)
        negative = is_signed(t) & (w >> U(bits - 1) != 0)
        mantissa = np.where(negative, (~w + U(1)) & U(2 ** bits - 1), w)
        return negative, mantissa, np.zeros(len(w), np.int64), np.zeros(len(w), np.int64)
    e_bits, m_bits, spare, has_infinity = FLOATS[t]
    bias, top = 2 ** (e_bits - 1) - 1, 2 ** e_bits - 1
    w = w >> U(spare)
    field, mantissa = (w >> U(m_bits) & U(top)).astype(np.int64), w & U(2 ** m_bits - 1)
    is_top = field == top
    kind = np.where(is_top & (mantissa == 0), INFINITE, np.where(is_top, NAN, FINITE)) if has_infinity else \
        np.where(is_top & (mantissa == U(2 ** m_bits - 1)), NAN, FINITE)
    return w >> U(e_bits + m_bits) != 0, np.where(field > 0, mantissa | U(2 ** m_bits), mantissa), np.maximum(field, 1) - bias - m_bits, kind


def encode_float(t, numbers, toward_zero=False):
    negative, mantissa, exponent, kind = numbers
    e_bits, m_bits, spare, has_infinity = FLOATS[t]
    bias, top = 2 ** (e_bits - 1) - 1, 2 ** e_bits - 1
    infinity = U(top) << U(m_bits)
    greatest = infinity - U(1) if has_infinity else infinity | U(2 ** m_bits - 2)
    nan = infinity | (U(2 ** (m_bits - 1)) if has_infinity else U(2 ** m_bits - 1))
    beyond = greatest if toward_zero or bits_of(t) == 8 else infinity
    # The weight of the last place, and how many places of the mantissa lie below it.
    last = np.maximum(exponent + length(mantissa) - (m_bits + 1), 1 - bias - m_bits)
    drop = last - exponent
    kept = shifted(mantissa, -drop)
    rest = np.where(drop > 0, mantissa - shifted(kept, np.minimum(drop, 64)), U(0))
    half = shifted(np.ones_like(mantissa), np.maximum(drop, 1) - 1)
    up = (drop > 0) & (drop < 65) & ((rest > half) | ((rest == half) & (kept & U(1) != 0)))
    kept = kept + (up & (not toward_zero)).astype(U)
    field = np.where(kept >> U(m_bits) != 0, last + m_bits + bias - 1, 0)  # one less: the leading digit adds to it
    pattern = np.where(field > top, infinity | U(2 ** m_bits - 1), kept + (np.clip(field, 0, top).astype(U) << U(m_bits)))
    pattern = np.where((pattern > greatest) & (mantissa != 0), beyond, pattern)
    pattern = np.where(kind == INFINITE, infinity if has_infinity else greatest, np.where(kind == NAN, nan, pattern))
    return ((pattern | (negative.astype(U) << U(e_bits + m_bits))) << U(spare)).astype(word(t))


def encode_integer(t, numbers):
    negative, mantissa, exponent, kind = numbers
    bits = bits_of(t)
    most, least = 2 ** (bits - is_signed(t)) - 1, 2 ** (bits - 1) if is_signed(t) else 0
    is_huge = (exponent + length(mantissa) > 64) | (kind == INFINITE)
    magnitude = np.where(is_huge, U(2 ** 64 - 1), shifted(mantissa, exponent))
    magnitude = np.where(negative, np.minimum(magnitude, U(least)), np.minimum(magnitude, U(most)))
    magnitude = np.where(kind == NAN, U(0), magnitude)
    return (np.where(negative, ~magnitude + U(1), magnitude) & U(2 ** bits - 1)).astype(word(t))


def converted(s, t, words, how):
    """The words of type t that `how` makes of words of type s."""
    if s == "tf32":
        words = words & np.uint32(0xffffe000)
    if how == "bits":
        return words.copy()
    if how == "wrap":
        wide = words.astype(np.dtype(f"int{bits_of(s)}")).astype(np.int64) if is_signed(s) else words.astype(np.uint64)
        return wide.astype(U).astype(word(t))
    numbers = decode(s, words)
    if t == "bool":
        return ((numbers[1] != 0) | (numbers[3] != FINITE)).astype(np.uint8)
    return encode_float(t, numbers, how == "toward_zero") if t in FLOATS else encode_integer(t, numbers)


def is_nan(t, words):
    return decode(t, words)[3] == NAN if t in FLOATS else np.zeros(len(words), bool)


def differing(t, got, want):
    """Where the words differ; one NaN is as good as another. tf32 in memory may have anything below its bits."""
    if t == "tf32":
        got, want = got & np.uint32(0xffffe000), want & np.uint32(0xffffe000)
    return (got != want) & ~(is_nan(t, got) & is_nan(t, want))


def parts(t, w):
    """One word as Python's integers: sign, mantissa, exponent, kind."""
    e_bits, m_bits, spare, has_infinity = FLOATS[t]
    w >>= spare
    top, ones = 2 ** e_bits - 1, 2 ** m_bits - 1
    field, mantissa, negative = w >> m_bits & top, w & ones, w >> (e_bits + m_bits) & 1
    kind = FINITE
    if field == top and (has_infinity or mantissa == ones):
        kind = INFINITE if has_infinity and mantissa == 0 else NAN
    return negative, mantissa | (1 << m_bits if field else 0), max(field, 1) - (2 ** (e_bits - 1) - 1) - m_bits, kind


def rounded(t, negative, magnitude, exponent):
    """The word of magnitude * 2^exponent, to nearest, ties to even."""
    e_bits, m_bits, spare, has_infinity = FLOATS[t]
    bias, infinity = 2 ** (e_bits - 1) - 1, (2 ** e_bits - 1) << m_bits
    greatest = infinity - 1 if has_infinity else infinity + 2 ** m_bits - 2
    last = max(exponent + magnitude.bit_length() - (m_bits + 1), 1 - bias - m_bits)
    drop = last - exponent
    kept = magnitude >> drop if drop > 0 else magnitude << -drop
    twice = (magnitude - (kept << drop)) * 2 if drop > 0 else 0
    kept += drop > 0 and (twice > 1 << drop or (twice == 1 << drop and kept & 1))
    pattern = kept + ((last + m_bits + bias - 1) << m_bits if kept >> m_bits else 0)
    if pattern > greatest:
        pattern = greatest if bits_of(t) == 8 else infinity
    return (pattern | negative << (e_bits + m_bits)) << spare


def special(t, negative):
    e_bits, m_bits, spare, has_infinity = FLOATS[t]
    greatest = ((2 ** e_bits - 1) << m_bits) + (0 if has_infinity else 2 ** m_bits - 2)
    return (greatest | negative << (e_bits + m_bits)) << spare


def fused(t, a, b, c):
    """The word of a * b + c, rounded once; None is a NaN."""
    (a_sign, a_mantissa, a_exponent, a_kind), (b_sign, b_mantissa, b_exponent, b_kind), (c_sign, c_mantissa, c_exponent, c_kind) = \
        parts(t, a), parts(t, b), parts(t, c)
    sign = a_sign ^ b_sign
    if NAN in (a_kind, b_kind, c_kind):
        return None
    if INFINITE in (a_kind, b_kind):
        has_zero = (a_kind == FINITE and a_mantissa == 0) or (b_kind == FINITE and b_mantissa == 0)
        return None if has_zero or (c_kind == INFINITE and c_sign != sign) else special(t, sign)
    if c_kind == INFINITE:
        return special(t, c_sign)
    exponent = min(a_exponent + b_exponent, c_exponent)
    product = a_mantissa * b_mantissa << (a_exponent + b_exponent - exponent)
    total = (-product if sign else product) + (-c_mantissa if c_sign else c_mantissa) * 2 ** (c_exponent - exponent)
    if total == 0:
        return rounded(t, int(sign and c_sign), 0, 0)
    return rounded(t, int(total < 0), abs(total), exponent)
