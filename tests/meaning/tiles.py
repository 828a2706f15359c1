"""Random statements on whole tiles of integers: what effects do between their operands."""
from scalars import Cell, Expr
from values import BINARY, wrap


ROWS, COLUMNS = 2, 4
REDUCTIONS = {"sum": lambda v: wrap("i32", sum(v)), "max": max, "min": min, "argmax": lambda v: v.index(max(v)), "argmin": lambda v: v.index(min(v))}


def rows_of(v):
    return [v[r * COLUMNS:(r + 1) * COLUMNS] for r in range(ROWS)]


class Tiles:
    """Tiles t of 8 elements, u of 2 x 4, w of 2; of u Python has the elements row by row."""

    def tiles(self):
        self.lets = []
        statements = self.tile_block(2)
        lines = ["{", "    var t: fragment i32[8] = A.tile(0);", "    var u: fragment i32[2, 4] = 1;", "    var w: fragment i32[2] = B[2 +: 2];", *statements[0],
                 "    B.tile(0) = t ^ u.reshape[8];", "    A[3 +: 2] = w;", "}"]

        def run(e):
            e["t"], e["u"], e["w"] = Cell(list(e["A"])), Cell([1] * 8), Cell(list(e["B"][2:4]))
            statements[1](e)
            e["B"][:] = [p ^ q for p, q in zip(e["t"].value, e["u"].value)]
            e["A"][3:5] = e["w"].value
        return lines, run

    def tile_block(self, depth):
        outer = list(self.lets)
        all_ = [self.tile_statement(depth) for _ in range(self.rng.randint(1, 4))]
        self.lets = outer

        def run(e):
            for _, go in all_:
                go(e)
        return ["    " + line for lines, _ in all_ for line in lines], run

    def tile_statement(self, depth):
        rng = self.rng
        kind = rng.random()
        if depth and kind < 0.12:
            return self.tile_branch(depth)
        if depth and kind < 0.24:
            return self.tile_loop(depth)
        if kind < 0.34:
            return self.tile_let()
        if kind < 0.48:
            return self.square_statement()
        x = self.tile_expr(2)
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
        if depth == 0 or kind < 0.25:
            n = rng.choice(["t", "s", "A[0 +: 8]", "B.tile[8](0)", "u.reshape[8]", *self.lets])
            m = n if n in self.lets else n[0]
            return Expr(n, "tile", lambda e: list(e[m].value if m[0] in "tuk" else e[m]))
        if kind < 0.33:
            return self.turned(depth)
        if kind < 0.41:
            return self.reduced(depth)
        a, b = self.tile_expr(depth - 1), self.tile_expr(depth - 1)
        if kind < 0.47:
            return self.open_tile(a)
        if kind < 0.6:
            op = rng.choice("+-^")
            return Expr(f"({a.text} {op} {b.text})", "tile", lambda e: [BINARY[op]("i32", p, q) for p, q in zip(a.run(e), b.run(e))])
        if kind < 0.7:
            m = rng.choice("AB")
            c = rng.randint(1, 9)

            def bump(e):
                e[m][:] = [wrap("i32", v + c) for v in e[m]]
                return [wrap("i32", v * 2) for v in e[m]]
            return Expr(f"bump_tile({m}, {c})", "tile", bump)
        if kind < 0.78:
            def change(e):
                e["t"].value = [wrap("i32", v + 5) for v in e["t"].value]
                return list(e["t"].value)
            return Expr("change_tile(t)", "tile", change)
        if kind < 0.86:
            return Expr(f"(if n > 2 {{ {a.text} }} else {{ {b.text} }})", "tile", lambda e: a.run(e) if e["n"].value > 2 else b.run(e))
        if kind < 0.91:
            return self.early(a)
        p, q = self.plain_tile(), self.plain_tile()
        if kind < 0.95:
            return Expr(f"(if {p.text} != 0 && {q.text} / {p.text} > 1 {{ {p.text} }} else {{ 7 }})", "tile",
                        lambda e: [d if d != 0 and wrap("i32", v // d) > 1 else 7 for d, v in zip(p.run(e), q.run(e))])
        return Expr(f"(if {p.text} == 0 {{ 1 }} else {{ {q.text} / {p.text} }})", "tile",
                    lambda e: [1 if d == 0 else wrap("i32", v // d) for d, v in zip(p.run(e), q.run(e))])

    def turned(self, depth):
        """Another order of the elements, through a tile of two axes."""
        x = self.tile_expr(depth - 1)
        rows = self.rng.choice([2, 4])
        columns = 8 // rows

        def run(e):
            v = x.run(e)
            return [v[r * columns + c] for c in range(columns) for r in range(rows)]
        return Expr(f"({x.text}).reshape[{rows}, {columns}].T.reshape[8]", "tile", run)

    def reduced(self, depth):
        """A line's sum, maximum or index beside each of its elements."""
        x, rng = self.tile_expr(depth - 1), self.rng
        fn = rng.choice(["sum", "max", "min", "argmax", "cumsum"])
        of = REDUCTIONS.get(fn)

        def run(e):
            v = x.run(e)
            lines = [v[i:i + 4] for i in (0, 4)]
            if fn == "cumsum":
                return [wrap("i32", sum(line[:i + 1])) for line in lines for i in range(4)]
            return [of(line) for line in lines for _ in range(4)]
        if fn == "cumsum":
            return Expr(f"({x.text}).reshape[2, 4].cumsum(axis = 1).reshape[8]", "tile", run)
        whole = f"(({x.text}).reshape[2, 4] * 0 + ({x.text}).reshape[2, 4].{fn}(axis = 1)[:, _]{' as i32' if fn == 'argmax' else ''}).reshape[8]"

        def run_twice(e):
            x.run(e)
            return run(e)
        return Expr(whole, "tile", run_twice)

    def open_tile(self, a):
        """A tile whose shape the other side gives: it is read where it stands."""
        m, op = self.rng.choice("AB"), self.rng.choice("+-^")
        if self.rng.random() < 0.3:
            return Expr(f"(if n > 1 {{ {m}.tile(0) }} else {{ {a.text} }})", "tile", lambda e: list(e[m]) if e["n"].value > 1 else a.run(e))
        if self.rng.random() < 0.5:
            return Expr(f"({a.text} {op} {m}.tile(0))", "tile", lambda e: [BINARY[op]("i32", p, q) for p, q in zip(a.run(e), list(e[m]))])
        return Expr(f"({m}.tile(0) {op} {a.text})", "tile", lambda e: [BINARY[op]("i32", p, q) for p, q in zip(list(e[m]), a.run(e))])

    # ---- statements around others

    def tile_condition(self):
        c, rng = self.rng.randint(-1, 8), self.rng
        x = self.tile_expr(1)
        if rng.random() < 0.5:
            return Expr(f"n > {c}", "bool", lambda e: e["n"].value > c)
        word, of = rng.choice([("any", any), ("all", all)])
        return Expr(f"(({x.text}) > {c}).{word}(axis = 0)", "bool", lambda e: of(v > c for v in x.run(e)))

    def tile_branch(self, depth):
        c, a, b = self.tile_condition(), self.tile_block(depth - 1), self.tile_block(depth - 1)
        return [f"if {c.text} {{", *a[0], "} else {", *b[0], "}"], lambda e: a[1](e) if c.run(e) else b[1](e)

    def tile_loop(self, depth):
        body, c = self.tile_block(depth - 1), self.tile_condition()
        head, turns = self.rng.choice([("for _ in 0..3", 3), ("for _ in 0..(n & 3) as int", None), ("for _ in [1, 2]", 2), ("for _ in pipelined(2)", 2)])

        def run(e):
            for _ in range(e["n"].value & 3 if turns is None else turns):
                if c.run(e):
                    break
                body[1](e)
        return [f"{head} {{", f"    if {c.text} {{ break; }}", *body[0], "}"], run

    def tile_let(self):
        x, n = self.tile_expr(2), self.name("k")
        self.lets.append(n)

        def run(e):
            e[n] = Cell(x.run(e))
        return [f"let {n}: fragment i32[8] = {x.text};" if self.rng.random() < 0.5 else f"let {n} = ({x.text}) + 0;"], run

    def square_statement(self):
        x = self.square(2)
        if self.rng.random() < 0.3:
            fn = self.rng.choice(list(REDUCTIONS))

            def run_rows(e):
                e["w"].value = [REDUCTIONS[fn](row) for row in rows_of(x.run(e))]
            return [f"w = ({x.text}).{fn}(axis = 1){' as i32' if fn.startswith('arg') else ''};"], run_rows
        op = self.rng.choice(["", "+", "^"])

        def run(e):
            old, new = e["u"].value, x.run(e)
            e["u"].value = [BINARY[op]("i32", p, q) for p, q in zip(old, new)] if op else new
        return [f"u {op}= {x.text};"], run

    def square(self, depth):
        """An expression of 2 x 4."""
        kind = self.rng.random()
        if depth == 0 or kind < 0.2:
            return Expr("u", "square", lambda e: list(e["u"].value))
        if kind < 0.4:
            x = self.tile_expr(1)
            return Expr(f"({x.text}).reshape[2, 4]", "square", x.run)
        a, op = self.square(depth - 1), self.rng.choice("+-^*")
        if kind < 0.6:
            return Expr(f"({a.text} {op} w[:, _])", "square", lambda e: [BINARY[op]("i32", v, e["w"].value[i // COLUMNS]) for i, v in enumerate(a.run(e))])
        if kind < 0.75:
            fn = self.rng.choice(["max", "sum"])

            def run(e):
                v, w = a.run(e), a.run(e)
                return [BINARY["-"]("i32", p, REDUCTIONS[fn](rows_of(w)[i // COLUMNS])) for i, p in enumerate(v)]
            return Expr(f"({a.text} - ({a.text}).{fn}(axis = 1)[:, _])", "square", run)
        b = self.square(depth - 1)
        if kind < 0.85:
            return Expr(f"select({a.text} > {b.text}, {a.text}, {b.text})", "square", lambda e: self.selected(e, a, b))
        return Expr(f"({a.text} {op} {b.text})", "square", lambda e: [BINARY[op]("i32", p, q) for p, q in zip(a.run(e), b.run(e))])

    def selected(self, e, a, b):
        chosen = [p > q for p, q in zip(a.run(e), b.run(e))]
        return [p if c else q for c, p, q in zip(chosen, a.run(e), b.run(e))]

    def early(self, m):
        """A function that changes its tile and returns early."""
        c = self.rng.randint(-2, 6)

        def run(e):
            n, other = wrap("i32", e["n"].value + c), m.run(e)
            t = [v ^ w for v, w in zip(e["t"].value, other)]
            e["t"].value = t
            if n > 3:
                return other
            for k in range(3):
                t = [wrap("i32", v + 1) for v in t]
                e["t"].value = t
                if k > n:
                    return t
            return [wrap("i32", v - w) for v, w in zip(t, other)]
        return Expr(f"leave_tile(t, n + ({c}), {m.text})", "tile", run)

    def plain_tile(self):
        n = self.rng.choice(["t", "s", "A.tile[8](0)"])
        return Expr(n, "tile", lambda e: list(e[n[0]].value if n == "t" else e[n[0]]))


PRELUDE = """fn bump_tile(inout m: i32[8], by: i32) -> fragment i32[8] { m[0 +: 8] = m[0 +: 8] + by; return m[0 +: 8] * 2; }
fn change_tile(inout t: fragment i32[8]) -> fragment i32[8] { t = t + 5; return t; }
fn leave_tile(inout t: fragment i32[8], n: i32, m: fragment i32[8]) -> fragment i32[8] {
    t = t ^ m;
    if n > 3 { return m; }
    for k in 0..3 { t = t + 1; if k as i32 > n { return t; } }
    return t - m;
}
"""
