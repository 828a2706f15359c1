"""Random programs of sequential code in one block, each with what it means: the text, and a function of Python that does what the reference says.

An expression is its text, its type and a function of the environment; a statement its lines and a function. Python evaluates from left to right, so
that order, short circuits and effects come out as they are written. Integers are Python's own, brought back into their type after each operation.
"""
import random

import numpy as np

INTEGERS = {"i8": (8, True), "i16": (16, True), "i32": (32, True), "i64": (64, True), "u8": (8, False), "u16": (16, False), "u32": (32, False), "u64": (64, False)}
FLOATS = {"f32": np.float32, "f64": np.float64}
COMMON = ["i32", "i32", "i32", "i64", "u8", "i8", "u32", "i16", "f32", "f64"]
CELLS = 8  # elements of every memory
FUEL = 4   # turns of a `while`


class Break(Exception):
    pass


class Continue(Exception):
    pass


class Return(Exception):
    def __init__(self, value):
        self.value = value


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
    return wrap(t, int(x)) if t in INTEGERS else FLOATS[t](x)


def converted(source, to, x):
    """`x as to`."""
    if to in FLOATS:
        return FLOATS[to](x)
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
    "/": lambda t, a, b: kept(t, a // b), "%": lambda t, a, b: kept(t, a % b),
    "&": lambda t, a, b: wrap(t, a & b), "|": lambda t, a, b: wrap(t, a | b), "^": lambda t, a, b: wrap(t, a ^ b),
    "<<": lambda t, a, b: shifted(t, "<<", a, b), ">>": lambda t, a, b: shifted(t, ">>", a, b),
}
COMPARE = {"==": lambda a, b: a == b, "!=": lambda a, b: a != b, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, ">": lambda a, b: a > b, ">=": lambda a, b: a >= b}


class Expr:
    def __init__(self, text, t, run, is_literal=False):
        self.text, self.type, self.run, self.is_literal = text, t, run, is_literal


def typed(x):
    """What would be a literal with a type of its own."""
    return Expr(f"({x.text} as {x.type})", x.type, x.run) if x.is_literal else x


class Function:
    """Parameters are (name, direction, type) with `mem` for the type of memory; `run(arguments)` gets cells and lists for what is `inout`."""

    def __init__(self, name, parameters, result, text, run, generic=None, defaults=0):
        self.name, self.parameters, self.result, self.text, self.run = name, parameters, result, text, run
        self.generic, self.defaults = generic, defaults


class Scope:
    """Names that code may use: variables by type, and memories."""

    def __init__(self, variables, memories, constants=()):
        self.variables, self.memories, self.constants = list(variables), list(memories), list(constants)

    def inner(self):
        return Scope(self.variables, self.memories, self.constants)

    def readable(self, t):
        return [n for n, of in self.variables + self.constants if of == t]

    def writable(self, t):
        return [n for n, of in self.variables if of == t]

    def memories_of(self, t):
        return [n for n, of in self.memories if of == t]


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


class Program:
    def __init__(self, number):
        self.rng = random.Random(number)
        self.number, self.names = number, 0
        self.functions = []
        for _ in range(self.rng.randint(1, 4)):
            self.functions.append(self.function())
        self.kernel()

    def name(self, letter):
        self.names += 1
        return f"{letter}{self.number}_{self.names}"

    # ---- expressions

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
            if rng.random() < 0.3:
                return self.literal_call(t)
            v = rng.choice([0.5, 1.5, 2.0, 0.1, 3.25, 100.0, 0.3, 7.0])
            if rng.random() < 0.3:
                w = rng.choice([0.1, 3.0, 0.7])
                op = rng.choice("+-*/")
                both = {"+": v + w, "-": v - w, "*": v * w, "/": v / w}[op]
                return Expr(f"({v} {op} {w})", t, lambda e: FLOATS[t](both))
            return Expr(str(v), t, lambda e: FLOATS[t](v))
        v = rng.choice([0, 1, 2, 3, 7, greatest(t), 100, rng.randint(0, greatest(t))])
        v = -v if least(t) < 0 and rng.random() < 0.3 else v
        return Expr(f"({v})" if v < 0 else str(v), t, lambda e: v)

    def literal_call(self, t):
        v, w = self.rng.choice([0.1, 2.0, 3.0, 0.7, 10.0]), self.rng.choice([0.2, 2.5])
        text, value = self.rng.choice([(f"sqrt({v})", np.sqrt(np.float64(v))), (f"abs(-{v})", v), (f"min({v}, {w})", min(v, w)), (f"max({v}, {w})", max(v, w)),
                                       (f"third({v})", v / 3.0), (f"floor({v})", np.floor(v)), (f"clamp({v}, 0.25, {w})", min(max(v, 0.25), w))])
        return Expr(text, t, lambda e: FLOATS[t](value))

    def variable(self, scope, t):
        names = scope.readable(t)
        if not names:
            return self.literal(t)
        n = self.rng.choice(names)
        return Expr(n, t, lambda e: e[n].value)

    def place(self, scope, t):
        """An element: its text, and what finds memory and index."""
        memories = scope.memories_of(t)
        if not memories:
            return None
        m = self.rng.choice(memories)
        index = typed(self.expr(scope, self.rng.choice(["i32", "u8"]), 1))
        return f"{m}[({index.text} & {CELLS - 1}) as int]", lambda e: (e[m], index.run(e) & CELLS - 1)

    def element(self, scope, t):
        place = self.place(scope, t)
        if not place:
            return self.variable(scope, t)

        def run(e):
            memory, i = place[1](e)
            return memory[i]
        return Expr(place[0], t, run)

    def atomic(self, scope):
        memories = scope.memories_of("i32")
        place = self.place(scope, "i32")
        if not memories or not place:
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
        if depth <= 0 or kind < 0.35:
            t = rng.choice(COMMON)
            a, b = typed(self.expr(scope, t, depth - 1)), self.expr(scope, t, depth - 1)
            op = rng.choice(list(COMPARE))
            return Expr(f"({a.text} {op} {b.text})", "bool", lambda e: bool(COMPARE[op](a.run(e), b.run(e))))
        if kind < 0.85:
            a, b = self.condition(scope, depth - 1), self.condition(scope, depth - 1)
            if rng.random() < 0.5:
                return Expr(f"({a.text} && {b.text})", "bool", lambda e: a.run(e) and b.run(e))
            return Expr(f"({a.text} || {b.text})", "bool", lambda e: a.run(e) or b.run(e))
        if kind < 0.93:
            return self.guarded_division(scope)
        a = self.condition(scope, depth - 1)
        return Expr(f"(!{a.text})", "bool", lambda e: not a.run(e))

    def guarded_division(self, scope):
        d = typed(self.variable(scope, "i32"))
        a = self.variable(scope, "i32")  # what has an effect might set the divisor
        return Expr(f"({d.text} != 0 && {a.text} / {d.text} > 1)", "bool", lambda e: d.run(e) != 0 and wrap("i32", a.run(e) // d.run(e)) > 1)

    def choice(self, scope, t, depth):
        c, a, b = self.condition(scope, depth - 1), self.expr(scope, t, depth - 1), self.expr(scope, t, depth - 1)
        return Expr(f"(if {c.text} {{ {a.text} }} else {{ {b.text} }})", t, lambda e: a.run(e) if c.run(e) else b.run(e), a.is_literal and b.is_literal)

    def call(self, scope, t):
        fns = [f for f in self.functions if f.result == t or (f.generic and f.result == "T" and t in INTEGERS)]
        if not fns:
            return self.variable(scope, t)
        return self.call_of(scope, self.rng.choice(fns), t)

    def call_of(self, scope, f, t):
        texts, makers, used = [], [], set()
        for i, (name, direction, of) in enumerate(f.parameters):
            of = t if of == "T" else of
            if i >= len(f.parameters) - f.defaults and self.rng.random() < 0.5:
                makers.append(None)
                texts.append(None)
                continue
            made = self.argument(scope, direction, of, used)
            if made is None:
                return self.variable(scope, t) if t else None
            texts.append((name, made[0]))
            makers.append(made[1])
        order = [i for i, text in enumerate(texts) if text]
        is_named = self.rng.random() < 0.2
        if is_named:
            self.rng.shuffle(order)
        written = ", ".join(f"{texts[i][0]} = {texts[i][1]}" if is_named else texts[i][1] for i in order)

        def run(e):
            given, after = [None] * len(makers), []
            for i in order:
                given[i] = makers[i](e, after)
            # What stands in elements is read when the function begins.
            given = [g() if callable(g) else g for g in given]
            result = f.run(given, t)
            for write in after:
                write()
            return result
        return Expr(f"{f.name}({written})", t, run)

    def argument(self, scope, direction, of, used):
        rng = self.rng
        if of == "mem":
            names = [m for m in scope.memories_of("i32") if m not in used]
            if not names:
                return None
            m = rng.choice(names)
            used.add(m)
            return m, lambda e, after: e[m]
        if direction == "in":
            x = self.expr(scope, of, 1)
            return x.text, lambda e, after: x.run(e)
        names = [n for n in scope.writable(of) if n not in used]
        if names and rng.random() < 0.7:
            n = rng.choice(names)
            used.add(n)
            return n, lambda e, after: e[n]
        place = self.place(scope, of)
        if not place:
            return None

        def hand_over(e, after):
            memory, i = place[1](e)

            def begin():
                cell = Cell(memory[i])
                after.append(lambda: memory.__setitem__(i, cell.value))
                return cell
            return begin
        return place[0], hand_over

    def expr(self, scope, t, depth=2):
        rng = self.rng
        if t == "bool":
            return self.condition(scope, depth)
        kind = rng.random()
        if depth <= 0:
            return self.literal(t) if kind < 0.25 else self.variable(scope, t) if kind < 0.75 else self.element(scope, t)
        if kind < 0.3:
            return self.arithmetic(scope, t, depth)
        if kind < 0.5:
            return self.call(scope, t)
        if kind < 0.6:
            return self.choice(scope, t, depth)
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
            # Products have names of their own, as those in sums may be rounded once.
            op = self.rng.choice("+-")
            return Expr(f"({a.text} {op} {b.text})", t, lambda e: BINARY[op](t, a.run(e), b.run(e)))
        op = self.rng.choice(list(BINARY))
        if op in "/%":
            b = typed(b)
            return Expr(f"({a.text} {op} ({b.text} | 1))", t, lambda e: BINARY[op](t, a.run(e), b.run(e) | 1))
        if op in ("<<", ">>"):
            n = self.rng.randint(0, INTEGERS[t][0] - 1)
            return Expr(f"({a.text} {op} {n})", t, lambda e: BINARY[op](t, a.run(e), n))
        return Expr(f"({a.text} {op} {b.text})", t, lambda e: BINARY[op](t, a.run(e), b.run(e)))

    # ---- statements: (lines, run)

    def block(self, scope, depth, loop, result):
        scope = scope.inner()
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
        if kind < 0.55:
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
        b = self.block(scope, depth - 1, loop, result) if self.rng.random() < 0.6 else ([], lambda e: None)
        tail = [*(["} else {", *b[0]] if b[0] else []), "}"]
        return [f"if {c.text} {{", *a[0], *tail], lambda e: a[1](e) if c.run(e) else b[1](e)

    def counted(self, scope, depth, result):
        n = self.name("j")
        low, high = typed(self.expr(scope, "i32", 1)), typed(self.expr(scope, "i32", 1))
        body = self.block(scope, depth - 1, True, result)

        def run(e):
            a = low.run(e) & 3
            b = high.run(e) & 7
            for _ in range(a, b):
                if not goes_on(body[1], e):
                    break
        return [f"for {n} in ({low.text} & 3) as int..({high.text} & 7) as int {{", *body[0], "}"], run

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
            x = self.expr(scope, result, 1)

            def leave(e):
                if c.run(e):
                    raise Return(x.run(e))
            return [f"if {c.text} {{ return {x.text}; }}"], leave
        go = stop(Break if kind == "break" else Continue)
        return [f"if {c.text} {{ {kind}; }}"], lambda e: go(e) if c.run(e) else None

    def declaration(self, scope):
        t, n = self.rng.choice(COMMON), self.name("v")
        is_product = t in FLOATS and self.rng.random() < 0.4
        if is_product:
            a, b = typed(self.expr(scope, t, 1)), self.expr(scope, t, 1)
            x = Expr(f"{a.text} * {b.text}", t, lambda e: BINARY["*"](t, a.run(e), b.run(e)))
        else:
            x = self.expr(scope, t, 2)
        is_let = self.rng.random() < 0.4
        scope.variables.append((n, t)) if not is_let else scope.constants.append((n, t))
        word = f"let {n}: {t}" if is_let else f"var {n}: {t}"

        def run(e):
            e[n] = Cell(x.run(e))
        return [f"{word} = {x.text};"], run

    def statement_call(self, scope):
        f = self.rng.choice(self.functions) if self.functions else None
        t = self.rng.choice(["i32", "i64"]) if f and f.generic else f.result if f else None
        x = self.call_of(scope, f, t) if f else None
        if not x or not x.text.endswith(")") or x.text.startswith("("):
            return self.assignment(scope)
        return [f"{x.text};"], lambda e: x.run(e) and None

    def element_assignment(self, scope):
        if not scope.memories:
            return self.assignment(scope)
        t = self.rng.choice([t for _, t in scope.memories])
        place = self.place(scope, t)
        x = self.expr(scope, t, 2)
        op = self.rng.choice(["", "", "+", "-"])

        def run(e):
            memory, i = place[1](e)
            old = memory[i]
            value = x.run(e)
            memory[i] = BINARY[op](t, old, value) if op else value
        return [f"{place[0]} {op}= {x.text};"], run

    def assignment(self, scope):
        types = [t for n, t in scope.variables]
        if not types:
            return self.declaration(scope)
        t = self.rng.choice(types)
        n = self.rng.choice(scope.writable(t))
        x = self.expr(scope, t, 2)
        op = self.rng.choice(["", "", "+", "-"])

        def run(e):
            old = e[n].value
            value = x.run(e)
            e[n].value = BINARY[op](t, old, value) if op else value
        return [f"{n} {op}= {x.text};"], run

    # ---- declarations

    def function(self):
        rng = self.rng
        name, generic = self.name("g"), rng.random() < 0.25
        result = "T" if generic else rng.choice(["i32", "i32", "i64", "u8", "f32", "f64"])
        if generic:
            return self.generic_function(name)
        parameters, scope = [], Scope([], [])
        for _ in range(rng.randint(1, 3)):
            kind = rng.random()
            p = self.name("p")
            if kind < 0.25 and not scope.memories:
                parameters.append((p, "inout", "mem"))
                scope.memories.append((p, "i32"))
                continue
            of = rng.choice(["i32", "i32", "i64", "u8", "f32", "f64"])
            direction = "inout" if kind < 0.65 else "in"
            parameters.append((p, direction, of))
            (scope.variables if direction == "inout" else scope.constants).append((p, of))
        defaults, default = 0, None
        if rng.random() < 0.2:
            p = self.name("p")
            default = self.literal("i32")
            parameters.append((p, "in", "i32"))
            scope.constants.append((p, "i32"))
            defaults = 1
        body = self.block(scope, 2, False, result)
        last = self.expr(scope, result, 1)

        def run(given, t):
            e = {}
            for (p, direction, of), g in zip(parameters, given):
                value = default.run({}) if g is None else g
                e[p] = value if of == "mem" or direction == "inout" else Cell(value)
            try:
                body[1](e)
            except Return as r:
                return r.value
            return last.run(e)

        def written(i, p, direction, of):
            word = "inout " if direction == "inout" else ""
            tail = f" = {default.text}" if defaults and i == len(parameters) - 1 else ""
            return f"{word}{p}: {'i32[' + str(CELLS) + ']' if of == 'mem' else of}{tail}"
        header = ", ".join(written(i, *p) for i, p in enumerate(parameters))
        text = "\n".join([f"fn {name}({header}) -> {result} {{", *body[0], f"    return {last.text};", "}"])
        return Function(name, parameters, result, text, run, defaults=defaults)

    def generic_function(self, name):
        op, turn = self.rng.choice("+-^&|*"), self.rng.choice("+-^")

        def run(given, t):
            a, cell = given
            if a > cell.value:
                cell.value = BINARY[turn](t, cell.value, a)
                return cell.value
            cell.value = BINARY[op](t, cell.value, 3)
            return BINARY[op](t, a, cell.value)
        text = (f"fn {name}[T: integer](a: T, inout b: T) -> T {{\n    if a > b {{ b = b {turn} a; return b; }}\n"
                f"    b = b {op} 3;\n    return a {op} b;\n}}")
        return Function(name, [("a", "in", "T"), ("b", "inout", "T")], "T", text, run, generic=True)

    def kernel(self):
        memories = [("A", "i32"), ("B", "i32"), ("F", "f32"), ("D", "f64"), ("s", "i32")]
        numbers = [("n", "i32"), ("m", "i64"), ("x", "f32"), ("y", "f64")]
        scope = Scope([], memories, numbers)
        first = [self.declaration(scope) for _ in range(2)]
        body = self.block(scope, 3, False, None)
        lines = [f"        {line}" for line in [*(line for ls, _ in first for line in ls), *body[0]]]
        tiles = self.tiles()
        lines += [f"        {line}" for line in tiles[0]]
        body_run = body[1]

        def run(data):
            e = dict(data)
            for n, _ in numbers:
                e[n] = Cell(data[n])
            e["s"] = [0] * CELLS
            for _, go in first:
                go(e)
            body_run(e)
            tiles[1](e)
        self.run = run
        tensors = ", ".join(f"inout {m}: {t}[{CELLS}]" for m, t in memories if m != "s")
        self.text = "\n".join([*(f.text for f in self.functions),
                               f"export kernel k{self.number}({tensors}, {', '.join(f'{n}: {t}' for n, t in numbers)}) {{",
                               "    launch (block in 1) {", f"        var s: shared i32[{CELLS}] = 0;", *lines, "    }", "}", ""])

    # ---- whole tiles: what effects do between their operands

    def tiles(self):
        scope = Scope([("t", "tile")], [("A", "i32"), ("B", "i32"), ("s", "i32")])
        statements = [self.tile_statement(scope) for _ in range(self.rng.randint(1, 4))]
        lines = ["var t: fragment i32[8] = A.tile(0);", *(line for ls, _ in statements for line in ls), "B.tile(0) = t;"]

        def run(e):
            e["t"] = Cell(list(e["A"]))
            for _, go in statements:
                go(e)
            e["B"][:] = e["t"].value
        return lines, run

    def tile_statement(self, scope):
        x = self.tile_expr(2)
        rng = self.rng
        where = rng.choice(["t", "t", "s", "A", "part"])
        if where == "part":
            y = self.tile_expr(1)
            k = rng.randint(0, 4)

            def run_part(e):
                old = e["t"].value[k:k + 4]
                new = [wrap("i32", a + b) for a, b in zip(old, y.run(e)[:4])]
                e["t"].value = e["t"].value[:k] + new + e["t"].value[k + 4:]
            return [f"t[{k} +: 4] += ({y.text})[0 +: 4];"], run_part

        def run(e):
            value = x.run(e)
            if where == "t":
                e["t"].value = list(value)
            else:
                e[where][:] = list(value)
        return [f"{'A.tile(0)' if where == 'A' else where} = {x.text};"], run

    def tile_expr(self, depth):
        rng = self.rng
        kind = rng.random()
        if depth == 0 or kind < 0.3:
            n = rng.choice(["t", "s", "A[0 +: 8]", "B.tile[8](0)"])
            m = n[0]
            return Expr(n, "tile", lambda e: list(e[m].value if m == "t" else e[m]))
        a, b = self.tile_expr(depth - 1), self.tile_expr(depth - 1)
        if kind < 0.55:
            op = rng.choice("+-^")
            return Expr(f"({a.text} {op} {b.text})", "tile", lambda e: [BINARY[op]("i32", p, q) for p, q in zip(a.run(e), b.run(e))])
        if kind < 0.7:
            m = rng.choice("AB")
            c = rng.randint(1, 9)

            def bump(e):
                e[m][:] = [wrap("i32", v + c) for v in e[m]]
                return [wrap("i32", v * 2) for v in e[m]]
            return Expr(f"bump_tile({m}, {c})", "tile", bump)
        if kind < 0.8:
            def change(e):
                e["t"].value = [wrap("i32", v + 5) for v in e["t"].value]
                return list(e["t"].value)
            return Expr("change_tile(t)", "tile", change)
        if kind < 0.9:
            return Expr(f"(if n > 2 {{ {a.text} }} else {{ {b.text} }})", "tile", lambda e: a.run(e) if e["n"].value > 2 else b.run(e))
        p, q = self.plain_tile(), self.plain_tile()
        return Expr(f"(if {p.text} == 0 {{ 1 }} else {{ {q.text} / {p.text} }})", "tile",
                    lambda e: [1 if d == 0 else wrap("i32", v // d) for d, v in zip(p.run(e), q.run(e))])

    def plain_tile(self):
        n = self.rng.choice(["t", "s", "A.tile[8](0)"])
        return Expr(n, "tile", lambda e: list(e[n[0]].value if n == "t" else e[n[0]]))


PRELUDE = """fn third[T: float](x: T) -> T { return x / 3; }
fn bump_tile(inout m: i32[8], by: i32) -> fragment i32[8] { m[0 +: 8] = m[0 +: 8] + by; return m[0 +: 8] * 2; }
fn change_tile(inout t: fragment i32[8]) -> fragment i32[8] { t = t + 5; return t; }
"""


def data(rng):
    """Arguments of a call."""
    small = lambda: rng.choice([0, 1, 2, 3, -1, 5, 12, -7, 100, rng.randint(-(1 << 31), (1 << 31) - 1)])
    return {"A": [small() for _ in range(CELLS)], "B": [small() for _ in range(CELLS)],
            "F": [np.float32(rng.choice([0, 1, -2.5, 0.1, 3e5])) for _ in range(CELLS)], "D": [np.float64(rng.choice([0, 1, -2.5, 0.1, 1e10])) for _ in range(CELLS)],
            "n": small(), "m": rng.choice([0, 1, -5, 1 << 40, (1 << 63) - 1]), "x": np.float32(rng.choice([0, 0.5, -3, 1e9])), "y": np.float64(rng.choice([0, 0.5, -3, 1e18]))}
