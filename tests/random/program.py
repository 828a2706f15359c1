"""Random programs, each with its meaning: the text of a kernel and a function of numpy that gives what it must give.

All numbers are whole and small enough that every type holds them, so that results must be equal to the bit whatever the
order of sums. Integers of at most 32 bits wrap; all others are clamped before they leave what their type holds.
"""
import random

import numpy as np

INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
            "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64}
# The greatest whole number up to which sums in this type are exact.
LIMITS = {"f8e5m2": 8, "f8e4m3": 16, "bf16": 256, "f16": 2048, "tf32": 2048, "f32": 1 << 24, "f64": 1 << 50, "i64": 1 << 60, "u64": 1 << 60}
FLOATS = ["f32", "f32", "f32", "f64", "f16", "bf16", "tf32", "f8e4m3", "f8e5m2"]
TYPES = FLOATS + ["i8", "i16", "i32", "i32", "i64", "u8", "u16", "u32", "u64"]
NARROW = {"f8e4m3", "f8e5m2", "bf16", "f16", "tf32"}
EXTENTS = [1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 24, 32, 33, 48, 64, 96, 100, 176]
GREATEST_TILE = 6000
SUM_TYPES = {"f64": "f64", "i8": "i32", "u8": "i32", "i16": "i32", "u16": "i32", "i32": "i64", "u32": "i64", "i64": "i64", "u64": "i64"}


def is_float(t):
    return t[0] in "fbt" and t != "bool"


def is_bounded(t):
    return t in LIMITS


def least(t):
    return int(np.iinfo(INTEGERS[t]).min) if t in INTEGERS else -(1 << 60)


def greatest(t):
    return int(np.iinfo(INTEGERS[t]).max) if t in INTEGERS else 1 << 60


def wrapped(t, x):
    """Integers as they are kept: of 64 bits for numpy, with the value that the type has."""
    if t in INTEGERS and not is_bounded(t):
        return np.asarray(x).astype(np.int64).astype(INTEGERS[t]).astype(np.int64)
    return x


def kept(t, x):
    return np.asarray(x, dtype=np.float64 if is_float(t) else np.bool_ if t == "bool" else np.int64)


class Value:
    """An expression: its text, its meaning as a function of the names in scope, and the greatest magnitude it may have."""

    def __init__(self, text, t, shape, bound, meaning):
        self.text, self.type, self.shape, self.bound, self.meaning = text, t, tuple(shape), bound, meaning


def clamped(v, limit):
    low = 0 if v.type in ("u64",) else -limit
    return Value(f"clamp({v.text}, {low}, {limit})", v.type, v.shape, limit, lambda e: np.clip(v.meaning(e), low, limit))


def natural_bound(t):
    return max(-least(t), greatest(t))


def fitted(v, limit=None):
    """The value where it fits its type, else clamped."""
    if not is_bounded(v.type) or v.type == "bool":
        if limit is not None and v.bound > limit:
            low = max(-limit, least(v.type))
            limit_here = min(limit, greatest(v.type))
            return Value(f"clamp({v.text}, {low}, {limit_here})", v.type, v.shape, limit,
                         lambda e: np.clip(v.meaning(e), low, limit_here))
        return v
    limit = min(limit or LIMITS[v.type], LIMITS[v.type])
    return v if v.bound <= limit else clamped(v, max(1, limit // 4 if limit > 16 else limit // 2))


def converted(v, t):
    if v.type == t:
        return v
    if t in LIMITS:
        v = fitted(v, LIMITS[t])
    if t in INTEGERS:
        meaning = lambda e: kept(t, np.clip(v.meaning(e), max(least(t), -(1 << 62)), min(greatest(t), 1 << 62)))
        bound = min(v.bound, natural_bound(t)) if is_bounded(t) else natural_bound(t)
    else:
        meaning, bound = (lambda e: kept(t, v.meaning(e))), v.bound
    return Value(f"({v.text} as {t})", t, v.shape, bound, meaning)


class Expressions:
    """Elementwise expressions over what is in scope."""

    def __init__(self, rng, types):
        self.rng, self.types = rng, types

    def leaf(self, scope, t, shape):
        rng, choices = self.rng, []
        for v in scope:
            if v.shape == shape:
                choices += [v] * (6 if v.type == t else 1)
            elif v.shape and len(v.shape) < len(shape):
                placed = broadcast(v, shape)
                choices += placed
        if not choices or rng.random() < 0.1:
            number = rng.randint(0 if t[0] == "u" else -3, 4)
            return Value(f"({number} as {t})" if number >= 0 else f"(({number}) as {t})", t, (), abs(number), lambda e: kept(t, number))
        return converted(fitted(rng.choice(choices)), t)

    def whole(self, scope, t, shape, depth):
        """Of the shape, or a number for all of it: only where `_` stands an axis is repeated."""
        while True:
            v = self.make(scope, t, shape, depth)
            if v.shape in ((), shape):
                return v

    def make(self, scope, t, shape, depth):
        rng = self.rng
        if depth == 0 or rng.random() < 0.2:
            v = self.leaf(scope, t, shape)
            return v
        if rng.random() < 0.15:
            other = rng.choice(self.types)
            return converted(fitted(self.make(scope, other, shape, depth - 1)), t)
        a, b = self.make(scope, t, shape, depth - 1), self.make(scope, t, shape, depth - 1)
        return fitted(self.operation(scope, a, b, shape, depth))

    def operation(self, scope, a, b, shape, depth):
        rng, t = self.rng, a.type
        whole, shape = shape, np.broadcast_shapes(a.shape, b.shape)
        kind = rng.choice(["+", "-", "*", "max", "min", "select", "neg", "abs"] + (["bits", "div", "shift", "not"] if not is_float(t) else ["floor"]))
        w = lambda f: lambda e: wrapped(t, f(a.meaning(e), b.meaning(e)))
        if kind == "-" and t == "u64":
            kind = "+"
        if is_bounded(t) and kind in "+-":
            half = LIMITS[t] // 2
            a, b = fitted(a, half), fitted(b, half)
        if is_bounded(t) and kind == "*":
            root = max(1, int(LIMITS[t] ** 0.5) // 2)
            a, b = fitted(a, root), fitted(b, root)
        w = lambda f: (lambda x, y: lambda e: wrapped(t, f(x.meaning(e), y.meaning(e))))(a, b)
        sum_bound = a.bound + b.bound if is_bounded(t) else natural_bound(t)
        if kind == "+":
            return Value(f"({a.text} + {b.text})", t, shape, sum_bound, w(lambda x, y: x + y))
        if kind == "-":
            return Value(f"({a.text} - {b.text})", t, shape, sum_bound, w(lambda x, y: x - y))
        if kind == "*":
            return Value(f"({a.text} * {b.text})", t, shape, a.bound * b.bound if is_bounded(t) else natural_bound(t), w(lambda x, y: x * y))
        top = max(a.bound, b.bound)
        if kind in ("max", "min"):
            name = kind if rng.random() < 0.5 else kind + "imum"
            return Value(f"{name}({a.text}, {b.text})", t, shape, top, w(np.maximum if kind == "max" else np.minimum))
        if kind == "select":
            c = self.make(scope, rng.choice(self.types), whole, depth - 1)
            d = self.leaf(scope, c.type, whole)
            word, test = rng.choice([("<", np.less), ("<=", np.less_equal), ("==", np.equal), (">", np.greater), ("!=", np.not_equal)])
            full = np.broadcast_shapes(a.shape, b.shape, c.shape, d.shape)
            meaning = lambda e: np.where(test(c.meaning(e), d.meaning(e)), a.meaning(e), b.meaning(e))
            return Value(f"select({c.text} {word} {d.text}, {a.text}, {b.text})", t, full, top, meaning)
        if kind == "neg" and t != "u64":
            return Value(f"(-{a.text})", t, a.shape, a.bound if is_bounded(t) else natural_bound(t), lambda e: wrapped(t, -a.meaning(e)))
        if kind == "abs":
            return Value(f"abs({a.text})", t, a.shape, a.bound, lambda e: wrapped(t, np.abs(a.meaning(e))))
        if kind == "bits" and t != "u64":
            word, f = rng.choice([("&", np.bitwise_and), ("|", np.bitwise_or), ("^", np.bitwise_xor)])
            bound = 1 << int(top).bit_length()
            return Value(f"({a.text} {word} {b.text})", t, shape, bound, w(f))
        if kind == "div":
            by = rng.choice([1, 2, 3, 5, 7, 8] + ([-1, -3] if t[0] == "i" and t != "i64" else []))
            word, f = rng.choice([("/", np.floor_divide), ("%", np.mod)])
            return Value(f"({a.text} {word} ({by}))", t, a.shape, a.bound + 8, lambda e: wrapped(t, f(a.meaning(e), by)))
        if kind == "shift" and not is_bounded(t):
            by = rng.randint(0, 7)
            if rng.random() < 0.5:
                return Value(f"({a.text} << {by})", t, a.shape, natural_bound(t), lambda e: wrapped(t, a.meaning(e) << by))
            return Value(f"({a.text} >> {by})", t, a.shape, natural_bound(t), lambda e: wrapped(t, a.meaning(e) >> by))
        if kind == "not" and t != "u64":
            return Value(f"(~{a.text})", t, a.shape, a.bound + 1, lambda e: wrapped(t, ~a.meaning(e)))
        if kind == "floor":
            name = rng.choice(["floor", "ceil", "round", "trunc"])
            return Value(f"{name}({a.text})", t, a.shape, a.bound, a.meaning)
        return a


def broadcast(v, shape):
    """The ways in which v, of lower rank, is repeated into the shape."""
    found = []
    rank = len(shape)
    for mask in range(1 << rank):
        kept_axes = [i for i in range(rank) if mask >> i & 1]
        if len(kept_axes) != len(v.shape) or tuple(shape[i] for i in kept_axes) != v.shape:
            continue
        index = tuple(slice(None) if i in kept_axes else None for i in range(rank))
        text = ", ".join(":" if i in kept_axes else "_" for i in range(rank))
        base = v.text if v.text.isidentifier() else f"({v.text})"
        placed = [n if i in kept_axes else 1 for i, n in enumerate(shape)]
        found.append(Value(f"{base}[{text}]", v.type, placed, v.bound, lambda e, index=index: v.meaning(e)[index]))
    return found
