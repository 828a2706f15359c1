"""Numbers of every type, each operation rounded or wrapped as the reference says.

Integers are Python's own, brought back into their type after each operation. Floats are numpy's; a `bf16` is a `np.float32` that is rounded to 8
bits after each operation, which has the same result as rounding the exact one, as f32 has more than twice its bits.
"""
import struct

import numpy as np

INTEGERS = {"i8": (8, True), "i16": (16, True), "i32": (32, True), "i64": (64, True), "u8": (8, False), "u16": (16, False), "u32": (32, False), "u64": (64, False)}


def double(x):
    """A float of 64 bits from an integer of any size, rounded to odd: what rounds it to fewer bits rounds once."""
    if not isinstance(x, int):
        return np.float64(x)
    spare = max(abs(x).bit_length() - 53, 0)
    kept = abs(x) >> spare
    kept |= kept << spare != abs(x)
    return np.float64((-1 if x < 0 else 1) * (kept << spare))


def bf16(x):
    x = x if isinstance(x, np.float32) else odd_f32(double(x))
    word, = struct.unpack("<I", struct.pack("<f", x))
    if x != x:
        return np.float32(x)
    word += 0x7fff + (word >> 16 & 1)
    return np.frombuffer(struct.pack("<I", word & 0xffff0000), np.float32)[0]


def odd_f32(x):
    """f32 of a double, rounded to odd."""
    near = np.float32(x)
    if near == x or near != near or np.isinf(x):
        return near
    if abs(near) > abs(x):  # toward zero, then odd
        near = np.nextafter(near, np.float32(0))
    word, = struct.unpack("<I", struct.pack("<f", near))
    return np.frombuffer(struct.pack("<I", word | 1), np.float32)[0]


FLOATS = {"f16": lambda x: np.float16(double(x)), "bf16": bf16, "f32": lambda x: np.float32(double(x)), "f64": lambda x: np.float64(float(x))}


def least(t):
    bits, signed = INTEGERS[t]
    return -(1 << bits - 1) if signed else 0


def greatest(t):
    bits, signed = INTEGERS[t]
    return (1 << bits - 1) - 1 if signed else (1 << bits) - 1


def wrap(t, x):
    bits, signed = INTEGERS[t]
    x &= (1 << bits) - 1
    return x - (1 << bits) if signed and x >> bits - 1 else x


def kept(t, x):
    if t == "bool":
        return bool(x)
    if t in INTEGERS:
        return wrap(t, int(x))
    return bf16(np.float32(x)) if t == "bf16" else FLOATS[t](x)


def converted(source, to, x):
    """`x as to`."""
    if to in FLOATS:
        return FLOATS[to](int(x) if source == "bool" else x)
    if to == "bool":
        return bool(x != 0)
    if source in FLOATS:
        x = 0 if np.isnan(x) else greatest(to) if x == np.inf else least(to) if x == -np.inf else int(x)
    return min(max(int(x), least(to)), greatest(to))


def shifted(t, op, a, b):
    bits, signed = INTEGERS[t]
    if 0 <= b < bits:
        return wrap(t, a << b if op == "<<" else a >> b)
    return -1 if op == ">>" and signed and a < 0 else 0


BINARY = {
    "+": lambda t, a, b: kept(t, a + b), "-": lambda t, a, b: kept(t, a - b), "*": lambda t, a, b: kept(t, a * b),
    "/": lambda t, a, b: kept(t, a // b if t in INTEGERS else a / b), "%": lambda t, a, b: kept(t, a % b),
    "&": lambda t, a, b: wrap(t, a & b), "|": lambda t, a, b: wrap(t, a | b), "^": lambda t, a, b: wrap(t, a ^ b),
    "<<": lambda t, a, b: shifted(t, "<<", a, b), ">>": lambda t, a, b: shifted(t, ">>", a, b),
}
COMPARE = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


def smaller(t, a, b):
    """`min`, which passes NaN over."""
    return b if a != a else a if b != b else min(a, b)


def greater(t, a, b):
    return b if a != a else a if b != b else max(a, b)
