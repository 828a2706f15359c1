"""Random sequential code, each piece with what it means: an expression is its text, its type and a function of the environment; a statement its
lines and a function. Python evaluates from left to right, so that order, short circuits and effects come out as they are written.

The environment has a `Cell` for each variable and a list for each memory, by keys that no other has; what the text calls them may be shadowed.
"""
import numpy as np

from values import BINARY, COMPARE, FLOATS, INTEGERS, converted, greater, greatest, kept, least, smaller, wrap

COMMON = ["i32", "i32", "i32", "i64", "u8", "i8", "u32", "i16", "u16", "u64", "f32", "f64", "f16", "bf16", "bool", "bool"]
FUEL = 4      # turns of a `while`
DEEPEST = 14  # expressions in expressions


class Break(Exception):
    pass


class Continue(Exception):
    pass


class Return(Exception):
    def __init__(self, value):
        self.value = value


class Expr:
    def __init__(self, text, t, run, is_literal=False):
        self.text, self.type, self.run, self.is_literal = text, t, run, is_literal


def typed(x):
    """What would be a literal with a type of its own."""
    return Expr(f"({x.text} as {x.type})", x.type, x.run) if x.is_literal else x


class Key(str):
    """A key of the environment with the name that the text has for it."""
    def __new__(cls, key, text=None):
        made = super().__new__(cls, key)
        made.text = text or key
        return made


class Memory:
    """A memory of `cells` elements. With `index` code may only touch that element: a text, and a function of the environment."""

    def __init__(self, key, t, cells, index=None, is_written=True, is_argument=True):
        self.key, self.type, self.cells, self.index = key, t, cells, index
        self.is_written, self.is_argument = is_written, is_argument


class Scope:
    """Names that code may use: (key, type) of variables and of constants, and memories. Without an order no atomic has a result."""

    def __init__(self, variables=(), memories=(), constants=(), has_order=True):
        self.variables, self.memories, self.constants, self.own = list(variables), list(memories), list(constants), set()
        self.has_order = has_order

    def inner(self):
        return Scope(self.variables, self.memories, self.constants, self.has_order)

    def add(self, key, t, is_constant):
        """What had the same text is out of sight."""
        self.variables = [v for v in self.variables if v[0].text != key.text]
        self.constants = [v for v in self.constants if v[0].text != key.text]
        (self.constants if is_constant else self.variables).append((key, t))
        self.own.add(key.text)

    def readable(self, t):
        return [n for n, of in self.variables + self.constants if of == t]

    def writable(self, t):
        return [n for n, of in self.variables if of == t]


def goes_on(body, e):
    """A turn of a loop; whether others may follow."""
    try:
        body(e)
    except Break:
        return False
    except Continue:
        pass
    return True


class Cell:
    """A variable: what `inout` hands over."""

    def __init__(self, value):
        self.value = value


class Expressions:
    # What has it: rng, functions, name(letter)

    def literal(self, t):
        x = self.literal_of(t)
        x.is_literal = t != "bool"
        return x

    def literal_of(self, t):
        rng = self.rng
        if t == "bool":
            v = rng.random() < 0.5
            return Expr("true" if v else "false", t, lambda e: v)
        if t in FLOATS:
            return self.float_literal(t)
        v = rng.choice([0, 1, 2, 3, 7, greatest(t), 100, rng.randint(0, greatest(t))])
        v = -v if least(t) < 0 and rng.random() < 0.3 else v
        text = rng.choice([str, str, str, hex, bin])(abs(v))
        return Expr(f"(-{text})" if v < 0 else text, t, lambda e: v)

    def float_literal(self, t):
        rng = self.rng
        if rng.random() < 0.3:
            return self.literal_call(t)
        v = rng.choice([0.5, 1.5, 2.0, 0.1, 3.25, 100.0, 0.3, 7.0, 1e-3])
        if rng.random() < 0.3:
            w = rng.choice([0.1, 3.0, 0.7])
            op = rng.choice("+-*/")
            both = {"+": v + w, "-": v - w, "*": v * w, "/": v / w}[op]
            return Expr(f"({v} {op} {w})", t, lambda e: FLOATS[t](both))
        return Expr(str(v), t, lambda e: FLOATS[t](v))

    def literal_call(self, t):
        v, w = self.rng.choice([0.1, 2.0, 3.0, 0.7, 10.0]), self.rng.choice([0.2, 2.5])
        text, value = self.rng.choice([(f"sqrt({v})", np.sqrt(np.float64(v))), (f"abs(-{v})", v), (f"min({v}, {w})", min(v, w)), (f"max({v}, {w})", max(v, w)),
                                       (f"third({v})", v / 3.0), (f"floor({v})", np.floor(v)), (f"clamp({v}, 0.25, {w})", min(max(v, 0.25), w)),
                                       (f"third(third({v}) + {w})", (v / 3.0 + w) / 3.0), (f"twice({v}) / {w}", 2 * v / w)])
        return Expr(f"({text})", t, lambda e: FLOATS[t](value))

    def made_of_literals(self, scope, t):
        """A literal that conditions choose and functions compute: in f64, or in `int`, rounded once."""
        text, run = self.float_tree(scope, t, 2) if t in FLOATS else self.whole_tree(scope, 2)
        return Expr(text, t, (lambda e: FLOATS[t](run(e))) if t in FLOATS else run, True)

    def chosen(self, scope, a, b):
        c = self.condition(scope, 0)
        text = self.rng.choice(["(if {c} {{ {a} }} else {{ {b} }})", "select({c}, {a}, {b})", "either({c}, {a}, {b})"])
        if text[0] == "(":
            return text.format(c=c.text, a=a[0], b=b[0]), lambda e: a[1](e) if c.run(e) else b[1](e)

        def run(e):
            is_first, x, y = c.run(e), a[1](e), b[1](e)
            return x if is_first else y
        return text.format(c=c.text, a=a[0], b=b[0]), run

    def float_tree(self, scope, t, depth):
        rng = self.rng
        if depth == 0:
            v = rng.choice([0.1, 0.3, 2.0, 0.7, 3, 1.00048828126] + [16777217.0] * (t != "f16"))
            return str(v), lambda e: np.float64(v)
        a, b = self.float_tree(scope, t, depth - 1), self.float_tree(scope, t, 0)
        if rng.random() < 0.5:
            return self.chosen(scope, a, b)
        # Where both are whole, the division would cut.
        text, run = rng.choice([("({a} + {b})", np.add), ("({a} - {b})", np.subtract), ("({a} * {b})", np.multiply), ("({a} / 0.3)", lambda x, y: x / 0.3),
                                ("max({a}, {b})", np.maximum), ("sqrt(abs({a}))", lambda x, y: np.sqrt(abs(x))), ("(-{a})", lambda x, y: -x),
                                ("third({a} + 0.5)", lambda x, y: (x + 0.5) / 3.0)])
        if t == "f64" and text == "({a} * {b})":  # a product and the sum behind it may be rounded once
            text, run = "({a} * 2.0)", lambda x, y: x * 2
        return text.format(a=a[0], b=b[0]), lambda e: run(np.float64(a[1](e)), np.float64(b[1](e)))

    def whole_tree(self, scope, depth):
        rng = self.rng
        if depth == 0:
            v = rng.randint(0, 4)
            return str(v), lambda e: v
        a, b = self.whole_tree(scope, depth - 1), self.whole_tree(scope, 0)
        if rng.random() < 0.6:
            return self.chosen(scope, a, b)
        op = rng.choice("+*|")
        return f"({a[0]} {op} {b[0]})", lambda e: {"+": int.__add__, "*": int.__mul__, "|": int.__or__}[op](a[1](e), b[1](e))

    def variable(self, scope, t):
        names = scope.readable(t)
        if not names:
            return self.literal(t)
        n = self.rng.choice(names)
        return Expr(n.text, t, lambda e: e[n].value)

    def place(self, scope, t, is_written=True):
        """An element: its text, and what finds memory and index."""
        memories = [m for m in scope.memories if m.type == t and (m.is_written or not is_written)]
        if not memories:
            return None
        m = self.rng.choice(memories)
        if m.index:
            return f"{m.key.text}[{m.index[0]}]", lambda e: (e[m.key], m.index[1](e))
        index = typed(self.expr(scope, self.rng.choice(["i32", "u8", "i64"]), 1))
        mask = m.cells - 1
        return f"{m.key.text}[({index.text} & {mask}) as int]", lambda e: (e[m.key], index.run(e) & mask)

    def element(self, scope, t):
        place = self.place(scope, t, is_written=False)
        if not place:
            return self.variable(scope, t)

        def run(e):
            memory, i = place[1](e)
            return memory[i]
        return Expr(place[0], t, run)

    def atomic(self, scope):
        place = self.place(scope, "i32") if scope.has_order else None
        if not place:
            return self.variable(scope, "i32")
        fn = self.rng.choice(["add", "max", "min", "and", "or", "xor", "exchange", "compare_exchange"])
        args = [self.expr(scope, "i32", 1) for _ in range(2 if fn == "compare_exchange" else 1)]

        def run(e):
            memory, i = place[1](e)
            v = [a.run(e) for a in args]
            old = memory[i]
            new = {"add": lambda: wrap("i32", old + v[0]), "max": lambda: max(old, v[0]), "min": lambda: min(old, v[0]), "and": lambda: old & v[0],
                   "or": lambda: old | v[0], "xor": lambda: old ^ v[0], "exchange": lambda: v[0],
                   "compare_exchange": lambda: v[1] if old == v[0] else old}[fn]()
            memory[i] = new
            return old
        return Expr(f"atomic_{fn}({place[0]}, {', '.join(a.text for a in args)})", "i32", run)

    def condition(self, scope, depth):
        rng = self.rng
        kind = rng.random()
        if depth <= 0 or kind < 0.3:
            t = rng.choice(COMMON[:-2])
            a, b = typed(self.expr(scope, t, depth - 1)), self.expr(scope, t, depth - 1)
            op = rng.choice(list(COMPARE))
            return Expr(f"({a.text} {op} {b.text})", "bool", lambda e: bool(COMPARE[op](a.run(e), b.run(e))))
        if kind < 0.7:
            a, b = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            if rng.random() < 0.5:
                return Expr(f"({a.text} && {b.text})", "bool", lambda e: a.run(e) and b.run(e))
            return Expr(f"({a.text} || {b.text})", "bool", lambda e: a.run(e) or b.run(e))
        if kind < 0.78:
            return self.guarded_division(scope)
        if kind < 0.86:
            return self.call(scope, "bool")
        if kind < 0.93:
            return self.variable(scope, "bool")
        a = self.condition(scope, depth - 1)
        return Expr(f"(!{a.text})", "bool", lambda e: not a.run(e))

    def guarded_division(self, scope):
        d = typed(self.variable(scope, "i32"))
        a = self.variable(scope, "i32")  # what has an effect might set the divisor
        return Expr(f"({d.text} != 0 && {a.text} / {d.text} > 1)", "bool", lambda e: d.run(e) != 0 and wrap("i32", a.run(e) // d.run(e)) > 1)

    def choice(self, scope, t, depth):
        c, a, b = self.condition(scope, depth - 1), self.expr(scope, t, depth - 1), self.expr(scope, t, depth - 1)
        is_literal = a.is_literal and b.is_literal and t != "bool"
        if self.rng.random() < 0.25:
            d, m = self.condition(scope, 0), self.expr(scope, t, depth - 1)
            text = f"(if {c.text} {{ {a.text} }} else if {d.text} {{ {m.text} }} else {{ {b.text} }})"
            return Expr(text, t, lambda e: a.run(e) if c.run(e) else m.run(e) if d.run(e) else b.run(e), is_literal and m.is_literal)
        return Expr(f"(if {c.text} {{ {a.text} }} else {{ {b.text} }})", t, lambda e: a.run(e) if c.run(e) else b.run(e), is_literal)

    def library(self, scope, t, depth):
        """A call of a function on numbers."""
        rng = self.rng
        if t == "bool":
            return self.condition(scope, depth)
        a, b = typed(self.expr(scope, t, depth - 1)), typed(self.expr(scope, t, depth - 1))
        kind = rng.choice(["min", "max", "select", "negative", "abs"])
        if kind == "min":
            return Expr(f"min({a.text}, {b.text})", t, lambda e: smaller(t, a.run(e), b.run(e)))
        if kind == "max":
            return Expr(f"max({a.text}, {b.text})", t, lambda e: greater(t, a.run(e), b.run(e)))
        if kind == "select":
            c = self.condition(scope, 1)

            def run(e):
                chosen, p, q = c.run(e), a.run(e), b.run(e)
                return p if chosen else q
            return Expr(f"select({c.text}, {a.text}, {b.text})", t, run)
        if kind == "abs" and not t.startswith("u"):
            return Expr(f"abs({a.text})", t, lambda e: kept(t, abs(a.run(e))))
        return Expr(f"(-{a.text})", t, lambda e: kept(t, -a.run(e))) if not t.startswith("u") else Expr(f"(~{a.text})", t, lambda e: wrap(t, ~a.run(e)))

    def expr(self, scope, t, depth=2):
        """Arguments and indices begin anew with a depth, but not for ever."""
        self.nested += 1
        x = self.expr_of(scope, t, depth) if self.nested < DEEPEST else self.variable(scope, t)
        self.nested -= 1
        return x

    def expr_of(self, scope, t, depth):
        rng = self.rng
        if t == "bool":
            return self.condition(scope, depth)
        if depth > 0 and rng.random() < 0.05:
            return self.made_of_literals(scope, t)
        kind = rng.random()
        if depth <= 0:
            return self.literal(t) if kind < 0.25 else self.variable(scope, t) if kind < 0.75 else self.element(scope, t)
        if kind < 0.25:
            return self.arithmetic(scope, t, depth)
        if kind < 0.45:
            return self.call(scope, t)
        if kind < 0.55:
            return self.choice(scope, t, depth)
        if kind < 0.6:
            return self.library(scope, t, depth)
        if kind < 0.7 and t == "i32":
            return self.atomic(scope)
        if kind < 0.8:
            source = rng.choice(COMMON)
            x = typed(self.expr(scope, source, depth - 1))
            return Expr(f"({x.text} as {t})", t, lambda e: converted(source, t, x.run(e)))
        return self.element(scope, t) if kind < 0.92 else self.variable(scope, t)

    def arithmetic(self, scope, t, depth):
        a, b = typed(self.expr(scope, t, depth - 1)), self.expr(scope, t, depth - 1)
        if t in FLOATS:
            # Products of f32 and f64 have names of their own, as those in sums may be rounded once.
            op = self.rng.choice("+-*" if t in ("f16", "bf16") else "+-")
            return Expr(f"({a.text} {op} {b.text})", t, lambda e: BINARY[op](t, a.run(e), b.run(e)))
        op = self.rng.choice(list(BINARY))
        if op in "/%":
            b = typed(b)
            return Expr(f"({a.text} {op} ({b.text} | 1))", t, lambda e: BINARY[op](t, a.run(e), b.run(e) | 1))
        if op in ("<<", ">>"):
            if self.rng.random() < 0.5:
                n = self.rng.randint(0, INTEGERS[t][0] - 1)
                b = Expr(str(n), t, lambda e: n)
            b = Expr(f"({b.text} as {t})", t, b.run) if b.is_literal else b  # what a literal says must be less than the width
            return Expr(f"({a.text} {op} {b.text})", t, lambda e: BINARY[op](t, a.run(e), b.run(e)))
        return Expr(f"({a.text} {op} {b.text})", t, lambda e: BINARY[op](t, a.run(e), b.run(e)))


class Statements:
    # A statement is (lines, run)

    def block(self, scope, depth, loop, result):
        return self.statements(scope.inner(), depth, loop, result)

    def statements(self, scope, depth, loop, result):
        all_ = [self.statement(scope, depth, loop, result) for _ in range(self.rng.randint(1, 4))]
        lines = ["    " + line for lines, _ in all_ for line in lines]

        def run(e):
            for _, go in all_:
                go(e)
        return lines, run

    def statement(self, scope, depth, loop, result):
        rng = self.rng
        kind = rng.random()
        if depth > 0 and kind < 0.2:
            return self.branch(scope, depth, loop, result)
        if depth > 0 and kind < 0.28:
            return self.counted(scope, depth, result)
        if depth > 0 and kind < 0.36:
            return self.endless(scope, depth, result)
        if kind < 0.42 and (loop or result is not None):
            return self.leave(scope, loop, result)
        if kind < 0.5:
            return self.declaration(scope)
        if kind < 0.56:
            return self.statement_call(scope)
        if kind < 0.6 and depth > 0:
            lines, run = self.block(scope, depth - 1, loop, result)
            return ["{", *lines, "}"], run
        if kind < 0.75:
            return self.element_assignment(scope)
        return self.assignment(scope)

    def branch(self, scope, depth, loop, result):
        c = self.condition(scope, 2)
        a = self.block(scope, depth - 1, loop, result)
        kind = self.rng.random()
        b = self.block(scope, depth - 1, loop, result) if kind < 0.6 else ([], lambda e: None)
        tail = [*(["} else {", *b[0]] if b[0] else []), "}"]
        if kind < 0.8:
            return [f"if {c.text} {{", *a[0], *tail], lambda e: a[1](e) if c.run(e) else b[1](e)
        d, m = self.condition(scope, 1), self.block(scope, depth - 1, loop, result)
        lines = [f"if {c.text} {{", *a[0], f"}} else if {d.text} {{", *m[0], *tail]
        return lines, lambda e: a[1](e) if c.run(e) else m[1](e) if d.run(e) else b[1](e)

    def counted(self, scope, depth, result):
        rng = self.rng
        kind = rng.random()
        if kind < 0.2:
            return self.listed(scope, depth, result)
        if kind < 0.35:
            return self.spread(scope, depth, result)
        inner, n = scope.inner(), Key(self.name("j"))
        low, high = typed(self.expr(scope, "i32", 1)), typed(self.expr(scope, "i32", 1))
        step = typed(self.expr(scope, "u8", 1)) if rng.random() < 0.3 else None
        inner.add(n, "int", True)
        body = self.block(inner, depth - 1, True, result)

        def run(e):
            a = low.run(e) & 3
            b = high.run(e) & 7
            by = (step.run(e) & 3) + 1 if step else 1
            for i in range(a, b, by):
                e[n] = Cell(i)
                if not goes_on(body[1], e):
                    break
        a, b = f"({low.text} & 3) as int", f"({high.text} & 7) as int"
        ends = f"range({a}, {b}, ({step.text} & 3) as int + 1)" if step else f"{a}..{b}"
        return [f"for {n.text} in {ends} {{", *body[0], "}"], run

    def listed(self, scope, depth, result):
        """A loop over values that are known at compile time."""
        inner, n = scope.inner(), Key(self.name("j"))
        values = [self.rng.randint(0, 9) for _ in range(self.rng.randint(1, 3))]
        inner.add(n, "int", True)
        body = self.block(inner, depth - 1, True, result)

        def run(e):
            for v in values:
                e[n] = Cell(v)
                if not goes_on(body[1], e):
                    break
        return [f"for {n.text} in [{', '.join(map(str, values))}] {{", *body[0], "}"], run

    def spread(self, scope, depth, result):
        """A loop that says how to compile it."""
        inner, n = scope.inner(), Key(self.name("j"))
        kind, turns = self.rng.choice(["unroll", "vectorized", "pipelined"]), self.rng.randint(0, 4)
        inner.add(n, "int", True)
        body = self.block(inner, depth - 1, True, result)

        def run(e):
            for i in range(turns):
                e[n] = Cell(i)
                if not goes_on(body[1], e):
                    break
        return [f"for {n.text} in {kind}({turns}) {{", *body[0], "}"], run

    def endless(self, scope, depth, result):
        n = self.name("fuel")
        inner = scope.inner()
        c = self.condition(inner, 2)
        body = self.block(inner, depth - 1, True, result)
        lines = [f"var {n}: i32 = 0;", f"while {c.text} {{", f"    {n} += 1;", f"    if {n} > {FUEL} {{ break; }}", *body[0], "}"]

        def run(e):
            turns = 0
            while c.run(e):
                turns += 1
                if turns > FUEL or not goes_on(body[1], e):
                    break
        return lines, run

    def leave(self, scope, loop, result):
        def stop(what):
            def run(e):
                raise what()
            return run
        c = self.condition(scope, 1)
        kinds = (["break", "continue"] if loop else []) + (["return"] if result is not None else [])
        kind = self.rng.choice(kinds)
        if kind == "return":
            x = self.expr(scope, result, 1) if result != "nothing" else Expr("", result, lambda e: None)

            def leave(e):
                if c.run(e):
                    raise Return(x.run(e))
            return [f"if {c.text} {{ return {x.text}; }}".replace(" ;", ";")], leave
        go = stop(Break if kind == "break" else Continue)
        return [f"if {c.text} {{ {kind}; }}"], lambda e: go(e) if c.run(e) else None

    def declaration(self, scope):
        t, n = self.rng.choice(COMMON), self.new_name(scope)
        is_product = t in ("f32", "f64") and self.rng.random() < 0.4
        if is_product:
            a, b = typed(self.expr(scope, t, 1)), self.expr(scope, t, 1)
            x = Expr(f"{a.text} * {b.text}", t, lambda e: BINARY["*"](t, a.run(e), b.run(e)))
        else:
            x = self.expr(scope, t, 2)
        is_let = self.rng.random() < 0.4
        scope.add(n, t, is_let)
        word = f"let {n.text}: {t}" if is_let else f"var {n.text}: {t}"

        def run(e):
            e[n] = Cell(x.run(e))
        return [f"{word} = {x.text};"], run

    def new_name(self, scope):
        """A name, now and then one that a scope around has as well."""
        key = self.name("v")
        hidden = [n.text for n, t in scope.variables + scope.constants if n.text not in scope.own and t != "int"]
        return Key(key, self.rng.choice(hidden)) if hidden and self.rng.random() < 0.2 else Key(key)

    def statement_call(self, scope):
        f = self.rng.choice(self.functions) if self.functions else None
        x = self.call_of(scope, f, self.rng.choice(["i32", "i64"]) if f.is_generic else f.result) if f else None
        if not x or not x.text.endswith(")") or x.text.startswith("("):
            return self.assignment(scope)
        return [f"{x.text};"], lambda e: x.run(e) and None

    def element_assignment(self, scope):
        types = [m.type for m in scope.memories if m.is_written]
        if not types:
            return self.assignment(scope)
        t = self.rng.choice(types)
        place = self.place(scope, t)
        x, op = self.assigned(scope, t)

        def run(e):
            memory, i = place[1](e)
            old = memory[i]
            value = x.run(e)
            memory[i] = BINARY[op](t, old, value) if op else value
        return [f"{place[0]} {op}= {x.text};"], run

    def assigned(self, scope, t):
        """The right side of an assignment, and its operator."""
        x = self.expr(scope, t, 2)
        if t == "bool" or self.rng.random() < 0.4:
            return x, ""
        if t in FLOATS:
            # `a += b * c` may be rounded once.
            return x, self.rng.choice("+-")
        op = self.rng.choice(["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"])
        if op in "/%":
            x = typed(x)
            return Expr(f"({x.text} | 1)", t, lambda e: x.run(e) | 1), op
        return (typed(x) if op in ("<<", ">>") else x), op

    def assignment(self, scope):
        types = [t for _, t in scope.variables]
        if not types:
            return self.declaration(scope)
        t = self.rng.choice(types)
        n = self.rng.choice(scope.writable(t))
        x, op = self.assigned(scope, t)

        def run(e):
            old = e[n].value
            value = x.run(e)
            e[n].value = BINARY[op](t, old, value) if op else value
        return [f"{n.text} {op}= {x.text};"], run
