"""Numbers of contracts, as the language means them: an expression is a pair of its text and of what it comes to.

`int` is exact and refused beyond 64 bits, i8 to u64 wrap, what is not chosen is not evaluated. Written from docs/reference/language.md
alone; nothing here knows how the compiler computes.
"""
import math
import struct

LEAST, MOST = -(1 << 63), (1 << 63) - 1
WIDTHS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
INTEGERS = ["int"] + list(WIDTHS)
FLOATS = ["f32", "f64"]


class Refused(Exception):
    """A number that has no value: the call is refused."""


def bits_of(t):
    return WIDTHS.get(t, 64)


def range_of(t):
    if t[0] == "u":
        return 0, (1 << bits_of(t)) - 1
    return -(1 << bits_of(t) - 1), (1 << bits_of(t) - 1) - 1


def wrapped(t, x):
    x &= (1 << bits_of(t)) - 1
    return x - (1 << bits_of(t)) if t[0] == "i" and x >> bits_of(t) - 1 else x


def fitted(t, x):
    """A result: `int` is exact, the others wrap."""
    if t != "int":
        return wrapped(t, x)
    if not LEAST <= x <= MOST:
        raise Refused
    return x


def saturated(t, x):
    low, high = range_of(t)
    return min(max(x, low), high)


def divided(t, a, b):
    if b == 0:
        raise Refused
    return fitted(t, a // b)


def rest(t, a, b):
    if b == 0:
        raise Refused
    return a % b


def shifted_left(t, a, n):
    if 0 <= n < bits_of(t):
        return fitted(t, a << n)
    if t == "int" and a != 0:
        raise Refused
    return 0


def shifted_right(t, a, n):
    return a >> n if 0 <= n < bits_of(t) else -(a < 0)


def round_up(t, a, b):
    """The least multiple of `b` that is not below `a`."""
    return ceildiv_of(a, abs(b)) * abs(b)


def ceildiv_of(a, b):
    if b == 0:
        raise Refused
    return -(-a // b)


OPERATORS = {
    "+": lambda t, a, b: fitted(t, a + b), "-": lambda t, a, b: fitted(t, a - b), "*": lambda t, a, b: fitted(t, a * b),
    "/": divided, "%": rest, "<<": shifted_left, ">>": shifted_right,
    "&": lambda t, a, b: wrapped(t, a & b), "|": lambda t, a, b: wrapped(t, a | b), "^": lambda t, a, b: wrapped(t, a ^ b)}
FUNCTIONS = {
    "min": lambda t, a, b: min(a, b), "max": lambda t, a, b: max(a, b),
    "ceildiv": lambda t, a, b: fitted(t, ceildiv_of(a, b)), "round_up": lambda t, a, b: fitted(t, round_up(t, a, b))}
UNARY = {
    "-{}": lambda t, a: fitted(t, -a), "abs({})": lambda t, a: fitted(t, abs(a)), "~{}": lambda t, a: wrapped(t, ~a)}
BITS = {
    "popcount({})": lambda t, a: bin(a & (1 << bits_of(t)) - 1).count("1"),
    "leading_zeros({})": lambda t, a: bits_of(t) - (a & (1 << bits_of(t)) - 1).bit_length()}
COMPARE = {"<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b,
           "==": lambda a, b: a == b, "!=": lambda a, b: a != b}


def single(x):
    """To f32, once."""
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def float_result(t, x):
    return single(x) if t == "f32" else x


def to_integer(t, x):
    if math.isnan(x):
        return 0
    if math.isinf(x):
        return range_of(t)[x > 0]
    return saturated(t, math.trunc(x))


class Expression:
    """Its text in parentheses where it needs them, and a function of the names that gives its value."""

    def __init__(self, text, value, is_literal=False):
        self.text, self.value, self.is_literal = text, value, is_literal


class Maker:
    """Random expressions over names: {name: type}."""

    def __init__(self, rng, names):
        self.rng, self.names = rng, names

    def named(self, t):
        return [n for n, of in self.names.items() if of == t]

    def literal(self, t):
        low, high = range_of(t)
        near = [0, 1, 2, 3, 7, 8, 63, 64, 100, 127, 255, 1 << 20, (1 << 31) - 1, 1 << 31, 1 << 32, 1 << 40, 1 << 62, high, high - 1, low, low + 1, -1, -2, -64]
        x = self.rng.choice([n for n in near if low <= n <= high])
        text = str(x) if x >= 0 else f"({x})"
        if x == LEAST:
            text = f"(-{MOST} - 1)"
        return Expression(text, lambda env: x, True)

    def leaf(self, t):
        names = self.named(t)
        if names and self.rng.random() < 0.8:
            name = self.rng.choice(names)
            return Expression(name, lambda env: env[name])
        others = [n for n, of in self.names.items() if of in INTEGERS and of != t]
        if others and self.rng.random() < 0.6:
            name = self.rng.choice(others)
            return Expression(f"({name} as {t})", lambda env: saturated(t, env[name]))
        return self.literal(t)

    def integer(self, t, depth):
        """Of `int` or a stored type."""
        if depth == 0 or self.rng.random() < 0.15:
            return self.leaf(t)
        kinds = ["binary"] * 5 + ["call"] * 2 + ["unary"] * 2 + ["if", "select", "convert", "constant"]
        return getattr(self, "make_" + self.rng.choice(kinds))(t, depth - 1)

    def make_binary(self, t, depth):
        op = self.rng.choice(list(OPERATORS) + ["+", "-", "*", "/", "%"])
        a, b = self.operand(t, depth), self.operand(t, depth)
        if op in ("<<", ">>"):
            b = self.count(t, depth)
        elif b.is_literal and a.is_literal:
            return self.leaf(t)
        elif op in "/%" and b.is_literal and b.value({}) == 0:
            return a
        if a.is_literal and (b.is_literal or op in ("<<", ">>")):
            a = self.leaf_of_name(t)
        f = OPERATORS[op]
        return Expression(f"({a.text} {op} {b.text})", lambda env: f(t, a.value(env), b.value(env)))

    def make_constant(self, t, depth):
        op = self.rng.choice(["+", "-", "*", "/", "%"])
        a, b = self.operand(t, depth), self.literal(t)
        if a.is_literal or (op in "/%" and b.value({}) == 0):
            return a
        f = OPERATORS[op]
        return Expression(f"({a.text} {op} {b.text})", lambda env: f(t, a.value(env), b.value(env)))

    def leaf_of_name(self, t):
        name = self.rng.choice([n for n, of in self.names.items() if of in INTEGERS])
        if self.names[name] == t:
            return Expression(name, lambda env: env[name])
        return Expression(f"({name} as {t})", lambda env: saturated(t, env[name]))

    operand = integer

    def count(self, t, depth):
        if self.rng.random() < 0.5:
            n = self.rng.randrange(bits_of(t))
            return Expression(str(n), lambda env: n, True)
        of = self.rng.choice([t, "int", "i8", "u8"])
        if (t == "int") and of == "u64":
            of = t
        x = self.integer(of, min(depth, 1))
        if x.is_literal:
            x = self.leaf_of_name(of)
        return x

    def make_call(self, t, depth):
        name = self.rng.choice(list(FUNCTIONS) if t == "int" else ["min", "max"])
        a, b = self.integer(t, depth), self.integer(t, depth)
        if name in ("ceildiv", "round_up") and b.is_literal and b.value({}) == 0:
            return a
        if a.is_literal and b.is_literal:
            return a
        f = FUNCTIONS[name]
        return Expression(f"{name}({a.text}, {b.text})", lambda env: f(t, a.value(env), b.value(env)))

    def make_unary(self, t, depth):
        table = UNARY if t == "int" or self.rng.random() < 0.7 else BITS
        form = self.rng.choice(list(table))
        a = self.integer(t, depth)
        if a.is_literal or (t[0] == "u" and form == "abs({})"):
            return a
        f = table[form]
        return Expression("(" + form.format(a.text) + ")", lambda env: f(t, a.value(env)))

    def make_if(self, t, depth):
        c, a, b = self.truth(depth), self.integer(t, depth), self.integer(t, depth)
        if a.is_literal and b.is_literal:
            return a
        return Expression(f"(if {c.text} {{ {a.text} }} else {{ {b.text} }})", lambda env: a.value(env) if c.value(env) else b.value(env))

    def make_select(self, t, depth):
        c, a, b = self.truth(depth), self.integer(t, depth), self.integer(t, depth)
        if a.is_literal and b.is_literal:
            return a

        def chosen(env):
            condition, x, y = c.value(env), a.value(env), b.value(env)
            return x if condition else y
        return Expression(f"select({c.text}, {a.text}, {b.text})", chosen)

    def make_convert(self, t, depth):
        if self.rng.random() < 0.15:
            x = self.real(self.rng.choice(FLOATS), 1)
            if not x.is_literal:
                return Expression(f"({x.text} as {t})", lambda env: to_integer(t, x.value(env)))
        of = self.rng.choice([n for n in INTEGERS if n != t])
        a = self.integer(of, depth)
        if a.is_literal:
            return self.leaf(t)
        if t != "int" and of != "int" and self.rng.random() < 0.3:
            return Expression(f"{a.text}.wrap[{t}]()", lambda env: wrapped(t, a.value(env)))
        return Expression(f"({a.text} as {t})", lambda env: saturated(t, a.value(env)))

    def real(self, t, depth):
        names = self.named(t)
        if depth == 0 or self.rng.random() < 0.4:
            if names and self.rng.random() < 0.8:
                name = self.rng.choice(names)
                return Expression(name, lambda env: env[name])
            x = self.rng.choice([0.0, 0.5, 1.0, 64.0, 3.0e9])
            return Expression(repr(x) if x < 1e9 else "3000000000.0", lambda env: x, True)
        a, b = self.real(t, 0), self.real(t, 0)
        if a.is_literal or b.is_literal:
            return a
        op = self.rng.choice("+-*")
        f = {"+": lambda x, y: x + y, "-": lambda x, y: x - y, "*": lambda x, y: x * y}[op]
        return Expression(f"({a.text} {op} {b.text})", lambda env: float_result(t, f(a.value(env), b.value(env))))

    def truth(self, depth):
        """A condition."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.55:
            return self.comparison(depth)
        if kind < 0.65:
            a = self.truth(depth - 1)
            return Expression(f"!({a.text})", lambda env: not a.value(env))
        a, b = self.truth(depth - 1), self.truth(depth - 1)
        if kind < 0.78:
            return Expression(f"({a.text} && {b.text})", lambda env: a.value(env) and b.value(env))
        if kind < 0.91:
            return Expression(f"({a.text} || {b.text})", lambda env: a.value(env) or b.value(env))
        if kind < 0.95:
            c = self.truth(depth - 1)
            return Expression(f"(if {c.text} {{ {a.text} }} else {{ {b.text} }})", lambda env: a.value(env) if c.value(env) else b.value(env))
        op = self.rng.choice(["&", "|", "^", "==", "!="])
        f = {"&": lambda x, y: x and y, "|": lambda x, y: x or y, "^": lambda x, y: x != y, "==": lambda x, y: x == y, "!=": lambda x, y: x != y}[op]

        def both(env):
            x, y = a.value(env), b.value(env)
            return f(x, y)
        return Expression(f"({a.text} {op} {b.text})", both)

    def comparison(self, depth):
        op = self.rng.choice(list(COMPARE))
        f = COMPARE[op]
        if self.rng.random() < 0.1 and any(of in FLOATS for of in self.names.values()):
            t = self.rng.choice([of for of in self.names.values() if of in FLOATS])
            a, b = self.real(t, 1), self.real(t, 1)
            if not a.is_literal or not b.is_literal:
                return Expression(f"({a.text} {op} {b.text})", lambda env: f(a.value(env), b.value(env)))
        t = self.rng.choice(INTEGERS + ["int"] * 8)
        a = self.integer(t, depth)
        b = self.literal(t) if self.rng.random() < 0.5 else self.integer(t, depth)
        if a.is_literal and b.is_literal:
            a = self.leaf_of_name(t)
        return Expression(f"({a.text} {op} {b.text})", lambda env: f(a.value(env), b.value(env)))
