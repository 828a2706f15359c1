"""Random statements on whole tiles of integers: what effects do between their operands."""
from scalars import Cell, Expr
from values import BINARY, wrap


class Tiles:
    def tiles(self):
        statements = [self.tile_statement() for _ in range(self.rng.randint(1, 4))]
        lines = ["var t: fragment i32[8] = A.tile(0);", *(line for ls, _ in statements for line in ls), "B.tile(0) = t;"]

        def run(e):
            e["t"] = Cell(list(e["A"]))
            for _, go in statements:
                go(e)
            e["B"][:] = e["t"].value
        return lines, run

    def tile_statement(self):
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
        if depth == 0 or kind < 0.25:
            n = rng.choice(["t", "s", "A[0 +: 8]", "B.tile[8](0)"])
            m = n[0]
            return Expr(n, "tile", lambda e: list(e[m].value if m == "t" else e[m]))
        if kind < 0.33:
            return self.turned(depth)
        if kind < 0.41:
            return self.reduced(depth)
        a, b = self.tile_expr(depth - 1), self.tile_expr(depth - 1)
        if kind < 0.58:
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
        of = {"sum": lambda v: wrap("i32", sum(v)), "max": max, "min": min, "argmax": lambda v: v.index(max(v))}.get(fn)

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
